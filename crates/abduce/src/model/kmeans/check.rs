//! Checks of k-means clusters read from a file.

use super::FittedKMeans;
use crate::Result;
use crate::data::Kind;
use crate::validate::{contradiction, same_length};
use std::collections::HashSet;

impl FittedKMeans {
    /// Checks that the parts of the model are consistent.
    ///
    /// # Errors
    /// If they are not, as in a damaged file.
    pub fn check(&self) -> Result<()> {
        self.check_frame()?;
        let width = self.frame.columns.len();
        if self.centres.is_empty() {
            return Err(contradiction("body.centres", "there is no centre"));
        }
        let sizes = self.sizes.len();
        same_length("body.sizes", sizes, self.centres.len(), "body.centres")?;
        for (number, centre) in self.centres.iter().enumerate() {
            let place = format!("body.centres[{number}]");
            same_length(&place, centre.len(), width, "body.frame.columns")?;
            if !centre.iter().all(|x| x.is_finite()) {
                return Err(contradiction(&place, "a coordinate is not finite"));
            }
        }
        if !self.sizes.iter().all(is_positive) {
            return Err(contradiction("body.sizes", "a size is not positive"));
        }
        let is_valid = |(column, x): &(usize, f64)| self.is_numeric(column) && x.is_finite();
        if !self.constants.iter().all(is_valid) {
            let what = "an entry is not a numeric column with a finite value";
            return Err(contradiction("body.constants", what));
        }
        if self.variance.is_nan() || self.variance < 0.0 {
            return Err(contradiction("body.variance", "negative"));
        }
        Ok(())
    }

    fn is_numeric(&self, column: &usize) -> bool {
        let field = self.schema.fields.get(*column);
        field.is_some_and(|f| matches!(f.kind, Kind::Real | Kind::Count | Kind::Binary))
    }

    fn check_frame(&self) -> Result<()> {
        let frame = &self.frame;
        let width = frame.columns.len();
        let place = "body.frame.columns";
        if width == 0 || !frame.columns.iter().all(|column| self.is_numeric(column)) {
            return Err(contradiction(place, "an entry is not a numeric column"));
        }
        if frame.columns.iter().collect::<HashSet<_>>().len() < width {
            return Err(contradiction(place, "a column occurs twice"));
        }
        same_length("body.frame.shift", frame.shift.len(), width, place)?;
        same_length("body.frame.scale", frame.scale.len(), width, place)?;
        if !is_positive(&frame.power) || !frame.scale.iter().all(is_positive) {
            let place = "body.frame.power or body.frame.scale";
            return Err(contradiction(place, "a scale is not positive"));
        }
        if !frame.shift.iter().all(|x| x.is_finite()) {
            return Err(contradiction("body.frame.shift", "not finite"));
        }
        let whitening = &frame.whitening;
        if !whitening.is_empty()
            && (whitening.len() != width * width
                || !whitening.iter().all(|x| x.is_finite())
                || !(0..width).all(|c| is_positive(&whitening[c * width + c])))
        {
            let what = format!("not the inverse of a Cholesky factor of order {width}");
            return Err(contradiction("body.frame.whitening", what));
        }
        Ok(())
    }
}

fn is_positive(x: &f64) -> bool {
    x.is_finite() && *x > 0.0
}
