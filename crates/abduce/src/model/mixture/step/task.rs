//! What is to be learned, as EM sees it: leaves, priors, and how much rows
//! without a label count. With every label seen, one pass is all of it.

use crate::Control;
use crate::Result;
use crate::data::{Chunk, Schema, Source};
use crate::family::LeafFamily;
use crate::kernel::hashing::mix;
use crate::leaf::Leaf;
use crate::leaf::Seen;
use crate::learn::{
    Accelerated, Coordinates, EStep, EmOptions, EmResult, Expected, Latent, Pass, Safeguards, em,
    expect_all,
};
use crate::model::mixture::initialise::statistics_of_labels;
use crate::model::mixture::report::diagnose::any_singular;
use crate::model::mixture::step::coordinates::{at_coordinates, coordinates};
use crate::model::mixture::step::expect::Prepared;
use crate::model::mixture::step::maximize::{WeightBelief, log_prior, maximize, segment};
use crate::model::mixture::{FittedMixture, MixtureStatistics, Parameters};

pub(crate) type Found = EmResult<Parameters, MixtureStatistics>;

/// The mixture as EM sees it.
#[derive(Clone)]
pub(crate) struct Task<'a> {
    pub leaves: &'a [Leaf],
    pub target: Option<usize>,
    pub components: usize,
    pub weights: WeightBelief,
    /// How much rows without a label count beside the labelled ones.
    pub unlabelled: f64,
    pub log_units: f64,
    /// Whether EM begins at given parameters, which need not keep to what is shared or
    /// to the least variance here.
    pub given: bool,
    /// Whether the mixture is to answer with its parameters integrated out.
    pub predictive: bool,
    /// The seed of drawn labels.
    pub seed: u64,
    pub control: Control<'a>,
}

/// Whether something is added to variances once they are estimated.
fn has_ridge(leaves: &[Leaf]) -> bool {
    leaves.iter().any(|leaf| match &leaf.family {
        LeafFamily::Gaussian { prior, .. } => prior.ridge > 0.0,
        LeafFamily::Multivariate { prior, .. } | LeafFamily::MultivariateStudentT { prior, .. } => {
            prior.ridge > 0.0 || prior.unit_share > 0.0
        }
        _ => false,
    })
}

impl Latent for Task<'_> {
    type Parameters = Parameters;
    type Prepared<'a>
        = Prepared<'a>
    where
        Self: 'a;
    type Statistics = MixtureStatistics;

    fn prepare<'a>(&'a self, parameters: &'a Parameters, pass: Pass) -> Result<Prepared<'a>> {
        let mut prepared = Prepared::new(self.leaves, self.target, parameters, pass.step)?;
        if pass.step == EStep::Sampled {
            prepared = prepared.drawing(mix(mix(self.seed).wrapping_add(pass.round as u64)));
        }
        if pass.likelihood_only {
            prepared = prepared.without_moments();
        }
        let prepared = prepared.stopped_by(self.control);
        Ok(prepared.with_unlabelled(self.unlabelled))
    }

    fn zero(&self) -> MixtureStatistics {
        MixtureStatistics::zero(self.leaves, self.components)
    }

    fn expect(
        &self,
        prepared: &Prepared<'_>,
        number: usize,
        chunk: &Chunk,
        statistics: &mut MixtureStatistics,
    ) -> Result<()> {
        prepared.process_numbered(number, chunk, Some(statistics), |_| {})
    }

    fn segment(&self) -> usize {
        segment(self.leaves, self.components)
    }

    fn maximize(&self, statistics: &MixtureStatistics, before: Option<&Parameters>) -> Parameters {
        maximize(self.leaves, &self.weights, statistics, before)
    }

    fn complete_log_likelihood(
        &self,
        statistics: &MixtureStatistics,
        parameters: &Parameters,
    ) -> f64 {
        statistics.log_likelihood_of(self.leaves, parameters)
    }

    fn log_prior(&self, parameters: &Parameters) -> f64 {
        log_prior(self.leaves, &self.weights, parameters)
    }
}

impl Safeguards for Task<'_> {
    fn log_units(&self) -> f64 {
        self.log_units
    }

    fn is_singular(&self, parameters: &Parameters) -> bool {
        any_singular(self.leaves, parameters)
    }

    fn may_fall(&self, steps: usize) -> bool {
        has_ridge(self.leaves) || (self.given && steps == 0)
    }

    fn determines(&self, statistics: &MixtureStatistics) -> bool {
        // What is held needs no rows, and neither does noise.
        let mut components = statistics.weights.iter().enumerate();
        let sound = |(j, rows): (usize, &f64)| {
            let leaves = self.leaves.iter();
            let learned = leaves.filter(|leaf| leaf.learned(self.components).contains(&j));
            let columns: usize = learned.map(|leaf| leaf.family.columns()).sum();
            columns == 0 || *rows >= 2.0 * (columns + 1) as f64
        };
        // Classes have their labelled rows.
        self.target.is_some() || components.all(sound)
    }
}

impl Accelerated for Task<'_> {
    fn coordinates(&self, parameters: &Parameters) -> Option<Coordinates> {
        coordinates(self.leaves, self.weights.given.is_none(), parameters)
    }

    fn at_coordinates(&self, near: &Parameters, values: &[f64]) -> Option<Parameters> {
        at_coordinates(self.leaves, self.weights.given.is_none(), near, values)
    }
}

impl Expected for MixtureStatistics {
    fn merge(&mut self, other: MixtureStatistics) {
        MixtureStatistics::merge(self, &other);
    }

    fn scale(&mut self, factor: f64) {
        MixtureStatistics::scale(self, factor);
    }

    fn weight(&self) -> f64 {
        self.total
    }

    fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    fn set_log_likelihood(&mut self, log_likelihood: f64) {
        self.log_likelihood = log_likelihood;
    }
}

impl Task<'_> {
    /// How many components are noise: the last, or none.
    pub fn noise(&self) -> usize {
        usize::from(self.leaves.iter().any(|leaf| leaf.noise.is_some()))
    }

    /// Whether components are what they are by their number, some being held.
    pub fn is_numbered(&self) -> bool {
        self.weights.given.is_some() || self.leaves.iter().any(|leaf| !leaf.held.is_empty())
    }

    /// A mixture with these parameters.
    pub fn mixture(
        &self,
        schema: &Schema,
        parameters: Parameters,
        statistics: MixtureStatistics,
        seen: Seen,
    ) -> FittedMixture {
        FittedMixture {
            weight_smoothing: self.weights.smoothing,
            given_weights: self.weights.given.clone(),
            predictive: self.predictive,
            statistics,
            seen,
            ..FittedMixture::given(
                schema.clone(),
                self.target,
                self.leaves.to_vec(),
                parameters,
            )
        }
    }

    /// EM from where the labelled rows are; `None` when the caller stopped it.
    pub fn em_from_labels(
        &self,
        source: &dyn Source,
        target: usize,
        options: &EmOptions,
        control: Control,
    ) -> Result<Option<Found>> {
        let start = self.maximize(&statistics_of_labels(source, self.leaves, target)?, None);
        em(self, source, start, options, control)
    }

    /// EM from where the levels of a column of the `whole` are, which `source` is
    /// without, of so many rows; `None` when the caller stopped it.
    pub fn em_from_column(
        &self,
        (whole, column): (&dyn Source, usize),
        source: &dyn Source,
        rows: f64,
        options: &EmOptions,
        control: Control,
    ) -> Result<Option<Found>> {
        let place = |c: &usize| c + usize::from(*c >= column);
        let leaves = self.leaves.iter().map(|leaf| Leaf {
            columns: leaf.columns.iter().map(place).collect(),
            ..leaf.clone()
        });
        let leaves: Vec<Leaf> = leaves.collect();
        let mut statistics = statistics_of_labels(whole, &leaves, column)?;
        if self.noise() > 0 {
            let noise = (rows - statistics.total).max(0.01 * rows);
            statistics.weights.push(noise);
            let each = statistics.leaves.iter_mut().zip(&leaves);
            each.for_each(|(own, leaf)| own.push(leaf.family.zero()));
        }
        let start = self.maximize(&statistics, None);
        em(self, source, start, options, control)
    }

    /// The parameters of one step of EM, which keep to what is tied or shared here, if
    /// those before did not; `None` when the caller stopped it.
    pub fn after_one_step(
        &self,
        source: &dyn Source,
        start: Parameters,
        options: &EmOptions,
        control: Control,
    ) -> Result<Option<Parameters>> {
        let pass = Pass::expectation(options.plainly().step);
        let expected = expect_all(self, source, &start, pass, control)?;
        Ok(expected.map(|statistics| self.maximize(&statistics, Some(&start))))
    }

    /// All is seen: the statistics are the fit.
    pub fn in_one_pass(&self, mut statistics: MixtureStatistics) -> Found {
        let clock = std::time::Instant::now();
        let parameters = self.maximize(&statistics, None);
        statistics.log_likelihood = statistics.log_likelihood_of(self.leaves, &parameters);
        let objective = statistics.log_likelihood + self.log_prior(&parameters);
        EmResult {
            objective,
            objectives: vec![objective],
            trace: vec![statistics.log_likelihood],
            bounds: Vec::new(),
            warmup: Vec::new(),
            parameters,
            statistics,
            iterations: 1,
            converged: true,
            monotone: true,
            singular: false,
            leaps: 0,
            interrupted: false,
            seconds: vec![clock.elapsed().as_secs_f64()],
        }
    }
}
