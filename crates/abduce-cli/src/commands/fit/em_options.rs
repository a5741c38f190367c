//! The options of EM: how hidden things are filled in, how far its steps go, and how
//! many rows they look at.

use super::model_name::ModelName;
use super::values::{at_least_one, later};
use abduce::learn::{Acceleration, EStep, EmOptions, Online};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "EM options")]
pub struct EmArguments {
    /// How hidden labels and cells are filled in during the fit: em (expectations), hard (most
    /// probable values), stochastic (random labels first, then em) or online (batch by batch
    /// first, then em)
    #[arg(long, value_name = "METHOD", default_value = "em", value_parser = method)]
    method: Method,

    /// When to take accelerated steps: auto (where em is slow), none, or squarem (from the
    /// start); the objective never falls [naive-bayes, gda, mixture; default: auto]
    #[arg(long, value_name = "WHEN", value_parser = acceleration)]
    accelerate: Option<Acceleration>,

    /// Rounds of drawn labels [--method stochastic; default: 50]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    rounds: Option<usize>,

    /// Batch size, rounded up to a multiple of 4,096 [--method online; default: 4096]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true, value_parser = at_least_one)]
    batch: Option<usize>,

    /// Maximum number of batch passes over the rows [--method online; default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    passes: Option<usize>,
}

/// What `--method` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Em,
    Hard,
    Stochastic,
    Online,
}

/// With the tolerance of EM over all rows, that would be most of the work again.
const ONLINE_TOLERANCE: f64 = 1e-5;

impl EmArguments {
    /// The first option given that the model or the method has no use for.
    pub fn unfit(&self, model: ModelName) -> Option<(&'static str, &'static str)> {
        let by_em = matches!(
            model,
            ModelName::NaiveBayes | ModelName::Gda | ModelName::Mixture
        );
        let (stochastic, online) = ("it is for --method stochastic", "it is for --method online");
        let other = match model {
            ModelName::Kmeans => "it is not learned by EM; batches are --algorithm mini-batch",
            _ => "it is not learned by EM",
        };
        let given = [
            (self.accelerate.is_some(), "--accelerate", true, ""),
            (
                self.rounds.is_some(),
                "--rounds",
                self.method == Method::Stochastic,
                stochastic,
            ),
            (
                self.batch.is_some(),
                "--batch",
                self.method == Method::Online,
                online,
            ),
            (
                self.passes.is_some(),
                "--passes",
                self.method == Method::Online,
                online,
            ),
            (
                self.accelerate == Some(Acceleration::Squarem),
                "--accelerate squarem",
                self.method != Method::Hard,
                "hard steps end by themselves after a few",
            ),
            (
                self.method == Method::Stochastic,
                "--method stochastic",
                true,
                "",
            ),
            (self.method == Method::Online, "--method online", true, ""),
        ];
        let given = given.into_iter().filter(|(given, ..)| *given);
        let mut unfit = given.filter_map(|(_, option, fits, why)| match (by_em, fits) {
            (false, _) => Some((option, other)),
            (true, false) => Some((option, why)),
            (true, true) => None,
        });
        unfit.next()
    }

    /// How EM is run.
    pub fn options(&self, tolerance: Option<f64>, max_iterations: Option<usize>) -> EmOptions {
        let default = EmOptions::default();
        let online = Online::default();
        let online = (self.method == Method::Online).then(|| Online {
            batch: self.batch.unwrap_or(online.batch),
            passes: self.passes.unwrap_or(online.passes),
        });
        let usual = match online {
            Some(_) => ONLINE_TOLERANCE,
            None => default.tolerance,
        };
        EmOptions {
            step: match self.method {
                Method::Em | Method::Online => EStep::Soft,
                Method::Hard => EStep::Hard,
                Method::Stochastic => EStep::Sampled,
            },
            tolerance: tolerance.unwrap_or(usual),
            max_iterations: max_iterations.unwrap_or(default.max_iterations),
            acceleration: self.accelerate.unwrap_or_default(),
            rounds: self.rounds.unwrap_or(default.rounds),
            online,
            stop: default.stop,
        }
    }
}

fn method(text: &str) -> Result<Method, String> {
    let all = "em, hard, stochastic and online";
    match text {
        "em" => Ok(Method::Em),
        "hard" => Ok(Method::Hard),
        "stochastic" => Ok(Method::Stochastic),
        "online" => Ok(Method::Online),
        "variational" | "gibbs" => Err(later("this method") + "; there are " + all),
        _ => Err(format!("the methods are {all}")),
    }
}

fn acceleration(text: &str) -> Result<Acceleration, String> {
    match text {
        "auto" => Ok(Acceleration::Auto),
        "none" => Ok(Acceleration::None),
        "squarem" => Ok(Acceleration::Squarem),
        _ => Err("it is auto, none or squarem".into()),
    }
}
