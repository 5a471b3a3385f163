//! The differential equations of the model.

use tidegate_policy::StealAmount;

use super::{ATTEMPT, BRANCHES, UNIT};

/// The state of the model: the fractions `p_n` at one moment.
#[derive(Clone)]
pub struct Model {
    pub amount: StealAmount,
    pub fractions: Vec<f64>,
}

impl Model {
    /// Integrates the equations over `time`, in the model's unit of time.
    pub fn advance(&mut self, time: f64) {
        const STEPS: usize = 300;
        let step = time / STEPS as f64;
        for _ in 0..STEPS {
            let change = self.change();
            for (fraction, change) in self.fractions.iter_mut().zip(change) {
                *fraction += step * change;
            }
        }
    }

    fn change(&self) -> Vec<f64> {
        let p = &self.fractions;
        let mut change = vec![0.0; p.len()];
        // The rate at which workers without tasks try to steal. The victim has n tasks with
        // probability p_n.
        let asks = p[0] * UNIT as f64 / ATTEMPT as f64;
        let most = p.len() - 1;
        for n in 1..=most {
            change[n] -= p[n];
            change[(n + 1).min(most)] += BRANCHES * p[n];
            change[n - 1] += (1.0 - BRANCHES) * p[n];
            let taken = self.amount.take(n - 1);
            if taken > 0 {
                let rate = asks * p[n];
                change[n] -= rate;
                change[n - taken] += rate;
                change[0] -= rate;
                change[taken] += rate;
            }
        }
        change
    }
}

/// Returns the fraction of workers with at least `tasks` tasks, which is `s_i` for i = `tasks`.
pub fn at_least(fractions: &[f64], tasks: usize) -> f64 {
    fractions.iter().skip(tasks).sum()
}

#[cfg(test)]
mod tests {
    use super::super::{STRATEGIES, amount};
    use super::*;

    /// The number of tasks grows only by branching.
    #[test]
    fn model_conserves_workers_and_tasks() {
        for amount in STRATEGIES.map(amount) {
            let mut fractions = vec![0.0; 65];
            (fractions[0], fractions[16]) = (0.75, 0.25);
            let mut model = Model { amount, fractions };
            let change = model.change();
            assert!(change.iter().sum::<f64>().abs() < 1e-12);
            let tasks = |fractions: &[f64]| -> f64 {
                let each = fractions.iter().enumerate();
                each.map(|(n, fraction)| n as f64 * fraction).sum()
            };
            // A quarter of the workers are busy.
            let more = 0.25 * (2.0 * BRANCHES - 1.0);
            assert!((tasks(&change) - more).abs() < 1e-12);
            model.advance(10.0);
            assert!(at_least(&model.fractions, 1) > 0.9);
            assert!((at_least(&model.fractions, 0) - 1.0).abs() < 1e-9);
        }
    }
}
