//! The posterior of one parameter under any prior, by adaptive quadrature:
//! p(θ | D) = p(D | θ) p(θ) / ∫ p(D | θ) p(θ) dθ.
//!
//! The range is cut at quantiles of the likelihood, where the prior jumps or may be unbounded,
//! and about the mode; between cuts the integrand is smooth, and next to points where it may be
//! unbounded it is a power.

mod tails;

use super::Curve;
use super::integral::{Piece, Total, judged, pieces};
use crate::family::{Averaged, Conjugate, Prior, Row, Univariate, highest_between, improper};
use crate::{Error, Result};
use std::fmt;
use std::sync::OnceLock;

/// A posterior of one parameter, itself a distribution.
///
/// ```
/// use abduce::bayes::{Curve, Expression, QuadraturePosterior};
/// use abduce::family::{BernoulliProbability, Conjugate, Univariate};
/// // A drug helped 6 of 10 patients; it was thought likely to help most.
/// let prior = Expression::parse("0.8 if x > 0.5 else 0.2", &["x"])?;
/// let pair = BernoulliProbability;
/// let mut seen = pair.zero();
/// pair.observe(&[1.0, 0.0], &[6.0, 4.0], &mut seen);
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
    /// The cuts of the range, ascending.
    cuts: Vec<f64>,
    /// The pieces, from one end of the support to the other.
    pieces: Vec<Piece>,
    /// The probability below each piece.
    below: Vec<f64>,
    /// The probability above each piece.
    above: Vec<f64>,
    log_scale: f64,
    /// ∫ p(D | θ) p(θ) dθ after division by e^`log_scale`.
    mass: f64,
    mode: f64,
    mean: Option<f64>,
    variance: Option<f64>,
    /// The integral of the prior.
    prior_total: Total,
    /// A place where the prior is negative.
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

/// The quantiles of the likelihood at which the range is cut.
const LEVELS: [f64; 10] = [1e-12, 1e-8, 1e-5, 1e-3, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9];

impl<C: Conjugate> QuadraturePosterior<C> {
    /// The posterior of a pair's one parameter.
    ///
    /// # Errors
    /// If the pair has more parameters, the prior is negative somewhere, or
    /// the posterior does not integrate.
    pub fn new(pair: C, prior: Curve, stats: &C::Stats) -> Result<Self> {
        if pair.parameters().len() != 1 {
            return Err(Error::parameter(
                "a prior of any shape needs a family with one unknown parameter",
            )
            .with_hint("give the other parameters with `known`"));
        }
        // The posterior under the flat prior is the likelihood, normalised.
        let flat = pair.prior("uniform", &[])?;
        let guide = pair.posterior(&flat, stats).ok();
        let guide = guide.and_then(|posterior| posterior.marginals().into_iter().next());
        let guide = guide.map(|(_, marginal)| marginal);
        let support = match &guide {
            Some(guide) => guide.support(),
            None => C::Prior::RANGE,
        };
        let mut posterior = QuadraturePosterior {
            cuts: cuts(support, guide.as_deref(), &prior),
            pair,
            prior,
            stats: stats.clone(),
            support,
            pieces: Vec::new(),
            below: Vec::new(),
            above: Vec::new(),
            log_scale: 0.0,
            mass: 1.0,
            mode: 0.0,
            mean: None,
            variance: None,
            prior_total: Total::Unsettled,
            negative: OnceLock::new(),
        };
        posterior.find_mode()?;
        posterior.cut_about_mode();
        let proper = posterior.normalise();
        // Also between the places evaluated so far.
        if let Some(x) = posterior.negative.get() {
            posterior.prior.log_value(*x)?;
        }
        proper?;
        posterior.find_mode_at_ends();
        posterior.find_moments();
        posterior.weigh_prior();
        Ok(posterior)
    }

    /// The logarithm of the evidence p(D), with the prior normalised; `None`
    /// if the prior is not known to integrate.
    pub fn log_evidence(&self) -> Option<f64> {
        match self.prior_total {
            Total::Finite(log_prior) => Some(self.log_scale + self.mass.ln() - log_prior),
            Total::Infinite | Total::Unsettled => None,
        }
    }

    /// Whether the prior integrates; `None` if that could not be determined.
    pub fn is_prior_proper(&self) -> Option<bool> {
        self.prior_total.is_finite()
    }

    /// The distribution of the next row.
    ///
    /// # Errors
    /// If rows are not single numbers.
    pub fn predictive(&self) -> Result<Averaged> {
        let parts: Option<Vec<_>> = self
            .nodes()
            .into_iter()
            .map(|(x, weight)| Some((weight, self.pair.row(&[x])?.into_univariate()?)))
            .collect();
        parts
            .and_then(Averaged::new)
            .ok_or_else(|| Error::numeric("the predictive distribution is not univariate"))
    }

    fn log_integrand(&self, x: f64) -> f64 {
        let prior = self.prior.log_value(x).unwrap_or_else(|_| {
            if self.prior.is_negative_at(x) {
                self.negative.get_or_init(|| x);
            }
            f64::NEG_INFINITY
        });
        if prior == f64::NEG_INFINITY {
            prior
        } else {
            prior + self.pair.log_likelihood(&[x], &self.stats)
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
        (self.mode, self.log_scale) = if height.is_finite() && height >= most {
            (refined, height)
        } else {
            (places[place], most)
        };
        Ok(())
    }

    /// Cuts the range at the mass of the posterior, which may be narrower than the likelihood or
    /// far away from it.
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

    /// The mode: a point where the density is unbounded, an end where it is highest there, or the
    /// maximum inside.
    fn find_mode_at_ends(&mut self) {
        let ends = self.pieces.iter().filter_map(Piece::end);
        let unbounded = ends.filter(|end| end.is_unbounded());
        let steepest = unbounded.min_by(|a, b| a.rate.total_cmp(&b.rate));
        let ends = [self.support.0, self.support.1].into_iter();
        let highest = || {
            ends.filter(|x| x.is_finite())
                .find(|x| self.log_integrand(*x) >= self.log_scale)
        };
        if let Some(place) = steepest.map(|end| end.place).or_else(highest) {
            self.mode = place;
        }
    }

    /// The probability between two places of a piece.
    fn between(&self, piece: &Piece, low: f64, high: f64) -> f64 {
        let part = piece.between(&|x| self.integrand(x), self.log_scale, (low, high));
        part.value / self.mass
    }

    fn normalise(&mut self) -> Result<()> {
        let log = |x: f64| self.log_integrand(x);
        let mut places = self.prior.breaks();
        places.push(self.mode);
        let pieces = pieces(&log, self.support, &places, &self.cuts);
        let f = |x: f64| self.integrand(x);
        let whole = |piece: &Piece| piece.between(&f, self.log_scale, (piece.low, piece.high));
        let masses: Vec<_> = pieces.iter().map(whole).collect();
        match judged(&pieces, masses.iter().copied(), self.log_scale) {
            Total::Finite(log) => self.mass = (log - self.log_scale).exp(),
            Total::Infinite => return Err(improper()),
            Total::Unsettled => {
                return Err(
                    Error::numeric("could not determine whether the posterior is proper")
                        .with_hint("use more rows, or a prior that is smoother or falls faster"),
                );
            }
        }
        let shares = masses.iter().map(|integral| integral.value / self.mass);
        let summed = |shares: &mut dyn Iterator<Item = f64>| -> Vec<f64> {
            let mut sum = 0.0;
            let sums = shares.map(|share| {
                let before: f64 = sum;
                sum += share;
                before.min(1.0)
            });
            sums.collect()
        };
        self.below = summed(&mut shares.clone());
        self.above = summed(&mut shares.rev());
        self.above.reverse();
        self.pieces = pieces;
        Ok(())
    }

    /// Values of the parameter with weights that represent the posterior.
    fn nodes(&self) -> Vec<(f64, f64)> {
        let f = |x: f64| self.integrand(x);
        let bounds = self.below.iter().zip(&self.above);
        let pieces = self.pieces.iter().zip(bounds);
        let heavy = pieces.filter(|(_, (below, above))| 1.0 - *below - *above > 1e-13);
        heavy
            .flat_map(|(piece, _)| piece.nodes(&f, self.log_scale))
            .collect()
    }

    /// The posterior mean of a function of the parameter.
    fn mean_of(&self, f: impl Fn(f64) -> f64) -> f64 {
        let log = |x: f64| self.log_integrand(x);
        let part = |piece: &Piece| piece.times(&log, &f, self.log_scale);
        self.pieces.iter().map(part).sum::<f64>() / self.mass
    }

    /// The position of the piece that contains x.
    fn piece_of(&self, x: f64) -> Option<usize> {
        let after = self.pieces.partition_point(|piece| piece.low <= x);
        let place = after.checked_sub(1)?;
        (x < self.pieces[place].high).then_some(place)
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
        if x >= self.support.0 && x <= self.support.1 {
            self.log_integrand(x) - self.log_scale - self.mass.ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        match self.piece_of(x) {
            Some(i) => {
                let piece = &self.pieces[i];
                (self.below[i] + self.between(piece, piece.low, x)).clamp(0.0, 1.0)
            }
            None => f64::from(u8::from(x >= self.support.1)),
        }
    }

    fn survival(&self, x: f64) -> f64 {
        match self.piece_of(x) {
            Some(i) => {
                let piece = &self.pieces[i];
                (self.above[i] + self.between(piece, x, piece.high)).clamp(0.0, 1.0)
            }
            None => f64::from(u8::from(x < self.support.1)),
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
