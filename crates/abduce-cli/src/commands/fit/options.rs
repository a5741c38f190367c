//! What to fit and how: the models there are, and the options of each. An
//! option that a model has no use for is an error, not a silence.

mod kmeans;

use super::density_options::DensityOptions;
use super::kmeans_options::KMeansOptions;
use super::model_name::ModelName;
use super::smoothing_options::{Smoothing, class_prior, dirichlet, event, smoothing, unlabelled};
use super::tails_options::TailsOptions;
use super::values::{
    Covariances, Numbers, Start, at_least_one, components, covariances, criterion, init, method,
    normal_prior,
};
use crate::arguments::{DataArguments, not_negative, split_wishes};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::text_options::TextArguments;
use abduce::Error;
use abduce::data::{Schema, TextOptions};
use abduce::density::BandwidthShape;
use abduce::learn::{EStep, EmOptions};
use abduce::model::density;
use abduce::model::kmeans as clusters;
use abduce::model::mixture::{
    CovarianceKind, Criterion, Event, FamilyName, FitOptions, Grid, NormalPrior, Specification,
    Unlabelled,
};
use clap::Args;

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

    /// What the best of several --components and --covariance is best in: bic, aic,
    /// icl, or cv for the likelihood of held-out rows [mixture; default: bic]
    #[arg(long, value_name = "CRITERION", value_parser = criterion)]
    select: Option<Criterion>,

    /// How hidden labels and cells are filled in while learning: by their
    /// expectation (em) or their most probable value (hard)
    #[arg(long, value_name = "METHOD", default_value = "em", value_parser = method)]
    method: EStep,

    /// How many starts to try [mixture, kmeans; default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    restarts: Option<usize>,

    /// How starts are seeded: kmeans++, random, hierarchical (the same tree of
    /// merged rows whatever the seed), or auto, which is hierarchical once and then
    /// kmeans++ [mixture; default: auto]; greedy (kmeans++ with several candidates),
    /// kmeans++, parallel (k-means||, over all rows) or random [kmeans; default: greedy]
    #[arg(long, value_name = "HOW", value_parser = init)]
    init: Option<Start>,

    /// The relative change of the mean log-likelihood, or of the inertia of kmeans,
    /// at which learning ends [default: 1e-8]
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = not_negative)]
    tol: Option<f64>,

    /// The most iterations [default: 1000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    max_iter: Option<usize>,

    /// Rows added in thought to every level of a column and to every word:
    /// a number, none (0) or laplace (1); or m=M for M rows spread evenly over
    /// the levels, m=M,pooled for M rows as all classes together show them
    /// (m-estimate) [default: 1 for naive-bayes and gda, 0 for mixture]; or spread
    /// over the whole range of the numbers [histogram; default: 1 with --target,
    /// else 0]
    #[arg(long, value_name = "ALPHA", allow_hyphen_values = true, value_parser = smoothing)]
    smoothing: Option<Smoothing>,

    /// Rows added in thought to the levels of one column, a number for each, as
    /// in outlook=1,2,1 [repeatable]
    #[arg(long, value_name = "COL=A,B,…")]
    dirichlet: Vec<String>,

    /// The probabilities of the classes: learned, uniform, or given as in
    /// spam=0.2,ham=0.8 [default: learned]
    #[arg(long, value_name = "PRIOR")]
    class_prior: Option<String>,

    /// What counts in text, and in columns of counts taken together: every
    /// word (multinomial), whether it is there (bernoulli), or every word as
    /// the other classes use it (complement) [default: multinomial for text,
    /// each column of counts by itself]
    #[arg(long, value_name = "EVENT", value_parser = event)]
    event: Option<Event>,

    /// How much a row without a label counts: a number, or auto to choose it by
    /// cross-validation on the labelled rows [naive-bayes, gda; default: auto]
    #[arg(long, value_name = "WEIGHT", allow_hyphen_values = true, value_parser = unlabelled)]
    unlabelled: Option<Unlabelled>,

    /// Rows added in thought to every class or component [default: 0]
    #[arg(long, value_name = "ALPHA", allow_hyphen_values = true, value_parser = not_negative)]
    class_smoothing: Option<f64>,

    /// Answer questions with the parameters integrated out instead of estimated:
    /// Student t for Gaussian columns, negative binomial for Poisson ones,
    /// Dirichlet–multinomial for words [naive-bayes]
    #[arg(long)]
    predictive: bool,

    /// Keep no marks of the rows in the model file, by which abduce forget knows
    /// a row that was never seen [naive-bayes, gda]
    #[arg(long)]
    no_marks: bool,

    /// The scatter that variances are believed to have before any row, as a
    /// share of each column's variance: it keeps them from vanishing
    /// [default: 1e-6]
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = not_negative)]
    variance_floor: Option<f64>,

    /// What is believed of the Gaussians of the numbers: mclust (its default
    /// regularisation), or normal-inverse-wishart(κ,ν): κ rows at the table's mean, ν
    /// degrees of freedom about its covariance [gda, mixture]
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
    density: DensityOptions,

    #[command(flatten)]
    kmeans: KMeansOptions,

    #[command(flatten)]
    text: TextArguments,
}

/// What to fit.
pub enum Task {
    Mixture(Specification, FitOptions),
    Selection(Specification, Grid, FitOptions),
    Density(density::Specification),
    KMeans(clusters::Specification, clusters::Options),
}

impl Task {
    pub fn target(&self) -> Option<&str> {
        match self {
            Task::Mixture(specification, _) | Task::Selection(specification, ..) => {
                specification.target.as_deref()
            }
            Task::Density(specification) => specification.target.as_deref(),
            Task::KMeans(..) => None,
        }
    }
}

impl ModelOptions {
    /// How columns of text are read, if the task has a use for them.
    pub fn text(&self, task: &Task) -> Outcome<Option<TextOptions>> {
        match task {
            Task::Mixture(..) | Task::Selection(..) => self.text.options().map(Some),
            Task::Density(_) | Task::KMeans(..) => Ok(None),
        }
    }

    /// Says which options of text are given in vain.
    pub fn note_unused_text(&self, schema: &Schema, context: &Context) {
        self.text.note_unused(schema, context);
    }

    /// What to fit, and how; `data` may say where the labels are.
    pub fn task(&self, model: ModelName, data: &DataArguments, seed: u64) -> Outcome<Task> {
        let unfit = self.density.unfit(model);
        let unfit = unfit.or_else(|| self.tails.unfit(model));
        if let Some((option, why)) = unfit.or_else(|| self.kmeans.unfit(model)) {
            return Err(does_not_apply(option, model, why));
        }
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
                let specification = self.specification(model, data)?;
                let options = self.fit_options(seed);
                Ok(match self.grid(model)? {
                    Some(grid) => Task::Selection(specification, grid, options),
                    None => Task::Mixture(specification, options),
                })
            }
        }
    }

    /// The covariance, where it is one.
    fn covariance(&self) -> Option<CovarianceKind> {
        let all = self.covariance.as_ref()?;
        all.0.first().copied().filter(|_| all.0.len() == 1)
    }

    /// What to choose from, where there is a choice.
    fn grid(&self, model: ModelName) -> Outcome<Option<Grid>> {
        let components = self.components.clone().map_or(vec![1], |own| own.0);
        let covariances = match &self.covariance {
            Some(own) => own.0.clone(),
            None => vec![CovarianceKind::default()],
        };
        let several = components.len() * covariances.len() > 1;
        if model != ModelName::Mixture && several {
            return Err(does_not_apply(
                "several covariances",
                model,
                "only a mixture is chosen among several; compare them with abduce evaluate",
            ));
        }
        if self.select.is_some() && !several {
            return Err(does_not_apply(
                "--select",
                model,
                "there is nothing to choose from; give several with --components 1-9 or --covariance all",
            ));
        }
        Ok(several.then(|| Grid {
            components,
            covariances,
            criterion: self.select.unwrap_or_default(),
            folds: 5,
        }))
    }

    fn refuse_what_densities_lack(&self, model: ModelName) -> Outcome {
        let no_iterations = "a density is made of the rows at once";
        let other_shape = !matches!(
            self.covariance(),
            Some(CovarianceKind::Full | CovarianceKind::Diagonal)
        ) && self.covariance.is_some();
        let unfit = [
            (
                self.components.is_some(),
                "--components",
                "it has no components",
            ),
            (self.select.is_some(), "--select", "it has no components"),
            (self.restarts.is_some(), "--restarts", no_iterations),
            (self.init.is_some(), "--init", no_iterations),
            (self.tol.is_some(), "--tol", no_iterations),
            (self.max_iter.is_some(), "--max-iter", no_iterations),
            (
                self.class_smoothing.is_some(),
                "--class-smoothing",
                "classes have their shares",
            ),
            (
                self.variance_floor.is_some(),
                "--variance-floor",
                "it has no variances",
            ),
            (self.prior.is_some(), "--prior", "it has no Gaussians"),
            (!self.family.is_empty(), "--family", "it has no families"),
            (
                !self.dirichlet.is_empty(),
                "--dirichlet",
                "it has no levels",
            ),
            (
                self.class_prior.is_some(),
                "--class-prior",
                "classes have their shares",
            ),
            (self.event.is_some(), "--event", "it reads no text"),
            (self.predictive, "--predictive", "it has no parameters"),
            (self.no_marks, "--no-marks", "it keeps its rows anyway"),
            (
                self.unlabelled.is_some(),
                "--unlabelled",
                "rows without a label are left out",
            ),
            (
                self.smoothing.is_some() && model != ModelName::Histogram,
                "--smoothing",
                "it is for histogram",
            ),
            (
                self.covariance.is_some() && model != ModelName::Kde,
                "--covariance",
                "it is for kde",
            ),
            (
                other_shape,
                "--covariance",
                "a bandwidth is diagonal or full",
            ),
        ];
        match unfit.iter().find(|(given, ..)| *given) {
            Some((_, option, why)) => Err(does_not_apply(option, model, why)),
            None => Ok(()),
        }
    }

    fn specification(&self, model: ModelName, data: &DataArguments) -> Outcome<Specification> {
        let labelled = model != ModelName::Mixture;
        let unfit = [
            (
                !labelled && self.class_prior.is_some(),
                "--class-prior",
                "a mixture finds its clusters itself",
            ),
            (
                !labelled && self.unlabelled.is_some(),
                "--unlabelled",
                "it has no labels at all",
            ),
            (
                !labelled && self.event == Some(Event::Complement),
                "--event complement",
                "only labelled classes have a complement",
            ),
            (
                !labelled && self.target.is_some(),
                "--target",
                "a mixture finds its clusters itself; fit naive-bayes or gda to labels, or --drop the column",
            ),
            (
                labelled && self.components.is_some(),
                "--components",
                "the target's labels are the components",
            ),
            (
                model == ModelName::NaiveBayes && self.covariance.is_some(),
                "--covariance",
                "its columns are independent in every class; fit gda for a covariance",
            ),
            (
                model == ModelName::NaiveBayes && self.prior.is_some(),
                "--prior",
                "its numbers are not taken together; --variance-floor keeps variances from vanishing",
            ),
            (
                model != ModelName::NaiveBayes && self.predictive,
                "--predictive",
                "it is for naive-bayes",
            ),
            (
                labelled && self.restarts.is_some(),
                "--restarts",
                "the labels say where to start",
            ),
            (
                labelled && self.init.is_some(),
                "--init",
                "the labels say where to start",
            ),
        ];
        if let Some((_, option, why)) = unfit.iter().find(|(given, ..)| *given) {
            return Err(does_not_apply(option, model, why));
        }
        if let Some(start) = self.init.filter(|start| start.mixture.is_none()) {
            let option = format!("--init {}", start.name);
            return Err(does_not_apply(&option, model, "it is for kmeans"));
        }
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
                let components = self.components.as_ref().ok_or_else(|| {
                    Error::parameter("mixture needs --components K")
                        .with_hint("say how many clusters to look for, or a range such as 1-9")
                })?;
                Specification::mixture(components.0[0], covariance)
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
            em: EmOptions {
                step: self.method,
                tolerance: self.tol.unwrap_or(default.em.tolerance),
                max_iterations: self.max_iter.unwrap_or(default.em.max_iterations),
            },
            restarts: self.restarts.unwrap_or(default.restarts),
            init: (self.init.and_then(|start| start.mixture)).unwrap_or(default.init),
            unlabelled: self.unlabelled.unwrap_or(default.unlabelled),
            seed,
            marks: !self.no_marks,
        }
    }
}

fn does_not_apply(option: &str, model: ModelName, why: &str) -> Failure {
    let message = format!("{option} does not apply to {}", model.name());
    Error::parameter(message).with_hint(why).into()
}
