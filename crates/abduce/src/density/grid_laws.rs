//! Laws of grids: kernels of any width have one, and invalid axes are refused.

use super::super::{Bandwidth, Kernel};
use super::*;

fn density(columns: usize, width: f64) -> KernelDensity {
    let table: Vec<Vec<f64>> = (0..columns)
        .map(|c| vec![0.0, 1.0, 3.0 + c as f64])
        .collect();
    let points = Points::from_columns(&table, None).unwrap();
    KernelDensity::with_bandwidth(points, Kernel::Gaussian, Bandwidth::Shared(width)).unwrap()
}

#[test]
fn kernels_of_any_width_have_a_grid() {
    let axis = |points| Axis {
        start: -1.0,
        end: 5.0,
        points,
    };
    for columns in [1, 2] {
        for width in [1e-140, 1e-3, 1.0, 1e4, 1e8, 1e20, 1e300] {
            let density = density(columns, width);
            for points in [2, 33] {
                let axes = vec![axis(points); columns];
                let grid = density.on_grid(&axes).unwrap();
                assert_eq!(grid.densities.len(), points.pow(columns as u32));
                assert!(grid.densities.iter().all(|d| d.is_finite() && *d >= 0.0));
                let place = vec![axes[0].node(1); columns];
                let expected = density.log_density(&place).unwrap().exp();
                let obtained = grid.density(&place);
                let peak = (density.log_constant()).exp();
                assert!(
                    (obtained - expected).abs() <= 1e-3 * peak,
                    "{columns} {width}"
                );
            }
        }
    }
}

#[test]
fn invalid_axes_have_density_zero_and_no_grid() {
    let density = density(1, 1.0);
    for (start, end, points) in [
        (0.0, 1.0, 0),
        (0.0, 1.0, 1),
        (1.0, 1.0, 5),
        (2.0, 1.0, 5),
        (f64::NAN, 1.0, 5),
        (-f64::MAX, f64::MAX, 2),
        (0.0, 1.0, usize::MAX),
    ] {
        let axis = Axis { start, end, points };
        assert!(density.on_grid(&[axis]).is_err(), "{axis:?}");
        assert!(!axis.step().is_nan() || start.is_nan());
        assert!(!axis.node(0).is_nan() || start.is_nan());
        let grid = Grid {
            axes: vec![axis],
            densities: Vec::new(),
        };
        assert_eq!(grid.density(&[0.5]), 0.0, "{axis:?}");
    }
}

#[test]
fn nodes_are_between_both_ends() {
    let axis = Axis {
        start: -f64::MAX,
        end: f64::MAX,
        points: 3,
    };
    assert_eq!([0, 1, 2].map(|n| axis.node(n)), [-f64::MAX, 0.0, f64::MAX]);
}
