//! Options shared by naive-bayes, gda and mixture: families, smoothing, EM and text.

use super::em::EmArguments;
use crate::arguments::text::TextArguments;
use crate::arguments::values::{not_negative, split_assignments};
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use abduce::data::{Kind, Source, TextOptions};
use abduce::leaf::{FamilyName, Unseen};
use abduce::model::mixture::{Event, FitOptions, MEstimate, Specification};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct ColumnOptions {
    /// The family of a column, as in visits=poisson. For numbers: gaussian,
    /// student-t, exponential, gamma, log-normal, beta, von-mises, uniform, kde,
    /// histogram; for counts: poisson, zero-inflated-poisson, geometric,
    /// negative-binomial; for levels: categorical, bernoulli
    #[arg(long, value_name = "COL=FAMILY")]
    family: Vec<String>,

    /// Pseudocount added to each level and each word: a number, none (0) or laplace (1); or an
    /// m-estimate: m=M spreads M pseudo-rows evenly over the levels, m=M,pooled in the proportions
    /// of the whole table. Columns of counts get the same number of pseudo-rows with the mean of
    /// the column. Without smoothing, an unseen category is impossible [default: 1 with labels, 0
    /// without]
    #[arg(long, value_name = "ALPHA", allow_hyphen_values = true, value_parser = smoothing)]
    smoothing: Option<Smoothing>,

    /// How to treat categories not seen in the fit: impossible (unless --smoothing gives them a
    /// probability) or missing [default: impossible]
    #[arg(long, value_name = "TREATMENT")]
    unseen: Option<Unseen>,

    /// Pseudocounts for the levels of one column, one per level, as in outlook=1,2,1
    /// [repeatable]
    #[arg(long, value_name = "COL=A,B,…")]
    dirichlet: Vec<String>,

    /// How words, and columns of counts taken together, are counted: multinomial (every
    /// occurrence), bernoulli (presence or absence) or, with labels, complement (estimated from
    /// the other classes) [default: multinomial for text; count columns are modelled separately]
    #[arg(long, value_name = "EVENT")]
    pub event: Option<Event>,

    /// Pseudocount added to each class or component [default: 0]
    #[arg(long, value_name = "ALPHA", allow_hyphen_values = true, value_parser = not_negative)]
    class_smoothing: Option<f64>,

    /// Strength of the weak prior that keeps variances from collapsing to zero, as a share of the
    /// variance of the column [default: 1e-6]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = not_negative)]
    variance_floor: Option<f64>,

    /// Columns with the same distribution in every class or component
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    tie: Vec<String>,

    #[command(flatten)]
    em: EmArguments,

    #[command(flatten)]
    text: TextArguments,
}

impl ColumnOptions {
    /// Sets the options in a specification.
    pub fn set(&self, specification: &mut Specification) -> Outcome {
        specification.families = self.families()?;
        match self.smoothing {
            Some(Smoothing::Same(alpha)) => specification.smoothing = alpha,
            Some(Smoothing::MEstimate(estimate)) => specification.m_estimate = Some(estimate),
            None => {}
        }
        specification.event = self.event;
        specification.unseen = self.unseen.unwrap_or_default();
        let dirichlet = self.dirichlet.iter().map(|text| dirichlet(text));
        specification.dirichlet = dirichlet.collect::<Outcome<_>>()?;
        specification.tied = self.tie.iter().map(|name| name.trim().into()).collect();
        let set = |place: &mut f64, given: Option<f64>| *place = given.unwrap_or(*place);
        set(&mut specification.weight_smoothing, self.class_smoothing);
        set(&mut specification.variance_floor, self.variance_floor);
        Ok(())
    }

    /// The options of a fit.
    pub fn fit_options(&self, seed: u64) -> Outcome<FitOptions> {
        Ok(FitOptions {
            em: self.em.options()?,
            seed,
            certainty: true,
            ..FitOptions::default()
        })
    }

    /// How columns of text are read.
    pub fn text(&self) -> Outcome<TextOptions> {
        self.text.options()
    }

    /// Notes options that have no effect on these rows, and angles that look like degrees.
    pub fn note(&self, source: &dyn Source, context: &Context) -> Outcome {
        let schema = source.schema();
        let has_event = |kind: Kind| matches!(kind, Kind::Text | Kind::Count);
        if self.event.is_some() && !schema.fields.iter().any(|field| has_event(field.kind)) {
            context.note("--event has no effect: there are no columns of text or counts");
        }
        self.text.note_unused(schema, context);
        note_degrees(&self.families()?, source, context)
    }

    fn families(&self) -> Outcome<Vec<(String, FamilyName)>> {
        let families = self.family.iter().flat_map(|text| split_assignments(text));
        let family = |text: &str| -> Outcome<(String, FamilyName)> {
            let (column, family) = text.rsplit_once('=').ok_or_else(|| {
                Failure::usage(format!(
                    "--family: \"{text}\" does not name a column and its family; write column=family"
                ))
            })?;
            Ok((column.trim().to_string(), family.trim().parse()?))
        };
        families.map(family).collect()
    }
}

/// Notes columns of angles that look like degrees: all from 0 to 360, and some of them far beyond
/// one turn in radians.
fn note_degrees(
    families: &[(String, FamilyName)],
    source: &dyn Source,
    context: &Context,
) -> Outcome {
    const MANY_TURNS: f64 = 10.0 * std::f64::consts::TAU;
    let von_mises: FamilyName = "von-mises".parse()?;
    let angles = families.iter().filter(|(_, family)| *family == von_mises);
    for (name, _) in angles {
        let Ok(position) = source.schema().position(name) else {
            continue;
        };
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for chunk in source.scan()? {
            let chunk = chunk?;
            let cells = chunk.column(position).cells(0, chunk.rows());
            let seen = chunk.rows_with_weight().filter(|row| cells.is_seen(*row));
            for x in seen.filter_map(|row| cells.reals().get(row)) {
                (least, most) = (least.min(*x), most.max(*x));
            }
        }
        if least >= 0.0 && most > MANY_TURNS && most <= 360.0 {
            context.note(&format!(
                "column {name} looks like degrees; the angles of von-mises are in radians"
            ));
        }
    }
    Ok(())
}

/// The smoothing of levels and words.
#[derive(Clone, Copy, Debug)]
enum Smoothing {
    Same(f64),
    MEstimate(MEstimate),
}

fn smoothing(text: &str) -> Result<Smoothing, String> {
    match text.trim() {
        "none" => Ok(Smoothing::Same(0.0)),
        "laplace" => Ok(Smoothing::Same(1.0)),
        text if text.starts_with("m=") => {
            let estimate = text.parse().map(Smoothing::MEstimate);
            estimate.map_err(|error: abduce::Error| error.to_string())
        }
        text => not_negative(text).map(Smoothing::Same),
    }
}

/// `column=1,2,1`.
fn dirichlet(text: &str) -> Outcome<(String, Vec<f64>)> {
    let invalid = || {
        Failure::usage(format!(
            "--dirichlet: \"{text}\" does not name a column and its numbers; write column=1,2,1"
        ))
    };
    let (column, numbers) = text.rsplit_once('=').ok_or_else(invalid)?;
    let numbers = numbers
        .split(',')
        .map(|x| x.trim().parse().map_err(|_| invalid()));
    Ok((column.trim().to_string(), numbers.collect::<Outcome<_>>()?))
}
