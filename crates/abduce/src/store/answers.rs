//! Predictions, scores and imputations for all rows of a table. Columns and levels of the table
//! are matched with those of the model by name; columns that the table lacks count as missing.

use super::Model;
use crate::ask::answers;
use crate::data::{CHUNK_ROWS, Chunk, Recoded, Source, Table};
use crate::family::Fill;
use crate::{Control, Error, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The predicted class or cluster of a row.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// The name of the most probable class or cluster.
    pub label: String,
    /// Its probability.
    pub probability: f64,
}

impl Model {
    /// The most probable class or cluster of every row. Labels in the table are not used.
    ///
    /// ```
    /// use abduce::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("penguins.csv");
    /// # std::fs::write(&path, "species,mass\nadelie,3.7\ngentoo,5.1\nadelie,3.2\ngentoo,5.4\n")?;
    /// let table = Table::read(&path)?;
    /// let model = NaiveBayes::new("species").fit(&table)?;
    /// for prediction in model.predict(&table)? {
    ///     println!("{} ({:.3})", prediction.label, prediction.probability);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a column has another kind than in the model, or a row has missing values that the
    /// model cannot integrate over.
    pub fn predict(&self, rows: &dyn Source) -> Result<Vec<Prediction>> {
        let (names, classify) = (self.names(), self.classifier()?);
        self.answer_rows(rows, |chunk| {
            let posterior = classify(chunk)?;
            let predictions = (0..posterior.rows()).map(|row| {
                let best = posterior.best(row);
                Prediction {
                    label: names[best].clone(),
                    probability: posterior.row(row)[best],
                }
            });
            Ok(predictions.collect())
        })
    }

    /// The probabilities of all classes or clusters of every row, in the order of
    /// [`names`](Model::names).
    ///
    /// # Errors
    /// See [`predict`](Model::predict).
    pub fn predict_proba(&self, rows: &dyn Source) -> Result<Vec<Vec<f64>>> {
        let classify = self.classifier()?;
        self.answer_rows(rows, |chunk| {
            let posterior = classify(chunk)?;
            let rows = 0..posterior.rows();
            Ok(rows.map(|row| posterior.row(row).to_vec()).collect())
        })
    }

    /// The log-density of every row, with missing values integrated out.
    ///
    /// # Errors
    /// If the model has no densities; otherwise see [`predict`](Model::predict).
    pub fn score(&self, rows: &dyn Source) -> Result<Vec<f64>> {
        let joint = self.joint()?;
        joint.check_density()?;
        self.answer_rows(rows, |chunk| joint.log_density(chunk))
    }

    /// The table with its missing values filled, in the columns of the model; `seed` is for
    /// [`Fill::Draw`].
    ///
    /// # Errors
    /// If the model cannot fill missing values; otherwise see [`predict`](Model::predict).
    pub fn impute(&self, rows: &dyn Source, how: Fill, seed: u64) -> Result<Table> {
        let joint = self.joint()?;
        let rows = Recoded::for_model(rows, self.schema(), self.target())?;
        let mut chunks = Vec::new();
        for (number, chunk) in rows.scan()?.enumerate() {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(number as u64);
            chunks.push(joint.complete(&chunk?, how, &mut rng)?);
        }
        Ok(Table::from_chunks(self.schema().clone(), chunks))
    }

    /// Draws rows.
    ///
    /// # Errors
    /// If rows cannot be drawn from the model.
    pub fn sample(&self, rows: usize, seed: u64) -> Result<Table> {
        let nothing = vec![None; self.schema().fields.len()];
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let drawn = self.joint()?.sample(&nothing, rows, &mut rng)?;
        Ok(Table::from_parts(self.schema().clone(), &[drawn]))
    }

    /// The answers for all rows, in their order.
    fn answer_rows<T: Clone + Send>(
        &self,
        rows: &dyn Source,
        ask: impl Fn(&Chunk) -> Result<Vec<T>> + Sync,
    ) -> Result<Vec<T>> {
        let rows = Recoded::for_model(rows, self.schema(), self.target())?;
        answers(&rows, CHUNK_ROWS, Control::default(), |before, chunk| {
            if let Some(row) = self.predictor().unanswerable(chunk).first() {
                let message = "the row has missing values, which this model cannot integrate over";
                return Err(Error::data(message).at_row((before + row + 1) as u64));
            }
            ask(chunk)
        })
    }
}
