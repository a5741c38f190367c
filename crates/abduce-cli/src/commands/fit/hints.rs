//! What users may not have meant: priors that do not sum to 1, options that find
//! nothing to act on, angles in degrees; and the classes that only a prior names.

use crate::context::Context;
use crate::failure::Outcome;
use abduce::data::{Kind, Schema, Source};
use abduce::leaf::FamilyName;
use abduce::model::mixture::{ClassPrior, Specification};

/// Says what may not have been meant.
pub fn note(specification: &Specification, source: &dyn Source, context: &Context) -> Outcome {
    note_scale(&specification.class_prior, context);
    let schema = source.schema();
    let counted = |kind: Kind| matches!(kind, Kind::Text | Kind::Count);
    if specification.event.is_some() && !schema.fields.iter().any(|field| counted(field.kind)) {
        context.note("--event says what is counted of texts and counts, and there are none");
    }
    note_degrees(specification, source, context)
}

/// Says that angles look like degrees: none is negative or beyond 360, and some are
/// many turns.
fn note_degrees(specification: &Specification, source: &dyn Source, context: &Context) -> Outcome {
    const MANY: f64 = 10.0 * std::f64::consts::TAU;
    let angles: FamilyName = "von-mises".parse()?;
    let angles = specification
        .families
        .iter()
        .filter(|(_, own)| *own == angles);
    for (name, _) in angles {
        let Ok(place) = source.schema().position(name) else {
            continue;
        };
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for chunk in source.scan()? {
            let chunk = chunk?;
            let cells = chunk.column(place).cells(0, chunk.rows());
            let seen = chunk.weighing_rows().filter(|row| cells.is_seen(*row));
            for x in seen.filter_map(|row| cells.reals().get(row)) {
                (least, most) = (least.min(*x), most.max(*x));
            }
        }
        if least >= 0.0 && most > MANY && most <= 360.0 {
            context.note(&format!(
                "column {name} looks like degrees; the angles of von-mises are in radians"
            ));
        }
    }
    Ok(())
}

/// Says that a prior whose numbers do not sum to 1 is taken in proportion.
fn note_scale(prior: &ClassPrior, context: &Context) {
    let ClassPrior::Given(given) = prior else {
        return;
    };
    let sum: f64 = given.iter().map(|(_, weight)| weight).sum();
    if (sum - 1.0).abs() > 1e-6 {
        context.note(&format!(
            "--class-prior sums to {sum}, not to 1; it is taken in proportion"
        ));
    }
}

/// The wish for a target with all classes of a prior, where the rows have only some
/// of them, as a shard may, and lack no other.
pub fn more_classes(
    specification: &Specification,
    schema: &Schema,
    kinds: &[String],
) -> Option<String> {
    let (target, ClassPrior::Given(given)) =
        (specification.target.as_ref()?, &specification.class_prior)
    else {
        return None;
    };
    let said = |wish: &String| wish.trim_start().starts_with(&format!("{target}="));
    let levels = &schema.fields[schema.position(target).ok()?].levels;
    let named = |level: &String| given.iter().any(|(name, _)| name == level);
    let all = levels.len() == given.len();
    if all || kinds.iter().any(said) || !levels.iter().all(named) || levels.is_empty() {
        return None;
    }
    let mut names: Vec<String> = given
        .iter()
        .map(|(name, _)| format!("\"{name}\""))
        .collect();
    names.sort();
    Some(format!("{target}=categorical({})", names.join(",")))
}
