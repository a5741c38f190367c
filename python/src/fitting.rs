//! Fits: the work runs in a thread of its own without the interpreter's lock, while the
//! caller's thread passes progress on and listens for Ctrl-C.

use crate::model::Model;
use crate::pools::pool;
use crate::table::Table;
use crate::trouble::{broken, raised, wrong};
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

/// How often Ctrl-C is listened for.
const PATIENCE: Duration = Duration::from_millis(50);

enum News<T> {
    Progress(Progress),
    Done(T),
}

/// Does some work that can be watched and stopped. `watch` is called with the name of
/// what has happened, its number, how many there will be, and a figure.
pub fn watched<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    watch: Option<Py<PyAny>>,
    work: impl FnOnce(Control) -> abduce::Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    let interrupt = AtomicBool::new(false);
    let mut failure = None;
    let outcome = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let interrupt = &interrupt;
            let watching = watch.is_some();
            scope.spawn(move || {
                let news = std::sync::Mutex::new(sender.clone());
                let tell = |progress: Progress| {
                    if let Ok(news) = news.lock() {
                        let _ = news.send(News::Progress(progress));
                    }
                };
                let control = Control {
                    interrupt: Some(interrupt),
                    progress: if watching { Some(&tell) } else { None },
                };
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    pool.install(|| work(control))
                }));
                let _ = sender.send(News::Done(result));
            });
            loop {
                let news = receiver.recv_timeout(PATIENCE);
                let heard = match news {
                    Ok(News::Done(outcome)) => return Some(outcome),
                    Ok(News::Progress(progress)) => match &watch {
                        Some(watch) => Python::attach(|py| tell(py, watch, &progress)),
                        None => Ok(()),
                    },
                    Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()),
                    Err(RecvTimeoutError::Disconnected) => return None,
                };
                if let Err(error) = heard {
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
        Some(Ok(result)) => result.map_err(raised),
        _ => Err(broken()),
    }
}

fn tell(py: Python<'_>, watch: &Py<PyAny>, progress: &Progress) -> PyResult<()> {
    let news = match progress {
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
    watch.call1(py, news).map(|_| ())
}

/// Parameters out of JSON. What is wrong with them is said without the place in that text, which no
/// user sees.
fn read<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|why| {
        let place = format!(" at line {} column {}", why.line(), why.column());
        let told = why.to_string();
        wrong(told.strip_suffix(&place).unwrap_or(&told))
    })
}

/// The covariances that a list of names means, as specifications have them: the engine's
/// names, mclust's codes, or all.
#[pyfunction]
pub fn covariances(names: &str) -> PyResult<Vec<String>> {
    let kinds: Vec<CovarianceKind> = match names.trim() {
        "all" => CovarianceKind::ALL.to_vec(),
        names => {
            let each = names.split(',').map(|name| name.trim().parse());
            each.collect::<abduce::Result<_>>().map_err(raised)?
        }
    };
    let told = |kind: &CovarianceKind| match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(name)) => Ok(name),
        _ => Err(wrong("a covariance has no name")),
    };
    kinds.iter().map(told).collect()
}

/// Fits a mixture, with classes or without. `start` is a model to begin at.
#[pyfunction]
#[pyo3(signature = (name, table, specification, options, start=None, threads=None, watch=None))]
#[allow(clippy::too_many_arguments)]
pub fn fit_mixture(
    py: Python<'_>,
    name: &str,
    table: &Table,
    specification: &str,
    options: &str,
    start: Option<&Model>,
    threads: Option<usize>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let specification: mixture::Specification = read(specification)?;
    let options: mixture::FitOptions = read(options)?;
    let mixture = |start: &'_ Model| {
        let mixture = start.model.body.get::<mixture::FittedMixture>();
        let parameters = mixture.map(|mixture| mixture.parameters.clone());
        parameters.ok_or_else(|| wrong("`start` needs a mixture model"))
    };
    let start = start.map(mixture).transpose()?;
    let _borrow = table.borrow(py)?;
    let fit = watched(py, threads, watch, |control| {
        // Classes with all labels are learned in one pass, clusters in many.
        let rows: &dyn Source = match specification.target {
            Some(_) => table.source(),
            None => table.made()?,
        };
        mixture::fit_from(&specification, rows, start.as_ref(), &options, control)
    })?;
    let learned = fit.learned(mixture::Recipe::new(specification, options));
    let model = store::Model::new(name, learned, Vec::new());
    Ok(Model { model })
}

/// Fits a grid of mixtures, and takes the best by a criterion.
#[pyfunction]
#[pyo3(signature = (table, specification, grid, options, threads=None, watch=None))]
pub fn select_mixture(
    py: Python<'_>,
    table: &Table,
    specification: &str,
    grid: &str,
    options: &str,
    threads: Option<usize>,
    watch: Option<Py<PyAny>>,
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
    let learned = watched(py, threads, watch, |control| {
        clusters.learn(table.made()?, control)
    })?;
    let model = store::Model::new("mixture", learned, Vec::new());
    Ok(Model { model })
}

/// Fits clusters about centres, and gives the cluster of each row where the fit knows it.
#[pyfunction]
#[pyo3(signature = (table, specification, options, start=None, threads=None, watch=None))]
pub fn fit_kmeans<'py>(
    py: Python<'py>,
    table: &Table,
    specification: &str,
    options: &str,
    start: Option<Vec<Vec<f64>>>,
    threads: Option<usize>,
    watch: Option<Py<PyAny>>,
) -> PyResult<(Model, Option<Bound<'py, PyArray1<i64>>>)> {
    let specification: kmeans::Specification = read(specification)?;
    let options: kmeans::Options = read(options)?;
    let _borrow = table.borrow(py)?;
    let mut fit = watched(py, threads, watch, |control| {
        // Points are made of the rows once, unless starts have to be looked for.
        let rows: &dyn Source = match start {
            Some(_) => table.source(),
            None => table.made()?,
        };
        kmeans::fit_from(&specification, rows, start.as_deref(), &options, control)
    })?;
    // The likelihood would take as long as an iteration, and nobody asked for it.
    let labels = fit.labels.take();
    let labels = labels.map(|own| PyArray1::from_iter(py, own.into_iter().map(i64::from)));
    let recipe = kmeans::Recipe {
        kmeans: specification,
        kmeans_options: options,
    };
    let model = store::Model::new("kmeans", fit.learned(recipe, None), Vec::new());
    Ok((Model { model }, labels))
}

/// Fits a density without a family.
#[pyfunction]
#[pyo3(signature = (table, specification, threads=None, watch=None))]
pub fn fit_density(
    py: Python<'_>,
    table: &Table,
    specification: &str,
    threads: Option<usize>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let specification: density::Specification = read(specification)?;
    // The likelihood of the points takes longer than all else, and nobody asked for it.
    let _borrow = table.borrow(py)?;
    let fit = watched(py, threads, watch, |control| {
        density::fit_unscored(&specification, table.made()?, control)
    })?;
    let name = specification.estimator.name();
    let recipe = density::Recipe {
        density: specification,
    };
    let model = store::Model::new(name, fit.learned(recipe), Vec::new());
    Ok(Model { model })
}
