//! The missing values of a row of a known class, filled from the points or cells that the
//! row may belong to, each as likely as what is seen of the row makes it. Where no
//! point or cell reaches, what is seen tells nothing.

use super::joint::no_integral;
use super::{Density, DensityModel};
use crate::density::KernelDensity;
use crate::family::{Fill, draw_index, most_probable};
use crate::{Error, Result};
use rand::Rng;

impl DensityModel {
    /// The mean of a row's columns over the classes that it may be of.
    pub(super) fn mean_over_classes(
        &self,
        posterior: &[f64],
        place: &[Option<f64>],
    ) -> Result<Vec<f64>> {
        let mut mean = vec![0.0; place.len()];
        // Drawing nothing, a mean needs no seed.
        let mut rng = <rand_chacha::ChaCha8Rng as rand::SeedableRng>::seed_from_u64(0);
        for (class, share) in posterior
            .iter()
            .enumerate()
            .filter(|(_, share)| **share > 0.0)
        {
            let own = self.fill(class, place, Fill::Mean, &mut rng)?;
            add(&mut mean, *share, &own);
        }
        Ok(mean)
    }

    /// The columns of a row of a class with its missing values filled.
    pub(super) fn fill(
        &self,
        class: usize,
        place: &[Option<f64>],
        how: Fill,
        rng: &mut dyn Rng,
    ) -> Result<Vec<f64>> {
        match &self.densities[class] {
            None => Err(Error::numeric(
                "a class of no rows says nothing of its columns",
            )),
            Some(Density::Knn(_)) => Err(no_integral("it cannot fill missing values or draw rows")),
            Some(Density::Histogram(histogram)) => Ok(histogram.filled(place, how, rng)),
            Some(Density::Kde(density)) => self.fill_kernel(class, density, place, how, rng),
        }
    }

    fn fill_kernel(
        &self,
        class: usize,
        density: &KernelDensity,
        place: &[Option<f64>],
        how: Fill,
        rng: &mut dyn Rng,
    ) -> Result<Vec<f64>> {
        let columns: Vec<usize> = (0..place.len()).filter(|c| place[*c].is_some()).collect();
        let seen: Vec<f64> = place.iter().flatten().copied().collect();
        let given = self.patterns.of(class, density, &columns)?;
        let points = density.points();
        let Some(shares) = given.shares(points.weights(), &seen) else {
            let anywhere = self.fill_kernel(class, density, &vec![None; place.len()], how, rng)?;
            let cells = place.iter().zip(anywhere);
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
                // The best of the centres that the seen cells speak for.
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
                let whole: Vec<Vec<f64>> = candidates.iter().map(|own| put(place, own)).collect();
                let densities = density.log_densities(&whole)?;
                candidates.swap_remove(most_probable(&densities))
            }
        };
        Ok(put(place, &hidden))
    }
}

fn add(sum: &mut [f64], share: f64, own: &[f64]) {
    let cells = sum.iter_mut().zip(own);
    cells.for_each(|(sum, x)| *sum += share * x);
}

/// A place with its missing values filled in order.
fn put(place: &[Option<f64>], hidden: &[f64]) -> Vec<f64> {
    let mut hidden = hidden.iter();
    let cell = |x: &Option<f64>| x.or_else(|| hidden.next().copied()).unwrap_or_default();
    place.iter().map(cell).collect()
}
