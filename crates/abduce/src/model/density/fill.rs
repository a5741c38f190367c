//! Filling the missing values of a row of a known class from the points or histogram cells that
//! it may come from, weighted by their probability given the known values. If the known values have
//! density 0, they are ignored.

use super::joint::no_integral;
use super::{Density, DensityModel};
use crate::density::KernelDensity;
use crate::family::{Fill, draw_index, most_probable};
use crate::{Error, Result};
use rand::Rng;

impl DensityModel {
    /// The mean of the columns of a row over its possible classes.
    pub(super) fn mean_over_classes(
        &self,
        posterior: &[f64],
        row: &[Option<f64>],
    ) -> Result<Vec<f64>> {
        let mut mean = vec![0.0; row.len()];
        // A mean needs no random numbers.
        let mut rng = <rand_chacha::ChaCha8Rng as rand::SeedableRng>::seed_from_u64(0);
        for (class, share) in posterior
            .iter()
            .enumerate()
            .filter(|(_, share)| **share > 0.0)
        {
            let of_class = self.fill(class, row, Fill::Mean, &mut rng)?;
            add(&mut mean, *share, &of_class);
        }
        Ok(mean)
    }

    /// The columns of a row of a class with its missing values filled.
    pub(super) fn fill(
        &self,
        class: usize,
        row: &[Option<f64>],
        how: Fill,
        rng: &mut dyn Rng,
    ) -> Result<Vec<f64>> {
        match &self.densities[class] {
            None => Err(Error::numeric(
                "a class without complete rows has no density",
            )),
            Some(Density::Knn(_)) => Err(no_integral("it cannot fill missing values or draw rows")),
            Some(Density::Histogram(histogram)) => Ok(histogram.filled(row, how, rng)),
            Some(Density::Kde(density)) => self.fill_kernel(class, density, row, how, rng),
        }
    }

    fn fill_kernel(
        &self,
        class: usize,
        density: &KernelDensity,
        row: &[Option<f64>],
        how: Fill,
        rng: &mut dyn Rng,
    ) -> Result<Vec<f64>> {
        let columns: Vec<usize> = (0..row.len()).filter(|c| row[*c].is_some()).collect();
        let seen: Vec<f64> = row.iter().flatten().copied().collect();
        let given = self.patterns.of(class, density, &columns)?;
        let points = density.points();
        let Some(shares) = given.shares(points.weights(), &seen) else {
            let anywhere = self.fill_kernel(class, density, &vec![None; row.len()], how, rng)?;
            let cells = row.iter().zip(anywhere);
            return Ok(cells.map(|(x, anywhere)| x.unwrap_or(anywhere)).collect());
        };
        let hidden = match how {
            Fill::Draw => given.draw(points.row(draw_index(&shares, rng)), &seen, rng),
            Fill::Mean => {
                let mut mean = vec![0.0; given.hidden().len()];
                let shares = shares.iter().enumerate();
                for (point, share) in shares.filter(|(_, share)| **share > 1e-18) {
                    add(&mut mean, *share, &given.mean(points.row(point), &seen));
                }
                mean
            }
            Fill::Mode => {
                // The most probable of the kernel centres that are likely for the known values.
                const CANDIDATES: usize = 256;
                let top = shares.iter().copied().fold(0.0, f64::max);
                let likely: Vec<usize> = (0..shares.len())
                    .filter(|i| shares[*i] >= 0.05 * top)
                    .collect();
                let step = likely.len().div_ceil(CANDIDATES);
                let mut candidates: Vec<Vec<f64>> = likely
                    .into_iter()
                    .step_by(step)
                    .map(|i| given.mean(points.row(i), &seen))
                    .collect();
                let whole: Vec<Vec<f64>> = candidates
                    .iter()
                    .map(|hidden| filled_in(row, hidden))
                    .collect();
                let densities = density.log_densities(&whole)?;
                candidates.swap_remove(most_probable(&densities))
            }
        };
        Ok(filled_in(row, &hidden))
    }
}

fn add(sum: &mut [f64], share: f64, values: &[f64]) {
    let cells = sum.iter_mut().zip(values);
    cells.for_each(|(sum, x)| *sum += share * x);
}

/// A row with its missing values filled in order.
fn filled_in(row: &[Option<f64>], hidden: &[f64]) -> Vec<f64> {
    let mut hidden = hidden.iter();
    let cell = |x: &Option<f64>| x.or_else(|| hidden.next().copied()).unwrap_or_default();
    row.iter().map(cell).collect()
}
