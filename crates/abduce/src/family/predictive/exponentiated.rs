//! The distribution of eˣ where x has another one: the prediction of a log-normal column whose
//! parameters are unknown.

use crate::family::Univariate;
use crate::family::univariate::highest_between;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The distribution of eˣ.
///
/// ```
/// use abduce::family::{Exponentiated, StudentT, Univariate};
/// let logarithm = StudentT { location: 1.0, scale: 0.5, degrees: 4.0 };
/// let price = Exponentiated { logarithm };
/// assert!((price.quantile(0.5) - 1.0_f64.exp()).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exponentiated<D> {
    /// The distribution of ln x.
    pub logarithm: D,
}

impl<D: Univariate> Univariate for Exponentiated<D> {
    fn log_density(&self, x: f64) -> f64 {
        if x > 0.0 && x.is_finite() {
            self.logarithm.log_density(x.ln()) - x.ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        if x > 0.0 {
            self.logarithm.cdf(x.ln())
        } else {
            0.0
        }
    }

    fn survival(&self, x: f64) -> f64 {
        if x > 0.0 {
            self.logarithm.survival(x.ln())
        } else {
            1.0
        }
    }

    fn support(&self) -> (f64, f64) {
        let (low, high) = self.logarithm.support();
        (low.exp(), high.exp())
    }

    fn quantile(&self, p: f64) -> f64 {
        self.logarithm.quantile(p).exp()
    }

    /// An unbounded logarithm is assumed to have tails too heavy for a mean, as Student's are.
    fn mean(&self) -> Option<f64> {
        if self.logarithm.support().1 < f64::INFINITY {
            Some(self.expectation(&|x| x))
        } else {
            Some(f64::INFINITY)
        }
    }

    fn variance(&self) -> Option<f64> {
        let mean = self.mean().filter(|mean| mean.is_finite())?;
        Some(self.expectation(&|x| (x - mean) * (x - mean)))
    }

    /// Where ln p(y) − y is highest, y being the logarithm; 0 where it grows as y falls, as under
    /// the heavy tails of Student's t.
    fn mode(&self) -> f64 {
        let height = |y: f64| self.logarithm.log_density(y) - y;
        let place = |i: u16| self.logarithm.quantile(f64::from(i) / 256.0);
        let best = (1..256).fold(1, |best, i| {
            if height(place(i)) > height(place(best)) {
                i
            } else {
                best
            }
        });
        let far = [1e-20, 1e-100, 1e-200].map(|p| height(self.logarithm.quantile(p)));
        if far[2] > far[1] || far.iter().any(|far| *far > height(place(best))) {
            return self.support().0;
        }
        let low = match best {
            1 => self.logarithm.quantile(1e-20),
            _ => place(best - 1),
        };
        let high = match best {
            255 => self.logarithm.quantile(1.0 - 1e-12),
            _ => place(best + 1),
        };
        highest_between(low, high, height).exp()
    }

    fn entropy(&self) -> f64 {
        self.logarithm.entropy() + self.logarithm.expectation(&|x| x)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        self.logarithm
            .draw(rng)
            .exp()
            .clamp(f64::MIN_POSITIVE, f64::MAX)
    }
}
