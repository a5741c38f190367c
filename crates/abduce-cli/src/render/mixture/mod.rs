//! Mixtures: naive Bayes, discriminant analysis and clusters.

pub mod components;
mod parameters;
mod recipe;
pub mod selection;

use super::{Lines, Render};
use crate::context::Context;
use crate::io::failure::Outcome;
use crate::io::output::Output;
use abduce::model::mixture::{FittedMixture, Selection, Start};
use abduce::model::{FitReport, Fitted};
use serde_json::{Map, Value};

impl Render for Fitted<FittedMixture> {
    fn weights(&self) -> Vec<f64> {
        self.parameters.weights.clone()
    }

    fn edit_figures(&self, report: &FitReport, lines: &mut Lines) {
        let starts = &self.details.starts;
        if let Some((best, reached)) = Start::best_of(starts, report.weight) {
            let best = format!("best objective {best:.4}");
            let ended = starts.iter().map(|start| start.ended).collect();
            lines.extend(components::starts(ended, &best, reached));
        }
        let certainty = components::certainty(self.details.diagnostics.as_ref());
        lines.extend(certainty.map(|certainty| ("certainty", certainty)));
    }

    fn main_settings(&self, _: &FitReport) -> Lines {
        let mut lines = vec![
            ("covariance", recipe::covariance(self)),
            ("tails", recipe::tails(self)),
        ];
        lines.retain(|(_, value)| !value.is_empty());
        lines
    }

    fn settings(&self, _: &FitReport) -> Lines {
        let seed = ("seed", self.recipe.options.seed.to_string());
        let mut lines = vec![seed];
        lines.extend(recipe::lines(
            self,
            &self.recipe.specification,
            &self.recipe.options,
        ));
        lines
    }

    fn summary(&self) -> String {
        let class = self.target.map_or("component", |_| "class");
        components::brief(class, self, self.details.diagnostics.as_ref()).text(2)
    }

    fn write_parameters(&self, context: &Context, output: &mut Output) -> Outcome {
        parameters::write(self, context, output)
    }

    fn choices(&self) -> Vec<(&'static str, String)> {
        let selection = self.details.selection.as_ref();
        let selection = selection.map(|selection| ("chosen among", selection::text(selection)));
        let tests = self.details.bootstrap.as_ref();
        let heading = "tests of the number of components";
        let tests = tests.map(|tests| (heading, selection::tests(tests)));
        selection.into_iter().chain(tests).collect()
    }

    fn choice_note(&self) -> Option<&'static str> {
        let selection = self.details.selection.as_ref();
        selection
            .is_some_and(Selection::chose_most_components)
            .then_some(selection::LARGEST_CHOSEN)
    }

    fn document(&self) -> Map<String, Value> {
        let details = serde_json::to_value(&self.details);
        let mut document = match details {
            Ok(Value::Object(document)) => document,
            _ => Map::new(),
        };
        let objective = self.details.objective_trace.last();
        if let Some(objective) = objective.copied().flatten() {
            document.insert("objective".into(), objective.into());
        }
        document
    }
}
