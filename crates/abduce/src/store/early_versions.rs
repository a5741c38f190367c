//! Conversion of model files that early versions wrote.

use super::Model;
use crate::model::mixture::{Candidate, FittedMixture};

impl Model {
    /// Subtracts the log-density of constant columns from the log-likelihoods of a file that
    /// includes it: early versions gave a constant a density with a width of about a millionth
    /// of its value.
    pub(super) fn subtract_constant_columns(&mut self) {
        // Files with this field already leave constant columns out.
        if self.fit.log_likelihood_of.is_some() {
            return;
        }
        let Some(mixture) = self.body.get_mut::<FittedMixture>() else {
            return;
        };
        let constants = mixture.log_likelihood_of_constants();
        if constants == 0.0 || !constants.is_finite() {
            return;
        }
        mixture.statistics.log_likelihood -= constants;
        let fit = &mut self.fit;
        fit.log_likelihood -= constants;
        fit.bic += 2.0 * constants;
        fit.aic += 2.0 * constants;
        let details = &mut mixture.details;
        let traces = fit.trace.iter_mut().chain(&mut details.objective_trace);
        traces.flatten().for_each(|l| *l -= constants);
        // A constant column has the same density in every fit of a grid.
        let selection = details.selection.iter_mut();
        for candidate in selection.flat_map(|selection| &mut selection.tried) {
            if let Some(log_likelihood) = &mut candidate.log_likelihood {
                *log_likelihood -= constants;
            }
            for value in criteria(candidate) {
                *value += 2.0 * constants;
            }
        }
    }
}

/// The criteria of a candidate that were computed.
fn criteria(candidate: &mut Candidate) -> impl Iterator<Item = &mut f64> {
    let all = [
        &mut candidate.bic,
        &mut candidate.aic,
        &mut candidate.icl,
        &mut candidate.cv,
    ];
    all.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::criteria;
    use crate::Control;
    use crate::data::{Column, Field, Kind, Schema, Table};
    use crate::model::mixture::{
        Candidate, CovarianceKind, Criterion, FitOptions, FittedMixture, Recipe, Selection,
        Specification, fit,
    };
    use crate::store::Model;

    fn table() -> Table {
        let fields = ["x", "y", "k"].map(|name| Field::new(name, Kind::Real));
        let x = (0..40).map(|i| Some(f64::from(i * i % 17)));
        let y = (0..40).map(|i| (i % 3 > 0).then_some(f64::from(i * i % 13)));
        let k = vec![Some(5.5); 40];
        let columns = vec![
            Column::from_numbers(x),
            Column::from_numbers(y),
            Column::from_numbers(k),
        ];
        Table::new(Schema::new(fields.to_vec()), columns, None).unwrap()
    }

    /// A fitted mixture that was chosen among one candidate, itself.
    fn model() -> Model {
        let specification = Specification::mixture(1, CovarianceKind::Full);
        let options = FitOptions::default();
        let fit = fit(&specification, &table(), &options, Control::default()).unwrap();
        let learned = fit.learned(Recipe::new(specification, options));
        let mut model = Model::new("mixture", learned, Vec::new());
        let selection = Selection {
            criterion: Criterion::Bic,
            tried: vec![Candidate {
                covariance: CovarianceKind::Full,
                components: 1,
                left: 1,
                log_likelihood: Some(model.fit.log_likelihood),
                parameters: model.fit.parameters,
                bic: Some(model.fit.bic),
                aic: Some(model.fit.aic),
                icl: Some(model.fit.bic),
                cv: Some(model.fit.bic),
                converged: true,
                stopped_early: false,
                spurious: None,
            }],
            chosen: 0,
            same: Vec::new(),
        };
        let mixture = model.body.get_mut::<FittedMixture>().unwrap();
        mixture.details.selection = Some(selection);
        model
    }

    /// The file of a model as an early version wrote it, with the log-density of constant
    /// columns in every log-likelihood.
    fn early_file(mut model: Model) -> String {
        let mixture = model.body.get_mut::<FittedMixture>().unwrap();
        let constants = mixture.log_likelihood_of_constants();
        assert!(constants > 100.0, "{constants}");
        mixture.model.statistics.log_likelihood += constants;
        let candidate = &mut mixture.details.selection.as_mut().unwrap().tried[0];
        candidate.log_likelihood = candidate.log_likelihood.map(|l| l + constants);
        for value in criteria(candidate) {
            *value -= 2.0 * constants;
        }
        model.fit.log_likelihood_of = None;
        model.fit.log_likelihood += constants;
        model.fit.bic -= 2.0 * constants;
        model.fit.aic -= 2.0 * constants;
        serde_json::to_string(&model).unwrap()
    }

    #[test]
    fn early_files_lose_the_density_of_constant_columns_once() {
        let written = model();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
        // The reports of a file when it is read, and after an update.
        let reports = |text: &str| {
            let model = Model::from_json(text).unwrap();
            let fitted = model.body.get::<FittedMixture>().unwrap();
            let candidate = &fitted.details.selection.as_ref().unwrap().tried[0];
            close(candidate.log_likelihood.unwrap(), model.fit.log_likelihood);
            for value in [candidate.bic, candidate.icl, candidate.cv] {
                close(value.unwrap(), model.fit.bic);
            }
            close(candidate.aic.unwrap(), model.fit.aic);
            let changed = model.update(&table(), Vec::new(), None, Control::default());
            (model.fit, changed.unwrap().model.fit)
        };
        let (now, now_updated) = reports(&written.to_json().unwrap());
        let (early, early_updated) = reports(&early_file(written));
        close(early.log_likelihood, now.log_likelihood);
        close(early.bic, now.bic);
        close(early.aic, now.aic);
        close(early_updated.log_likelihood, now_updated.log_likelihood);
    }
}
