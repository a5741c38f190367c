//! Numbers in files: read with their places, and written in the fewest digits that are read back
//! exactly.

/// Numbers with the byte offset of each.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The numbers.
    pub values: Vec<f64>,
    /// Their byte offsets.
    pub places: Vec<usize>,
}

impl Numbers {
    /// Adds a number.
    pub fn push(&mut self, value: f64, at: usize) {
        self.values.push(value);
        self.places.push(at);
    }
}

/// The finite number that a word stands for.
pub(super) fn finite(word: &str) -> Option<f64> {
    word.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Numbers in the fewest digits that are read back exactly, with a separator.
pub(super) fn join(numbers: &[f64], separator: &str) -> String {
    let words: Vec<String> = numbers.iter().map(|number| format!("{number:?}")).collect();
    words.join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_numbers_are_not_numbers() {
        assert_eq!(finite("1e-5"), Some(1e-5));
        for word in ["inf", "nan", "1e999", "", "x"] {
            assert_eq!(finite(word), None);
        }
    }

    #[test]
    fn a_written_number_is_read_back_exactly() {
        let numbers = [0.1 + 0.2, 1.0 / 3.0, 5e-324, 1e-5, 0.0, 1.0, f64::EPSILON];
        let text = join(&numbers, " ");
        let read: Vec<f64> = text.split(' ').filter_map(finite).collect();
        assert_eq!(read, numbers);
    }
}
