//! MonteCarlo: the return of a share, estimated from many random price paths.
//!
//! The market's drift and volatility are estimated from a series of daily prices. Each path then
//! draws a sequence of daily returns from a normal distribution with these parameters, and
//! estimates the drift again from the resulting prices. The figure is the mean over all paths. A
//! path ([`path`]) depends only on its number, so [`MonteCarlo::rates`] may be divided among tasks
//! in any way. The mean is taken in path order, so it is the same for every division.
//!
//! **Our figures can't be compared with the published ones.** The published figures depend on a
//! file of historical prices that belongs to the benchmark and isn't part of this project. We use a
//! made-up series ([`history`]) instead, and the reference figures are our serial version's. The
//! path computation can still be tested against the benchmark, because only two numbers derived
//! from the file affect the result, and three figures are published.
//!
//! The kernel doesn't store the price paths.

use super::random::Random;
use super::{Kernel, Mismatch, Size};

/// The length of a day, in years.
const DAY: f64 = 1.0 / 365.0;
/// Prices per path.
const PRICES: usize = 1000;
/// The first price of a path.
const START: f64 = 100.0;
/// The difference between the random seeds of consecutive paths.
const SEED_STEP: u64 = 11;

/// The number of prices in the made-up series.
const HISTORY: usize = 1001;
/// The drift and volatility of the made-up series.
const MADE_UP: Market = Market {
    drift: 0.08,
    volatility: 0.2,
};

/// The maximum deviation of the mean from the reference, as published.
const TOLERANCE: f64 = 1e-12;

/// Yearly drift and volatility of a share price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Market {
    /// The expected rate of return.
    pub drift: f64,
    /// The standard deviation of the returns.
    pub volatility: f64,
}

/// The state of the kernel MonteCarlo.
#[derive(Clone, Debug)]
pub struct MonteCarlo {
    size: Size,
    /// The market from which the paths are drawn.
    pub market: Market,
    /// The drift of each path.
    pub rates: Vec<f64>,
}

impl Market {
    /// Returns the mean and the standard deviation of the logarithm of a day's return.
    fn daily(self) -> (f64, f64) {
        let mean = (self.drift - 0.5 * self.volatility * self.volatility) * DAY;
        (mean, self.volatility * DAY.sqrt())
    }

    /// Estimates drift and volatility from the logarithms of the daily returns of a series of
    /// prices.
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

/// Makes up a series of daily prices. The returns alternate between one standard deviation above
/// and one below their mean, so that the estimated drift and volatility are exactly those of
/// `market`.
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

/// Returns the estimated drift of the path with this number.
pub fn path(market: Market, number: usize) -> f64 {
    let (mean, deviation) = market.daily();
    let mut random = Random::new(SEED_STEP * number as u64);
    let fluctuations: Vec<_> = (0..PRICES)
        .map(|_| mean + deviation * random.gaussian())
        .collect();
    let mut prices = Vec::with_capacity(PRICES);
    prices.push(START);
    // The benchmark also draws a return for the first day but doesn't use it.
    for (day, fluctuation) in fluctuations.iter().enumerate().skip(1) {
        prices.push(prices[day - 1] * fluctuation.exp());
    }
    Market::estimated(&prices).drift
}

/// Computes the estimated drifts of consecutive paths, starting with the path `first`.
pub fn paths(market: Market, first: usize, rates: &mut [f64]) {
    for (number, rate) in (first..).zip(rates) {
        *rate = path(market, number);
    }
}

impl Kernel for MonteCarlo {
    const NAME: &'static str = "montecarlo";

    /// The mean of the paths' estimated drifts.
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
        let reference = self.size.choose::<fn() -> f64, 3>([
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
    fn estimates_recover_drift_and_volatility() {
        let found = Market::estimated(&history(MADE_UP, HISTORY));
        assert!((found.drift - MADE_UP.drift).abs() < 1e-12, "{found:?}");
        assert!(
            (found.volatility - MADE_UP.volatility).abs() < 1e-12,
            "{found:?}"
        );
    }

    /// The drift and volatility that follow from two published figures reproduce the third figure.
    #[test]
    fn market_from_two_figures_gives_third() {
        // The first two published figures imply these values.
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
    fn path_does_not_depend_on_range() {
        let mut all = [0.0; 4];
        paths(MADE_UP, 0, &mut all);
        let mut some = [0.0; 2];
        paths(MADE_UP, 1, &mut some);
        assert_eq!(all[1..3], some);
        assert_eq!(path(MADE_UP, 3), all[3]);
    }
}
