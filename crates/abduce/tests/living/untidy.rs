//! Parts of tables whose columns do not look alike: kinds that are inferred, weights,
//! levels with an order, outliers.

use super::*;

/// Tables as users have them: nothing said of kinds, weights where there are any.
struct Parts {
    specification: Specification,
    options: ReadOptions,
}

impl Parts {
    fn new(specification: Specification) -> Parts {
        Parts {
            specification,
            options: ReadOptions {
                target: Some("y".into()),
                ..ReadOptions::default()
            },
        }
    }

    fn files(texts: &[&str]) -> (tempfile::TempDir, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let paths = texts.iter().enumerate().map(|(i, text)| {
            let path = folder.path().join(format!("{i}.csv"));
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        });
        let paths = paths.collect();
        (folder, paths)
    }

    fn fit(&self, texts: &[&str]) -> Fit {
        let (_folder, paths) = Parts::files(texts);
        let rows = open(&paths, &self.options).unwrap().source;
        let options = FitOptions::default();
        fit(&self.specification, &*rows, &options, Control::default()).unwrap()
    }

    fn more(&self, model: &Fit, text: &str) -> Opened {
        let (_folder, paths) = Parts::files(&[text]);
        let model = &model.mixture;
        open_more(&paths, &self.options, &model.schema, &model.unsettled()).unwrap()
    }

    fn merge(&self, a: &Fit, b: &Fit) -> Fit {
        let parts = [&a.mixture, &b.mixture];
        Mixture::merge(&parts, &self.specification, &FitOptions::default(), 0.0).unwrap()
    }

    fn update(&self, model: &Fit, text: &str) -> Fit {
        let (rows, options) = (self.more(model, text), FitOptions::default());
        let control = Control::default();
        let model = &model.mixture;
        model
            .update(&*rows.source, &self.specification, &options, 0.0, control)
            .unwrap()
    }

    fn forget(&self, model: &Fit, text: &str) -> Fit {
        let (rows, options) = (self.more(model, text), FitOptions::default());
        let control = Control::default();
        let model = &model.mixture;
        model
            .forget(&*rows.source, &self.specification, &options, control)
            .unwrap()
    }

    /// Merging and updating with the second, and forgetting it again.
    fn agree(&self, name: &str, first: &str, second: &str) {
        let (a, b) = (self.fit(&[first]), self.fit(&[second]));
        let whole = self.fit(&[first, second]);
        assert_same(name, &self.merge(&a, &b), &whole);
        assert_same(name, &self.merge(&b, &a), &whole);
        let grown = self.update(&a, second);
        assert_same(name, &grown, &whole);
        let left = self.forget(&grown, second);
        // What a column has been found to be it stays.
        match left.mixture.schema == a.mixture.schema {
            true => assert_same(name, &left, &a),
            false => assert_eq!(left.mixture.seen.rows, a.mixture.seen.rows),
        }
    }
}

#[test]
fn a_flag_that_is_not_yet_raised_is_a_flag() {
    let naive = Parts::new(Specification::naive_bayes("y"));
    let quiet = "y,flag,n\na,0,1\nb,0,3\na,0,0\nb,0,2\na,0,5\n";
    let raised = "y,flag,n\na,1,0\nb,0,7\nb,1,3\na,0,1\n";
    naive.agree("flag", quiet, raised);
}

#[test]
fn a_count_that_happens_to_be_constant_is_a_count() {
    let naive = Parts::new(Specification::naive_bayes("y"));
    let still = "y,n,x\na,3,1.5\nb,3,2.5\na,3,0.5\n";
    let moving = "y,n,x\na,0,1\nb,1,3\nb,4,2\na,2,2.5\n";
    naive.agree("count", still, moving);
}

#[test]
fn weights_count_in_what_comes_and_goes() {
    for specification in [
        Specification::naive_bayes("y"),
        Specification::gda("y", CovarianceKind::Full),
        Specification::gda("y", CovarianceKind::Tied),
    ] {
        let mut parts = Parts::new(specification);
        parts.options.weight = Some("w".into());
        let first = "w,y,x,still,z\n.1,a,1.5,7.3,2\n.7,b,2.5,7.3,1\n.3,a,0.5,7.3,4\n.2,b,4,7.3,3\n0,a,9,7.3,9\n.1,a,2,7.3,2.5\n.6,b,1,7.3,2\n";
        let second =
            "w,y,x,still,z\n.3,a,1.5,7.3,1\n2,b,2,7.3,2.25\n1,c,2,7,5\n.1,c,3,6,1\n.7,c,5,6.5,2\n";
        parts.agree("weights", first, second);
    }
}

#[test]
fn levels_with_an_order_stay_and_an_outlier_leaves_what_was_there() {
    let mut parts = Parts::new(Specification::naive_bayes("y"));
    let sizes = abduce::data::parse_kind_override("s=ordinal(small,medium,large)").unwrap();
    parts.options.kinds.push(sizes);
    let first = "y,s,x\na,small,1\nb,medium,2\na,medium,1.5\nb,small,2.5\n";
    let second = "y,s,x\na,large,1\nb,large,3\n";
    let model = parts.update(&parts.fit(&[first]), second);
    let left = parts.forget(&model, second);
    assert_eq!(
        left.mixture.schema.fields[1].levels,
        ["small", "medium", "large"]
    );
    assert_same("ordinal", &left, &parts.fit(&[first]));

    let outlier = "y,s,x\na,small,1e7\n";
    let model = parts.fit(&[first, outlier]);
    let left = parts.forget(&model, outlier).mixture;
    let means = left.parameters.leaves[1].iter().map(|d| match d {
        abduce::family::Distribution::Gaussian(own) => (own.mean, own.variance),
        _ => (f64::NAN, f64::NAN),
    });
    // Of 16 digits, 14 go with the outlier's square.
    for ((mean, variance), (m, v)) in means.zip([(1.25, 0.0625), (2.25, 0.0625)]) {
        assert!(
            (mean - m).abs() < 1e-6 && (variance - v).abs() < 0.05,
            "{mean} {variance}"
        );
    }
}
