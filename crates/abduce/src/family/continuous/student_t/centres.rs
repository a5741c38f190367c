//! Local maxima of the Student t likelihood below one degree of freedom.
//!
//! For ν ≥ 1 location and scale have a single maximum (Kent & Tyler 1991). For ν < 1 there can be
//! one at every cluster of numbers, so that following one of them from ν to ν can miss the best.
//! The search therefore starts at several centres for several ν, and follows every maximum along
//! ν to the nearest root of the derivative of the profile likelihood.

use super::StudentT;
use crate::family::PointStats;

/// Degrees of freedom at which every centre is tried. From the last on, all centres lead to the
/// same maximum.
const DEGREES: [f64; 8] = [0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.75, 1.0];

/// Up to this many distinct numbers, each is a centre; otherwise evenly spaced quantiles and the
/// narrowest intervals are.
const EVERY_NUMBER: usize = 40;

/// Of more distinct numbers, so many groups of neighbours are searched, and the result is
/// followed to a maximum of all numbers.
const MAX_POINTS: usize = 400;

impl StudentT {
    /// The maxima of the likelihood between 0.1 and 1 degrees of freedom that are found from
    /// several centres.
    pub(super) fn maxima_of_clusters(points: &PointStats, least: f64) -> Vec<StudentT> {
        if points.values.len() <= MAX_POINTS {
            return Self::all_maxima_of_clusters(points, least);
        }
        let found = Self::all_maxima_of_clusters(&points.grouped(MAX_POINTS), least);
        let place =
            |maximum: &StudentT| DEGREES.partition_point(|degrees| *degrees < maximum.degrees);
        let followed = found.iter().filter_map(|maximum| {
            let place = place(maximum).min(DEGREES.len() - 2);
            let maximum = maximum.at(DEGREES[place], points, least)?;
            maximum.followed(place, points, least)
        });
        followed.collect()
    }

    /// The same from all numbers.
    pub(super) fn all_maxima_of_clusters(points: &PointStats, least: f64) -> Vec<StudentT> {
        let starts = starts(points, least);
        let mut maxima: Vec<StudentT> = Vec::new();
        for (place, degrees) in DEGREES.iter().enumerate().take(DEGREES.len() - 1) {
            let mut settled: Vec<StudentT> = Vec::new();
            for start in &starts {
                let found = start.at(*degrees, points, least);
                if let Some(found) = found.filter(|found| !settled.iter().any(|s| s.is_near(found)))
                {
                    settled.push(found);
                }
            }
            for maximum in &settled {
                if let Some(maximum) = maximum.followed(place, points, least)
                    && !maxima.iter().any(|other| other.is_near(&maximum))
                {
                    maxima.push(maximum);
                }
            }
        }
        maxima
    }

    /// Whether two distributions are the same maximum, up to where the search
    /// for it stopped.
    fn is_near(&self, other: &StudentT) -> bool {
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
        (self.location - other.location).abs() < 1e-6 * self.scale
            && close(self.scale, other.scale)
            && close(self.degrees, other.degrees)
    }

    /// The maximum of the profile likelihood reached uphill from a point of the grid; none where
    /// it ends outside the grid.
    fn followed(&self, place: usize, points: &PointStats, least: f64) -> Option<StudentT> {
        let (mut place, mut current) = (place, self.clone());
        let down = current.slope(points) > 0.0;
        loop {
            let next_place = if down {
                place.checked_sub(1)?
            } else {
                place + 1
            };
            let next = current.at(*DEGREES.get(next_place)?, points, least);
            // Where the scale vanishes, more degrees of freedom are needed.
            let turned = match &next {
                Some(next) => (next.slope(points) > 0.0) != down,
                None => down,
            };
            if turned {
                let (low, high) = (place.min(next_place), place.max(next_place));
                let near = if down { &current } else { next.as_ref()? };
                return near.maximum_between(DEGREES[low], DEGREES[high], points, least);
            }
            (place, current) = (next_place, next?);
        }
    }
}

/// Where the search starts: centres, each with the distance to its nearest
/// numbers for a scale.
fn starts(points: &PointStats, least: f64) -> Vec<StudentT> {
    let values = &points.values;
    let n = values.len();
    let start = |location: f64, scale: f64| StudentT {
        location,
        scale: scale.max(10.0 * least),
        degrees: 1.0,
    };
    // The narrowest interval with so many numbers after the first.
    let window = |places: std::ops::Range<usize>, count: usize| {
        let width = |i: &usize| values[i + count] - values[*i];
        let first = places.min_by(|a, b| width(a).total_cmp(&width(b)));
        first.map(|i| (0.5 * (values[i] + values[i + count]), 0.5 * width(&i)))
    };
    let mut found = Vec::new();
    let small = n <= EVERY_NUMBER;
    let counts = if small {
        vec![1, 2, 3, n / 4, n / 2]
    } else {
        vec![n / 50, n / 20, n / 10, n / 4, n / 2]
    };
    let mut counts: Vec<usize> = counts.into_iter().filter(|c| 0 < *c && *c < n).collect();
    counts.dedup();
    for count in counts {
        let windows = n - count;
        let parts = if small { windows } else { windows.min(8) };
        for part in 0..parts {
            let places = windows * part / parts..windows * (part + 1) / parts;
            found.extend(window(places, count).map(|(centre, half)| start(centre, half)));
        }
    }
    found
}
