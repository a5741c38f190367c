//! Families of distributions, one file each: its statistics, its parameters,
//! its prior, its density, estimate and sampler. The list in `leaf.rs` is the only
//! place that names them all; the mixture, the model file and the laws are
//! driven by it.

mod categorical;
mod continuous;
mod coordinates;
mod counts;
mod exponential_family;
#[cfg(test)]
mod laws;
mod list;
mod list_methods;
mod multi;
mod multivariate;
mod named;
mod predictive;
mod priors;
mod scalar;
mod sums;
mod text;
mod univariate;

pub use categorical::bernoulli::{Bernoulli, BernoulliStats};
pub use categorical::categorical::{Categorical, CategoricalStats};
pub(crate) use categorical::categorical::{draw_index, most_probable};
pub use categorical::multinomial::Multinomial;
pub use categorical::pseudocounts::Pseudocounts;
pub use continuous::beta::Beta;
pub use continuous::beta_stats::BetaStats;
pub use continuous::exponential::{Exponential, ExponentialStats};
pub use continuous::gamma::{Gamma, GammaStats};
pub use continuous::gaussian::{Gaussian, GaussianPrior, GaussianStats};
pub use continuous::histogram::HistogramPrior;
pub use continuous::kernel_density::KernelPrior;
pub use continuous::log_normal::LogNormal;
pub use continuous::point_stats::PointStats;
pub use continuous::student_t::StudentT;
pub use continuous::uniform::Uniform;
pub use continuous::von_mises::VonMises;
pub(crate) use continuous::von_mises::turned;
pub use continuous::von_mises_stats::VonMisesStats;
pub(crate) use coordinates::{logarithms, shares};
pub use counts::binomial::{BetaBinomial, Binomial, BinomialStats};
pub use counts::geometric::{Geometric, GeometricStats};
pub use counts::negative_binomial::NegativeBinomial;
pub use counts::point_mass::PointMass;
pub use counts::poisson::{Poisson, PoissonStats};
pub use counts::zero_inflated_poisson::{ZeroInflatedPoisson, ZeroInflatedPoissonStats};
pub use exponential_family::ExponentialFamily;
pub use list::{Distribution, LeafFamily, Statistics};
pub use multi::{Divergence, Multi};
pub use multivariate::uniform_box::{BoxStats, Side, UniformBox};
pub use multivariate::{
    Covariance, MultivariateGaussian, MultivariatePrior, MultivariateShape, MultivariateStats,
    MultivariateStudentT, MultivariateStudentTShape, MultivariateStudentTStats, Structure,
};
pub(crate) use multivariate::{Filler, TogetherKernel, TogetherRun};
pub(crate) use named::{Named, densities};
pub use named::{named, names_of_numbers};
pub use predictive::averaged::Averaged;
pub use predictive::averaged_angles::AveragedAngles;
pub use predictive::beta_negative_binomial::BetaNegativeBinomial;
pub use predictive::beta_prime::BetaPrime;
pub use predictive::dirichlet_multinomial::DirichletMultinomial;
pub use predictive::exponentiated::Exponentiated;
pub use predictive::lomax::Lomax;
pub use predictive::multivariate_t::MultivariateT;
pub use priors::dirichlet::Dirichlet;
pub use priors::inverse_gamma::InverseGamma;
pub use priors::inverse_wishart::InverseWishart;
pub use priors::normal_gamma::NormalGamma;
pub use priors::normal_inverse_wishart::NormalInverseWishart;
pub use priors::normal_wishart::NormalWishart;
pub use priors::wishart::Wishart;
pub use scalar::Scalar;
pub(crate) use sums::sums;
pub use text::presence::{Presence, PresencePrior};
pub use text::term_stats::TermStats;
pub use text::words::{Words, WordsShape};
pub(crate) use univariate::highest_between;
pub use univariate::{Univariate, divergence};

use crate::data::Rows;
use crate::{Error, Result};
use rand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a family remembers of the rows it saw: a commutative monoid. The zero
/// is [`Family::zero`].
pub trait Stats:
    Clone + std::fmt::Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned
{
    /// The total weight of the rows seen.
    fn weight(&self) -> f64;

    /// Adds what `other` saw.
    fn merge(&mut self, other: &Self);

    /// Makes every row seen weigh `factor` times as much.
    fn scale(&mut self, factor: f64);

    /// Takes out what `other` saw.
    ///
    /// # Errors
    /// If `other` cannot have been part of what was seen.
    fn forget(&mut self, other: &Self) -> Result<()>;
}

/// How to fill a missing value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// With the expected value; a coded cell gets its most probable level.
    Mean,
    /// With the most probable value.
    Mode,
    /// With a random draw.
    Draw,
}

/// One distribution over one column, or over one group of columns.
///
/// `rows` hold the family's columns only. A row is also written as a slice of
/// numbers, with a level as its code.
pub trait Family: Clone + std::fmt::Debug + Send + Sync + Serialize + DeserializeOwned {
    /// The name users read.
    const NAME: &'static str;
    /// Whether estimates make what was seen as likely as can be; a density made of
    /// points does not, as its width would become 0.
    const BY_LIKELIHOOD: bool = true;
    /// Whether a row has something of its own that is never seen: estimates from
    /// [`observe`](Family::observe) are then only where EM begins, and the
    /// log-likelihood of statistics is an expected one.
    const LATENT: bool = false;
    /// What it remembers of rows.
    type Stats: Stats;
    /// What is known before any row: the number of levels or of columns.
    type Shape: Clone + std::fmt::Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned;
    /// The prior whose mode the estimate is; its default is flat.
    type Prior: Clone
        + std::fmt::Debug
        + PartialEq
        + Default
        + Send
        + Sync
        + Serialize
        + DeserializeOwned;

    /// The shape over a single column of so many levels, where there is one.
    fn shape_of_column(levels: usize) -> Option<Self::Shape>;

    /// Statistics of no row.
    fn zero(shape: &Self::Shape) -> Self::Stats;

    /// The shape that this distribution has.
    fn shape(&self) -> Self::Shape;

    /// Adds rows to the statistics, each with its weight; what is hidden adds
    /// nothing.
    fn observe(rows: &Rows, weights: &[f64], stats: &mut Self::Stats);

    /// Like [`observe`](Family::observe), with hidden cells replaced by what
    /// this distribution expects of them given the seen ones. Families of one
    /// column lose nothing by leaving hidden cells out.
    fn expect(&self, rows: &Rows, weights: &[f64], stats: &mut Self::Stats) {
        let _ = self;
        Self::observe(rows, weights, stats);
    }

    /// Adds each row's log-density to `out`, with hidden cells integrated out.
    fn add_log_density(&self, rows: &Rows, out: &mut [f64]);

    /// The mode of the posterior under a prior; with the default prior, the
    /// maximum-likelihood estimate.
    ///
    /// # Errors
    /// If the statistics do not determine it, as when nothing was seen.
    fn map(stats: &Self::Stats, prior: &Self::Prior) -> Result<Self>;

    /// The maximum-likelihood estimate.
    ///
    /// # Errors
    /// As [`map`](Family::map).
    fn mle(stats: &Self::Stats) -> Result<Self> {
        Self::map(stats, &Self::Prior::default())
    }

    /// The log-density of the prior at this distribution, up to a constant.
    fn log_prior(&self, prior: &Self::Prior) -> f64;

    /// The log-likelihood of the rows that the statistics sum up.
    fn log_likelihood(&self, stats: &Self::Stats) -> f64;

    /// The number of free parameters.
    fn parameters(shape: &Self::Shape) -> usize;

    /// Whether a density has units, as one over real numbers does.
    const HAS_UNITS: bool;

    /// Whether it is over documents: a column of text, or a column of counts for
    /// each term.
    const TEXT: bool = false;

    /// The number of columns of a shape.
    fn columns(_shape: &Self::Shape) -> usize {
        1
    }

    /// The number of levels of a shape, for a family over levels.
    fn levels(_shape: &Self::Shape) -> Option<usize> {
        None
    }

    /// Whether a number can be a cell of this family; codes always can.
    fn supports(x: f64) -> bool {
        x.is_finite()
    }

    /// A weak prior in the units of the columns.
    fn weak_prior(scales: &[Scale], belief: &Belief) -> Self::Prior;

    /// What to say of columns of which a component, or nobody, saw anything.
    fn vague(shape: &Self::Shape, scales: &[Scale]) -> Self;

    /// Whether the parameters are in their range and of this shape.
    fn is_valid(&self, shape: &Self::Shape) -> bool;

    /// Whether statistics are of this shape.
    fn describes(shape: &Self::Shape, stats: &Self::Stats) -> bool;

    /// Whether a prior is of this shape, with parameters in their range.
    fn accepts(shape: &Self::Shape, prior: &Self::Prior) -> bool;

    /// Pulls the statistics of several components towards what all have in
    /// common, so that each can start EM: none without spread, none that rules
    /// out what it has not seen.
    fn pull_together(stats: &mut [Self::Stats]);

    /// The smallest variance in any direction, as a share of the table's;
    /// constant columns do not count.
    fn spread(&self, _scales: &[Scale]) -> f64 {
        1.0
    }

    /// The estimates of several components. One that does not exist is what all
    /// rows together say, or else `vague`.
    fn map_all(
        _shape: &Self::Shape,
        stats: &[&Self::Stats],
        prior: &Self::Prior,
        vague: &Self,
    ) -> Vec<Self> {
        let one = |own: &Self::Stats| {
            Self::map(own, prior)
                .or_else(|_| Self::map(&merged(stats.iter().copied()), prior))
                .unwrap_or_else(|_| vague.clone())
        };
        stats.iter().copied().map(one).collect()
    }

    /// The same where the components were something `before`, for families whose
    /// estimates are found by a search that has to begin somewhere.
    fn map_all_from(
        shape: &Self::Shape,
        stats: &[&Self::Stats],
        prior: &Self::Prior,
        vague: &Self,
        _before: &[&Self],
    ) -> Vec<Self> {
        Self::map_all(shape, stats, prior, vague)
    }

    /// The log-prior of the parameters of several components.
    fn log_prior_all<'a>(
        _shape: &Self::Shape,
        distributions: impl Iterator<Item = &'a Self>,
        prior: &Self::Prior,
    ) -> f64
    where
        Self: 'a,
    {
        distributions.map(|d| d.log_prior(prior)).sum()
    }

    /// The number of free parameters of several components.
    fn parameters_of_all(shape: &Self::Shape, components: usize) -> usize {
        components * Self::parameters(shape)
    }

    /// Fills the missing values of one row given what is seen of it; `row` and `out`
    /// hold the family's columns.
    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]);

    /// The probabilities of the levels, for a family over levels.
    fn probabilities(&self) -> Option<Vec<f64>> {
        None
    }

    /// Draws one row.
    fn sample(&self, rng: &mut dyn Rng, out: &mut [f64]) {
        let nothing = vec![None; out.len()];
        self.fill(Fill::Draw, &nothing, rng, out);
    }

    /// The parameters as free numbers, of which any will do, without units: beside
    /// `unit`, which is as wide as the table. Straight lines on them may be drawn
    /// further than EM goes. `None` where there are no such numbers.
    fn coordinates(&self, _shape: &Self::Shape, _unit: &Self) -> Option<Vec<f64>> {
        None
    }

    /// This distribution moved to other coordinates; what has none stays, as a
    /// probability of 0 does. `None` where it would be out of range.
    fn at_coordinates(
        &self,
        _shape: &Self::Shape,
        _unit: &Self,
        _coordinates: &[f64],
    ) -> Option<Self> {
        None
    }

    /// How many coordinates, the last of each distribution, EM moves at a pace of their
    /// own, so that long steps had better be of a length of their own in each.
    fn paced_apart(_shape: &Self::Shape) -> usize {
        0
    }

    /// Distributions that the laws are tried on.
    fn examples() -> Vec<Self>;
}

/// Where the numbers of a column lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Their mean.
    pub mean: f64,
    /// Their variance; positive for a constant column too, so that there is
    /// always a unit.
    pub variance: f64,
    /// Whether they are all the same.
    pub constant: bool,
}

/// How strong weak priors are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Belief {
    /// The scatter that variances are believed to have before any row, as a
    /// share of the column's variance.
    pub variance_floor: f64,
    /// What is added to every variance once it is estimated, in the units of the
    /// columns squared.
    pub ridge: f64,
    /// The share of the unit matrix in every covariance of columns taken together.
    pub unit_share: f64,
    /// α of the Dirichlet(1 + α) priors on levels, and so many rows at the mean
    /// for rates.
    pub smoothing: f64,
    /// The total weight of the rows.
    pub rows: f64,
    /// The weight of one row: the mean where that is below 1, otherwise 1. Integer weights
    /// then equal repeated rows, and small weights may be multiplied by any factor up to 1.
    pub row_weight: f64,
}

impl Belief {
    /// The scatter believed in, as a share of a column's variance: the floor
    /// once, and a hundredth of it with every row, so that the condition of a
    /// covariance stays bounded however many rows there are.
    pub fn scatter(&self) -> f64 {
        self.variance_floor * (self.row_weight + 0.01 * self.rows)
    }
}

/// Whether a number is left out of files.
pub(crate) fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// The statistics of all rows, of which there must be some.
fn merged<'a, S: Stats + 'a>(stats: impl IntoIterator<Item = &'a S>) -> S {
    let mut stats = stats.into_iter();
    let first = stats.next().cloned();
    let mut all = first.unwrap_or_else(|| unreachable!("a mixture has components"));
    stats.for_each(|own| all.merge(own));
    all
}

pub(crate) fn nothing_seen() -> Error {
    Error::numeric("nothing was seen to estimate from")
}

pub(crate) fn never_seen() -> Error {
    Error::data("rows to forget that were never seen")
}

/// Whether a number is a count.
pub(crate) fn is_count(x: f64) -> bool {
    x >= 0.0 && x.is_finite() && x.fract() == 0.0
}

/// A logarithm as many times, which is 0 for no times, also of −∞: what never
/// happened says nothing, however improbable it was.
pub(crate) fn times(count: f64, log: f64) -> f64 {
    if count > 0.0 { count * log } else { 0.0 }
}
