//! Distributions by name, estimation of one family, and finite hypotheses.

use crate::aligned::Aligned1;
use crate::errors::{answer_exception, exception, value_error};
use crate::fitting::interruptible;
use crate::messages::warning;
use crate::table::Table;
use abduce::concept;
use abduce::estimate::{self, PriorChoice, Request};
use abduce::family::{self, Univariate, divergence};
use numpy::PyArray1;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;

/// A distribution of one number.
#[pyclass(frozen, module = "abduce._core")]
pub struct Distribution {
    distribution: Arc<dyn Univariate>,
}

type Numbers<'py> = Bound<'py, PyArray1<f64>>;

impl Distribution {
    fn each<'py>(
        &self,
        py: Python<'py>,
        x: Aligned1<'_, f64>,
        f: impl Fn(&dyn Univariate, f64) -> f64 + Send + Sync,
    ) -> Numbers<'py> {
        let x = x.as_array().to_vec();
        let ask = |x: f64| {
            if x.is_nan() {
                x
            } else {
                f(&*self.distribution, x)
            }
        };
        let found = py.detach(|| x.into_iter().map(ask).collect());
        PyArray1::from_vec(py, found)
    }
}

#[pymethods]
impl Distribution {
    /// A distribution by name and parameters.
    #[new]
    fn new(name: &str, numbers: Vec<f64>) -> PyResult<Distribution> {
        let distribution = family::named(name, &numbers).map_err(exception)?;
        Ok(Distribution { distribution })
    }

    /// The log-density of each number.
    fn log_density<'py>(&self, py: Python<'py>, x: Aligned1<'_, f64>) -> Numbers<'py> {
        self.each(py, x, |distribution, x| distribution.log_density(x))
    }

    /// The distribution function at each number.
    fn cdf<'py>(&self, py: Python<'py>, x: Aligned1<'_, f64>) -> Numbers<'py> {
        self.each(py, x, |distribution, x| distribution.cdf(x))
    }

    /// The survival function at each number.
    fn survival<'py>(&self, py: Python<'py>, x: Aligned1<'_, f64>) -> Numbers<'py> {
        self.each(py, x, |distribution, x| distribution.survival(x))
    }

    /// The quantile of each probability.
    fn quantile<'py>(&self, py: Python<'py>, p: Aligned1<'_, f64>) -> PyResult<Numbers<'py>> {
        let mut known = p.as_array().into_iter().filter(|p| !p.is_nan());
        if known.any(|p| !(0.0..=1.0).contains(p)) {
            return Err(value_error("probabilities must be from 0 to 1"));
        }
        Ok(self.each(py, p, |distribution, p| distribution.quantile(p)))
    }

    /// Random numbers.
    fn draw<'py>(&self, py: Python<'py>, count: usize, seed: u64) -> PyResult<Numbers<'py>> {
        let mut drawn = Vec::new();
        let too_large =
            |_| PyMemoryError::new_err(format!("{count} numbers do not fit into memory"));
        drawn.try_reserve_exact(count).map_err(too_large)?;
        py.detach(|| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            drawn.extend((0..count).map(|_| self.distribution.draw(&mut rng)));
        });
        Ok(PyArray1::from_vec(py, drawn))
    }

    /// The mean and the variance, if they exist, the mode and the entropy.
    fn moments(&self) -> (Option<f64>, Option<f64>, f64, f64) {
        let distribution = &self.distribution;
        (
            distribution.mean(),
            distribution.variance(),
            distribution.mode(),
            distribution.entropy(),
        )
    }

    /// The smallest and the largest possible number.
    fn support(&self) -> (f64, f64) {
        self.distribution.support()
    }

    /// Whether the distribution is over whole numbers.
    fn is_discrete(&self) -> bool {
        self.distribution.is_discrete()
    }

    /// An interval with this probability: equal-tailed, or the shortest.
    fn interval(&self, level: f64, shortest: bool) -> PyResult<(f64, f64)> {
        if !(0.0..1.0).contains(&level) {
            return Err(value_error("level must be a probability below 1"));
        }
        Ok(if shortest {
            self.distribution.highest_density(level)
        } else {
            self.distribution.equal_tailed(level)
        })
    }

    /// The Kullback–Leibler divergence of another distribution from this one.
    fn divergence(&self, other: &Distribution) -> f64 {
        divergence(&*self.distribution, &*other.distribution)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.distribution)
    }
}

/// The report on a family and the rows of a table, as JSON.
#[pyfunction]
#[pyo3(signature = (family, table, prior=None, known=Vec::new(), level=0.95, above=Vec::new(), seed=0))]
#[allow(clippy::too_many_arguments)]
pub fn estimate_family(
    py: Python<'_>,
    family: &str,
    table: &Table,
    prior: Option<String>,
    known: Vec<(String, f64)>,
    level: f64,
    above: Vec<(Option<String>, f64)>,
    seed: u64,
) -> PyResult<String> {
    let request = Request {
        prior: prior.map(PriorChoice::Text),
        known,
        level,
        above,
        seed,
    };
    let mut found = interruptible(py, None, None, |_| {
        estimate::estimate(family, table.encoded()?, &request)
    })?;
    found.notes = found.notes.iter().map(|note| warning(note)).collect();
    serde_json::to_string(&found).map_err(|why| value_error(why.to_string()))
}

/// The names of the distributions and of their parameters.
#[pyfunction]
pub fn distributions() -> Vec<(&'static str, Vec<&'static str>)> {
    let all = family::names_of_numbers();
    all.map(|(name, numbers)| (name, numbers.to_vec()))
        .collect()
}

/// The families that can be estimated.
#[pyfunction]
pub fn families() -> Vec<&'static str> {
    estimate::families()
}

/// The kind of column that a family needs, if any.
#[pyfunction]
pub fn kind_of_family(family: &str) -> PyResult<Option<&'static str>> {
    let kind = estimate::kind_of(family).map_err(exception)?;
    Ok(kind.map(|kind| kind.name()))
}

/// Finitely many hypotheses, updated by observations.
#[pyclass(module = "abduce._core")]
pub struct Hypotheses {
    hypotheses: concept::Hypotheses,
}

#[pymethods]
impl Hypotheses {
    /// Hypotheses with prior probabilities, or with weights of any sum; outcomes with their
    /// probability under each hypothesis.
    #[new]
    fn new(
        names: Vec<String>,
        priors: Vec<f64>,
        normalize: bool,
        outcomes: Vec<(String, Vec<f64>)>,
    ) -> PyResult<Hypotheses> {
        let hypotheses = if normalize {
            concept::Hypotheses::weighted(names, &priors)
        } else {
            concept::Hypotheses::new(names, &priors)
        };
        let mut hypotheses = hypotheses.map_err(exception)?;
        for (name, likelihoods) in outcomes {
            hypotheses = hypotheses
                .with_outcome(name, &likelihoods)
                .map_err(exception)?;
        }
        Ok(Hypotheses { hypotheses })
    }

    /// Updates the probabilities by an outcome, or "not" an outcome, observed this many times.
    fn observe(&mut self, event: &str, times: f64) -> PyResult<()> {
        let event = self.hypotheses.event(event).map_err(exception)?;
        self.hypotheses
            .observe(event, times)
            .map_err(answer_exception)?;
        Ok(())
    }

    /// The posterior probability of each hypothesis.
    fn posterior(&self) -> Vec<f64> {
        self.hypotheses.belief().posterior().to_vec()
    }

    /// The predictive probability of each outcome.
    fn predictive(&self) -> Vec<f64> {
        self.hypotheses.predictive()
    }

    /// The logarithm of the probability of all observations.
    fn log_evidence(&self) -> f64 {
        self.hypotheses.belief().log_evidence()
    }

    /// The most probable hypotheses.
    fn map(&self) -> Vec<usize> {
        self.hypotheses.belief().map()
    }

    /// The hypotheses with the highest likelihood.
    fn maximum_likelihood(&self) -> Vec<usize> {
        self.hypotheses.belief().maximum_likelihood()
    }
}
