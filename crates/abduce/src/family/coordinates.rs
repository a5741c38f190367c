//! Positive numbers as free ones, by their logarithms. What is 0 stays 0: it has the
//! coordinate 0, which says nothing.

/// The logarithms.
pub(crate) fn logarithms(numbers: &[f64]) -> Vec<f64> {
    let log = |x: &f64| if *x > 0.0 { x.ln() } else { 0.0 };
    numbers.iter().map(log).collect()
}

/// The numbers that have these logarithms, and 0 where the numbers `near` are.
pub(crate) fn exponentials(near: &[f64], logarithms: &[f64]) -> Option<Vec<f64>> {
    let both = near.iter().zip(logarithms);
    let numbers = both.map(|(near, log)| if *near > 0.0 { log.exp() } else { 0.0 });
    let fit = near.len() == logarithms.len() && logarithms.iter().all(|log| log.is_finite());
    fit.then(|| numbers.collect())
}

/// The shares of a whole whose logarithms are these up to a constant, and 0 where the
/// shares `near` are.
pub(crate) fn shares(near: &[f64], logarithms: &[f64]) -> Option<Vec<f64>> {
    let present = near.iter().zip(logarithms).filter(|(near, _)| **near > 0.0);
    let top = present.fold(f64::NEG_INFINITY, |top, (_, log)| top.max(*log));
    let lower: Vec<f64> = logarithms.iter().map(|log| log - top).collect();
    let numbers = exponentials(near, &lower)?;
    let total: f64 = numbers.iter().sum();
    (total > 0.0).then(|| numbers.iter().map(|x| x / total).collect())
}
