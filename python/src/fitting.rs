//! Fits run in their own thread without the interpreter's lock, while the calling thread passes on
//! progress and checks for Ctrl-C.

use crate::errors::{exception, internal_error, value_error};
use crate::model::Model;
use crate::table::Table;
use crate::threads::pool;
use abduce::data::Source;
use abduce::model::mixture::CovarianceKind;
use abduce::model::{Learner, density, kmeans, mixture};
use abduce::store;
use abduce::{Control, Progress};
use numpy::PyArray1;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The interval between checks for Ctrl-C.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

enum Message<T> {
    Progress(Progress),
    Done(T),
}

/// Does some work that can be interrupted. `on_progress` is called with the kind of event, its number,
/// the total number, and a figure such as the log-likelihood.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    on_progress: Option<Py<PyAny>>,
    work: impl FnOnce(Control) -> abduce::Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    let interrupt = AtomicBool::new(false);
    let mut failure = None;
    let outcome = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let interrupt = &interrupt;
            let reports = on_progress.is_some();
            scope.spawn(move || {
                let shared_sender = std::sync::Mutex::new(sender.clone());
                let report = |progress: Progress| {
                    if let Ok(sender) = shared_sender.lock() {
                        let _ = sender.send(Message::Progress(progress));
                    }
                };
                let control = Control {
                    interrupt: Some(interrupt),
                    progress: if reports { Some(&report) } else { None },
                };
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    pool.install(|| work(control))
                }));
                let _ = sender.send(Message::Done(result));
            });
            loop {
                let message = receiver.recv_timeout(CHECK_INTERVAL);
                let result = match message {
                    Ok(Message::Done(outcome)) => return Some(outcome),
                    Ok(Message::Progress(progress)) => match &on_progress {
                        Some(callback) => Python::attach(|py| report(py, callback, &progress)),
                        None => Ok(()),
                    },
                    Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()),
                    Err(RecvTimeoutError::Disconnected) => return None,
                };
                if let Err(error) = result {
                    interrupt.store(true, Ordering::Relaxed);
                    failure.get_or_insert(error);
                }
            }
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    match outcome {
        Some(Ok(result)) => result.map_err(exception),
        _ => Err(internal_error()),
    }
}

fn report(py: Python<'_>, callback: &Py<PyAny>, progress: &Progress) -> PyResult<()> {
    let event = match progress {
        Progress::Survey => ("survey", 0, 0, f64::NAN),
        Progress::Candidate { number, of } => ("candidate", *number, *of, f64::NAN),
        Progress::Replicate { number, of, .. } => ("replicate", *number, *of, f64::NAN),
        Progress::Restart { number, of } => ("restart", *number, *of, f64::NAN),
        Progress::Iteration {
            number,
            of,
            mean_log_likelihood,
        } => ("iteration", *number, *of, *mean_log_likelihood),
        Progress::Round {
            number,
            of,
            inertia,
        } => ("iteration", *number, *of, *inertia),
    };
    callback.call1(py, event).map(|_| ())
}

/// Parameters from JSON. Errors do not name the position in the text, which no user sees.
fn read<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|why| {
        let place = format!(" at line {} column {}", why.line(), why.column());
        let message = why.to_string();
        value_error(message.strip_suffix(&place).unwrap_or(&message))
    })
}

/// The names of the covariances in specifications, from a list of the library's names, mclust's codes,
/// or "all".
#[pyfunction]
pub fn covariances(names: &str) -> PyResult<Vec<String>> {
    let kinds: Vec<CovarianceKind> = match names.trim() {
        "all" => CovarianceKind::ALL.to_vec(),
        names => {
            let each = names.split(',').map(|name| name.trim().parse());
            each.collect::<abduce::Result<_>>().map_err(exception)?
        }
    };
    let name = |kind: &CovarianceKind| match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(name)) => Ok(name),
        _ => Err(value_error("a covariance has no name")),
    };
    kinds.iter().map(name).collect()
}

/// Fits a mixture, with labels or without. `start` has the initial parameters of EM, as JSON.
#[pyfunction]
#[pyo3(signature = (name, table, specification, options, start=None, threads=None, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn fit_mixture(
    py: Python<'_>,
    name: &str,
    table: &Table,
    specification: &str,
    options: &str,
    start: Option<&str>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let specification: mixture::Specification = read(specification)?;
    let options: mixture::FitOptions = read(options)?;
    let start: Option<mixture::Parameters> = start.map(read).transpose()?;
    let _borrow = table.borrow(py)?;
    let fit = interruptible(py, threads, progress, |control| {
        // With labels one pass is enough; without, EM needs many.
        let rows: &dyn Source = match specification.target {
            Some(_) => table.source(),
            None => table.encoded()?,
        };
        mixture::fit_from(&specification, rows, start.as_ref(), &options, control)
    })?;
    let learned = fit.learned(mixture::Recipe::new(specification, options));
    let model = store::Model::new(name, learned, Vec::new());
    Ok(Model { model })
}

/// Fits a grid of mixtures, and returns the best by a criterion.
#[pyfunction]
#[pyo3(signature = (table, specification, grid, options, threads=None, progress=None))]
pub fn select_mixture(
    py: Python<'_>,
    table: &Table,
    specification: &str,
    grid: &str,
    options: &str,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let specification: mixture::Specification = read(specification)?;
    let grid: mixture::Grid = read(grid)?;
    let options: mixture::FitOptions = read(options)?;
    let _borrow = table.borrow(py)?;
    let clusters = mixture::Mixture {
        recipe: mixture::Recipe::new(specification, options),
        choice: mixture::Choice::Grid(grid),
        start: None,
    };
    let learned = interruptible(py, threads, progress, |control| {
        clusters.learn(table.encoded()?, control)
    })?;
    let model = store::Model::new("mixture", learned, Vec::new());
    Ok(Model { model })
}

/// Fits k-means, and returns the cluster of each row if the fit has it.
#[pyfunction]
#[pyo3(signature = (table, specification, options, start=None, threads=None, progress=None))]
pub fn fit_kmeans<'py>(
    py: Python<'py>,
    table: &Table,
    specification: &str,
    options: &str,
    start: Option<Vec<Vec<f64>>>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, Option<Bound<'py, PyArray1<i64>>>)> {
    let specification: kmeans::Specification = read(specification)?;
    let options: kmeans::Options = read(options)?;
    let _borrow = table.borrow(py)?;
    let mut fit = interruptible(py, threads, progress, |control| {
        // Without given centres, the rows are read several times.
        let rows: &dyn Source = match start {
            Some(_) => table.source(),
            None => table.encoded()?,
        };
        kmeans::fit_from(&specification, rows, start.as_deref(), &options, control)
    })?;
    // The likelihood is not computed: it takes as long as an iteration.
    let labels = fit.labels.take();
    let labels =
        labels.map(|clusters| PyArray1::from_iter(py, clusters.into_iter().map(i64::from)));
    let recipe = kmeans::Recipe {
        kmeans: specification,
        kmeans_options: options,
    };
    let model = store::Model::new("kmeans", fit.learned(recipe, None), Vec::new());
    Ok((Model { model }, labels))
}

/// Fits a kernel density or another nonparametric density.
#[pyfunction]
#[pyo3(signature = (table, specification, threads=None, progress=None))]
pub fn fit_density(
    py: Python<'_>,
    table: &Table,
    specification: &str,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let specification: density::Specification = read(specification)?;
    // The likelihood of the points is not computed: it takes longer than the fit.
    let _borrow = table.borrow(py)?;
    let fit = interruptible(py, threads, progress, |control| {
        density::fit_unscored(&specification, table.encoded()?, control)
    })?;
    let name = specification.estimator.name();
    let recipe = density::Recipe {
        density: specification,
    };
    let model = store::Model::new(name, fit.learned(recipe), Vec::new());
    Ok(Model { model })
}
