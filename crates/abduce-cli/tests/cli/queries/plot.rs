//! Plots of fitted models, and errors for plots that cannot be drawn.

use crate::run::{Files, abduce, data};
use roxmltree::Document;

fn faithful(files: &Files) -> String {
    files.fit(&["mixture", &data("faithful.csv"), "-k", "2"])
}

/// The output of a command, which must be a valid SVG.
#[track_caller]
fn drawn(arguments: &[&str]) -> String {
    let svg = abduce(arguments).succeeds().stdout;
    let document = Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert!(root.has_tag_name("svg"));
    let mut children = root.children().filter(|node| node.is_element());
    assert!(children.next().unwrap().has_tag_name("title"));
    assert!(children.next().unwrap().has_tag_name("desc"));
    svg
}

/// The number of symbols in panels.
fn symbols(svg: &str) -> usize {
    let document = Document::parse(svg).unwrap();
    let uses = document
        .descendants()
        .filter(|node| node.has_tag_name("use"));
    let inside = |node: &roxmltree::Node| {
        let svgs = node.ancestors().filter(|entry| entry.has_tag_name("svg"));
        svgs.count() == 2
    };
    uses.filter(inside).count()
}

#[test]
fn every_row_has_a_symbol() {
    let files = Files::new();
    let (model, table) = (faithful(&files), data("faithful.csv"));
    for what in ["classification", "uncertainty"] {
        let svg = drawn(&["plot", &model, &table, "--what", what]);
        assert_eq!(symbols(&svg), 272);
        assert!(svg.contains("Ellipses hold 50 % and 90 %"));
        assert!(svg.contains(">eruptions</text>") && svg.contains(">waiting</text>"));
        let one = drawn(&[
            "plot",
            &model,
            &table,
            "--what",
            what,
            "--columns",
            "waiting",
        ]);
        assert!(!one.contains(">eruptions</text>"));
    }
}

#[test]
fn density_plots_need_no_rows() {
    let files = Files::new();
    let table = data("faithful.csv");
    for fit in [
        &["mixture", &table, "-k", "2"][..],
        &["kde", &table],
        &["histogram", &table],
    ] {
        let model = files.fit(fit);
        let svg = drawn(&["plot", &model, "--what", "density"]);
        assert!(svg.matches("class=\"level\"").count() == 5, "{fit:?}");
        let rows = drawn(&["plot", &model, &table, "--what", "density"]);
        assert!(rows.contains("class=\"dots\""));
        let curve = drawn(&[
            "plot",
            &model,
            &table,
            "--what",
            "density",
            "--columns",
            "waiting",
        ]);
        assert!(curve.contains("class=\"bar\"") && curve.contains("class=\"total\""));
    }
}

#[test]
fn each_pair_of_columns_has_a_panel() {
    let files = Files::new();
    let table = data("penguins.csv");
    let model = files.fit(&["naive-bayes", &table, "--target", "species"]);
    let columns = "bill_length_mm,bill_depth_mm,body_mass_g";
    let svg = drawn(&["plot", &model, &table, "--columns", columns]);
    assert_eq!(symbols(&svg), 3 * 342);
    // Each line of a note is a text element.
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts = document.descendants().filter(|node| node.is_text());
    let words: Vec<&str> = texts
        .filter_map(|node| node.text())
        .map(str::trim)
        .collect();
    let words = words.join(" ");
    assert!(words.contains("2 rows with missing values"), "{words}");
    let density = drawn(&[
        "plot",
        &model,
        &table,
        "--what",
        "density",
        "--columns",
        columns,
    ]);
    assert_eq!(density.matches("class=\"level\"").count(), 15);
    // Rows are classified by all columns, whichever are drawn.
    let two = drawn(&[
        "plot",
        &model,
        &table,
        "--columns",
        "body_mass_g,bill_length_mm",
    ]);
    let described = |svg: &str| {
        svg.split("groups (")
            .nth(1)
            .unwrap()
            .split(')')
            .next()
            .unwrap()
            .to_string()
    };
    assert_eq!(described(&svg), described(&two));
}

#[test]
fn trace_plots_show_iterations_and_criteria_plots_need_a_selection() {
    let files = Files::new();
    let model = faithful(&files);
    let svg = drawn(&[
        "plot", &model, "--what", "trace", "--width", "300", "--height", "200",
    ]);
    assert!(svg.contains("converged after") && svg.contains("width=\"300\""));
    let outcome = abduce(&["plot", &model, "--what", "criteria"]);
    outcome.fails(2, &["the model was not chosen among several"]);
    let grid = files.fit(&[
        "mixture",
        &data("faithful.csv"),
        "-k",
        "1-3",
        "--covariance",
        "EEE,VVV",
    ]);
    let svg = drawn(&["plot", &grid, "--what", "criteria"]);
    assert!(
        svg.contains("Best BIC: tied, 3 components, 2314.3."),
        "{svg}"
    );
}

#[test]
fn many_rows_are_thinned_evenly_and_reproducibly() {
    let files = Files::new();
    let rows = (0..12_000).map(|k| format!("{},{}\n", k % 977, (k * 31) % 1009));
    let table = files.write("many.csv", format!("a,b\n{}", rows.collect::<String>()));
    let model = files.fit(&["mixture", &table, "-k", "1"]);
    let draw = |more: &[&str]| {
        let all = [&["plot", &model, &table], more].concat();
        drawn(&all)
    };
    let svg = draw(&[]);
    let count = symbols(&svg);
    assert!((4500..=5000).contains(&count));
    assert!(svg.contains(&format!("{count} of 12000 rows")));
    assert_eq!(svg, draw(&["--threads", "1", "--memory", "10K"]));
    assert_ne!(svg, draw(&["--seed", "1"]));
    let logarithmic = draw(&["--log", "a", "--title", "On <a> & b"]);
    assert!(logarithmic.contains("<title>On &lt;a&gt; &amp; b</title>"));
}

#[test]
fn impossible_plots_are_an_error_with_a_hint() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let model = faithful(&files);
    let plot = |arguments: &[&str]| abduce(&[&["plot"], arguments].concat());
    plot(&[&model]).fails(2, &["needs rows", "give DATA after the model"]);
    let table = data("faithful.csv");
    plot(&[&model, &table, "--columns", "depth"]).fails(2, &["depth", "eruptions, waiting"]);
    plot(&[&model, &table, "--columns", "waiting,waiting"]).fails(2, &["named twice"]);
    plot(&[&model, &table, "--columns", "waiting", "--log", "eruptions"]).fails(2, &["not drawn"]);
    plot(&[&model, "--what", "trace", "--columns", "waiting"]).fails(2, &["--columns"]);
    plot(&[&model, &table, "--width", "1"]).fails(2, &["--width"]);
    let kde = files.fit(&["kde", &table]);
    plot(&[&kde, &table, "--what", "classification"]).fails(2, &["no classes", "--what density"]);
    let levels = [
        "naive-bayes",
        &penguins,
        "--target",
        "species",
        "--columns",
        "island,sex",
    ];
    let levels = files.fit(&levels);
    plot(&[&levels, &penguins]).fails(2, &["no column of numbers"]);
    let mixed = files.fit(&["naive-bayes", &penguins, "--target", "species"]);
    plot(&[&mixed, &penguins, "--columns", "island"]).fails(2, &["categorical", "numbers"]);
    let knn = [
        "knn",
        &penguins,
        "--target",
        "species",
        "--drop",
        "island,sex,year",
    ];
    let knn = files.fit(&knn);
    let two = "bill_length_mm,bill_depth_mm";
    drawn(&["plot", &knn, &penguins, "--columns", two, "--quiet"]);
    let outcome = plot(&[&knn, &penguins, "--what", "density", "--columns", two]);
    outcome.fails(2, &["the density of two of its columns"]);
    let model = faithful(&files);
    let out = files.path("out.svg");
    plot(&[&model, &table, "-o", &out]).succeeds();
    assert!(files.read("out.svg").starts_with("<svg"));
    let json = plot(&[&model, "--what", "trace", "--json"])
        .succeeds()
        .json();
    assert!(json["svg"].as_str().unwrap().starts_with("<svg"));
    plot(&[&model, &table, "-o", &model]).fails(2, &["would overwrite"]);
}

#[test]
fn fourteen_covariances_have_distinct_named_curves() {
    let files = Files::new();
    let grid = [
        "mixture",
        &data("faithful.csv"),
        "-k",
        "1-2",
        "--covariance",
        "all",
    ];
    let grid = files.fit(&[&grid[..], &["--restarts", "1"]].concat());
    let svg = drawn(&["plot", &grid, "--what", "criteria"]);
    let document = Document::parse(&svg).unwrap();
    let is_line = |node: &roxmltree::Node| node.attribute("class") == Some("line");
    let lines = document.descendants().filter(is_line);
    let classes: Vec<&str> = lines
        .filter_map(|line| line.parent()?.attribute("class"))
        .collect();
    let curves: Vec<&&str> = classes
        .iter()
        .filter(|class| class.contains(" d"))
        .collect();
    let mut different: Vec<&&str> = curves.clone();
    different.sort();
    different.dedup();
    assert!(different.len() >= 14, "{classes:?}");
    for name in ["EII", "VEI", "EVV", "tied", "full"] {
        assert!(
            svg.contains(&format!(">{name}</text>")),
            "no {name} in {svg}"
        );
    }
}

#[test]
fn ticks_of_iterations_are_integers() {
    let files = Files::new();
    let table = files.write("t.csv", "x\n1\n2\n2.5\n8\n9\n9.5\n");
    let model = files.fit(&["kmeans", &table, "-k2"]);
    let svg = drawn(&["plot", &model, "--what", "trace"]);
    let document = Document::parse(&svg).unwrap();
    let is_tick = |node: &roxmltree::Node| {
        let class = node.attribute("class").unwrap_or_default();
        class.contains("tick") && class.contains("middle")
    };
    let ticks: Vec<&str> = document
        .descendants()
        .filter(is_tick)
        .filter_map(|node| node.text())
        .collect();
    assert!(!ticks.is_empty(), "{svg}");
    assert!(
        ticks.iter().all(|tick| tick.parse::<u32>().is_ok()),
        "{ticks:?}"
    );
}

#[test]
fn constant_columns_are_not_among_the_six_drawn_columns() {
    let files = Files::new();
    let names = ["k1", "k2", "a", "b", "k3", "c", "d", "e", "f", "g"];
    let row = |i: i32| {
        let cell = |name: &&str| {
            if name.starts_with('k') {
                "0.5".to_string()
            } else {
                format!("{}.{}", i * i % 11, (i * name.len() as i32 * 7) % 10)
            }
        };
        names.iter().map(cell).collect::<Vec<_>>().join(",") + "\n"
    };
    let rows: String = (0..20).map(row).collect();
    let table = files.write("t.csv", format!("{}\n{rows}", names.join(",")));
    for fit in [
        &["mixture", "-k1", "--covariance=diagonal"][..],
        &["kmeans", "-k2"],
    ] {
        let model = files.fit(&[fit, &[&table]].concat());
        let outcome = abduce(&["plot", &model, &table]).succeeds();
        assert!(
            outcome
                .stderr
                .contains("the first 6 of 10 columns of numbers that vary"),
            "{}",
            outcome.stderr
        );
        assert!(outcome.stdout.contains(">f</text>") && !outcome.stdout.contains(">k1</text>"));
    }
}

#[test]
fn equal_integers_are_jittered_and_centres_are_drawn() {
    let files = Files::new();
    let rows: String = (0..60)
        .map(|i| format!("{},{}\n", i % 4, (i * i) % 3 + i % 2 * 5))
        .collect();
    let table = files.write("t.csv", format!("a,b\n{rows}"));
    let model = files.fit(&["kmeans", &table, "-k2", "--kind=*=real"]);
    let svg = drawn(&["plot", &model, &table]);
    assert!(
        svg.contains("moved by up to 0.3 where many are equal: a, b."),
        "{svg}"
    );
    let document = Document::parse(&svg).unwrap();
    let uses = document
        .descendants()
        .filter(|node| node.has_tag_name("use"));
    let positions: std::collections::HashSet<_> = uses
        .map(|node| {
            (
                node.attribute("x"),
                node.attribute("y"),
                node.attribute("transform"),
            )
        })
        .collect();
    assert!(positions.len() > 50, "{}", positions.len());
    assert_eq!(svg.matches("class=\"mean\"").count(), 2);
    assert!(svg.contains("A cross is the centre of a group."));
}

#[test]
fn a_model_without_classes_is_drawn_as_its_density() {
    let files = Files::new();
    let table = data("faithful.csv");
    for model in ["kde", "histogram"] {
        let model = files.fit(&[model, &table]);
        let default = drawn(&["plot", &model, &table]);
        assert_eq!(
            default,
            drawn(&["plot", &model, &table, "--what", "density"])
        );
    }
}
