//! Models as Python sees them: asked by tables, written as files.

use crate::asking::Given;
use crate::cells::{Cells, columns_of};
use crate::fitting::watched;
use crate::pools::pooled;
use crate::table::Table;
use crate::trouble::{raised, refused, wrong};
use crate::words::warning;
use abduce::Control;
use abduce::ask::{Joint, find_class, first_two};
use abduce::data::{Chunk, Schema};
use abduce::density::{Bandwidth, Tolerance};
use abduce::family::Fill;
use abduce::model::Fitted;
use abduce::model::density::{Density, DensityModel};
use abduce::model::kmeans::{Distance, FittedKMeans};
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

/// The bandwidth of each class, as the model file has it; none where it has no kernels.
fn bandwidths(model: &DensityModel) -> Vec<Option<&Bandwidth>> {
    let each = model.densities.iter();
    each.map(|own| match own {
        Some(Density::Kde(own)) => Some(own.bandwidth()),
        _ => None,
    })
    .collect()
}

fn matrix(py: Python<'_>, cells: Vec<f64>, width: usize) -> PyResult<Matrix<'_>> {
    let rows = cells.len().checked_div(width).unwrap_or(0);
    PyArray1::from_vec(py, cells).reshape([rows, width])
}

impl Model {
    pub fn schema_of(&self) -> &Schema {
        self.model.schema()
    }

    pub fn joint_model(&self) -> PyResult<&dyn Joint> {
        self.model.joint().map_err(raised)
    }

    fn mixture(&self, lacks: &str) -> PyResult<&Fitted<FittedMixture>> {
        let none = || wrong(format!("a {} has no {lacks}", self.model.model));
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

impl Model {
    /// A part of the body as JSON.
    fn part_of_body(&self, name: &str) -> PyResult<serde_json::Result<String>> {
        let body = &self.model.body;
        let text = if let Some(mixture) = body.get::<FittedMixture>() {
            match name {
                "weights" => Some(serde_json::to_string(&mixture.parameters.weights)),
                "leaves" => Some(serde_json::to_string(&mixture.leaves)),
                "parameters" => Some(serde_json::to_string(&mixture.parameters.leaves)),
                "statistics" => Some(serde_json::to_string(&mixture.statistics)),
                _ => None,
            }
        } else if let Some(clusters) = body.get::<FittedKMeans>() {
            match name {
                "centres" => Some(serde_json::to_string(&clusters.centres)),
                "sizes" => Some(serde_json::to_string(&clusters.sizes)),
                // Whether distances are summed as they are, not their squares.
                "plain" => Some(serde_json::to_string(
                    &(clusters.medoids
                        || matches!(clusters.distance, Distance::Manhattan | Distance::Cosine)),
                )),
                "columns" => Some(serde_json::to_string(&clusters.frame.columns)),
                _ => None,
            }
        } else {
            let densities = body.get::<DensityModel>().filter(|_| name == "bandwidths");
            densities.map(|densities| serde_json::to_string(&bandwidths(densities)))
        };
        text.ok_or_else(|| wrong(format!("a {} has no {name}", self.model.model)))
    }
}

#[pymethods]
impl Model {
    /// Reads the text of a model file.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Model> {
        let model = store::Model::from_json(text).map_err(raised)?;
        Ok(Model { model })
    }

    /// The text of the model file.
    fn to_json(&self) -> PyResult<String> {
        self.model.to_json().map_err(raised)
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(path: std::path::PathBuf) -> PyResult<Model> {
        let model = store::Model::load(path).map_err(raised)?;
        Ok(Model { model })
    }

    /// Writes the model file, all of it or nothing.
    fn save(&self, path: std::path::PathBuf) -> PyResult<()> {
        self.model.save(path).map_err(raised)
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
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("this is not an abduce model"))?;
        Model::from_json(text)
    }

    /// The same with what an estimator wants to know again, as JSON.
    fn with_estimator(&self, estimator: &str) -> PyResult<Model> {
        let mut model = self.model.clone();
        let parsed = serde_json::from_str(estimator).map_err(|why| wrong(why.to_string()))?;
        model.estimator = Some(parsed);
        Ok(Model { model })
    }

    /// The same with one more warning of its fit.
    fn with_warning(&self, text: String) -> Model {
        let mut model = self.model.clone();
        model.fit.warnings.push(text);
        Model { model }
    }

    /// The same with another ridge, which counts from the next change on.
    fn with_ridge(&self, ridge: f64) -> PyResult<Model> {
        let mut model = self.model.clone();
        let none = || wrong(format!("a {} has no ridge", self.model.model));
        let mixture = model.body.get_mut::<FittedMixture>().ok_or_else(none)?;
        mixture.recipe.specification.ridge = ridge;
        mixture.recipe.specification.ridge_share = 0.0;
        Ok(Model { model })
    }

    /// The same, whose sums over kernels may be off by this much.
    fn with_tolerance(&self, absolute: f64, relative: f64) -> PyResult<Model> {
        let mut model = self.model.clone();
        let none = || wrong(format!("a {} has no kernels", self.model.model));
        let densities = model.body.get_mut::<DensityModel>().ok_or_else(none)?;
        let tolerance = Tolerance { absolute, relative };
        densities.model = densities.model.clone().with_tolerance(tolerance);
        Ok(Model { model })
    }

    /// Parts of the file as JSON: `model`, `fit`, `provenance`, `estimator`, `schema`, `leaves`,
    /// `weights` and more of the body.
    fn part(&self, name: &str) -> PyResult<String> {
        let model = &self.model;
        let text = match name {
            "model" => serde_json::to_string(&model.model),
            "fit" => serde_json::to_string(&model.fit_document()),
            "warnings" => {
                let warnings = model.fit.warnings.iter();
                serde_json::to_string(&warnings.map(|text| warning(text)).collect::<Vec<_>>())
            }
            "provenance" => serde_json::to_string(&model.provenance_document()),
            "estimator" => serde_json::to_string(&model.estimator),
            "schema" => serde_json::to_string(self.schema_of()),
            "target" => serde_json::to_string(&model.target()),
            "calibrated" => serde_json::to_string(&model.calibration.is_some()),
            "names" => serde_json::to_string(&model.names()),
            "body" => serde_json::to_string(&model.body_document()),
            _ => self.part_of_body(name)?,
        };
        text.map_err(|why| wrong(why.to_string()))
    }

    /// The probabilities of classes or clusters, row by row.
    #[pyo3(signature = (table, threads=None))]
    fn posterior<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<Matrix<'py>> {
        let width = self.model.names().len();
        let classifier = self.model.classifier().map_err(raised)?;
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
        let decider = self.model.decider().map_err(raised)?;
        let all = self.each(py, table, threads, |chunk| {
            Ok(decider(chunk)?.into_iter().map(i64::from).collect())
        })?;
        Ok(PyArray1::from_vec(py, all))
    }

    /// The logarithms of p(x, class), row by row.
    #[pyo3(signature = (table, threads=None))]
    fn log_joint<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<Matrix<'py>> {
        let mixture = self.mixture("joint densities")?;
        let ask = mixture.log_joint().map_err(raised)?;
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

    /// The columns with their missing values filled: by `mean`, `mode` or `draw`.
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
                return Err(wrong(format!(
                    "missing values are filled by mean, mode or draw, not \"{how}\""
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
        Ok(columns_of(py, joint.schema(), &filled.map_err(raised)?))
    }

    /// The model with its parameters drawn anew, as each copy of a multiple imputation of the
    /// table needs them; a model that has no such draw stays as it is.
    #[pyo3(signature = (table, seed=0))]
    fn with_drawn_parameters(&self, py: Python<'_>, table: &Table, seed: u64) -> PyResult<Model> {
        let drawn = pooled(py, None, || {
            let rows = table.source();
            (self.model).with_drawn_parameters(rows, seed, Control::default())
        })?;
        let mut model = self.model.clone();
        if let Some(body) = drawn.map_err(raised)? {
            model.body = body;
        }
        Ok(Model { model })
    }

    /// Draws rows, given some cells by the names of their columns.
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
        let drawn = pooled(py, None, || joint.sample(&known, rows, &mut rng))?.map_err(refused)?;
        Ok(columns_of(py, joint.schema(), &[drawn]))
    }

    /// Draws rows of a mixture with their components, those of the first component first.
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
        let (drawn, components) = drawn?.map_err(raised)?;
        let components = components.into_iter().map(|own| own as i64).collect();
        let columns = columns_of(py, &mixture.schema, &[drawn]);
        Ok((columns, PyArray1::from_vec(py, components)))
    }

    /// What speaks for a class of a row against another: their names, and for each column
    /// its name and what it adds to the log-odds.
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
            return Err(wrong(format!("there is no row {row}")));
        }
        let size = abduce::data::CHUNK_ROWS;
        let chunk = table.chunk(row / size).map_err(raised)?;
        let (chunk, row) = (&*chunk, row % size);
        let posterior = model.posterior(chunk).map_err(raised)?;
        let one = || wrong("there is only one class");
        let (best, second) = first_two(&posterior, row).ok_or_else(one)?;
        let find = |name: Option<&str>, otherwise: usize| match name {
            Some(name) => find_class(name, &model.names()).map_err(raised),
            None => Ok(otherwise),
        };
        let class = find(class_, best)?;
        let against = find(against, if class == best { second } else { best })?;
        let explain = self.model.explain().map_err(raised)?;
        let told = explain.explain(chunk, row, class, against);
        serde_json::to_string(&told).map_err(|why| wrong(why.to_string()))
    }

    /// The distance of each row from each centre, by which it finds its own.
    #[pyo3(signature = (table, threads=None))]
    fn distances<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<Matrix<'py>> {
        let none = || wrong(format!("a {} has no centres", self.model.model));
        let clusters = self.model.body.get::<FittedKMeans>().ok_or_else(none)?;
        let all = self.each(py, table, threads, |chunk| Ok(clusters.distances(chunk)))?;
        matrix(py, all, clusters.centres.len())
    }

    /// Takes in new rows.
    #[pyo3(signature = (table, threads=None))]
    fn update(
        &self,
        py: Python<'_>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<(Model, Vec<String>)> {
        let _borrow = table.borrow(py)?;
        watched(py, threads, None, |control| {
            self.model.update(table.source(), Vec::new(), None, control)
        })
        .map(Model::changed)
    }

    /// Takes rows out again.
    #[pyo3(signature = (table, threads=None))]
    fn forget(
        &self,
        py: Python<'_>,
        table: &Table,
        threads: Option<usize>,
    ) -> PyResult<(Model, Vec<String>)> {
        let _borrow = table.borrow(py)?;
        let mut changed = watched(py, threads, None, |control| {
            self.model.forget(table.source(), control)
        })?;
        // Estimators keep no marks of their own, and say so where they are described.
        changed.notes.retain(|note| note != NO_MARKS);
        Ok(Model::changed(changed))
    }

    /// Adds up models of different rows.
    #[staticmethod]
    fn merge(py: Python<'_>, models: Vec<PyRef<'_, Model>>) -> PyResult<(Model, Vec<String>)> {
        let models: Vec<store::Model> = models.iter().map(|own| own.model.clone()).collect();
        pooled(py, None, || store::Model::merge(&models))?
            .map(Model::changed)
            .map_err(raised)
    }
}
