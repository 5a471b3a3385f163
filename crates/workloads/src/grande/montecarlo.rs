//! MonteCarlo: the return of a share, estimated from many random courses of its price.
//!
//! From a series of daily prices drift and volatility are estimated; then each path draws a course of
//! as many days as it pleases from a normal distribution of daily returns with these, and estimates
//! the drift again, from its own prices. The figure is the mean over all paths. A path ([`path`])
//! depends on its number alone, so any division of [`MonteCarlo::rates`] among tasks is right; the mean
//! is taken in their order, so that it is the same for all divisions.
//!
//! **The published figures cannot be compared with ours.** They depend on a file of historic prices
//! that belongs to the benchmark and is no part of this project. In its place stands a made-up series
//! ([`history`]), and the reference figures are those of our serial version. That the rest is the
//! benchmark's can be tested nevertheless: the file enters by two numbers alone, and three figures are
//! published.
//!
//! What it does not do: keep the paths.

use super::random::Random;
use super::{Kernel, Mismatch, Size};

/// A day, in years.
const DAY: f64 = 1.0 / 365.0;
/// How many prices a path has.
const PRICES: usize = 1000;
/// The first price of a path.
const START: f64 = 100.0;
/// From one path's seed to the next one's.
const SEED_STEP: u64 = 11;

/// The made-up series: how many prices, and which market they come from.
const HISTORY: usize = 1001;
const MADE_UP: Market = Market {
    drift: 0.08,
    volatility: 0.2,
};

/// How near the mean must be, as published.
const TOLERANCE: f64 = 1e-12;

/// What is known of a share, per year.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Market {
    /// The expected rate of return.
    pub drift: f64,
    /// The deviation of the returns.
    pub volatility: f64,
}

/// The kernel.
#[derive(Clone, Debug)]
pub struct MonteCarlo {
    size: Size,
    /// What the paths are drawn from.
    pub market: Market,
    /// The drift of each path.
    pub rates: Vec<f64>,
}

impl Market {
    /// Mean and deviation of the logarithm of a day's return.
    fn daily(self) -> (f64, f64) {
        let mean = (self.drift - 0.5 * self.volatility * self.volatility) * DAY;
        (mean, self.volatility * DAY.sqrt())
    }

    /// What the logarithms of the daily returns between these prices tell.
    fn estimated(prices: &[f64]) -> Self {
        let days = (prices.len() - 1) as f64;
        let returns: Vec<_> = prices
            .windows(2)
            .map(|pair| (pair[1] / pair[0]).ln())
            .collect();
        let mean = returns.iter().sum::<f64>() / days;
        let square = |each: &f64| (each - mean) * (each - mean);
        let variance = returns.iter().map(square).sum::<f64>() / days;
        Self {
            drift: mean / DAY + 0.5 * (variance / DAY),
            volatility: (variance / DAY).sqrt(),
        }
    }
}

/// A series of daily prices whose returns are one deviation above and below their mean in turns, so
/// that drift and volatility are exactly those that it was made from.
pub fn history(market: Market, prices: usize) -> Vec<f64> {
    let (mean, deviation) = market.daily();
    let signs = [1.0, -1.0].into_iter().cycle();
    let returns = signs.map(|sign| (mean + sign * deviation).exp());
    let series = returns.scan(START, |price, factor| {
        let today = *price;
        *price *= factor;
        Some(today)
    });
    series.take(prices).collect()
}

/// The drift of the path with this number.
pub fn path(market: Market, number: usize) -> f64 {
    let (mean, deviation) = market.daily();
    let mut random = Random::new(SEED_STEP * number as u64);
    let fluctuations: Vec<_> = (0..PRICES)
        .map(|_| mean + deviation * random.gaussian())
        .collect();
    let mut prices = Vec::with_capacity(PRICES);
    prices.push(START);
    // The benchmark draws a number for the first day too and does not use it.
    for (day, fluctuation) in fluctuations.iter().enumerate().skip(1) {
        prices.push(prices[day - 1] * fluctuation.exp());
    }
    Market::estimated(&prices).drift
}

/// Follows the paths from the `first` on.
pub fn paths(market: Market, first: usize, rates: &mut [f64]) {
    for (number, rate) in (first..).zip(rates) {
        *rate = path(market, number);
    }
}

impl Kernel for MonteCarlo {
    const NAME: &'static str = "montecarlo";

    /// The mean of the paths' drifts.
    type Figure = f64;

    fn new(size: Size) -> Self {
        let paths = size.choose([100, 10_000, 60_000]);
        Self {
            size,
            market: Market::estimated(&history(MADE_UP, HISTORY)),
            rates: vec![0.0; paths],
        }
    }

    fn reset(&mut self) {
        self.rates.fill(0.0);
    }

    fn serial(&mut self) -> f64 {
        paths(self.market, 0, &mut self.rates);
        self.figure()
    }

    fn figure(&self) -> f64 {
        self.rates.iter().sum::<f64>() / self.rates.len() as f64
    }

    fn check(&self, figure: &f64) -> Result<(), Mismatch> {
        let reference = self.size.choose::<fn() -> f64, _>([
            || Self::new(Size::Test).serial(),
            || 0.078_924_543_030_601_13,
            || 0.079_685_271_924_063_18,
        ]);
        Mismatch::unless_near("mean rate", *figure, reference(), TOLERANCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_made_up_series_has_the_drift_and_volatility_that_it_was_made_from() {
        let found = Market::estimated(&history(MADE_UP, HISTORY));
        assert!((found.drift - MADE_UP.drift).abs() < 1e-12, "{found:?}");
        assert!(
            (found.volatility - MADE_UP.volatility).abs() < 1e-12,
            "{found:?}"
        );
    }

    #[test]
    fn the_market_that_two_published_figures_imply_gives_the_third() {
        // The first two solved for drift and volatility.
        let implied = Market {
            drift: -0.031_622_656_051_392_91,
            volatility: 0.324_804_823_580_214_06,
        };
        let most = if cfg!(debug_assertions) {
            10_000
        } else {
            60_000
        };
        let mut rates = vec![0.0; most];
        paths(implied, 0, &mut rates);
        for (count, published) in [
            (10_000, -0.033_397_665_676_281_4),
            (60_000, -0.032_157_967_528_686_55),
            (2_000, -0.034_247_972_816_469_394),
        ] {
            if count <= most {
                let mean = rates[..count].iter().sum::<f64>() / count as f64;
                assert!((mean - published).abs() < TOLERANCE, "{count} {mean}");
            }
        }
    }

    #[test]
    fn a_path_is_the_same_in_every_range() {
        let mut all = [0.0; 4];
        paths(MADE_UP, 0, &mut all);
        let mut some = [0.0; 2];
        paths(MADE_UP, 1, &mut some);
        assert_eq!(all[1..3], some);
        assert_eq!(path(MADE_UP, 3), all[3]);
    }
}
