//! Numbers of hypotheses, which may exceed every integer type.

use std::fmt;

/// A number of hypotheses: exact if it fits 128 bits, else only its logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    exact: Option<u128>,
    ln: f64,
}

impl Count {
    /// The number, unless it is too large.
    pub fn exact(self) -> Option<u128> {
        self.exact
    }

    /// The natural logarithm; −∞ for 0.
    pub fn ln(self) -> f64 {
        self.ln
    }

    /// The number as a float, perhaps infinite.
    pub fn as_f64(self) -> f64 {
        self.exact.map_or(self.ln.exp(), |n| n as f64)
    }

    pub(super) fn times(self, n: u128) -> Count {
        let exact = self.exact.and_then(|exact| exact.checked_mul(n));
        exact.map_or(
            Count {
                exact: None,
                ln: self.ln + (n as f64).ln(),
            },
            Count::from,
        )
    }

    pub(super) fn plus(self, other: Count) -> Count {
        let sum = self.exact.zip(other.exact);
        let exact = sum.and_then(|(a, b)| a.checked_add(b));
        let (large, small) = (self.ln.max(other.ln), self.ln.min(other.ln));
        exact.map_or_else(
            || Count {
                exact: None,
                ln: large + (small - large).exp().ln_1p(),
            },
            Count::from,
        )
    }
}

impl From<u128> for Count {
    fn from(n: u128) -> Count {
        Count {
            exact: Some(n),
            ln: (n as f64).ln(),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exact {
            Some(n) if n < 1_000_000_000_000_000 => write!(f, "{n}"),
            _ => {
                let tens = self.ln / std::f64::consts::LN_10;
                let power = tens.floor();
                write!(f, "about {:.3}e{power}", 10f64.powf(tens - power))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_are_kept_by_their_logarithm() {
        let huge = (0..60).fold(Count::from(1), |count, _| count.times(10));
        assert_eq!(huge.exact(), None);
        assert!((huge.ln() / (60.0 * 10f64.ln()) - 1.0).abs() < 1e-12);
        assert_eq!(huge.to_string(), "about 1.000e60");
        let large = Count::from(u128::MAX).plus(Count::from(u128::MAX));
        assert!((large.ln() - 129.0 * 2f64.ln()).abs() < 1e-12);
        assert_eq!(Count::from(0).to_string(), "0");
        assert_eq!(Count::from(0).plus(Count::from(5)), Count::from(5));
    }
}
