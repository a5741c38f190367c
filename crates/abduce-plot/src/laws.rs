//! Laws of every plot: the SVG is well-formed, symbols are inside their panels, names are
//! escaped, and no data lead to NaN or infinite coordinates.

use super::*;
use roxmltree::{Document, Node};

const NAMES: [&str; 2] = ["a<b & \"c\"", "größe\n<script>"];

fn cloud(columns: &[&[f64]], groups: usize) -> Cloud {
    let rows = columns[0].len();
    let variables = columns.iter().enumerate().map(|(number, values)| {
        Variable::new(
            NAMES[number % 2],
            values.iter().copied().map(Some).collect(),
        )
    });
    let spread = |column: &[f64]| {
        let size = column.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        (size / 4.0).min(1e150).powi(2)
    };
    let mut covariance = vec![0.0; columns.len() * columns.len()];
    for (number, column) in columns.iter().enumerate() {
        covariance[number * columns.len() + number] = spread(column);
    }
    let gaussian = Gaussian {
        mean: columns
            .iter()
            .map(|column| column.first().copied())
            .collect(),
        covariance,
    };
    Cloud {
        variables: variables.collect(),
        groups: (0..groups)
            .map(|group| format!("group <{group}>"))
            .collect(),
        group: (0..rows).map(|row| row % groups).collect(),
        uncertainty: (0..rows).map(|row| (row % 7) as f64 / 14.0).collect(),
        weights: vec![],
        gaussians: vec![gaussian; groups],
    }
}

fn flat_surfaces(cloud: &Cloud) -> Vec<Surface> {
    let lines = |place: usize| {
        let axis = cloud.axis(place);
        let mut lines: Vec<f64> = (0..=20).map(|k| axis.at(f64::from(k) / 20.0)).collect();
        lines.dedup();
        lines
    };
    let pairs = (0..cloud.variables.len()).flat_map(|y| (0..y).map(move |x| (x, y)));
    let surface = |(x, y)| {
        let (across, up) = (lines(x), lines(y));
        let values = (0..across.len() * up.len()).map(|k| (k % 21) as f64);
        let values = values.collect();
        let density = Grid {
            x: across,
            y: up,
            values,
        };
        Surface { x, y, density }
    };
    pairs.map(surface).collect()
}

fn with_marginals(mut cloud: Cloud) -> Cloud {
    for place in 0..cloud.variables.len() {
        let axis = cloud.axis(place);
        let density: Vec<f64> = (0..=40).map(|k| f64::from(k * (40 - k))).collect();
        let half: Vec<f64> = density.iter().map(|d| d / 2.0).collect();
        cloud.variables[place].marginal = Some(Marginal {
            at: (0..=40).map(|k| axis.at(f64::from(k) / 40.0)).collect(),
            groups: vec![half; cloud.groups.len()],
            density,
        });
    }
    cloud
}

/// All plots of rows.
fn plots(cloud: &Cloud) -> Vec<String> {
    let frame = Frame::new("A title of <b> & 'c'");
    let bare = vec![
        classification(&frame, cloud).unwrap(),
        uncertainty(&frame, cloud).unwrap(),
    ];
    let full = with_marginals(cloud.clone());
    let surfaces = flat_surfaces(&full);
    bare.into_iter()
        .chain([
            classification(&frame, &full).unwrap(),
            uncertainty(&frame, &full).unwrap(),
            density(&frame, &full, &surfaces).unwrap(),
        ])
        .collect()
}

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// The position of every symbol, and its clipping region.
fn symbols<'a>(document: &'a Document) -> Vec<((f64, f64), Node<'a, 'a>)> {
    let is_region = |node: &Node| node.has_tag_name("svg") && node.parent_element().is_some();
    let uses = document
        .descendants()
        .filter(|node| node.has_tag_name("use"));
    uses.filter_map(|node| {
        let region = node.ancestors().find(is_region)?;
        let place = match node.attribute("transform") {
            None => (number(node, "x"), number(node, "y")),
            Some(text) => {
                let inside = text.strip_prefix("translate(")?.split(')').next()?;
                let (x, y) = inside.split_once(' ')?;
                (x.parse().ok()?, y.parse().ok()?)
            }
        };
        Some((place, region))
    })
    .collect()
}

fn well_formed(svg: &str) -> Document<'_> {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
    for node in document.descendants() {
        for attribute in node.attributes() {
            let value = attribute.value();
            assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
        }
    }
    document
}

const HARD: [&[&[f64]]; 9] = [
    &[&[], &[]],
    &[&[3.0], &[4.0]],
    &[&[3.0]],
    &[&[5.0, 5.0, 5.0], &[1.0, 2.0, 3.0]],
    &[&[0.0, 0.0], &[0.0, 0.0]],
    &[&[1e300, 2e300, -3e300], &[1e-300, 3e-300, 2e-300]],
    &[&[-1.7e308, 1.7e308], &[5e-324, 0.0], &[1e8, 1e8 + 1e-7]],
    &[
        &[1.0, 2.0, 4.0, 3.0],
        &[-1.0, 0.5, 2.0, 7.0],
        &[9.0, 8.0, 1e3, 4.0],
    ],
    &[&[1e300, 1e-300, 1.0]],
];

#[test]
fn every_plot_is_well_formed_whatever_the_data() {
    for columns in HARD {
        for groups in [1, 2, 60] {
            for svg in plots(&cloud(columns, groups)) {
                well_formed(&svg);
            }
        }
    }
}

#[test]
fn every_row_is_drawn_inside_its_panel_once_for_each_pair() {
    for columns in HARD.iter().filter(|columns| columns.len() > 1) {
        let cloud = cloud(columns, 2);
        let pairs = columns.len() * (columns.len() - 1) / 2;
        for svg in [
            classification(&Frame::new(""), &cloud).unwrap(),
            uncertainty(&Frame::new(""), &with_marginals(cloud.clone())).unwrap(),
        ] {
            let document = well_formed(&svg);
            let drawn = symbols(&document);
            assert_eq!(drawn.len(), pairs * cloud.rows());
            for ((x, y), region) in drawn {
                // Coordinates are rounded to tenths.
                let within = |at: f64, from: f64, length: f64| {
                    at >= from - 0.15 && at <= from + length + 0.15
                };
                let of = |name: &str| number(region, name);
                assert!(within(x, of("x"), of("width")), "{x} {region:?}");
                assert!(within(y, of("y"), of("height")), "{y} {region:?}");
            }
        }
    }
}

#[test]
fn names_are_escaped() {
    let columns: &[&[f64]] = &[&[1.0, 2.0], &[3.0, 4.0]];
    for svg in plots(&cloud(columns, 2)) {
        let document = well_formed(&svg);
        assert!(
            document
                .descendants()
                .all(|node| !node.has_tag_name("script"))
        );
        let texts: Vec<&str> = document
            .descendants()
            .filter_map(|node| node.text())
            .collect();
        assert!(texts.contains(&"a<b & \"c\""), "{texts:?}");
        assert!(texts.contains(&"größe <script>"));
        let root = document.root_element();
        let first: Vec<Node> = root.children().filter(Node::is_element).take(2).collect();
        assert!(first[0].has_tag_name("title") && first[1].has_tag_name("desc"));
        assert_eq!(first[0].text(), Some("A title of <b> & 'c'"));
    }
}

#[test]
fn a_change_of_units_moves_no_point() {
    let x = [1.0, 2.5, 4.0, 3.0];
    let y = [0.3, 0.1, 0.25, 0.4];
    let metres = cloud(&[&x, &y], 2);
    let scaled =
        |column: &[f64], factor: f64| column.iter().map(|x| x * factor).collect::<Vec<_>>();
    let other = cloud(&[&scaled(&x, 1e6), &scaled(&y, 1e-9)], 2);
    let drawn = |cloud: &Cloud| {
        let panel = panel::Panel {
            x: cloud.axis(0),
            y: cloud.axis(1),
            room: sheet::Room {
                left: 0.0,
                top: 0.0,
                width: 500.0,
                height: 400.0,
            },
        };
        scatter::places(cloud, &panel, 0, 1).collect::<Vec<_>>()
    };
    for ((_, a), (_, b)) in drawn(&metres).into_iter().zip(drawn(&other)) {
        assert!((a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9);
    }
}

#[test]
fn rows_with_missing_values_are_left_out() {
    let mut incomplete = cloud(&[&[1.0, 2.0, 3.0], &[3.0, 4.0, 5.0]], 2);
    incomplete.variables[1].values[1] = None;
    incomplete.variables[0].values[2] = Some(f64::NAN);
    let svg = classification(&Frame::new("missing values"), &incomplete).unwrap();
    assert_eq!(symbols(&well_formed(&svg)).len(), 1);
}

#[test]
fn invalid_clouds_are_refused() {
    let good = cloud(&[&[1.0, 2.0], &[3.0, 4.0]], 2);
    let frame = Frame::new("");
    let short = Cloud {
        group: vec![0],
        ..good.clone()
    };
    let nameless = Cloud {
        groups: vec!["one".into()],
        ..good.clone()
    };
    let unsure = Cloud {
        uncertainty: vec![0.5, 1.5],
        ..good.clone()
    };
    assert!(classification(&frame, &Cloud::default()).is_err());
    assert!(classification(&frame, &short).is_err());
    assert!(classification(&frame, &nameless).is_err());
    assert!(uncertainty(&frame, &unsure).is_err());
    assert!(density(&frame, &good, &[]).is_err());
}

fn tried(less_is_better: bool) -> Criteria {
    let line = |name: &str, points: &[(f64, Option<f64>)]| Line {
        name: name.into(),
        points: points.to_vec(),
    };
    Criteria {
        name: "B&C".into(),
        less_is_better,
        lines: vec![
            line(
                "E<I>",
                &[(1.0, Some(2600.0)), (2.0, None), (3.0, Some(2400.0))],
            ),
            line(
                "VVV",
                &[
                    (1.0, Some(2500.0)),
                    (2.0, Some(2322.0)),
                    (3.0, Some(f64::NAN)),
                ],
            ),
        ],
    }
}

#[test]
fn the_best_model_is_marked_and_a_failed_fit_is_a_gap() {
    assert_eq!(tried(true).best(), Some((1, 1)));
    assert_eq!(tried(false).best(), Some((0, 0)));
    let svg = criteria(&Frame::new("Choice"), &tried(true)).unwrap();
    let document = well_formed(&svg);
    let of_class = |class: &str| {
        let has = |node: &Node| node.attribute("class") == Some(class);
        document.descendants().filter(has).count()
    };
    assert_eq!(of_class("best"), 1);
    assert!(svg.contains("Best B&amp;C: VVV, 2 components, 2322.0."));
    // Four values and a symbol for each of two names; the one line without a gap.
    assert_eq!(svg.matches("<use").count(), 6);
    assert_eq!(of_class("line"), 3);
    let nothing = Criteria {
        lines: vec![],
        ..tried(true)
    };
    assert!(criteria(&Frame::new(""), &nothing).is_err());
}

#[test]
fn values_much_worse_than_the_others_do_not_stretch_the_axis() {
    let good = (1..=9).map(|k| (f64::from(k), Some(2300.0 + 10.0 * f64::from(k))));
    let poor = (1..=3).map(|k| (f64::from(k), Some(9000.0 / f64::from(k))));
    let line = |name: &str, points: Vec<_>| Line {
        name: name.into(),
        points,
    };
    let mut tried = Criteria {
        name: "BIC".into(),
        less_is_better: true,
        lines: vec![line("VVV", good.collect()), line("EII", poor.collect())],
    };
    let drawn = |tried: &Criteria| {
        let svg = criteria(&Frame::new("Choice"), tried).unwrap();
        well_formed(&svg);
        // One symbol of each line is in the legend.
        (svg.matches("<use").count() - 2, svg)
    };
    let (symbols, svg) = drawn(&tried);
    assert_eq!(symbols, 9);
    assert!(svg.contains("3 much worse values lie beyond the axis."));
    for (_, value) in tried.lines.iter_mut().flat_map(|line| &mut line.points) {
        *value = value.map(|value| -value);
    }
    tried.less_is_better = false;
    assert_eq!(drawn(&tried).0, 9);
}

#[test]
fn a_trace_states_its_outcome() {
    let drawn = |values: &[Option<f64>], iterations, converged| {
        let fit = Trace {
            name: "log-likelihood",
            values,
            iterations,
            converged,
        };
        let svg = trace(&Frame::new("Fit"), &fit).unwrap();
        well_formed(&svg);
        svg
    };
    let three = [None, Some(-12.0), Some(-11.5)];
    assert!(drawn(&three, 2, true).contains("converged after 2 iterations"));
    assert!(drawn(&three, 2, false).contains("had not converged after 2 iterations"));
    assert!(drawn(&[Some(-3.0)], 1, true).contains("computed at once"));
    let long: Vec<Option<f64>> = (0..500).map(|k| Some(-1e4 / f64::from(k + 1))).collect();
    assert!(drawn(&long, 499, false).matches("<use").count() == 1);
    let none = Trace {
        name: "log-likelihood",
        values: &[None],
        iterations: 1,
        converged: false,
    };
    assert!(trace(&Frame::new(""), &none).is_err());
}
