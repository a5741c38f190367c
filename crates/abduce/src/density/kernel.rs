//! Kernels: radial functions K(|u|) over d columns that integrate to one, with the shapes
//! and constants of scikit-learn:
//!
//!   gaussian exp(−r²/2), exponential exp(−r), and within r < 1: tophat 1,
//!   epanechnikov 1 − r², triangular 1 − r, cosine cos(πr/2).
//!
//! The marginal of a kernel over some of the columns is ∫ K(√(r² + s²)) ds over the others.
//! It is a Gaussian, a power of 1 − r², or computed by Gauss–Legendre quadrature.

use crate::kernel::quadrature::gauss_legendre;
use crate::kernel::special::LN_TAU;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_2, PI};
use std::str::FromStr;
use std::sync::LazyLock;

/// The shape of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// exp(−r²/2).
    #[default]
    Gaussian,
    /// 1 − r² within 1.
    Epanechnikov,
    /// 1 within 1.
    Tophat,
    /// 1 − r within 1; scikit-learn's `linear`.
    Triangular,
    /// cos(πr/2) within 1.
    Cosine,
    /// exp(−r).
    Exponential,
}

impl Kernel {
    /// Every kernel with its name.
    pub const ALL: [(Kernel, &'static str); 6] = [
        (Kernel::Gaussian, "gaussian"),
        (Kernel::Epanechnikov, "epanechnikov"),
        (Kernel::Tophat, "tophat"),
        (Kernel::Triangular, "triangular"),
        (Kernel::Cosine, "cosine"),
        (Kernel::Exponential, "exponential"),
    ];

    /// The name of the kernel.
    pub fn name(self) -> &'static str {
        let named = Kernel::ALL.iter().find(|(kernel, _)| *kernel == self);
        named.map_or("", |(_, name)| name)
    }

    /// The logarithm of the integral of the kernel over `columns` columns.
    ///
    /// ```
    /// use abduce::density::Kernel;
    /// assert!((Kernel::Tophat.log_integral(2) - std::f64::consts::PI.ln()).abs() < 1e-15);
    /// ```
    pub fn log_integral(self, columns: usize) -> f64 {
        let d = columns as f64;
        match self {
            Kernel::Gaussian => 0.5 * d * LN_TAU,
            Kernel::Exponential => log_sphere(columns) + libm::lgamma(d),
            Kernel::Tophat => log_power_integral(0.0, columns),
            Kernel::Epanechnikov => log_power_integral(1.0, columns),
            Kernel::Triangular => log_sphere(columns) - (d * (d + 1.0)).ln(),
            Kernel::Cosine => {
                // ∫ cos(πr/2) r^(d−1) dr over 0..1 by repeated integration by parts: an
                // alternating series that converges for any d.
                let mut term = FRAC_PI_2 / (d * (d + 1.0));
                let (mut sum, mut j) = (0.0, 0.0);
                while term.abs() > 1e-18 * f64::abs(sum) {
                    sum += term;
                    term *= -FRAC_PI_2 * FRAC_PI_2 / ((d + j + 2.0) * (d + j + 3.0));
                    j += 2.0;
                }
                log_sphere(columns) + sum.ln()
            }
        }
    }
}

impl Kernel {
    /// The variance of the kernel along each of its columns.
    pub(super) fn mean_square(self, columns: usize) -> f64 {
        let radial = |d: usize| self.log_integral(d) - log_sphere(d);
        (radial(columns + 2) - radial(columns)).exp() / columns as f64
    }
}

impl FromStr for Kernel {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let named = Kernel::ALL.iter().find(|(_, known)| *known == name);
        named.map(|(kernel, _)| *kernel).ok_or_else(|| {
            let names = Kernel::ALL.map(|(_, name)| name);
            Error::parameter(format!("\"{name}\" is not a kernel"))
                .with_hint(format!("the kernels are {}", names.join(", ")))
        })
    }
}

/// The logarithm of the surface of the unit sphere around `columns` columns.
fn log_sphere(columns: usize) -> f64 {
    let half = 0.5 * columns as f64;
    std::f64::consts::LN_2 + half * PI.ln() - libm::lgamma(half)
}

/// The logarithm of the volume of the unit ball.
pub(super) fn log_ball(columns: usize) -> f64 {
    log_power_integral(0.0, columns)
}

/// ln ∫ (1 − r²)^power over the unit ball.
fn log_power_integral(power: f64, columns: usize) -> f64 {
    let half = 0.5 * columns as f64;
    half * PI.ln() + libm::lgamma(power + 1.0) - libm::lgamma(power + 1.0 + half)
}

/// The marginal of a kernel over some of its columns, as a function of the distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Profile {
    form: Form,
    /// The logarithm of the normalising constant.
    pub log_constant: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Gaussian,
    Exponential,
    /// (1 − r²)^power.
    Power(f64),
    Triangular,
    Cosine,
    /// A kernel with `hidden` columns integrated out by quadrature.
    Marginal {
        kernel: Kernel,
        hidden: usize,
    },
}

impl Profile {
    /// The marginal over `seen` columns of the kernel over `seen + hidden` columns.
    pub fn new(kernel: Kernel, seen: usize, hidden: usize) -> Profile {
        let whole = -kernel.log_integral(seen + hidden);
        let power = |power: f64| Profile {
            form: Form::Power(power + 0.5 * hidden as f64),
            log_constant: -log_power_integral(power + 0.5 * hidden as f64, seen),
        };
        let plain = |form| Profile {
            form,
            log_constant: whole,
        };
        match (kernel, hidden) {
            (Kernel::Gaussian, _) => Profile {
                form: Form::Gaussian,
                log_constant: -kernel.log_integral(seen),
            },
            (Kernel::Tophat, _) => power(0.0),
            (Kernel::Epanechnikov, _) => power(1.0),
            (Kernel::Triangular, 0) => plain(Form::Triangular),
            (Kernel::Cosine, 0) => plain(Form::Cosine),
            (Kernel::Exponential, 0) => plain(Form::Exponential),
            _ => Profile {
                form: Form::Marginal { kernel, hidden },
                log_constant: whole + log_sphere(hidden),
            },
        }
    }

    pub fn is_gaussian(&self) -> bool {
        self.form == Form::Gaussian
    }

    /// Whether the profile is 0 beyond a distance of 1.
    pub fn is_compact(&self) -> bool {
        !matches!(
            self.form,
            Form::Gaussian
                | Form::Exponential
                | Form::Marginal {
                    kernel: Kernel::Exponential,
                    ..
                }
        )
    }

    /// The logarithm of the profile at a squared distance, without its constant.
    pub fn log_value(&self, square: f64) -> f64 {
        match self.form {
            Form::Gaussian => -0.5 * square,
            Form::Exponential => -square.sqrt(),
            Form::Marginal {
                kernel: Kernel::Exponential,
                hidden,
            } => log_exponential_marginal(square.sqrt(), hidden),
            _ => self.compact_value(square).ln(),
        }
    }

    /// Replaces squared distances by the logarithms of the profile.
    pub fn replace_by_log_values(&self, squares: &mut [f64]) {
        match self.form {
            Form::Gaussian => squares.iter_mut().for_each(|x| *x *= -0.5),
            Form::Exponential => squares.iter_mut().for_each(|x| *x = -x.sqrt()),
            _ => squares.iter_mut().for_each(|x| *x = self.log_value(*x)),
        }
    }

    /// The value of a compact profile.
    pub fn compact_value(&self, square: f64) -> f64 {
        if square >= 1.0 {
            // The support of the tophat is open, as in scikit-learn.
            return 0.0;
        }
        match self.form {
            Form::Power(0.0) => 1.0,
            Form::Power(1.0) => 1.0 - square,
            Form::Power(power) => (1.0 - square).powf(power),
            Form::Triangular => 1.0 - square.sqrt(),
            Form::Cosine => (FRAC_PI_2 * square.sqrt()).cos(),
            Form::Marginal { kernel, hidden } => {
                let reach = (1.0 - square).sqrt();
                let at = |s: f64| {
                    let r = (square + s * s).sqrt().min(1.0);
                    let value = match kernel {
                        Kernel::Triangular => 1.0 - r,
                        _ => (FRAC_PI_2 * r).cos(),
                    };
                    value * s.powi(hidden as i32 - 1)
                };
                quadrature(reach).map(|(s, w)| w * at(s)).sum()
            }
            Form::Gaussian | Form::Exponential => self.log_value(square).exp(),
        }
    }
}

/// ln ∫ exp(−√(r² + s²)) s^(k−1) ds over 0..∞. With v² = √(r² + s²) − r the integrand
/// is a polynomial times exp(−v²), and the factor e^(−r) is added as −r, so that far
/// tails do not underflow.
fn log_exponential_marginal(r: f64, hidden: usize) -> f64 {
    let k = hidden as f64;
    let reach = (0.5 * k).sqrt() + 7.0;
    let terms: Vec<f64> = quadrature(reach)
        .map(|(v, w)| {
            let square = v * v;
            (2.0 * w).ln() - square
                + (k - 1.0) * v.ln()
                + 0.5 * (k - 2.0) * (square + 2.0 * r).ln()
                + (square + r).ln()
        })
        .collect();
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return f64::NEG_INFINITY;
    }
    top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln() - r
}

/// Nodes and weights of Gauss–Legendre quadrature over 0..`reach`.
fn quadrature(reach: f64) -> impl Iterator<Item = (f64, f64)> {
    const NODES: usize = 48;
    static RULE: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| {
        let rule = gauss_legendre(NODES).into_iter();
        rule.map(|(x, w)| (0.5 * (1.0 + x), 0.5 * w)).collect()
    });
    RULE.iter().map(move |(x, w)| (reach * x, reach * w))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The integral of a profile over a fine radial mesh.
    fn integral(profile: &Profile, columns: usize) -> f64 {
        let reach = if profile.is_compact() { 1.0 } else { 60.0 };
        let steps = 60_000;
        let width = reach / f64::from(steps);
        let surface = log_sphere(columns);
        (0..steps)
            .map(|i| {
                let r = (f64::from(i) + 0.5) * width;
                let log = profile.log_value(r * r) + profile.log_constant + surface;
                (log + (columns as f64 - 1.0) * r.ln()).exp() * width
            })
            .sum()
    }

    #[test]
    fn every_kernel_and_every_marginal_integrates_to_one() {
        for (kernel, name) in Kernel::ALL {
            for (seen, hidden) in [
                (1, 0),
                (2, 0),
                (3, 0),
                (8, 0),
                (1, 1),
                (2, 1),
                (1, 2),
                (3, 5),
            ] {
                let total = integral(&Profile::new(kernel, seen, hidden), seen);
                assert!(
                    (total - 1.0).abs() < 1e-5,
                    "{name} {seen} {hidden}: {total}"
                );
            }
        }
    }

    #[test]
    fn constants_are_finite_with_many_columns() {
        for (kernel, _) in Kernel::ALL {
            assert!(kernel.log_integral(200).is_finite());
            let profile = Profile::new(kernel, 20, 180);
            assert!(profile.log_constant.is_finite() && profile.log_value(0.1).is_finite());
        }
    }

    #[test]
    fn the_marginal_of_a_marginal_is_the_marginal() {
        // Integrates the marginal over 2 of 3 columns over one more column.
        for (kernel, name) in Kernel::ALL {
            let two = Profile::new(kernel, 2, 1);
            let one = Profile::new(kernel, 1, 2);
            for r in [0.0, 0.3, 0.8] {
                let reach = if two.is_compact() {
                    f64::sqrt(1.0 - r * r)
                } else {
                    40.0
                };
                let steps = 20_000;
                let width = reach / f64::from(steps);
                let sum: f64 = (0..steps)
                    .map(|i| {
                        let s = (f64::from(i) + 0.5) * width;
                        2.0 * width * (two.log_value(r * r + s * s) + two.log_constant).exp()
                    })
                    .sum();
                let expected = (one.log_value(r * r) + one.log_constant).exp();
                assert!(
                    (sum / expected - 1.0).abs() < 1e-4,
                    "{name} {r}: {sum} {expected}"
                );
            }
        }
    }
}
