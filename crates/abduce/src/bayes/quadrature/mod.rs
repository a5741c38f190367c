//! The posterior of one parameter under any prior, by adaptive quadrature:
//! p(θ | D) = p(D | θ) p(θ) / ∫ p(D | θ) p(θ) dθ.
//!
//! The range is cut where the likelihood alone puts its quantiles and where the
//! prior jumps; between cuts the integrand is smooth.

mod tails;

use super::{Conjugate, Curve, Prior};
use crate::family::{Averaged, Univariate, highest_between};
use crate::kernel::quadrature::{gauss_legendre, integrate};
use crate::{Error, Result};
use std::fmt;
use std::sync::OnceLock;

/// A posterior of one parameter, itself a distribution.
///
/// ```
/// use abduce::bayes::{BernoulliProbability, Conjugate, Curve, Expression, QuadraturePosterior};
/// use abduce::family::Univariate;
/// // A drug helped 6 of 10 patients; it was thought likely to help most.
/// let prior = Expression::parse("0.8 if x > 0.5 else 0.2", &["x"])?;
/// let pair = BernoulliProbability;
/// let mut seen = pair.zero();
/// pair.observe(&[1.0], 6.0, &mut seen);
/// pair.observe(&[0.0], 4.0, &mut seen);
/// let posterior = QuadraturePosterior::new(pair, Curve::Expression(prior), &seen)?;
/// assert!((posterior.survival(0.5) - 0.913618).abs() < 1e-6);
/// assert!((posterior.mean().unwrap() - 0.627715).abs() < 1e-6);
/// # Ok::<(), abduce::Error>(())
/// ```
pub struct QuadraturePosterior<C: Conjugate> {
    pair: C,
    prior: Curve,
    stats: C::Stats,
    support: (f64, f64),
    /// Ascending, from one end of the support to the other.
    cuts: Vec<f64>,
    /// The probability below each cut.
    below: Vec<f64>,
    /// The probability above each cut.
    above: Vec<f64>,
    log_scale: f64,
    /// ∫ p(D | θ) p(θ) dθ after division by e^`log_scale`.
    mass: f64,
    mode: f64,
    mean: Option<f64>,
    variance: Option<f64>,
    log_evidence: Option<f64>,
    /// A place where the prior turned out to be negative.
    negative: OnceLock<f64>,
}

impl<C: Conjugate> fmt::Debug for QuadraturePosterior<C> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("QuadraturePosterior")
            .field("prior", &self.prior)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

/// Where the quantiles of the likelihood cut the range.
const LEVELS: [f64; 10] = [1e-12, 1e-8, 1e-5, 1e-3, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9];
const TOLERANCE: f64 = 1e-11;

impl<C: Conjugate> QuadraturePosterior<C> {
    /// The posterior of a pair's one parameter.
    ///
    /// # Errors
    /// If the pair has more parameters, the prior is negative somewhere, or
    /// the posterior does not integrate.
    pub fn new(pair: C, prior: Curve, stats: &C::Stats) -> Result<Self> {
        if pair.parameters().len() != 1 {
            return Err(Error::parameter(
                "a prior of any shape is for models with one unknown parameter",
            )
            .with_hint("say which parameters are known with --known"));
        }
        // The flat prior's posterior tells where the likelihood is.
        let flat = pair.prior("uniform", &[])?;
        let guide = pair.posterior(&flat, stats).ok();
        let guide = guide.and_then(|own| own.marginals().into_iter().next());
        let guide = guide.map(|(_, own)| own);
        let support = match &guide {
            Some(guide) => guide.support(),
            None => pair.range(),
        };
        let mut posterior = QuadraturePosterior {
            cuts: cuts(support, guide.as_deref(), &prior),
            pair,
            prior,
            stats: stats.clone(),
            support,
            below: Vec::new(),
            above: Vec::new(),
            log_scale: 0.0,
            mass: 1.0,
            mode: 0.0,
            mean: None,
            variance: None,
            log_evidence: None,
            negative: OnceLock::new(),
        };
        posterior.find_mode()?;
        posterior.cut_about_mode();
        let proper = posterior.normalise();
        // Between the places scanned too.
        if let Some(x) = posterior.negative.get() {
            posterior.prior.log_value(*x)?;
        }
        proper?;
        posterior.find_moments();
        posterior.weigh_prior();
        Ok(posterior)
    }

    /// The logarithm of the evidence p(D), with the prior normalised; `None`
    /// if the prior does not integrate.
    pub fn log_evidence(&self) -> Option<f64> {
        self.log_evidence
    }

    /// The distribution of the next row.
    ///
    /// # Errors
    /// If rows are not single numbers.
    pub fn predictive(&self) -> Result<Averaged> {
        let parts: Option<Vec<_>> = self
            .nodes()
            .into_iter()
            .map(|(x, weight)| Some((weight, self.pair.row(&[x])?)))
            .collect();
        parts
            .and_then(Averaged::new)
            .ok_or_else(|| Error::numeric("there is no predictive distribution of single numbers"))
    }

    fn log_integrand(&self, x: f64) -> f64 {
        let prior = self.prior.log_value(x).unwrap_or_else(|_| {
            if self.prior.is_negative_at(x) {
                self.negative.get_or_init(|| x);
            }
            f64::NEG_INFINITY
        });
        match prior == f64::NEG_INFINITY {
            true => prior,
            false => prior + self.pair.log_likelihood(&[x], &self.stats),
        }
    }

    fn integrand(&self, x: f64) -> f64 {
        let value = (self.log_integrand(x) - self.log_scale).exp();
        if value.is_nan() { 0.0 } else { value }
    }

    /// Points between two cuts, from the ends inwards.
    fn inside(low: f64, high: f64) -> impl Iterator<Item = f64> {
        const COUNT: u32 = 33;
        (1..COUNT).map(move |i| {
            let share = f64::from(i) / f64::from(COUNT);
            match (low.is_finite(), high.is_finite()) {
                (true, true) => low + share * (high - low),
                (true, false) => low + (1.0 + low.abs()) * share / (1.0 - share),
                (false, true) => high - (1.0 + high.abs()) * (1.0 - share) / share,
                (false, false) => (share - 0.5) / (share * (1.0 - share)),
            }
        })
    }

    fn find_mode(&mut self) -> Result<()> {
        let between = self.cuts.windows(2);
        let mut places: Vec<f64> = between.flat_map(|p| Self::inside(p[0], p[1])).collect();
        let ends = [self.support.0, self.support.1];
        places.extend(self.cuts.iter().filter(|cut| !ends.contains(cut)));
        places.sort_by(f64::total_cmp);
        places.dedup();
        let mut best: Option<(usize, f64)> = None;
        for (i, x) in places.iter().enumerate() {
            self.prior.log_value(*x)?;
            let value = self.log_integrand(*x);
            // At a pole there is no height to compare with.
            if value.is_finite() && best.is_none_or(|(_, most)| value > most) {
                best = Some((i, value));
            }
        }
        let Some((place, most)) = best else {
            return Err(Error::numeric(
                "the prior gives no probability to any value under which the rows are possible",
            ));
        };
        let before = places[place.saturating_sub(1)];
        let after = places[(place + 1).min(places.len() - 1)];
        let refined = highest_between(before, after, |x| self.log_integrand(x));
        let height = self.log_integrand(refined);
        (self.mode, self.log_scale) = match height.is_finite() && height >= most {
            true => (refined, height),
            false => (places[place], most),
        };
        Ok(())
    }

    /// Cuts the range where the posterior has its mass, which may be narrower
    /// than the likelihood's or far away from it.
    fn cut_about_mode(&mut self) {
        let fall = |by: f64| {
            let sides = [self.mode - by, self.mode + by];
            let inside = sides
                .into_iter()
                .filter(|x| *x > self.support.0 && *x < self.support.1);
            let most = inside
                .map(|x| self.log_integrand(x))
                .fold(f64::NEG_INFINITY, f64::max);
            self.log_scale - most
        };
        let mut width = f64::EPSILON * self.mode.abs().max(f64::MIN_POSITIVE);
        while fall(width) < 0.5 && width < 1e300 {
            width *= 2.0;
        }
        let steps = [1.0, 3.0, 8.0, 40.0].map(|by| by * width);
        let places = steps
            .into_iter()
            .flat_map(|by| [self.mode - by, self.mode + by]);
        let places: Vec<f64> = places
            .chain([self.mode])
            .filter(|x| *x > self.support.0 && *x < self.support.1)
            .collect();
        self.cuts.extend(places);
        self.cuts.sort_by(f64::total_cmp);
        self.cuts.dedup();
    }

    fn between(&self, low: f64, high: f64) -> f64 {
        integrate(|x| self.integrand(x), low, high, &[], TOLERANCE).value
    }

    fn normalise(&mut self) -> Result<()> {
        let masses: Vec<f64> = self
            .cuts
            .windows(2)
            .map(|p| self.between(p[0], p[1]))
            .collect();
        let total: f64 = masses.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(super::improper());
        }
        if self.tail_grows(1.0, 0.0) || self.tail_grows(-1.0, 0.0) || self.has_pole() {
            return Err(super::improper());
        }
        self.mass = total;
        let mut sum = 0.0;
        self.below = std::iter::once(0.0)
            .chain(masses.iter().map(|mass| {
                sum += mass / total;
                sum.min(1.0)
            }))
            .collect();
        let mut sum = 0.0;
        self.above = std::iter::once(0.0)
            .chain(masses.iter().rev().map(|mass| {
                sum += mass / total;
                sum.min(1.0)
            }))
            .collect();
        self.above.reverse();
        Ok(())
    }

    /// Weighted values of the parameter that stand for the posterior.
    fn nodes(&self) -> Vec<(f64, f64)> {
        let rule = gauss_legendre(16);
        let mut nodes = Vec::new();
        for (i, pair) in self.cuts.windows(2).enumerate() {
            if self.below[i + 1] - self.below[i] < 1e-13 {
                continue;
            }
            let (low, high) = match (pair[0].is_finite(), pair[1].is_finite()) {
                (true, true) => (pair[0], pair[1]),
                _ => (
                    if pair[0].is_finite() {
                        pair[0]
                    } else {
                        self.quantile(1e-10)
                    },
                    if pair[1].is_finite() {
                        pair[1]
                    } else {
                        self.quantile(1.0 - 1e-10)
                    },
                ),
            };
            let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
            let places = rule.iter().map(|(x, w)| (middle + half * x, half * w));
            nodes.extend(places.map(|(x, w)| (x, w * self.integrand(x))));
        }
        nodes
    }

    /// The posterior mean of a function of the parameter.
    fn mean_of(&self, f: impl Fn(f64) -> f64) -> f64 {
        let (low, high) = self.support;
        let inner = &self.cuts[1..self.cuts.len() - 1];
        let term = |x: f64| {
            let density = self.integrand(x);
            if density > 0.0 { density * f(x) } else { 0.0 }
        };
        integrate(term, low, high, inner, TOLERANCE).value / self.mass
    }
}

/// Where the range is cut.
fn cuts(support: (f64, f64), guide: Option<&dyn Univariate>, prior: &Curve) -> Vec<f64> {
    let mut cuts = prior.breaks();
    match guide {
        Some(guide) => {
            let lower = LEVELS.iter().map(|p| guide.quantile(*p));
            let upper = LEVELS.iter().map(|p| guide.quantile(1.0 - p));
            cuts.extend(lower.chain(upper));
        }
        None => {
            let sizes = (-8..=8).map(|power| 10.0_f64.powi(power));
            cuts.extend(sizes.flat_map(|size| [size, -size]).chain([0.0]));
        }
    }
    cuts.retain(|x| *x > support.0 && *x < support.1);
    cuts.extend([support.0, support.1]);
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    cuts
}

impl<C: Conjugate> Univariate for QuadraturePosterior<C> {
    fn log_density(&self, x: f64) -> f64 {
        match x >= self.support.0 && x <= self.support.1 {
            true => self.log_integrand(x) - self.log_scale - self.mass.ln(),
            false => f64::NEG_INFINITY,
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        let place = self.cuts.partition_point(|cut| *cut <= x);
        match place {
            0 => 0.0,
            place if place == self.cuts.len() => 1.0,
            place => {
                let part = self.between(self.cuts[place - 1], x) / self.mass;
                (self.below[place - 1] + part).clamp(0.0, 1.0)
            }
        }
    }

    fn survival(&self, x: f64) -> f64 {
        let place = self.cuts.partition_point(|cut| *cut <= x);
        match place {
            0 => 1.0,
            place if place == self.cuts.len() => 0.0,
            place => {
                let part = self.between(x, self.cuts[place]) / self.mass;
                (self.above[place] + part).clamp(0.0, 1.0)
            }
        }
    }

    fn support(&self) -> (f64, f64) {
        self.support
    }

    fn mean(&self) -> Option<f64> {
        self.mean
    }

    fn variance(&self) -> Option<f64> {
        self.variance
    }

    fn mode(&self) -> f64 {
        self.mode
    }

    fn entropy(&self) -> f64 {
        self.mean_of(|x| -self.log_density(x))
    }
}

#[cfg(test)]
mod tests;
