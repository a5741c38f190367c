//! Whether clusters read from a file can be asked without surprises.

use super::KMeans;
use crate::data::Kind;
use crate::{Error, Result};

impl KMeans {
    /// Looks for contradictions.
    ///
    /// # Errors
    /// If there is one.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: &str| {
            Err(Error::data(format!(
                "the model file contradicts itself: {what}"
            )))
        };
        let width = self.frame.columns.len();
        let number = |column: &usize| {
            let field = self.schema.fields.get(*column);
            field.is_some_and(|f| matches!(f.kind, Kind::Real | Kind::Count | Kind::Binary))
        };
        if width == 0 || !self.frame.columns.iter().all(number) {
            return wrong("its columns are not numbers");
        }
        let positive = |x: &f64| x.is_finite() && *x > 0.0;
        let frame = &self.frame;
        if frame.shift.len() != width || frame.scale.len() != width {
            return wrong("the coordinates are of other columns");
        }
        if !positive(&frame.power) || !frame.scale.iter().all(positive) {
            return wrong("a scale is not positive");
        }
        if !frame.whitening.is_empty()
            && (frame.whitening.len() != width * width
                || !(0..width).all(|c| positive(&frame.whitening[c * width + c])))
        {
            return wrong("rows cannot be whitened like this");
        }
        if self.centres.is_empty() || self.sizes.len() != self.centres.len() {
            return wrong("there are not as many sizes as centres");
        }
        let fits =
            |centre: &Vec<f64>| centre.len() == width && centre.iter().all(|x| x.is_finite());
        if !self.centres.iter().all(fits) {
            return wrong("a centre is not a number in every column");
        }
        if !self.sizes.iter().all(positive) || self.variance.is_nan() || self.variance < 0.0 {
            return wrong("a size or the variance is not positive");
        }
        Ok(())
    }
}
