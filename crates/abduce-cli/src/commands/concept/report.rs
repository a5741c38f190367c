//! The report of `concept`: lists for people, one document for programs.

use super::learn::{Check, Learned, Prediction, Stage};
use super::read::Concept;
use crate::context::Context;
use crate::io::cells;
use crate::io::failure::Outcome;
use crate::io::output::{Output, write_json};
use crate::render::text_table::{TextTable, readable, readable_exp};
use abduce::concept::{ConceptPrior, Conjunction, Count};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// How many lines of a list are shown.
const MAX_LINES: usize = 20;

/// A concept, what was learned of it, and the answers about rows and hypotheses.
pub struct Report<'a> {
    pub concept: &'a Concept<'a>,
    pub learned: &'a Learned<'a>,
    pub checks: &'a [Check],
    pub stages: &'a [Stage],
    pub predictions: &'a [Prediction],
}

impl Report<'_> {
    pub fn write(&self, context: &Context, output: &mut Output) -> Outcome {
        if context.json {
            return write_json(output, &self.document());
        }
        self.write_head(context, output)?;
        self.write_version_space(context, output)?;
        self.write_posterior(context, output)?;
        self.write_evolution(context, output)?;
        self.write_checks(context, output)?;
        self.write_predictions(context, output)
    }

    fn describe(&self, hypothesis: &Conjunction) -> String {
        self.concept.space.describe(hypothesis)
    }

    fn prior(&self) -> String {
        match self.learned.assumptions.prior {
            ConceptPrior::Uniform => "uniform".into(),
            ConceptPrior::Simple(p) => format!("simple={p}"),
        }
    }

    fn write_head(&self, context: &Context, output: &mut Output) -> Outcome {
        let concept = self.concept;
        let title = format!("{} = {}", concept.target, concept.positive);
        let heading = context.heading(output, &title);
        let (positive, negative) = self.weights();
        let attributes = concept.space.attributes().iter();
        let attributes: Vec<String> = attributes
            .map(|field| format!("{} ({})", field.name, field.levels.len()))
            .collect();
        writeln!(output, "{heading}")?;
        for (name, text) in [
            (
                "examples",
                format!(
                    "{} positive, {} negative",
                    readable(positive),
                    readable(negative)
                ),
            ),
            ("attributes", attributes.join(", ")),
            ("hypotheses", concept.space.size().to_string()),
            (
                "assumed",
                format!(
                    "prior {}, noise {}",
                    self.prior(),
                    readable(self.learned.assumptions.noise)
                ),
            ),
        ] {
            writeln!(output, "  {name:<11} {text}")?;
        }
        Ok(())
    }

    fn weights(&self) -> (f64, f64) {
        let examples = &self.learned.examples;
        (examples.weight(true), examples.weight(false))
    }

    fn write_version_space(&self, context: &Context, output: &mut Output) -> Outcome {
        let size = match &self.learned.size {
            Ok(size) if size.exact() == Some(0) => "empty: no hypothesis fits all examples".into(),
            Ok(size) => hypotheses(*size),
            Err(_) => "too large to count".to_string(),
        };
        writeln!(output)?;
        context.write_heading(output, "version space", &format!(": {size}"))?;
        let Ok(boundaries) = &self.learned.boundaries else {
            return Ok(());
        };
        let sides = if boundaries.specific == boundaries.general {
            vec![("S = G", &boundaries.specific)]
        } else {
            vec![("S", &boundaries.specific), ("G", &boundaries.general)]
        };
        for (name, members) in sides {
            for (number, member) in members.iter().take(MAX_LINES).enumerate() {
                let name = if number == 0 { name } else { "" };
                writeln!(output, "  {name:<5} {}", self.describe(member))?;
            }
            if members.len() > MAX_LINES {
                writeln!(output, "        … and {} more", members.len() - MAX_LINES)?;
            }
        }
        Ok(())
    }

    fn write_posterior(&self, context: &Context, output: &mut Output) -> Outcome {
        let Ok(posterior) = &self.learned.posterior else {
            return Ok(());
        };
        let (ties, top) = posterior.map();
        let which = match ties.exact() {
            Some(1) => "one MAP hypothesis".to_string(),
            _ => format!("{ties} MAP hypotheses, each"),
        };
        let text = format!(": {which} of probability {}", readable_exp(top));
        writeln!(output)?;
        context.write_heading(output, "posterior", &text)?;
        let mut table = TextTable::new(["", "P(h | D)"]);
        for (hypothesis, log) in &self.learned.best {
            table.row([self.describe(hypothesis), readable_exp(*log)]);
        }
        write!(output, "{}", table.text(2))?;
        let log = posterior.log_evidence();
        writeln!(
            output,
            "  evidence P(D) = {} (log {})",
            readable_exp(log),
            readable(log)
        )?;
        Ok(())
    }

    fn write_evolution(&self, context: &Context, output: &mut Output) -> Outcome {
        if self.stages.is_empty() {
            return Ok(());
        }
        let heading = context.heading(output, "evolution");
        writeln!(output, "\n{heading}")?;
        let mut table = TextTable::new(["row", "label", "P(label)", "P(D)", "MAP", "", "P(h | D)"]);
        for stage in self.stages.iter().take(MAX_LINES) {
            let others = match stage.ties.exact() {
                Some(1) => String::new(),
                _ => format!("one of {}", stage.ties),
            };
            table.row([
                stage.row.to_string(),
                self.concept.name(stage.positive).to_string(),
                readable_exp(stage.log_probability),
                readable_exp(stage.log_evidence),
                self.describe(&stage.map.0),
                others,
                readable_exp(stage.map.1),
            ]);
        }
        write!(output, "{}", table.text(2))?;
        if self.stages.len() > MAX_LINES {
            let more = self.stages.len() - MAX_LINES;
            writeln!(output, "  … and {more} more, which --json lists")?;
        }
        Ok(())
    }

    fn write_checks(&self, context: &Context, output: &mut Output) -> Outcome {
        for check in self.checks {
            let verdict = self.verdict(check);
            let best = if check.best { ", a MAP hypothesis" } else { "" };
            let probability = match check.posterior {
                Some(p) => format!(", probability {}{best}", readable(p)),
                None => String::new(),
            };
            let heading = self.describe(&check.hypothesis);
            writeln!(output)?;
            context.write_heading(output, &heading, &format!(": {verdict}{probability}"))?;
        }
        Ok(())
    }

    /// Whether a hypothesis fits the examples, or on which rows it is wrong.
    fn verdict(&self, check: &Check) -> String {
        if check.rows.is_empty() {
            return "consistent with all examples".to_string();
        }
        let rows: Vec<String> = check.rows.iter().map(u64::to_string).collect();
        let more = match check.wrong_rows - rows.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (positive, negative) = self.weights();
        format!(
            "wrong on {} of {} ({} {}{more})",
            readable(check.errors),
            readable(positive + negative),
            if check.wrong_rows == 1 { "row" } else { "rows" },
            rows.join(", "),
        )
    }

    fn write_predictions(&self, context: &Context, output: &mut Output) -> Outcome {
        if self.predictions.is_empty() {
            return Ok(());
        }
        let heading = context.heading(output, "predictions");
        writeln!(output, "\n{heading}")?;
        let probability = format!("P({})", self.concept.positive);
        let mut table = TextTable::new(["in", "row", "prediction", &probability, "Gibbs"]);
        for prediction in self.predictions.iter().take(MAX_LINES) {
            table.row(cells_of(prediction, self.concept, readable));
        }
        write!(output, "{}", table.text(2))?;
        if self.predictions.len() > MAX_LINES {
            let more = self.predictions.len() - MAX_LINES;
            writeln!(output, "  … and {more} more, which -o FILE writes")?;
        }
        Ok(())
    }

    fn document(&self) -> Value {
        let (concept, learned) = (self.concept, self.learned);
        let space = &concept.space;
        let (positive, negative) = self.weights();
        let boundaries = learned.boundaries.as_ref().ok();
        let side = |members: &[Conjunction]| -> Vec<Value> {
            members.iter().map(|h| self.hypothesis(h)).collect()
        };
        let posterior = learned.posterior.as_ref().ok();
        let map = posterior.map(|posterior| posterior.map());
        let log_evidence = match &learned.posterior {
            Ok(posterior) => Some(posterior.log_evidence()),
            Err(_) => None,
        };
        let attributes = space.attributes().iter();
        json!({
            "target": concept.target,
            "positive": concept.positive,
            "negative": concept.negative,
            "examples": { "positive": positive, "negative": negative },
            "attributes": attributes
                .map(|field| json!({ "name": field.name, "values": field.levels }))
                .collect::<Vec<_>>(),
            "hypotheses": count(space.size()),
            "prior": self.prior(),
            "noise": learned.assumptions.noise,
            "version_space": {
                "size": learned.size.as_ref().ok().map(|size| count(*size)),
                "specific": boundaries.map(|b| side(&b.specific)),
                "general": boundaries.map(|b| side(&b.general)),
            },
            "posterior": learned.best.iter()
                .map(|(hypothesis, log)| {
                    json!({ "hypothesis": self.hypothesis(hypothesis), "probability": log.exp() })
                })
                .collect::<Vec<_>>(),
            "map": map.map(|(ties, log)| {
                json!({ "hypotheses": count(ties), "probability": log.exp() })
            }),
            "log_evidence": log_evidence,
            "evidence": log_evidence.map(f64::exp),
            "evolution": self.stages.iter().map(|stage| self.stage(stage)).collect::<Vec<_>>(),
            "checks": self.checks.iter().map(|check| self.check(check)).collect::<Vec<_>>(),
            "predictions": self.predictions.iter()
                .map(|prediction| self.prediction(prediction))
                .collect::<Vec<_>>(),
        })
    }

    fn prediction(&self, prediction: &Prediction) -> Value {
        json!({
            "in": file_of(prediction),
            "row": prediction.row,
            "prediction": self.concept.name(prediction.positive()),
            "probability": prediction.probability,
            "gibbs": self.concept.name(prediction.gibbs),
        })
    }

    fn stage(&self, stage: &Stage) -> Value {
        json!({
            "row": stage.row,
            "label": self.concept.name(stage.positive),
            "probability": stage.log_probability.exp(),
            "log_evidence": stage.log_evidence,
            "map": self.hypothesis(&stage.map.0),
            "map_hypotheses": count(stage.ties),
            "map_probability": stage.map.1.exp(),
        })
    }

    fn check(&self, check: &Check) -> Value {
        json!({
            "hypothesis": self.hypothesis(&check.hypothesis),
            "consistent": check.rows.is_empty(),
            "errors": check.errors,
            "rows": check.rows,
            "probability": check.posterior,
            "map": check.best,
        })
    }

    /// A value for every attribute, null where any value is accepted; null for ∅.
    fn hypothesis(&self, hypothesis: &Conjunction) -> Value {
        let Conjunction::Constraints(constraints) = hypothesis else {
            return Value::Null;
        };
        let attributes = self.concept.space.attributes().iter().zip(constraints);
        let values = attributes.map(|(field, constraint)| {
            let level = constraint.and_then(|code| field.levels.get(code as usize));
            json!(level)
        });
        Value::Array(values.collect())
    }
}

/// A whole number if the count is exact, else a float.
fn count(count: Count) -> Value {
    let exact = count.exact().and_then(|n| u64::try_from(n).ok());
    exact.map_or_else(|| json!(count.as_f64()), |n| json!(n))
}

fn hypotheses(count: Count) -> String {
    match count.exact() {
        Some(1) => "one hypothesis".into(),
        _ => format!("{count} hypotheses"),
    }
}

/// The file and number of a row, its prediction with the probability, and that by Gibbs.
fn cells_of(
    prediction: &Prediction,
    concept: &Concept,
    number: impl Fn(f64) -> String,
) -> [String; 5] {
    [
        file_of(prediction).to_string(),
        prediction.row.to_string(),
        concept.name(prediction.positive()).to_string(),
        number(prediction.probability),
        concept.name(prediction.gibbs).to_string(),
    ]
}

/// The file of a predicted row.
fn file_of(prediction: &Prediction) -> &'static str {
    if prediction.in_table {
        "data"
    } else {
        "predict"
    }
}

/// Writes all predictions as a table.
pub fn write_predictions(
    path: &Path,
    predictions: &[Prediction],
    concept: &Concept,
    context: &Context,
) -> Outcome {
    let mut output = Output::table(Some(path), context)?;
    let probability = format!("P({})", concept.positive);
    output.line(["in", "row", "prediction", &probability, "gibbs"])?;
    for prediction in predictions {
        let cells = cells_of(prediction, concept, cells::number);
        output.line(cells.iter().map(String::as_str))?;
    }
    output.finish()
}
