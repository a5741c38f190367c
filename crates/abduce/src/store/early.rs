//! Files of early versions, brought to what the program writes now.

use super::Model;
use crate::model::mixture::FittedMixture;

impl Model {
    /// Takes constant columns out of the log-likelihoods of a file that counts them in: they
    /// had a density then, of about a millionth of the constant in width.
    pub(super) fn without_constants(&mut self) {
        // Files that say what their log-likelihood is leave constant columns out.
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
        let candidates = details.selection.iter_mut().flat_map(|own| &mut own.tried);
        for own in candidates {
            own.log_likelihood.iter_mut().for_each(|l| *l -= constants);
            let criteria = [&mut own.bic, &mut own.aic, &mut own.icl, &mut own.cv];
            let criteria = criteria.into_iter().flatten();
            criteria.for_each(|value| *value += 2.0 * constants);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Control;
    use crate::data::{Column, Field, Kind, Schema, Table};
    use crate::model::mixture::{
        Candidate, CovarianceKind, Criterion, Details, FitOptions, FittedMixture, Recipe,
        Selection, Specification, fit,
    };
    use crate::store::Model;

    fn details(model: &mut Model) -> &mut Details {
        &mut model.body.get_mut::<FittedMixture>().unwrap().details
    }

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

    #[test]
    fn early_files_lose_the_density_of_constant_columns_once() {
        let specification = Specification::mixture(1, CovarianceKind::Full);
        let options = FitOptions::default();
        let found = fit(&specification, &table(), &options, Control::default()).unwrap();
        let learned = found.learned(Recipe::new(specification, options));
        let mut model = Model::new("mixture", learned, Vec::new());
        details(&mut model).selection = Some(Selection {
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
                spurious: None,
            }],
            chosen: 0,
            same: Vec::new(),
        });
        let mixture = model.body.get::<FittedMixture>().unwrap();
        let constants = mixture.log_likelihood_of_constants();
        assert!(constants > 100.0, "{constants}");
        let now = model.to_json().unwrap();
        let mut early = model.clone();
        early.fit.log_likelihood_of = None;
        early.fit.log_likelihood += constants;
        early.fit.bic -= 2.0 * constants;
        let (log_likelihood, bic) = (early.fit.log_likelihood, early.fit.bic);
        let candidate = &mut details(&mut early).selection.as_mut().unwrap().tried[0];
        candidate.log_likelihood = Some(log_likelihood);
        let criteria = [&mut candidate.bic, &mut candidate.icl, &mut candidate.cv];
        for value in criteria {
            *value = Some(bic);
        }
        candidate.aic = candidate.aic.map(|aic| aic - 2.0 * constants);
        let mixture = early.body.get_mut::<FittedMixture>().unwrap();
        mixture.model.statistics.log_likelihood += constants;
        let early = serde_json::to_string(&early).unwrap();
        let aic = model.fit.aic;
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
        let updated = |text: &str| {
            let model = Model::from_json(text).unwrap();
            let changed = model.update(&table(), Vec::new(), None, Control::default());
            let fitted = model.body.get::<FittedMixture>().unwrap();
            let tried = &fitted.details.selection.as_ref().unwrap().tried[0];
            close(tried.log_likelihood.unwrap(), model.fit.log_likelihood);
            for value in [tried.bic, tried.icl, tried.cv] {
                close(value.unwrap(), model.fit.bic);
            }
            close(tried.aic.unwrap(), aic);
            (model.fit, changed.unwrap().model.fit)
        };
        let ((old, old_updated), (new, new_updated)) = (updated(&early), updated(&now));
        close(old.log_likelihood, new.log_likelihood);
        close(old.bic, new.bic);
        close(old_updated.log_likelihood, new_updated.log_likelihood);
    }
}
