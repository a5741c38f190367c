//! The JSON text of a model file. The report and the provenance each have fields that all models
//! share and fields of one kind of model, side by side in one object.

use super::{Model, Provenance};
use crate::eval::Calibration;
use crate::model::{Damaged, FitReport, MODELS, Parts};
use crate::{Error, Result};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The latest version of the format; this program reads it and all earlier ones. A file is written
/// with the lowest version that suffices: 2 if it has compact matrices, otherwise 1.
pub const VERSION: u32 = 2;

const FORMAT: &str = "abduce model";

/// The fields that all models share, together with those of one kind of model.
#[derive(Serialize)]
struct Joined<'a, T: Serialize> {
    #[serde(flatten)]
    common: &'a T,
    #[serde(flatten)]
    specific: &'a dyn erased_serde::Serialize,
}

/// A model with the tag that names its kind.
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
        let compact = body.compact();
        let version = if compact.is_some() { VERSION } else { 1 };
        file.serialize_field("version", &version)?;
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
            model: compact.as_deref().unwrap_or(body.model()),
        };
        file.serialize_field("body", &body)?;
        file.end()
    }
}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

#[derive(Deserialize)]
struct Document<'a> {
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
    /// The whole report of the fit, to be serialized.
    pub fn fit_document(&self) -> impl Serialize + '_ {
        Joined {
            common: &self.fit,
            specific: self.body.details(),
        }
    }

    /// The whole provenance, to be serialized.
    pub fn provenance_document(&self) -> impl Serialize + '_ {
        Joined {
            common: &self.provenance,
            specific: self.body.recipe(),
        }
    }

    /// The model itself, to be serialized.
    pub fn body_document(&self) -> impl Serialize + '_ {
        Tagged {
            kind: self.body.kind(),
            model: self.body.model(),
        }
    }

    /// The text of the file. It is parsed again to make sure that the file will be readable.
    ///
    /// # Errors
    /// If it would not be readable, as when a number is not finite.
    pub fn to_json(&self) -> Result<String> {
        let unwritable = |why: &dyn std::fmt::Display| {
            Error::numeric(format!("the model cannot be written: {why}"))
                .with_hint("the numbers or options are too large or too small for double precision")
        };
        let text = serde_json::to_string_pretty(self).map_err(|error| unwritable(&error))?;
        Model::from_json(&text).map_err(|error| unwritable(&error))?;
        Ok(text)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// If it is not a model, has a later version, or contradicts itself.
    pub fn from_json(text: &str) -> Result<Model> {
        check_header(text)?;
        let file: Document =
            serde_json::from_str(text).map_err(|error| damaged(text, text, &error))?;
        let fit: FitReport = parse_part(text, file.fit)?;
        let provenance: Provenance = parse_part(text, file.provenance)?;
        let Tag { kind } = parse_part(text, file.body)?;
        let info = MODELS.iter().find(|info| info.kind == kind);
        let info = info.ok_or_else(|| {
            Error::data(format!(
                "the model file is damaged: body.kind: \"{kind}\" is not a kind of model"
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
        model.body.restore()?;
        model.check()?;
        model.subtract_constant_columns();
        Ok(model)
    }
}

/// Checks that a text is a model file of a readable version.
fn check_header(text: &str) -> Result<()> {
    let not_a_model = || {
        Error::data("this is not an abduce model")
            .with_hint("name a file that a fitted model was saved to")
    };
    let header: Header = serde_json::from_str(text).map_err(|error| {
        if text.trim_start().starts_with('{') && error.is_eof() {
            Error::data("the model file is cut short").at_line(error.line() as u64)
        } else {
            not_a_model()
        }
    })?;
    if header.format != FORMAT {
        return Err(not_a_model());
    }
    if header.version == 0 {
        let message = "the model file is damaged: version: 0 is not a valid version";
        return Err(Error::data(message).with_hint("versions of model files are counted from 1"));
    }
    if header.version > VERSION {
        let message = format!(
            "the model file has version {}; this program reads versions up to {VERSION}",
            header.version
        );
        return Err(Error::data(message).with_hint("use a later version of abduce"));
    }
    Ok(())
}

/// Parses a part of the file.
fn parse_part<'a, T: Deserialize<'a>>(text: &str, part: &'a RawValue) -> Result<T> {
    serde_json::from_str(part.get()).map_err(|error| damaged(text, part.get(), &error))
}

/// The error for a part that cannot be parsed, with its line in the file.
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
