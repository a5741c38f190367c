//! A matrix of rows × components, row by row: the components of a row stand next to each other,
//! padded to whole registers. In other modules, blocks are component-major.

/// One number for each row and component, row by row with padded components.
#[derive(Default)]
pub(crate) struct ByRow {
    pub numbers: Vec<f64>,
    pub width: usize,
}

impl ByRow {
    /// Changes the size to `rows` of `width` numbers each, which are arbitrary afterwards.
    pub fn resize(&mut self, rows: usize, width: usize) {
        self.width = width;
        self.numbers.resize(rows * width, 0.0);
    }

    /// Copies component-major numbers; the padding is 0.
    pub fn load(&mut self, by_component: &[f64], rows: usize, width: usize) {
        self.numbers.clear();
        self.resize(rows, width);
        for (j, column) in by_component.chunks_exact(rows.max(1)).enumerate() {
            let places = self.numbers.iter_mut().skip(j).step_by(width);
            places
                .zip(column)
                .for_each(|(place, number)| *place = *number);
        }
    }

    /// Adds the numbers to `by_component`, which is component-major.
    pub fn add_to(&self, by_component: &mut [f64], rows: usize) {
        for (j, column) in by_component.chunks_exact_mut(rows.max(1)).enumerate() {
            let numbers = self.numbers.iter().skip(j).step_by(self.width);
            column
                .iter_mut()
                .zip(numbers)
                .for_each(|(sum, number)| *sum += number);
        }
    }

    /// The numbers of some adjacent rows.
    pub fn rows(&self, rows: std::ops::Range<usize>) -> &[f64] {
        &self.numbers[rows.start * self.width..rows.end * self.width]
    }

    /// The numbers of some adjacent rows, to be changed.
    pub fn rows_mut(&mut self, rows: std::ops::Range<usize>) -> &mut [f64] {
        &mut self.numbers[rows.start * self.width..rows.end * self.width]
    }
}

#[cfg(test)]
mod tests {
    use super::ByRow;

    #[test]
    fn numbers_by_component_come_back_after_a_round_trip() {
        let numbers: Vec<f64> = (0..15).map(f64::from).collect();
        let mut by_row = ByRow::default();
        by_row.load(&numbers, 5, 4);
        assert_eq!(
            by_row.rows(1..3),
            [1.0, 6.0, 11.0, 0.0, 2.0, 7.0, 12.0, 0.0]
        );
        let mut sums = vec![1.0; 15];
        by_row.add_to(&mut sums, 5);
        assert!(
            sums.iter()
                .zip(&numbers)
                .all(|(sum, number)| *sum == number + 1.0)
        );
    }
}
