//! Labels that are whole numbers near each other, as most are: their classes are found by
//! marking each in a row of flags, without sorting.

use crate::aligned::Aligned1;
use numpy::PyArray1;
use pyo3::prelude::*;

/// The most numbers between the least and the greatest label.
const MOST: u64 = 1 << 20;

/// The classes, and the code of each label; nothing where the labels are too far apart.
type Coded<'py> = Option<(Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>)>;

/// The classes of whole numbers in their order, and which of them each label is.
#[pyfunction]
pub fn classes_of<'py>(py: Python<'py>, labels: Aligned1<'py, i64>) -> Coded<'py> {
    let copied;
    let labels = match labels.as_slice() {
        Ok(labels) => labels,
        Err(_) => {
            copied = labels.as_array().to_vec();
            &copied
        }
    };
    let (first, last) = labels
        .iter()
        .fold((i64::MAX, i64::MIN), |(first, last), own| {
            (first.min(*own), last.max(*own))
        });
    if labels.is_empty() {
        return None;
    }
    if last.abs_diff(first) >= MOST {
        return None;
    }
    let place = |label: &i64| label.abs_diff(first) as usize;
    let mut codes = vec![0i64; place(&last) + 1];
    labels.iter().for_each(|label| codes[place(label)] = 1);
    let mut classes = Vec::new();
    for (label, code) in (first..=last).zip(&mut codes) {
        if *code == 1 {
            *code = classes.len() as i64;
            classes.push(label);
        }
    }
    let code = |label: &i64| codes[place(label)];
    // Fresh memory is cleared before it is filled, so that it should be little.
    let coded = match classes.len() <= i8::MAX as usize {
        true => PyArray1::from_iter(py, labels.iter().map(|own| code(own) as i8)).into_any(),
        false => PyArray1::from_iter(py, labels.iter().map(code)).into_any(),
    };
    Some((PyArray1::from_vec(py, classes), coded))
}
