//! The report of `bayes`: tables for people, one document for programs.

use crate::context::Context;
use crate::io::failure::Outcome;
use crate::io::output::{Output, write_json};
use crate::render::text_table::{TextTable, readable, readable_exp};
use abduce::concept::{Hypotheses, Step};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io::Write;

/// With more hypotheses than this, a step shows only the best one.
pub const MAX_COLUMNS: usize = 8;

/// A history of more steps than this is shortened to its first and last steps.
const MAX_STEPS: usize = 20;

/// How many equally probable hypotheses are named.
const MAX_TIES: usize = 5;

/// The beliefs after an observation.
pub struct Snapshot {
    step: Step,
    observation: String,
    log_evidence: f64,
    best: usize,
    best_probability: f64,
    posterior: Option<Vec<f64>>,
}

impl Snapshot {
    pub fn new(hypotheses: &Hypotheses, step: Step, keep_posterior: bool) -> Snapshot {
        let belief = hypotheses.belief();
        let posterior = belief.posterior();
        let better = |best: usize, h: usize| {
            if posterior[h] > posterior[best] {
                h
            } else {
                best
            }
        };
        let best = (0..posterior.len()).fold(0, better);
        Snapshot {
            step,
            observation: hypotheses.describe(step.event),
            log_evidence: belief.log_evidence(),
            best,
            best_probability: posterior[best],
            posterior: keep_posterior.then(|| posterior.to_vec()),
        }
    }

    fn name(&self) -> String {
        match self.step.times {
            1.0 => self.observation.clone(),
            times => format!("{} × {}", self.observation, readable(times)),
        }
    }
}

/// The hypotheses and their history.
pub struct Report<'a> {
    pub hypotheses: &'a Hypotheses,
    pub steps: &'a [Snapshot],
    pub top: usize,
    pub trace: bool,
}

impl Report<'_> {
    pub fn write(&self, context: &Context, output: &mut Output) -> Outcome {
        if context.json {
            write_json(output, &self.document())
        } else {
            self.write_text(context, output)
        }
    }

    fn write_text(&self, context: &Context, output: &mut Output) -> Outcome {
        let heading = context.heading(output, "hypotheses");
        write!(output, "{heading}\n{}", self.ranking().text(2))?;
        let count = self.hypotheses.names().len();
        if count > self.top {
            writeln!(output, "  … and {} more", count - self.top)?;
        }
        if !self.steps.is_empty() {
            let heading = context.heading(output, "step by step");
            write!(output, "\n{heading}\n{}", self.history().text(2))?;
        }
        writeln!(output)?;
        for (name, text) in self.conclusions() {
            writeln!(output, "  {name:<8} {text}")?;
        }
        Ok(())
    }

    /// The most probable hypotheses, or all of them in the given order if there are few.
    fn ranking(&self) -> TextTable {
        let belief = self.hypotheses.belief();
        let mut order: Vec<usize> = (0..belief.len()).collect();
        if order.len() > self.top {
            let better = |a: &usize, b: &usize| {
                let pair = (belief.posterior()[*b], belief.posterior()[*a]);
                pair.0.total_cmp(&pair.1)
            };
            order.sort_by(better);
            order.truncate(self.top);
        }
        let mut table = TextTable::new(["", "prior", "log-likelihood", "posterior"]);
        for h in order {
            table.row([
                self.hypotheses.names()[h].clone(),
                readable(self.hypotheses.priors()[h]),
                readable(belief.log_likelihood(h)),
                readable(belief.posterior()[h]),
            ]);
        }
        table
    }

    fn history(&self) -> TextTable {
        let names = self.hypotheses.names();
        let all = names.len() <= MAX_COLUMNS;
        let heading = ["", "P(observation)"].map(String::from).into_iter();
        let priors = self.hypotheses.priors().iter().map(|p| readable(*p));
        let start = ["prior".to_string(), String::new()].into_iter();
        let mut table;
        if all {
            table = TextTable::new(heading.chain(names.iter().cloned()));
            table.row(start.chain(priors));
        } else {
            table = TextTable::new(heading.chain(["best", "posterior"].map(String::from)));
        }
        let short = !self.trace && self.steps.len() > MAX_STEPS;
        for (number, snapshot) in self.steps.iter().enumerate() {
            let left = self.steps.len() - number;
            if short && number == MAX_STEPS / 2 {
                table.row([format!("… {} more", self.steps.len() - MAX_STEPS)]);
            }
            if short && number >= MAX_STEPS / 2 && left > MAX_STEPS / 2 {
                continue;
            }
            let first = [
                format!("{} {}", number + 1, snapshot.name()),
                readable_exp(snapshot.step.log_probability),
            ];
            let cells: Vec<String> = match (all, &snapshot.posterior) {
                (true, Some(posterior)) => posterior.iter().map(|p| readable(*p)).collect(),
                _ => vec![
                    names[snapshot.best].clone(),
                    readable(snapshot.best_probability),
                ],
            };
            table.row(first.into_iter().chain(cells));
        }
        table
    }

    fn conclusions(&self) -> Vec<(&'static str, String)> {
        let belief = self.hypotheses.belief();
        let best = belief.map();
        let probability = best.first().map_or(0.0, |h| belief.posterior()[*h]);
        let each = if best.len() > 1 { " each" } else { "" };
        let best = self.listed(&best);
        let mut lines = vec![("MAP", format!("{best} ({}{each})", readable(probability)))];
        if !self.steps.is_empty() {
            let log = belief.log_evidence();
            lines.push(("ML", self.listed(&belief.maximum_likelihood())));
            lines.push((
                "evidence",
                format!("{} (log {})", readable_exp(log), readable(log)),
            ));
        }
        let next: Vec<String> = (self.hypotheses.outcomes())
            .zip(self.hypotheses.predictive())
            .take(self.top)
            .map(|(outcome, p)| format!("P({outcome}) = {}", readable(p)))
            .collect();
        if !next.is_empty() {
            lines.push(("next", next.join(", ")));
        }
        lines
    }

    fn listed(&self, hypotheses: &[usize]) -> String {
        let names = hypotheses
            .iter()
            .map(|h| self.hypotheses.names()[*h].as_str());
        let mut list = names.take(MAX_TIES).collect::<Vec<&str>>().join(", ");
        if hypotheses.len() > MAX_TIES {
            list.push_str(&format!(" and {} more", hypotheses.len() - MAX_TIES));
        }
        list
    }

    fn document(&self) -> impl Serialize {
        let belief = self.hypotheses.belief();
        let names = self.hypotheses.names();
        let named = |hypotheses: Vec<usize>| -> Vec<&str> {
            hypotheses.iter().map(|h| names[*h].as_str()).collect()
        };
        let best = belief.map();
        Document {
            hypotheses: (0..names.len())
                .map(|h| HypothesisDocument {
                    name: &names[h],
                    prior: self.hypotheses.priors()[h],
                    log_likelihood: belief.log_likelihood(h),
                    posterior: belief.posterior()[h],
                })
                .collect(),
            posterior: Named(names, belief.posterior()),
            map_probability: best.first().map(|h| belief.posterior()[*h]),
            map: named(best),
            maximum_likelihood: named(belief.maximum_likelihood()),
            evidence: belief.log_evidence().exp(),
            log_evidence: belief.log_evidence(),
            next: (self.hypotheses.outcomes())
                .zip(self.hypotheses.predictive())
                .map(|(outcome, probability)| OutcomeDocument {
                    outcome,
                    probability,
                })
                .collect(),
            steps: (self.steps.iter())
                .map(|snapshot| StepDocument {
                    observation: &snapshot.observation,
                    times: snapshot.step.times,
                    probability: snapshot.step.log_probability.exp(),
                    log_probability: snapshot.step.log_probability,
                    log_evidence: snapshot.log_evidence,
                    map: &names[snapshot.best],
                    map_probability: snapshot.best_probability,
                    posterior: (snapshot.posterior.as_deref()).map(|p| Named(names, p)),
                })
                .collect(),
        }
    }
}

#[derive(serde::Serialize)]
struct Document<'a> {
    hypotheses: Vec<HypothesisDocument<'a>>,
    posterior: Named<'a>,
    map: Vec<&'a str>,
    map_probability: Option<f64>,
    maximum_likelihood: Vec<&'a str>,
    evidence: f64,
    log_evidence: f64,
    next: Vec<OutcomeDocument<'a>>,
    steps: Vec<StepDocument<'a>>,
}

#[derive(serde::Serialize)]
struct HypothesisDocument<'a> {
    name: &'a str,
    prior: f64,
    log_likelihood: f64,
    posterior: f64,
}

#[derive(serde::Serialize)]
struct OutcomeDocument<'a> {
    outcome: &'a str,
    probability: f64,
}

#[derive(serde::Serialize)]
struct StepDocument<'a> {
    observation: &'a str,
    times: f64,
    probability: f64,
    log_probability: f64,
    log_evidence: f64,
    map: &'a str,
    map_probability: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    posterior: Option<Named<'a>>,
}

/// Numbers by name, in order.
struct Named<'a>(&'a [String], &'a [f64]);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, number) in self.0.iter().zip(self.1) {
            map.serialize_entry(name, number)?;
        }
        map.end()
    }
}
