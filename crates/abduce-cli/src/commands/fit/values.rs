//! The numbers of components of a mixture.

use crate::arguments::values::at_least_one;

/// Numbers of components to choose among.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers(pub Vec<usize>);

/// One number, a range as in 1-9, or a list of both.
pub fn components(text: &str) -> Result<Numbers, String> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) if !first.is_empty() => (at_least_one(first)?, at_least_one(last)?),
            _ => (at_least_one(part)?, at_least_one(part)?),
        };
        if first > last {
            return Err(format!(
                "{part} is not a range: write the smaller number first"
            ));
        }
        if last - first >= 1000 {
            return Err(format!(
                "{part} is too long: a range has at most 1000 numbers"
            ));
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(Numbers(numbers))
}
