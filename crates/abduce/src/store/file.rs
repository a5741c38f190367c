//! The JSON text of a model file. The report and the provenance have a part that all models
//! have in common and one that depends on the kind of model, side by side in one object.

use super::{Model, Provenance};
use crate::eval::Calibration;
use crate::model::{Damaged, FitReport, MODELS, Parts};
use crate::{Error, Result};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The version that this program writes; it reads this and all earlier ones.
pub const VERSION: u32 = 1;

const FORMAT: &str = "abduce model";

/// A common part of the file together with that of a kind of model.
#[derive(Serialize)]
struct Joined<'a, T: Serialize> {
    #[serde(flatten)]
    common: &'a T,
    #[serde(flatten)]
    own: &'a dyn erased_serde::Serialize,
}

/// A model with the name of its kind.
#[derive(Serialize)]
struct Tagged<'a> {
    kind: &'static str,
    #[serde(flatten)]
    model: &'a dyn erased_serde::Serialize,
}

impl Serialize for Model {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let body = &self.body;
        let mut file = serializer.serialize_struct("Model", 8)?;
        file.serialize_field("format", FORMAT)?;
        file.serialize_field("version", &VERSION)?;
        file.serialize_field("model", &self.model)?;
        file.serialize_field("fit", &self.fit_document())?;
        file.serialize_field("provenance", &self.provenance_document())?;
        if let Some(estimator) = &self.estimator {
            file.serialize_field("estimator", estimator)?;
        }
        if let Some(calibration) = &self.calibration {
            file.serialize_field("calibration", calibration)?;
        }
        let body = Tagged {
            kind: body.kind(),
            model: body.model(),
        };
        file.serialize_field("body", &body)?;
        file.end()
    }
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Deserialize)]
struct Text<'a> {
    model: String,
    #[serde(borrow)]
    fit: &'a RawValue,
    #[serde(borrow)]
    provenance: &'a RawValue,
    #[serde(default)]
    estimator: Option<serde_json::Value>,
    #[serde(default)]
    calibration: Option<Calibration>,
    #[serde(borrow)]
    body: &'a RawValue,
}

#[derive(Deserialize)]
struct Tag {
    kind: String,
}

impl Model {
    /// The whole report of the fit, for JSON.
    pub fn fit_document(&self) -> impl Serialize + '_ {
        Joined {
            common: &self.fit,
            own: self.body.details(),
        }
    }

    /// The whole provenance, for JSON.
    pub fn provenance_document(&self) -> impl Serialize + '_ {
        Joined {
            common: &self.provenance,
            own: self.body.recipe(),
        }
    }

    /// The model itself, for JSON.
    pub fn body_document(&self) -> impl Serialize + '_ {
        Tagged {
            kind: self.body.kind(),
            model: self.body.model(),
        }
    }

    /// The text of the file. It is read back to make sure that the file will be readable.
    ///
    /// # Errors
    /// If it would not be, as when a number is not finite.
    pub fn to_json(&self) -> Result<String> {
        let wrong = |why: &dyn std::fmt::Display| {
            Error::numeric(format!("the model cannot be written: {why}"))
                .with_hint("the numbers or options are too large or too small for double precision")
        };
        let text = serde_json::to_string_pretty(self).map_err(|error| wrong(&error))?;
        Model::from_json(&text).map_err(|error| wrong(&error))?;
        Ok(text)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// If it is not a model, is of a later version, or contradicts itself.
    pub fn from_json(text: &str) -> Result<Model> {
        check_head(text)?;
        let file: Text = serde_json::from_str(text).map_err(|error| damaged(text, text, &error))?;
        let fit: FitReport = part(text, file.fit)?;
        let provenance: Provenance = part(text, file.provenance)?;
        let Tag { kind } = part(text, file.body)?;
        let info = MODELS.iter().find(|info| info.kind == kind);
        let info = info.ok_or_else(|| {
            Error::data(format!(
                "the model file is damaged: body.kind: there is no kind of model \"{kind}\""
            ))
        })?;
        let parts = Parts {
            body: file.body.get(),
            fit: file.fit.get(),
            provenance: file.provenance.get(),
        };
        let body = (info.read)(&parts);
        let body = body.map_err(|Damaged { part, error }| damaged(text, part, &error))?;
        let mut model = Model {
            model: file.model,
            fit,
            provenance,
            estimator: file.estimator,
            calibration: file.calibration,
            body,
        };
        model.check()?;
        model.without_constants();
        Ok(model)
    }
}

/// Checks that a text is a model file of a version that can be read.
fn check_head(text: &str) -> Result<()> {
    let not_a_model = || {
        Error::data("this is not an abduce model")
            .with_hint("name a file that a fitted model was saved to")
    };
    let head: Head = serde_json::from_str(text).map_err(|error| {
        if text.trim_start().starts_with('{') && error.is_eof() {
            Error::data("the model file is cut short").at_line(error.line() as u64)
        } else {
            not_a_model()
        }
    })?;
    if head.format != FORMAT {
        return Err(not_a_model());
    }
    if head.version == 0 {
        let message = "the model file is damaged: version: 0 is not a version";
        return Err(Error::data(message).with_hint("versions of model files are counted from 1"));
    }
    if head.version > VERSION {
        let message = format!(
            "the model is of version {}, and this program reads up to {VERSION}",
            head.version
        );
        return Err(Error::data(message).with_hint("use a later abduce"));
    }
    Ok(())
}

fn part<'a, T: Deserialize<'a>>(text: &str, part: &'a RawValue) -> Result<T> {
    serde_json::from_str(part.get()).map_err(|error| damaged(text, part.get(), &error))
}

/// The error of a part that cannot be read, with its line in the file.
fn damaged(text: &str, part: &str, error: &serde_json::Error) -> Error {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let lines = text
        .get(..start)
        .map_or(0, |before| before.matches('\n').count());
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    Error::data(format!("the model file is damaged: {message}"))
        .at_line((lines + error.line()) as u64)
}
