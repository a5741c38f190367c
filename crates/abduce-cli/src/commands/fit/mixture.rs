//! The options of `mixture`.

use super::models::{ModelArguments, ModelOptions};
use super::options::fixed::FixedOptions;
use super::options::leaves::ColumnOptions;
use super::options::normal::NormalOptions;
use super::values::{Numbers, components};
use crate::arguments::DataArguments;
use crate::arguments::values::{at_least_one, first_given};
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use abduce::Error;
use abduce::data::{Source, TextOptions};
use abduce::model::AnyLearner;
use abduce::model::mixture::{
    BootstrapOptions, Choice, CovarianceKind, Criterion, Event, FittedMixture, Grid, Init, Mixture,
    Recipe, Specification,
};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct Options {
    /// The number of components, or several to choose from, as in 1-9 or 2,4,8
    #[arg(long, short = 'k', value_name = "K", allow_negative_numbers = true, value_parser = components)]
    components: Option<Numbers>,

    /// The covariance of the real columns: full, tied, diagonal, spherical, identity, or one of
    /// mclust's EII VII EEI VEI EVI VVI EEE VEE EVE VVE EEV VEV EVV VVV; or several to choose
    /// from, as in EEE,VVV, or all [default: full]
    #[arg(long, value_name = "SHAPE", value_parser = covariances)]
    covariance: Option<Covariances>,

    /// How to choose among several --components and --covariance: by bic, aic, icl, or cv
    /// (likelihood of held-out rows); or by bootstrap tests of each number of components against
    /// one more, up to the first that is not rejected [default: bic]
    #[arg(long, value_name = "CRITERION", value_parser = selector)]
    select: Option<Selector>,

    /// Number of tables simulated for each test of --select bootstrap [default: 999]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    replicates: Option<usize>,

    /// The p-value up to which --select bootstrap rejects a number of components
    /// [default: 0.05]
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = significance)]
    significance: Option<f64>,

    /// Number of starts to try [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    restarts: Option<usize>,

    /// How starts are seeded: kmeans++, random (random rows), hierarchical (clusters merged
    /// step by step, the same for every seed), or auto, which is one hierarchical start, then
    /// kmeans++ and some random ones [default: auto]
    #[arg(long, value_name = "METHOD", value_parser = init)]
    init: Option<Init>,

    #[command(flatten)]
    fixed: FixedOptions,

    #[command(flatten)]
    normal: NormalOptions,

    #[command(flatten)]
    leaves: ColumnOptions,
}

impl ModelArguments for Options {
    type Learner = Mixture;
    const EXAMPLES: &'static [&'static str] = &[
        "mixture faithful.csv --components 2",
        "mixture faithful.csv --components 1-9 --covariance all",
    ];
}

impl Options {
    fn specification(&self, start: Option<&FittedMixture>) -> Outcome<Specification> {
        if self.leaves.event == Some(Event::Complement) {
            return Err(Failure::usage(
                "--event complement does not apply to mixture: only labelled classes have a \
                 complement",
            ));
        }
        let of_start = |start: &FittedMixture| start.components() - usize::from(start.has_noise());
        let given = self.components.as_ref().map(|numbers| numbers.0[0]);
        let components = given.or_else(|| start.map(of_start));
        if components.is_none() && !self.fixed.has_start() {
            return Err(Error::parameter("mixture needs --components K")
                .with_hint("give the number of clusters, or a range such as 1-9")
                .into());
        }
        let covariance = self.one_covariance().unwrap_or_default();
        let mut specification = Specification {
            components,
            ..Specification::mixture(1, covariance)
        };
        self.leaves.set(&mut specification)?;
        self.normal.set(&mut specification);
        self.fixed.set(start, &mut specification)?;
        Ok(specification)
    }

    /// The covariance, unless there are several.
    fn one_covariance(&self) -> Option<CovarianceKind> {
        match self.covariance.as_ref()?.0.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// How one of several mixtures is chosen.
    fn choice(&self) -> Outcome<Choice> {
        let choice = match self.select {
            Some(Selector::Bootstrap) => self.tests()?,
            Some(Selector::By(criterion)) => self.grid(criterion),
            None => self.grid(Criterion::default()),
        };
        if self.select != Some(Selector::Bootstrap) {
            let given = first_given(&[
                (self.replicates.is_some(), "--replicates"),
                (self.significance.is_some(), "--significance"),
            ]);
            if let Some(option) = given {
                let message = format!("{option} is an option of --select bootstrap");
                return Err(Failure::usage(message));
            }
        }
        if self.select.is_some() && choice == Choice::None {
            return Err(Failure::usage(
                "--select has nothing to choose from; give several numbers or shapes, as in \
                 --components 1-9 or --covariance all",
            ));
        }
        match self.fixed.option_without_selection() {
            Some(option) if choice != Choice::None => Err(Failure::usage(format!(
                "{option} does not apply to a choice among several mixtures; give one number to \
                 --components and one --covariance"
            ))),
            _ => Ok(choice),
        }
    }

    fn grid(&self, criterion: Criterion) -> Choice {
        let components = self.components.clone().map_or(vec![1], |numbers| numbers.0);
        let covariances = match &self.covariance {
            Some(covariances) => covariances.0.clone(),
            None => vec![CovarianceKind::default()],
        };
        if components.len() * covariances.len() == 1 {
            return Choice::None;
        }
        Choice::Grid(Grid {
            components,
            covariances,
            criterion,
            folds: 5,
        })
    }

    /// Bootstrap tests of increasing numbers of components.
    fn tests(&self) -> Outcome<Choice> {
        if self
            .covariance
            .as_ref()
            .is_some_and(|given| given.0.len() > 1)
        {
            return Err(Failure::usage(
                "--select bootstrap tests numbers of components and takes only one --covariance",
            ));
        }
        let numbers = self.components.as_ref().map_or(&[][..], |given| &given.0);
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
            return Err(Failure::usage(
                "--select bootstrap needs --components, as in 1-9",
            ));
        };
        if numbers.len() < 2 || last - first + 1 != numbers.len() {
            return Err(Failure::usage(format!(
                "--select bootstrap tests each number of components against the next one; give a \
                 range such as --components 1-9, not only {first}"
            )));
        }
        let default = BootstrapOptions::default();
        Ok(Choice::Bootstrap {
            first: *first,
            last: *last,
            options: BootstrapOptions {
                replicates: self.replicates.unwrap_or(default.replicates),
                significance: self.significance.unwrap_or(default.significance),
                ..default
            },
        })
    }

    /// Rejects options for choosing initial parameters if these are given.
    fn check_start(&self) -> Outcome {
        let given = first_given(&[
            (self.restarts.is_some(), "--restarts"),
            (self.init.is_some(), "--init"),
        ]);
        match given {
            Some(option) if self.fixed.has_start() => Err(Failure::usage(format!(
                "{option} does not apply with --start or --start-by"
            ))),
            _ => Ok(()),
        }
    }
}

impl ModelOptions for Options {
    fn learner(&self, _: &DataArguments, context: &Context) -> Outcome<Box<dyn AnyLearner>> {
        self.check_start()?;
        let start = self.fixed.start()?;
        let specification = self.specification(start.as_ref())?;
        let mut options = self.leaves.fit_options(context.seed)?;
        options.restarts = self.restarts.unwrap_or(options.restarts);
        options.init = self.init.unwrap_or(options.init);
        options.start_by = self.fixed.start_by();
        Ok(Box::new(Mixture {
            recipe: Recipe::new(specification, options),
            choice: self.choice()?,
            start: start.map(Box::new),
        }))
    }

    fn text(&self) -> Outcome<Option<TextOptions>> {
        self.leaves.text().map(Some)
    }

    fn note(&self, _: Option<&str>, source: &dyn Source, context: &Context) -> Outcome {
        let specification = self.specification(self.fixed.start()?.as_ref())?;
        let schema = source.schema();
        self.normal
            .note(self.covariance.is_some(), &specification, schema, context);
        self.leaves.note(source, context)
    }

    fn start_file(&self) -> Option<String> {
        self.fixed.start_file()
    }
}

/// Covariances to choose from.
#[derive(Clone, Debug, PartialEq)]
struct Covariances(Vec<CovarianceKind>);

/// One covariance, a list, or all that mclust has.
fn covariances(text: &str) -> Result<Covariances, String> {
    if text == "all" {
        return Ok(Covariances(CovarianceKind::ALL.to_vec()));
    }
    let mut all: Vec<CovarianceKind> = Vec::new();
    for part in text.split(',') {
        let one = part.trim().parse();
        let one = one.map_err(|error: Error| error.to_string())?;
        if !all.contains(&one) {
            all.push(one);
        }
    }
    Ok(Covariances(all))
}

/// The values of `--select`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Selector {
    By(Criterion),
    Bootstrap,
}

fn selector(text: &str) -> Result<Selector, String> {
    match text {
        "bootstrap" => Ok(Selector::Bootstrap),
        _ => {
            let criterion = text.parse().map(Selector::By);
            criterion.map_err(|error: Error| format!("{error}, or bootstrap"))
        }
    }
}

fn significance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|x: &f64| *x > 0.0 && *x < 1.0);
    number.ok_or_else(|| "must be a number between 0 and 1".into())
}

fn init(text: &str) -> Result<Init, String> {
    match text {
        "auto" => Ok(Init::Auto),
        "kmeans++" => Ok(Init::KMeansPlusPlus),
        "random" => Ok(Init::Random),
        "hierarchical" => Ok(Init::Hierarchical),
        _ => Err("the starts are auto, kmeans++, random and hierarchical".into()),
    }
}
