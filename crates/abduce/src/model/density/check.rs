//! Checks of densities read from a file.

use super::{Density, DensityModel};
use crate::Result;
use crate::data::Kind;
use crate::validate::{contradiction, probabilities, same_length};
use std::collections::HashSet;

impl DensityModel {
    /// Checks that the parts of the model are consistent.
    ///
    /// # Errors
    /// If they are not, as in a damaged file.
    pub fn check(&self) -> Result<()> {
        let fields = &self.schema.fields;
        let is_number = |c: &usize| {
            let field = fields.get(*c);
            field.is_some_and(|field| matches!(field.kind, Kind::Real | Kind::Count))
        };
        if self.columns.is_empty() || !self.columns.iter().all(is_number) {
            let what = "not all are numeric columns";
            return Err(contradiction("body.columns", what));
        }
        if self.columns.iter().collect::<HashSet<_>>().len() < self.columns.len() {
            return Err(contradiction("body.columns", "a column occurs twice"));
        }
        let is_constant = |(c, x): &(usize, f64)| is_number(c) && x.is_finite();
        if !self.constants.iter().all(is_constant) {
            let what = "not all are numeric columns with finite values";
            return Err(contradiction("body.constants", what));
        }
        let classes = match self.target.map(|target| fields.get(target)) {
            None => 1,
            Some(Some(field)) if field.kind.is_coded() => field.levels.len(),
            Some(_) => return Err(contradiction("body.target", "not a categorical column")),
        };
        let place = "body.weights";
        same_length(place, self.weights.len(), classes, "the list of classes")?;
        let densities = self.densities.len();
        same_length("body.densities", densities, classes, "the list of classes")?;
        probabilities("body.weights", &self.weights)?;
        for (number, density) in self.densities.iter().enumerate() {
            self.check_density(number, density.as_ref())?;
        }
        Ok(())
    }

    fn check_density(&self, number: usize, density: Option<&Density>) -> Result<()> {
        let place = format!("body.densities[{number}]");
        let columns = match density {
            None if self.weights[number] > 0.0 => {
                let what = "missing, although its class has a weight";
                return Err(contradiction(&place, what));
            }
            None => return Ok(()),
            Some(Density::Kde(density)) => density.points().columns(),
            Some(Density::Knn(density)) => density.points().columns(),
            Some(Density::Histogram(histogram)) => {
                histogram
                    .check()
                    .map_err(|why| contradiction(&place, why))?;
                histogram.edges.len()
            }
        };
        same_length(&place, columns, self.columns.len(), "body.columns")
    }
}
