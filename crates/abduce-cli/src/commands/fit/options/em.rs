//! The options of EM: the method, accelerated steps, batches and the stopping rule.

use crate::arguments::values::at_least_one;
use crate::arguments::values::not_negative;
use crate::io::failure::{Failure, Outcome};
use abduce::learn::{Acceleration, EStep, EmOptions, Online};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "EM options")]
pub struct EmArguments {
    /// How missing labels and values are treated during the fit: em (their expectations), hard
    /// (their most probable values), stochastic (random labels first, then em) or online (in
    /// batches first, then em)
    #[arg(long, value_name = "METHOD", default_value = "em", value_parser = method)]
    method: Method,

    /// Relative change of the mean log-likelihood at which the fit ends [default: 1e-8, with
    /// --method online 1e-5]
    #[arg(long, value_name = "TOLERANCE", allow_hyphen_values = true, value_parser = not_negative)]
    tol: Option<f64>,

    /// Maximum number of iterations [default: 1000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    max_iter: Option<usize>,

    /// When to take accelerated steps: auto (where em is slow), none, or squarem (from the
    /// start); the objective never falls [default: auto]
    #[arg(long, value_name = "WHEN", value_parser = acceleration)]
    accelerate: Option<Acceleration>,

    /// Number of rounds with random labels [--method stochastic; default: 50]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    rounds: Option<usize>,

    /// Batch size, rounded up to a multiple of 4,096 [--method online; default: 4096]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true, value_parser = at_least_one)]
    batch: Option<usize>,

    /// Maximum number of batch passes over the rows [--method online; default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    passes: Option<usize>,
}

/// The values of `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Em,
    Hard,
    Stochastic,
    Online,
}

/// A looser tolerance than that of plain EM: with that, the iterations after the batches would take
/// most of the time.
const ONLINE_TOLERANCE: f64 = 1e-5;

impl EmArguments {
    /// Rejects options of another method.
    fn check(&self) -> Outcome {
        let needs = |option: &str, method: &str| {
            Failure::usage(format!("{option} is an option of --method {method}"))
        };
        if self.rounds.is_some() && self.method != Method::Stochastic {
            return Err(needs("--rounds", "stochastic"));
        }
        if self.batch.is_some() && self.method != Method::Online {
            return Err(needs("--batch", "online"));
        }
        if self.passes.is_some() && self.method != Method::Online {
            return Err(needs("--passes", "online"));
        }
        if self.accelerate == Some(Acceleration::Squarem) && self.method == Method::Hard {
            return Err(Failure::usage(
                "--accelerate squarem does not apply to --method hard, which ends after a few \
                 iterations",
            ));
        }
        Ok(())
    }

    /// The options in the form of the library.
    pub fn options(&self) -> Outcome<EmOptions> {
        self.check()?;
        let default = EmOptions::default();
        let online = Online::default();
        let online = (self.method == Method::Online).then(|| Online {
            batch: self.batch.unwrap_or(online.batch),
            passes: self.passes.unwrap_or(online.passes),
        });
        let tolerance = match online {
            Some(_) => ONLINE_TOLERANCE,
            None => default.tolerance,
        };
        Ok(EmOptions {
            step: match self.method {
                Method::Em | Method::Online => EStep::Soft,
                Method::Hard => EStep::Hard,
                Method::Stochastic => EStep::Sampled,
            },
            tolerance: self.tol.unwrap_or(tolerance),
            max_iterations: self.max_iter.unwrap_or(default.max_iterations),
            acceleration: self.accelerate.unwrap_or_default(),
            rounds: self.rounds.unwrap_or(default.rounds),
            online,
            stop: default.stop,
        })
    }
}

fn method(text: &str) -> Result<Method, String> {
    let all = "em, hard, stochastic and online";
    match text {
        "em" => Ok(Method::Em),
        "hard" => Ok(Method::Hard),
        "stochastic" => Ok(Method::Stochastic),
        "online" => Ok(Method::Online),
        "variational" | "gibbs" => Err(format!(
            "this method is not available in this version; the methods are {all}"
        )),
        _ => Err(format!("the methods are {all}")),
    }
}

fn acceleration(text: &str) -> Result<Acceleration, String> {
    match text {
        "auto" => Ok(Acceleration::Auto),
        "none" => Ok(Acceleration::None),
        "squarem" => Ok(Acceleration::Squarem),
        _ => Err("must be auto, none or squarem".into()),
    }
}
