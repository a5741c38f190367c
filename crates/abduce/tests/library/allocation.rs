//! Requests larger than memory are an error before anything is allocated.

use abduce::Control;
use abduce::ErrorKind;
use abduce::ask::Joint;
use abduce::data::{Column, Field, Kind, Schema, Table};
use abduce::density::Bins;
use abduce::model::{density, kmeans, mixture};
use rand::SeedableRng;

#[test]
fn samples_larger_than_memory_are_an_error_and_not_an_abort() {
    let x = (0..30).map(|i| Some(f64::from(i * i % 19)));
    let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
    let table = Table::new(schema, vec![Column::from_numbers(x)], None).unwrap();
    let control = Control::default();
    let specification = mixture::Specification::mixture(2, mixture::CovarianceKind::Full);
    let options = mixture::FitOptions::default();
    let mixture = mixture::fit(&specification, &table, &options, control).unwrap();
    let bins = density::Estimator::Histogram {
        bins: Bins::Number(3),
        smoothing: 0.0,
    };
    let specification = density::Specification {
        target: None,
        estimator: bins,
    };
    let density = density::fit(&specification, &table, control).unwrap();
    let specification = kmeans::Specification::new(2);
    let clusters = kmeans::fit(&specification, &table, &Default::default(), control).unwrap();
    let models: [&dyn Joint; 3] = [&mixture.mixture, &density.model, &clusters.model];
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    for rows in [10usize.pow(17), 1 << 62, usize::MAX] {
        for model in models {
            let error = model.sample(&[None], rows, &mut rng).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            assert!(
                error.to_string().contains("do not fit into memory"),
                "{error}"
            );
        }
        let drawn = mixture.mixture.sample_with_components(rows, &mut rng);
        assert_eq!(drawn.unwrap_err().kind(), ErrorKind::Parameter);
    }
}
