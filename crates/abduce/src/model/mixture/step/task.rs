//! A mixture to be fitted by EM: its leaves and priors, and the weight of rows without a label.
//! If every row has a label, a single pass gives the estimates.

use crate::Control;
use crate::Result;
use crate::data::{Chunk, Schema, Source};
use crate::family::LeafFamily;
use crate::kernel::hashing::mix;
use crate::leaf::Leaf;
use crate::leaf::TableSummary;
use crate::learn::{
    Accelerated, Coordinates, EStep, EmOptions, EmResult, Expected, Latent, Pass, Safeguards, em,
    expect_all,
};
use crate::model::mixture::initialise::statistics_of_labels;
use crate::model::mixture::report::diagnose::any_singular;
use crate::model::mixture::step::coordinates::{at_coordinates, coordinates};
use crate::model::mixture::step::expect::Prepared;
use crate::model::mixture::step::maximize::{WeightPrior, log_prior, maximize, segment};
use crate::model::mixture::{FittedMixture, MixtureStatistics, Parameters};

/// The result of EM on a mixture.
pub(crate) type EmFit = EmResult<Parameters, MixtureStatistics>;

/// A mixture to be fitted by EM.
#[derive(Clone)]
pub(crate) struct Task<'a> {
    pub leaves: &'a [Leaf],
    pub target: Option<usize>,
    pub components: usize,
    pub weights: WeightPrior,
    /// The weight of a row without a label, relative to a labelled row.
    pub unlabelled: f64,
    pub log_units: f64,
    /// Whether EM starts from given parameters, which need not satisfy the constraints of this
    /// mixture, such as tied columns or the variance floor.
    pub has_given_start: bool,
    /// Whether the fitted mixture integrates out its parameters in answers.
    pub predictive: bool,
    /// The seed of drawn labels.
    pub seed: u64,
    pub control: Control<'a>,
}

/// Whether a constant is added to estimated variances.
pub(crate) fn has_ridge(leaves: &[Leaf]) -> bool {
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
            prepared =
                prepared.with_drawn_labels(mix(mix(self.seed).wrapping_add(pass.round as u64)));
        }
        if pass.likelihood_only {
            prepared = prepared.without_moments();
        }
        let prepared = prepared.with_control(self.control);
        Ok(prepared.with_unlabelled_weight(self.unlabelled))
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
        prepared.process_chunk(number, chunk, Some(statistics), |_| {})
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
        statistics.complete_log_likelihood(self.leaves, parameters)
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

    fn may_decrease(&self, steps: usize) -> bool {
        has_ridge(self.leaves) || (self.has_given_start && steps == 0)
    }

    fn has_enough_rows(&self, statistics: &MixtureStatistics) -> bool {
        // Fixed distributions and noise need no rows.
        let mut components = statistics.weights.iter().enumerate();
        let is_enough = |(j, rows): (usize, &f64)| {
            let leaves = self.leaves.iter();
            let learned = leaves.filter(|leaf| leaf.learned(self.components).contains(&j));
            let columns: usize = learned.map(|leaf| leaf.family.columns()).sum();
            columns == 0 || *rows >= 2.0 * (columns + 1) as f64
        };
        // Classes have at least their labelled rows.
        self.target.is_some() || components.all(is_enough)
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
    /// The number of noise components: 1 or 0.
    pub fn noise_components(&self) -> usize {
        usize::from(self.leaves.iter().any(|leaf| leaf.noise.is_some()))
    }

    /// Whether components cannot be renumbered, because weights or distributions are given for
    /// some of them.
    pub fn has_fixed_numbering(&self) -> bool {
        self.weights.given.is_some() || self.leaves.iter().any(|leaf| !leaf.held.is_empty())
    }

    /// The fitted mixture with these parameters.
    pub fn fitted_mixture(
        &self,
        schema: &Schema,
        parameters: Parameters,
        statistics: MixtureStatistics,
        summary: TableSummary,
    ) -> FittedMixture {
        FittedMixture {
            weight_smoothing: self.weights.smoothing,
            given_weights: self.weights.given.clone(),
            predictive: self.predictive,
            statistics,
            summary,
            ..FittedMixture::given(
                schema.clone(),
                self.target,
                self.leaves.to_vec(),
                parameters,
            )
        }
    }

    /// Runs EM from the estimates of the labelled rows; `None` if the caller stopped it.
    pub fn em_from_labels(
        &self,
        source: &dyn Source,
        target: usize,
        options: &EmOptions,
        control: Control,
    ) -> Result<Option<EmFit>> {
        let start = self.maximize(&statistics_of_labels(source, self.leaves, target)?, None);
        em(self, source, start, options, control)
    }

    /// Runs EM with the levels of a column as the initial clusters; `None` if the caller stopped
    /// it. The column is one of `whole`; `source` has the same rows without it, and their total
    /// weight is `rows`.
    pub fn em_from_column(
        &self,
        (whole, column): (&dyn Source, usize),
        source: &dyn Source,
        rows: f64,
        options: &EmOptions,
        control: Control,
    ) -> Result<Option<EmFit>> {
        let position_in_whole = |c: &usize| c + usize::from(*c >= column);
        let leaves = self.leaves.iter().map(|leaf| Leaf {
            columns: leaf.columns.iter().map(position_in_whole).collect(),
            ..leaf.clone()
        });
        let leaves: Vec<Leaf> = leaves.collect();
        let mut statistics = statistics_of_labels(whole, &leaves, column)?;
        if self.noise_components() > 0 {
            let noise = (rows - statistics.total).max(0.01 * rows);
            statistics.weights.push(noise);
            for (components, leaf) in statistics.leaves.iter_mut().zip(&leaves) {
                components.push(leaf.family.zero());
            }
        }
        let start = self.maximize(&statistics, None);
        em(self, source, start, options, control)
    }

    /// The parameters after one EM step, which satisfy the constraints of this mixture even if
    /// those of the start do not; `None` if the caller stopped it.
    pub fn after_one_step(
        &self,
        source: &dyn Source,
        start: Parameters,
        options: &EmOptions,
        control: Control,
    ) -> Result<Option<Parameters>> {
        let pass = Pass::expectation(options.plain().step);
        let expected = expect_all(self, source, &start, pass, control)?;
        Ok(expected.map(|statistics| self.maximize(&statistics, Some(&start))))
    }

    /// The fit to statistics of rows that all have labels.
    pub fn fit_complete(&self, mut statistics: MixtureStatistics) -> EmFit {
        let clock = std::time::Instant::now();
        let parameters = self.maximize(&statistics, None);
        statistics.log_likelihood = statistics.complete_log_likelihood(self.leaves, &parameters);
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
            long_steps: 0,
            interrupted: false,
            seconds: vec![clock.elapsed().as_secs_f64()],
        }
    }
}
