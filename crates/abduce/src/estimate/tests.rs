//! Reports of posteriors that are sampled.

use super::{Estimate, PriorChoice, Request, estimate};
use crate::Result;
use crate::data::{Column, Field, Kind, Schema, Table};

fn report(family: &str, rows: &[f64], prior: Option<&str>, seed: u64) -> Result<Estimate> {
    let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
    let column = Column::from_numbers(rows.iter().map(|x| Some(*x)));
    let table = Table::new(schema, vec![column], None)?;
    let request = Request {
        prior: prior.map(|text| PriorChoice::Text(text.into())),
        seed,
        ..Request::default()
    };
    estimate(family, &table, &request)
}

fn is_improper(family: &str, rows: &[f64], prior: Option<&str>) -> bool {
    match report(family, rows, prior, 0) {
        Ok(_) => false,
        Err(why) => {
            assert!(why.to_string().contains("improper"), "{why}");
            true
        }
    }
}

#[test]
fn zeros_alone_leave_the_rate_of_a_zero_inflated_poisson_open() {
    assert!(is_improper("zero-inflated-poisson", &[0.0; 9], None));
    let proper = Some("rate=gamma(0.5,0.1)");
    assert!(!is_improper("zero-inflated-poisson", &[0.0; 9], proper));
    let mixed = [0.0, 0.0, 3.0, 1.0, 0.0, 4.0];
    assert!(!is_improper("zero-inflated-poisson", &mixed, None));
}

#[test]
fn numbers_seen_twice_allow_few_degrees_of_freedom_no_belief() {
    let ties = [1.0, 1.0, 2.5, -0.3, 0.4, 3.1, 0.9];
    let different = [1.0, 1.1, 2.5, -0.3, 0.4, 3.1, 0.9];
    let near_zero = Some("degrees=gamma(2,0.1)");
    assert!(is_improper("student-t", &ties, near_zero));
    assert!(!is_improper("student-t", &different, near_zero));
    // From 1 on, and where small scales are not believed in, ties do no harm.
    assert!(!is_improper("student-t", &ties, None));
    let large_scales = Some("degrees=gamma(2,0.1); scale=inverse_gamma(1,1)");
    assert!(!is_improper("student-t", &ties, large_scales));
    assert!(is_improper("student-t", &different, Some("degrees=1/x")));
}

#[test]
fn the_seed_moves_a_sampled_posterior_by_no_more_than_its_error() {
    let rows = [0.5, 1.9, 0.7, 3.0, 1.2, 0.4, 2.2];
    let mean = |seed: u64| {
        let found = report("gamma", &rows, None, seed).unwrap();
        found.mean.unwrap().get("shape").unwrap()
    };
    assert_eq!(mean(1), mean(1));
    assert_ne!(mean(1), mean(2));
    assert!(
        (mean(1) / mean(2) - 1.0).abs() < 0.01,
        "{} {}",
        mean(1),
        mean(2)
    );
}
