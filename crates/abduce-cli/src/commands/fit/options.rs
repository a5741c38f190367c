//! What to fit and how: the models there are, and the options of each. An
//! option that a model has no use for is an error, not a silence.

mod grid;
mod kmeans;
mod refused;

use super::density_options::DensityOptions;
use super::em_options::EmArguments;
use super::given_options::GivenOptions;
use super::kmeans_options::KMeansOptions;
use super::model_name::ModelName;
use super::smoothing_options::{
    Smoothing, class_prior, dirichlet, event, smoothing, unlabelled, unseen,
};
use super::tails_options::TailsOptions;
use super::values::{
    Choice, Covariances, Numbers, Start, at_least_one, choice, components, covariances, init,
    normal_prior, significance,
};
use crate::arguments::{DataArguments, not_negative, split_wishes};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::text_options::TextArguments;
use abduce::Error;
use abduce::data::{Schema, TextOptions};
use abduce::density::BandwidthShape;
use abduce::leaf::{FamilyName, Unseen};
use abduce::model::density;
use abduce::model::kmeans as clusters;
use abduce::model::mixture::{
    BootstrapOptions, CovarianceKind, Event, FitOptions, Grid, Mixture, NormalPrior, Specification,
    Unlabelled,
};
use clap::Args;
use std::ops::RangeInclusive;

/// The options of the models.
#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct ModelOptions {
    /// The column of labels [naive-bayes, gda; kde, histogram and knn where
    /// there are classes; default for naive-bayes and gda: class of a folder with
    /// a folder for each class and of several mailboxes, label of svmlight files]
    #[arg(long, value_name = "COL")]
    target: Option<String>,

    /// The number of components or clusters [mixture, kmeans], or several to choose
    /// from, as in 1-9 or 2,4,8 [mixture]
    #[arg(long, short = 'k', value_name = "K", allow_negative_numbers = true, value_parser = components)]
    components: Option<Numbers>,

    /// The covariance of the numbers: full, tied, diagonal, spherical, identity, or
    /// one of mclust's EII VII EEI VEI EVI VVI EEE VEE EVE VVE EEV VEV EVV VVV
    /// [gda, mixture; default: full]; several, as in EEE,VVV, or all, to choose from
    /// [mixture]; or the shape of the bandwidth: diagonal or full [kde; default:
    /// diagonal]
    #[arg(long, value_name = "SHAPE", value_parser = covariances)]
    covariance: Option<Covariances>,

    /// Criterion for choosing among several --components and --covariance: bic, aic, icl, or cv
    /// (likelihood of held-out rows); or bootstrap, which tests each number of components
    /// against one more and stops at the first that is not rejected [mixture; default: bic]
    #[arg(long, value_name = "CRITERION", value_parser = choice)]
    select: Option<Choice>,

    /// How many tables are drawn for each test of --select bootstrap [default: 999]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    replicates: Option<usize>,

    /// The p-value up to which --select bootstrap rejects a number of components
    /// [default: 0.05]
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = significance)]
    significance: Option<f64>,

    /// How many starts to try [mixture, kmeans; default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    restarts: Option<usize>,

    /// How starts are seeded: kmeans++, random, hierarchical (the same tree of
    /// merged rows whatever the seed), or auto, which is hierarchical once and then
    /// kmeans++, with random rows among them [mixture; default: auto]; greedy (kmeans++ with several candidates),
    /// kmeans++, parallel (k-means||, over all rows) or random [kmeans; default: greedy]
    #[arg(long, value_name = "HOW", value_parser = init)]
    init: Option<Start>,

    /// The relative change of the mean log-likelihood, or of the inertia of kmeans,
    /// at which learning ends [default: 1e-8, with --method online 1e-5]
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = not_negative)]
    tol: Option<f64>,

    /// Maximum number of iterations [default: 1000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    max_iter: Option<usize>,

    /// Pseudocount added to each level and each word: a number, none (0) or laplace (1); or an
    /// m-estimate: m=M spreads M rows evenly over the levels, m=M,pooled spreads them as in the
    /// whole table. Count columns get as many rows at the column's mean. Without smoothing, an
    /// unseen category is impossible [default: 1 for naive-bayes and gda, 0 for mixture]. For
    /// histogram, the number of rows spread over the whole range [default: 1 with --target,
    /// else 0]
    #[arg(long, value_name = "ALPHA", allow_hyphen_values = true, value_parser = smoothing)]
    smoothing: Option<Smoothing>,

    /// How to treat categories not seen in the fit: impossible (unless --smoothing gives them a
    /// probability) or missing [naive-bayes, gda, mixture; default: impossible]
    #[arg(long, value_name = "WHAT", value_parser = unseen)]
    unseen: Option<Unseen>,

    /// Pseudocounts for the levels of one column, one per level, as in outlook=1,2,1
    /// [repeatable]
    #[arg(long, value_name = "COL=A,B,…")]
    dirichlet: Vec<String>,

    /// The probabilities of the classes: learned, uniform, or given as in
    /// spam=0.2,ham=0.8 [default: learned]
    #[arg(long, value_name = "PRIOR")]
    class_prior: Option<String>,

    /// How words, and columns of counts taken together, are counted: multinomial (every
    /// occurrence), bernoulli (presence or absence) or complement (estimated from the other
    /// classes) [default: multinomial for text; count columns are modelled separately]
    #[arg(long, value_name = "EVENT", value_parser = event)]
    event: Option<Event>,

    /// Weight of a row without a label: a number, or auto to choose it by cross-validation on
    /// the labelled rows [naive-bayes, gda; default: auto]
    #[arg(long, value_name = "WEIGHT", allow_hyphen_values = true, value_parser = unlabelled)]
    unlabelled: Option<Unlabelled>,

    /// Pseudocount added to each class or component [default: 0]
    #[arg(long, value_name = "ALPHA", allow_hyphen_values = true, value_parser = not_negative)]
    class_smoothing: Option<f64>,

    /// Answer questions with the parameters integrated out instead of estimated:
    /// Student t for Gaussian columns, negative binomial for Poisson ones,
    /// Dirichlet–multinomial for words [naive-bayes]
    #[arg(long)]
    predictive: bool,

    /// Do not store row hashes in the model file; abduce forget then cannot recognize rows that
    /// were never fitted [naive-bayes, gda]
    #[arg(long)]
    no_marks: bool,

    /// Prior scatter added to each variance, as a share of the variance of the column; keeps
    /// variances from collapsing to zero [default: 1e-6]
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = not_negative)]
    variance_floor: Option<f64>,

    /// Prior on the Gaussians: mclust (mclust's default), or normal-inverse-wishart(κ,ν), where
    /// κ is the number of pseudo-rows at the table's mean and ν the degrees of freedom of the
    /// covariance [gda, mixture]
    #[arg(long, value_name = "PRIOR", value_parser = normal_prior)]
    prior: Option<NormalPrior>,

    /// The family of a column, as in visits=poisson. For numbers: gaussian,
    /// student-t, exponential, gamma, log-normal, beta, von-mises, uniform, kde,
    /// histogram; for counts: poisson, zero-inflated-poisson, geometric,
    /// negative-binomial; for levels: categorical, bernoulli
    #[arg(long, value_name = "COL=FAMILY")]
    family: Vec<String>,

    #[command(flatten)]
    tails: TailsOptions,

    #[command(flatten)]
    em: EmArguments,

    #[command(flatten)]
    given: GivenOptions,

    #[command(flatten)]
    density: DensityOptions,

    #[command(flatten)]
    kmeans: KMeansOptions,

    #[command(flatten)]
    text: TextArguments,
}

/// What to fit.
pub enum Task {
    Mixture(Specification, FitOptions, Option<Box<Mixture>>),
    Selection(Specification, Grid, FitOptions),
    /// Numbers of components tested from the first to the last.
    Bootstrap(
        Specification,
        RangeInclusive<usize>,
        FitOptions,
        BootstrapOptions,
    ),
    Density(density::Specification),
    KMeans(clusters::Specification, clusters::Options),
}

impl Task {
    pub fn target(&self) -> Option<&str> {
        match self {
            Task::Mixture(specification, ..)
            | Task::Selection(specification, ..)
            | Task::Bootstrap(specification, ..) => specification.target.as_deref(),
            Task::Density(specification) => specification.target.as_deref(),
            Task::KMeans(..) => None,
        }
    }
}

impl ModelOptions {
    /// The column named as the target.
    pub fn target_column(&self) -> Option<&String> {
        self.target.as_ref()
    }

    /// The model file that the fit begins at.
    pub fn start_file(&self) -> Option<String> {
        self.given.start_file()
    }

    /// How columns of text are read, if the task has a use for them.
    pub fn text(&self, task: &Task) -> Outcome<Option<TextOptions>> {
        match task {
            Task::Mixture(..) | Task::Selection(..) | Task::Bootstrap(..) => {
                self.text.options().map(Some)
            }
            Task::Density(_) | Task::KMeans(..) => Ok(None),
        }
    }

    /// Says which options are given in vain to these columns.
    pub fn note_unused(&self, task: &Task, schema: &Schema, context: &Context) {
        self.text.note_unused(schema, context);
        self.note_without_numbers(task, schema, context);
    }

    /// What to fit, and how; `data` may say where the labels are.
    pub fn task(&self, model: ModelName, data: &DataArguments, seed: u64) -> Outcome<Task> {
        let unfit = self.density.unfit(model);
        let unfit = unfit.or_else(|| self.tails.unfit(model));
        let unfit = unfit.or_else(|| self.kmeans.unfit(model));
        let unfit = unfit.or_else(|| self.em.unfit(model));
        if let Some((option, why)) = unfit.or_else(|| self.given.unfit(model)) {
            return Err(does_not_apply(option, model, why));
        }
        self.refuse_tests_not_asked_for(model)?;
        if model == ModelName::Kmeans {
            return self.kmeans_task(seed);
        }
        let shape = match self.covariance() {
            Some(CovarianceKind::Full) => BandwidthShape::Full,
            _ => BandwidthShape::Diagonal,
        };
        let smoothing = f64::from(u8::from(self.target.is_some()));
        let smoothing = match self.smoothing {
            None => smoothing,
            Some(Smoothing::Same(alpha)) => alpha,
            Some(Smoothing::MEstimate(own)) => own.rows,
        };
        match self.density.estimator(model, shape, smoothing) {
            Some(estimator) => {
                self.refuse_what_densities_lack(model)?;
                Ok(Task::Density(density::Specification {
                    target: self.target.clone(),
                    estimator,
                }))
            }
            None => {
                let start = self.given.start()?;
                let mut specification = self.specification(model, data, start.as_ref())?;
                self.given.tell(start.as_ref(), &mut specification)?;
                let options = self.fit_options(seed);
                let test = self.tests(model)?;
                let grid = self.grid(model)?;
                if let (true, Some(option)) =
                    (test.is_some() || grid.is_some(), self.given.one_only())
                {
                    let message =
                        format!("{option} does not apply to a choice among several mixtures");
                    let error = Error::parameter(message);
                    let hint = "several are compared; give one number to --components and one --covariance";
                    return Err(error.with_hint(hint).into());
                }
                if let Some((numbers, test)) = test {
                    return Ok(Task::Bootstrap(specification, numbers, options, test));
                }
                Ok(match grid {
                    Some(grid) => Task::Selection(specification, grid, options),
                    None => Task::Mixture(specification, options, start.map(Box::new)),
                })
            }
        }
    }

    fn specification(
        &self,
        model: ModelName,
        data: &DataArguments,
        start: Option<&Mixture>,
    ) -> Outcome<Specification> {
        self.refuse_what_mixtures_lack(model)?;
        let target = || -> Outcome<String> {
            let target = match &self.target {
                Some(target) => Some(target.clone()),
                None => data.label_column()?,
            };
            Ok(target.ok_or_else(|| {
                Error::parameter(format!("{} needs --target COL", model.name()))
                    .with_hint("name the column that holds the labels")
            })?)
        };
        let covariance = self.covariance().unwrap_or_default();
        let mut specification = match model {
            ModelName::NaiveBayes => Specification::naive_bayes(target()?),
            ModelName::Gda => Specification::gda(target()?, covariance),
            _ => {
                let of_start = |own: &Mixture| own.components() - usize::from(own.has_noise());
                let asked = self.components.as_ref().map(|own| own.0[0]);
                let components = asked.or_else(|| start.map(of_start));
                if components.is_none() && self.given.begins().is_none() {
                    return Err(Error::parameter("mixture needs --components K")
                        .with_hint("say how many clusters to look for, or a range such as 1-9")
                        .into());
                }
                Specification {
                    components,
                    ..Specification::mixture(1, covariance)
                }
            }
        };
        for text in self.family.iter().flat_map(|text| split_wishes(text)) {
            let (column, family) = text.rsplit_once('=').ok_or_else(|| {
                Failure::usage(format!(
                    "--family: \"{text}\" does not say a column and its family; write column=family"
                ))
            })?;
            let family: FamilyName = family.trim().parse()?;
            specification
                .families
                .push((column.trim().to_string(), family));
        }
        let set = |place: &mut f64, given: Option<f64>| *place = given.unwrap_or(*place);
        match self.smoothing {
            Some(Smoothing::Same(alpha)) => specification.smoothing = alpha,
            Some(Smoothing::MEstimate(own)) => specification.m_estimate = Some(own),
            None => {}
        }
        specification.normal_prior = self.prior;
        specification.tails = self.tails.tails();
        specification.event = self.event;
        specification.unseen = self.unseen.unwrap_or_default();
        specification.predictive = self.predictive;
        specification.dirichlet = self
            .dirichlet
            .iter()
            .map(|text| dirichlet(text))
            .collect::<Outcome<_>>()?;
        if let Some(prior) = &self.class_prior {
            specification.class_prior = class_prior(prior)?;
        }
        set(&mut specification.weight_smoothing, self.class_smoothing);
        set(&mut specification.variance_floor, self.variance_floor);
        Ok(specification)
    }

    /// How to fit it.
    fn fit_options(&self, seed: u64) -> FitOptions {
        let default = FitOptions::default();
        FitOptions {
            em: self.em.options(self.tol, self.max_iter),
            restarts: self.restarts.unwrap_or(default.restarts),
            init: (self.init.and_then(|start| start.mixture)).unwrap_or(default.init),
            start_by: self.given.start_by(),
            unlabelled: self.unlabelled.unwrap_or(default.unlabelled),
            numbered: default.numbered,
            seed,
            marks: !self.no_marks,
            certainty: true,
        }
    }
}

fn does_not_apply(option: &str, model: ModelName, why: &str) -> Failure {
    let message = format!("{option} does not apply to {}", model.name());
    Error::parameter(message).with_hint(why).into()
}
