//! Selection of the number of components by a sequence of tests of k components against k + 1,
//! with the likelihood ratio statistic
//!
//!   λ = 2 (ln L_{k+1} − ln L_k),
//!
//! Its distribution under k components is not χ², because the parameters of a component of weight
//! 0 are not identified. So it is simulated by a parametric bootstrap: tables of the same size are
//! drawn from the fitted mixture of k components, and k and k + 1 components are fitted to each
//! (McLachlan, *Applied Statistics* 36, 1987). With B tables, p = (1 + #{λ* ≥ λ}) / (B + 1), and
//! the first number of components that is not rejected is chosen.

use crate::data::{Source, Table};
use crate::model::check_tries;
use crate::model::mixture::fit::interrupted;
use crate::model::mixture::report::diagnose::Spurious;
use crate::model::mixture::select::pattern::Pattern;
use crate::model::mixture::{Fit, FitOptions, Specification, fit, fit_from};
use crate::{Control, Progress};
use crate::{Error, ErrorKind, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum number of rows for which replicates are fitted in parallel.
const MAX_PARALLEL_ROWS: u64 = 16_384;

/// The options of a bootstrap test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BootstrapOptions {
    /// The number of tables drawn for each number of components.
    pub replicates: usize,
    /// The p-value up to which a number of components is rejected.
    pub significance: f64,
    /// The number of new starts of k + 1 components on each table, besides one from the
    /// parameters fitted to the rows. With too few, λ* is too small and the test rejects too
    /// often. On Old Faithful, more than four made no difference.
    pub starts: usize,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        BootstrapOptions {
            replicates: 999,
            significance: 0.05,
            starts: 4,
        }
    }
}

/// The tests of growing numbers of components.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BootstrapTest {
    /// The options of the tests.
    #[serde(flatten)]
    pub options: BootstrapOptions,
    /// The tests, each of one component more than the one before.
    pub steps: Vec<BootstrapStep>,
    /// The chosen number of components: the first that is not rejected, otherwise the largest.
    pub chosen: usize,
    /// Whether a test did not reject it; if not, all smaller numbers were rejected, or the tests
    /// were interrupted.
    pub accepted: bool,
}

impl BootstrapTest {
    /// A warning if no number of components was accepted.
    fn warning(&self, is_interrupted: bool) -> Option<String> {
        let chosen = self.chosen;
        if self.accepted {
            None
        } else if is_interrupted {
            Some(format!(
                "interrupted before {chosen} components were tested against {}",
                chosen + 1
            ))
        } else {
            (!self.steps.is_empty()).then(|| {
                format!("every number of components below {chosen} was rejected; allow more")
            })
        }
    }
}

/// The test of k components against k + 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BootstrapStep {
    /// k.
    pub components: usize,
    /// The log-likelihood of the rows under k components.
    pub log_likelihood: f64,
    /// The log-likelihood of the rows under k + 1.
    pub log_likelihood_of_more: f64,
    /// λ, twice the difference; negative if the fit of k + 1 components found only a lower local
    /// maximum.
    pub statistic: f64,
    /// (1 + the number of replicates with a λ at least as large) / (1 + their number).
    pub p_value: f64,
    /// The number of replicates that could be fitted.
    pub replicates: usize,
}

/// Tests each number of components in a range against one more, until one is not rejected.
///
/// The number of rows of a drawn table is the total weight of the rows, rounded. Its rows have
/// weight 1, and the same missing values as the rows: a row of weight 2 counts as two.
///
/// ```
/// use abduce::data::{Column, Field, Kind, Schema, Table};
/// use abduce::Control;
/// use abduce::model::mixture::{
///     BootstrapOptions, CovarianceKind, FitOptions, Specification, bootstrap_test,
/// };
/// let x = (0..60).map(|i| Some(f64::from(i % 2) * 9.0 + f64::from(i * i % 31) * 0.1));
/// let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
/// let table = Table::new(schema, vec![Column::from_numbers(x)], None)?;
/// let (fit, test) = bootstrap_test(
///     &Specification::mixture(1, CovarianceKind::Tied),
///     1..=3,
///     &table,
///     &FitOptions { restarts: 3, ..FitOptions::default() },
///     &BootstrapOptions { replicates: 19, ..BootstrapOptions::default() },
///     Control::default(),
/// )?;
/// assert_eq!(test.steps[0].p_value, 0.05);
/// assert_eq!((test.chosen, fit.mixture.components()), (2, 2));
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If the rows cannot be fitted, no table can be drawn, or an option is out of range.
pub fn bootstrap_test(
    specification: &Specification,
    components: RangeInclusive<usize>,
    source: &dyn Source,
    options: &FitOptions,
    test: &BootstrapOptions,
    control: Control,
) -> Result<(Fit, BootstrapTest)> {
    check_options(specification, &components, options, test)?;
    let specification_of = |k: usize| Specification {
        components: Some(k),
        ..specification.clone()
    };
    let mut null = fit(
        &specification_of(*components.start()),
        source,
        options,
        control,
    )?;
    let pattern = Pattern::of(&null.mixture, source)?;
    let mut result = BootstrapTest {
        options: test.clone(),
        steps: Vec::new(),
        chosen: null.mixture.components().min(*components.start()),
        accepted: false,
    };
    // There are never more components than rows.
    let max_components = (*components.end()).min(null.rows as usize);
    for k in components.take_while(|k| *k < max_components) {
        let next = if control.is_interrupted() {
            Err(interrupted())
        } else {
            fit(&specification_of(k + 1), source, options, control)
        };
        let more = match next {
            Ok(more) if !more.interrupted => more,
            Err(error) if !control.is_interrupted() => return Err(error),
            _ => break,
        };
        let comparison = Comparison {
            specifications: (specification_of(k), specification_of(k + 1)),
            fits: (&null, &more),
            options,
            test,
            pattern: &pattern,
        };
        let Some(step) = comparison.test(k, control)? else {
            break;
        };
        result.accepted = step.p_value > test.significance;
        result.steps.push(step);
        if result.accepted {
            break;
        }
        (null, result.chosen) = (more, k + 1);
    }
    let warning = result.warning(control.is_interrupted());
    null.warnings.extend(warning);
    Ok((null, result))
}

/// Fails if the options of a test are out of range, or the number of components is known.
fn check_options(
    specification: &Specification,
    components: &RangeInclusive<usize>,
    options: &FitOptions,
    test: &BootstrapOptions,
) -> Result<()> {
    options.refuse_start_by()?;
    check_tries("restarts", options.restarts)?;
    check_tries("replicates", test.replicates)?;
    if test.replicates > 0 && 1.0 / (test.replicates as f64 + 1.0) > test.significance {
        return Err(Error::parameter(format!(
            "{} replicates are too few for significance {}: the smallest p-value is {:.3}",
            test.replicates,
            test.significance,
            1.0 / (test.replicates as f64 + 1.0)
        ))
        .with_hint("raise `replicates` or `significance`"));
    }
    if specification.target.is_some() {
        return Err(Error::parameter(
            "the labels determine the number of components, so there is nothing to test",
        ));
    }
    if components.is_empty() || *components.start() == 0 {
        return Err(Error::parameter("a mixture needs at least one component"));
    }
    if test.replicates == 0 || !(0.0..=1.0).contains(&test.significance) {
        return Err(Error::parameter(
            "a test needs at least one replicate, and a significance from 0 to 1",
        ));
    }
    Ok(())
}

/// The fits of k and of k + 1 components, and the pattern of the tables to be drawn.
struct Comparison<'a> {
    specifications: (Specification, Specification),
    fits: (&'a Fit, &'a Fit),
    options: &'a FitOptions,
    test: &'a BootstrapOptions,
    pattern: &'a Pattern,
}

impl Comparison<'_> {
    /// Runs the test; `None` if the caller interrupted it.
    fn test(&self, k: usize, control: Control) -> Result<Option<BootstrapStep>> {
        let statistic = 2.0 * (self.fits.1.log_likelihood - self.fits.0.log_likelihood);
        if !statistic.is_finite() {
            return Err(Error::numeric(format!(
                "the likelihood ratio of {k} and {} components is not finite",
                k + 1
            )));
        }
        let done = AtomicUsize::new(0);
        let silent = Control {
            progress: None,
            ..control
        };
        let run = |number: usize| {
            if control.is_interrupted() {
                return Ok(None);
            }
            let ratio = self.replicate(k, number, silent);
            control.report(Progress::Replicate {
                components: k,
                number: done.fetch_add(1, Ordering::Relaxed) + 1,
                of: self.test.replicates,
            });
            ratio
        };
        let numbers = 0..self.test.replicates;
        let ratios: Vec<Result<Option<f64>>> = if self.pattern.rows as u64 <= MAX_PARALLEL_ROWS {
            numbers.into_par_iter().map(run).collect()
        } else {
            numbers.map(run).collect()
        };
        if control.is_interrupted() {
            return Ok(None);
        }
        let (mut found, mut failure) = (Vec::new(), None);
        for ratio in ratios {
            match ratio {
                Ok(ratio) => found.extend(ratio),
                // A drawn table may fail to fit although the rows do not.
                Err(error) if matches!(error.kind(), ErrorKind::Numeric | ErrorKind::Data) => {
                    failure = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if let (true, Some(error)) = (found.is_empty(), failure) {
            return Err(error);
        }
        let as_large = found.iter().filter(|ratio| **ratio >= statistic).count();
        Ok(Some(BootstrapStep {
            components: k,
            log_likelihood: self.fits.0.log_likelihood,
            log_likelihood_of_more: self.fits.1.log_likelihood,
            statistic,
            p_value: (1.0 + as_large as f64) / (1.0 + found.len() as f64),
            replicates: found.len(),
        }))
    }

    /// λ* of one drawn table; `None` if it is not finite.
    fn replicate(&self, k: usize, number: usize, control: Control) -> Result<Option<f64>> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed ^ 0xb007);
        rng.set_stream(((k as u64) << 40) | number as u64);
        let table = self.pattern.draw(&self.fits.0.mixture, &mut rng)?;
        let options = FitOptions {
            restarts: self.test.starts,
            seed: self.options.seed.wrapping_add(1 + number as u64),
            ..self.options.clone()
        };
        let (null, more) = &self.specifications;
        let starts = self.test.starts;
        let null = best_log_likelihood(null, self.fits.0, &table, &options, 0, control)?;
        let more = best_log_likelihood(more, self.fits.1, &table, &options, starts, control)?;
        let ratio = 2.0 * (more - null);
        Ok(ratio.is_finite().then_some(ratio))
    }
}

/// The log-likelihood of the best of several fits to a drawn table: one from the parameters fitted
/// to the rows, and some new starts.
fn best_log_likelihood(
    specification: &Specification,
    fitted: &Fit,
    table: &Table,
    options: &FitOptions,
    starts: usize,
    control: Control,
) -> Result<f64> {
    let start = &fitted.mixture.parameters;
    let from_fitted = fit_from(specification, table, Some(start), options, control);
    if starts == 0 && from_fitted.is_ok() {
        return from_fitted.map(|fit| fit.log_likelihood);
    }
    // The fitted parameters may not suit the drawn table: components were dropped, or a column is
    // constant in the table.
    let new = fit(specification, table, options, control)?;
    let merit = |fit: &Fit| (Spurious::of(&fit.mixture).is_none(), fit.log_likelihood);
    Ok(match from_fitted {
        Ok(fit) if merit(&fit) > merit(&new) => fit.log_likelihood,
        _ => new.log_likelihood,
    })
}
