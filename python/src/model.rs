//! Fitted models: questions about the rows of a table, changes, and files.

use crate::cells::{Cells, columns_of};
use crate::errors::{answer_exception, exception, value_error};
use crate::evidence::Given;
use crate::fitting::interruptible;
use crate::messages::warning;
use crate::table::Table;
use crate::threads::pooled;
use abduce::Control;
use abduce::ask::{Joint, find_class, first_two};
use abduce::data::{Chunk, Schema};
use abduce::density::Tolerance;
use abduce::family::Fill;
use abduce::model::Fitted;
use abduce::model::density::DensityModel;
use abduce::model::kmeans::FittedKMeans;
use abduce::model::mixture::{FittedMixture, NO_MARKS};
use abduce::store;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// A fitted model.
#[pyclass(frozen, module = "abduce._core")]
pub struct Model {
    pub model: store::Model,
}

type Matrix<'py> = Bound<'py, PyArray2<f64>>;

fn matrix(py: Python<'_>, cells: Vec<f64>, width: usize) -> PyResult<Matrix<'_>> {
    let rows = cells.len().checked_div(width).unwrap_or(0);
    PyArray1::from_vec(py, cells).reshape([rows, width])
}

impl Model {
    pub fn schema_of(&self) -> &Schema {
        self.model.schema()
    }

    pub fn joint_model(&self) -> PyResult<&dyn Joint> {
        self.model.joint().map_err(exception)
    }

    fn mixture(&self, lacks: &str) -> PyResult<&Fitted<FittedMixture>> {
        let none = || value_error(format!("a {} has no {lacks}", self.model.model));
        self.model.body.get::<FittedMixture>().ok_or_else(none)
    }

    fn changed(changed: store::Changed) -> (Model, Vec<String>) {
        (
            Model {
                model: changed.model,
            },
            changed.notes.iter().map(|note| warning(note)).collect(),
        )
    }
}

#[pymethods]
impl Model {
    /// Reads the text of a model file.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Model> {
        let model = store::Model::from_json(text).map_err(exception)?;
        Ok(Model { model })
    }

    /// The text of the model file.
    fn to_json(&self) -> PyResult<String> {
        self.model.to_json().map_err(exception)
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(path: std::path::PathBuf) -> PyResult<Model> {
        let model = store::Model::load(path).map_err(exception)?;
        Ok(Model { model })
    }

    /// Writes the model file, completely or not at all.
    fn save(&self, path: std::path::PathBuf) -> PyResult<()> {
        self.model.save(path).map_err(exception)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Model>().getattr("from_bytes")?;
        Ok((make, (PyBytes::new(py, self.to_json()?.as_bytes()),)))
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Model> {
        let text =
            std::str::from_utf8(bytes).map_err(|_| value_error("this is not an abduce model"))?;
        Model::from_json(text)
    }

    /// The model with data of the estimator, as JSON.
    fn with_estimator(&self, estimator: &str) -> PyResult<Model> {
        let mut model = self.model.clone();
        let parsed = serde_json::from_str(estimator).map_err(|why| value_error(why.to_string()))?;
        model.estimator = Some(parsed);
        Ok(Model { model })
    }

    /// The model with one more warning about its fit.
    fn with_warning(&self, text: String) -> Model {
        let mut model = self.model.clone();
        model.fit.warnings.push(text);
        Model { model }
    }

    /// The model with another ridge, for later changes.
    fn with_ridge(&self, ridge: f64) -> PyResult<Model> {
        let mut model = self.model.clone();
        let none = || value_error(format!("a {} has no ridge", self.model.model));
        let mixture = model.body.get_mut::<FittedMixture>().ok_or_else(none)?;
        mixture.recipe.specification.ridge = ridge;
        mixture.recipe.specification.ridge_share = 0.0;
        Ok(Model { model })
    }

    /// The model with other tolerances of sums over kernels.
    fn with_tolerance(&self, absolute: f64, relative: f64) -> PyResult<Model> {
        let mut model = self.model.clone();
        let none = || value_error(format!("a {} has no kernels", self.model.model));
        let densities = model.body.get_mut::<DensityModel>().ok_or_else(none)?;
        let tolerance = Tolerance { absolute, relative };
        densities.model = densities.model.clone().with_tolerance(tolerance);
        Ok(Model { model })
    }

    /// A part of the model file as JSON, such as `model`, `fit`, `provenance`, `schema`, `leaves` or
    /// `weights`.
    fn part(&self, name: &str) -> PyResult<String> {
        self.json_of_part(name)
    }

    /// The probabilities of the classes or clusters of each row.
    #[pyo3(signature = (table, threads=None))]
    fn posterior<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<Matrix<'py>> {
        let width = self.model.names().len();
        let classifier = self.model.classifier().map_err(exception)?;
        let all = self.each(py, table, threads, |chunk| {
            let posterior = classifier(chunk)?;
            let rows = 0..posterior.rows();
            Ok(rows.flat_map(|row| posterior.row(row).to_vec()).collect())
        })?;
        matrix(py, all, width)
    }

    /// The most probable class or cluster of each row.
    #[pyo3(signature = (table, threads=None))]
    fn best<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let decider = self.model.decider().map_err(exception)?;
        let all = self.each(py, table, threads, |chunk| {
            Ok(decider(chunk)?.into_iter().map(i64::from).collect())
        })?;
        Ok(PyArray1::from_vec(py, all))
    }

    /// log p(x, class) for each row and class.
    #[pyo3(signature = (table, threads=None))]
    fn log_joint<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<Matrix<'py>> {
        let mixture = self.mixture("joint densities")?;
        let ask = mixture.log_joint().map_err(exception)?;
        let all = self.each(py, table, threads, ask)?;
        matrix(py, all, mixture.components())
    }

    /// The log-density of each row.
    #[pyo3(signature = (table, threads=None))]
    fn log_density<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let joint = self.joint_model()?;
        let all = self.each(py, table, threads, |chunk| joint.log_density(chunk))?;
        Ok(PyArray1::from_vec(py, all))
    }

    /// The columns with their missing values filled by `mean`, `mode` or `draw`.
    #[pyo3(signature = (table, how, seed=0))]
    fn complete<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        how: &str,
        seed: u64,
    ) -> PyResult<Vec<(String, Cells<'py>)>> {
        let how = match how {
            "mean" => Fill::Mean,
            "mode" => Fill::Mode,
            "draw" => Fill::Draw,
            _ => {
                return Err(value_error(format!(
                    "how must be mean, mode or draw, not \"{how}\""
                )));
            }
        };
        let joint = self.joint_model()?;
        let _borrow = table.borrow(py)?;
        let numbers = 0..table.chunks();
        let filled: abduce::Result<Vec<Chunk>> = pooled(py, None, || {
            let fill = |number: usize| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                rng.set_stream(number as u64);
                joint.complete(&*table.chunk(number)?, how, &mut rng)
            };
            numbers.into_par_iter().map(fill).collect()
        })?;
        Ok(columns_of(py, joint.schema(), &filled.map_err(exception)?))
    }

    /// The model with drawn parameters, for one copy of a multiple imputation of the table; a model
    /// without such draws is returned unchanged.
    #[pyo3(signature = (table, seed=0))]
    fn with_drawn_parameters(&self, py: Python<'_>, table: &Table, seed: u64) -> PyResult<Model> {
        let drawn = pooled(py, None, || {
            let rows = table.source();
            (self.model).with_drawn_parameters(rows, seed, Control::default())
        })?;
        let mut model = self.model.clone();
        if let Some(body) = drawn.map_err(exception)? {
            model.body = body;
        }
        Ok(Model { model })
    }

    /// Draws rows, given some cells by column name.
    #[pyo3(signature = (rows, seed=0, given=Vec::new()))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        rows: usize,
        seed: u64,
        given: Vec<(String, Given)>,
    ) -> PyResult<Vec<(String, Cells<'py>)>> {
        let joint = self.joint_model()?;
        let known = self.known(given)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let drawn =
            pooled(py, None, || joint.sample(&known, rows, &mut rng))?.map_err(answer_exception)?;
        Ok(columns_of(py, joint.schema(), &[drawn]))
    }

    /// Draws rows of a mixture and their components, sorted by component.
    #[pyo3(signature = (rows, seed=0))]
    #[allow(clippy::type_complexity)]
    fn sample_with_components<'py>(
        &self,
        py: Python<'py>,
        rows: usize,
        seed: u64,
    ) -> PyResult<(Vec<(String, Cells<'py>)>, Bound<'py, PyArray1<i64>>)> {
        let mixture = self.mixture("components")?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let drawn = pooled(py, None, || mixture.sample_with_components(rows, &mut rng));
        let (drawn, components) = drawn?.map_err(exception)?;
        let components = components
            .into_iter()
            .map(|component| component as i64)
            .collect();
        let columns = columns_of(py, &mixture.schema, &[drawn]);
        Ok((columns, PyArray1::from_vec(py, components)))
    }

    /// The contribution of each column to the log-odds of a class against another, for one row, as
    /// JSON.
    #[pyo3(signature = (table, row, class_=None, against=None))]
    fn explain(
        &self,
        table: &Table,
        row: usize,
        class_: Option<&str>,
        against: Option<&str>,
    ) -> PyResult<String> {
        let model = self.model.predictor();
        if row as u64 >= table.source().rows() {
            return Err(value_error(format!("there is no row {row}")));
        }
        let size = abduce::data::CHUNK_ROWS;
        let chunk = table.chunk(row / size).map_err(exception)?;
        let (chunk, row) = (&*chunk, row % size);
        let posterior = model.posterior(chunk).map_err(exception)?;
        let only_one = || value_error("there is only one class");
        let (best, second) = first_two(&posterior, row).ok_or_else(only_one)?;
        let find = |name: Option<&str>, otherwise: usize| match name {
            Some(name) => find_class(name, &model.names()).map_err(exception),
            None => Ok(otherwise),
        };
        let class = find(class_, best)?;
        let against = find(against, if class == best { second } else { best })?;
        let explain = self.model.explain().map_err(exception)?;
        let explanation = explain.explain(chunk, row, class, against);
        serde_json::to_string(&explanation).map_err(|why| value_error(why.to_string()))
    }

    /// The distance of each row from each centre.
    #[pyo3(signature = (table, threads=None))]
    fn distances<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<Matrix<'py>> {
        let none = || value_error(format!("a {} has no centres", self.model.model));
        let clusters = self.model.body.get::<FittedKMeans>().ok_or_else(none)?;
        let all = self.each(py, table, threads, |chunk| Ok(clusters.distances(chunk)))?;
        matrix(py, all, clusters.centres.len())
    }

    /// Adds rows.
    #[pyo3(signature = (table, threads=None))]
    fn update(
        &self,
        py: Python<'_>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<(Model, Vec<String>)> {
        let _borrow = table.borrow(py)?;
        interruptible(py, threads, None, |control| {
            self.model.update(table.source(), Vec::new(), None, control)
        })
        .map(Model::changed)
    }

    /// Removes rows.
    #[pyo3(signature = (table, threads=None))]
    fn forget(
        &self,
        py: Python<'_>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<(Model, Vec<String>)> {
        let _borrow = table.borrow(py)?;
        let mut changed = interruptible(py, threads, None, |control| {
            self.model.forget(table.source(), control)
        })?;
        // The documentation of `forget` says this.
        changed.notes.retain(|note| note != NO_MARKS);
        Ok(Model::changed(changed))
    }

    /// Merges models of different rows.
    #[staticmethod]
    fn merge(py: Python<'_>, models: Vec<PyRef<'_, Model>>) -> PyResult<(Model, Vec<String>)> {
        let models: Vec<store::Model> = models.iter().map(|model| model.model.clone()).collect();
        pooled(py, None, || store::Model::merge(&models))?
            .map(Model::changed)
            .map_err(exception)
    }
}
