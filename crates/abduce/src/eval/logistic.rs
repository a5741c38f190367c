//! Weighted logistic regression on one score.

/// A weighted logistic regression on one score.
pub(super) struct LogisticProblem<'a> {
    pub scores: Vec<f64>,
    pub targets: Vec<f64>,
    pub weights: &'a [f64],
}

impl LogisticProblem<'_> {
    /// The slope and intercept of maximum likelihood, by Newton steps that are halved until
    /// the loss does not increase.
    pub fn solve(&self, start: [f64; 2]) -> [f64; 2] {
        let mut found = start;
        let mut best = self.loss(found);
        for _ in 0..100 {
            let (g, step) = self.newton_step(found);
            let gain = g[0] * step[0] + g[1] * step[1];
            if gain.is_nan() || gain <= 1e-30 * (1.0 + best) {
                break;
            }
            let halves = (0..50).map(|n| 0.5f64.powi(n));
            let tried = halves.map(|t| [found[0] - t * step[0], found[1] - t * step[1]]);
            let mut tried = tried.map(|next| (next, self.loss(next)));
            // No step is better once only rounding errors remain.
            let Some((next, loss)) = tried.find(|(_, loss)| *loss <= best) else {
                break;
            };
            let settled = next == found;
            (found, best) = (next, loss);
            if settled {
                break;
            }
        }
        found
    }

    /// The negative log-likelihood Σ w (softplus(z) − t z).
    fn loss(&self, [slope, intercept]: [f64; 2]) -> f64 {
        let of_row = |i: usize| {
            let z = slope * self.scores[i] + intercept;
            self.weights[i] * (z.max(0.0) + (-z.abs()).exp().ln_1p() - self.targets[i] * z)
        };
        (0..self.scores.len()).map(of_row).sum()
    }

    /// The gradient and the Newton step.
    fn newton_step(&self, [slope, intercept]: [f64; 2]) -> ([f64; 2], [f64; 2]) {
        let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
        for i in (0..self.scores.len()).filter(|i| self.weights[*i] > 0.0) {
            let (x, weight) = (self.scores[i], self.weights[i]);
            let p = logistic(slope * x + intercept);
            let (error, curvature) = (weight * (p - self.targets[i]), weight * p * (1.0 - p));
            g = [g[0] + error * x, g[1] + error];
            h = [
                h[0] + curvature * x * x,
                h[1] + curvature * x,
                h[2] + curvature,
            ];
        }
        // If all scores are equal, the slope is undetermined; a small ridge leaves it as it is.
        let ridge = 1e-12 * (h[0] + h[2]) + f64::MIN_POSITIVE;
        let (a, b, c) = (h[0] + ridge, h[1], h[2] + ridge);
        let determinant = a * c - b * b;
        let step = [
            (c * g[0] - b * g[1]) / determinant,
            (a * g[1] - b * g[0]) / determinant,
        ];
        (g, step)
    }
}

/// The logistic function 1 / (1 + e⁻ᶻ).
pub(super) fn logistic(z: f64) -> f64 {
    // The form that does not overflow.
    if z >= 0.0 {
        1.0 / (1.0 + (-z).exp())
    } else {
        z.exp() / (1.0 + z.exp())
    }
}
