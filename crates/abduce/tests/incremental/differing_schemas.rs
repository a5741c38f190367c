//! Parts of a table with different inferred kinds and levels, with weights and with outliers.

use super::*;

/// Fits, updates and merges parts of a table given as CSV; kinds are inferred by default.
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
        FittedMixture::merge(&parts, &self.specification, &FitOptions::default(), 0.0).unwrap()
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
        self.try_forget(model, text).unwrap()
    }

    fn try_forget(&self, model: &Fit, text: &str) -> Result<Fit> {
        let (rows, options) = (self.more(model, text), FitOptions::default());
        let control = Control::default();
        let model = &model.mixture;
        model.forget(&*rows.source, &self.specification, &options, control)
    }

    /// Checks that merging, updating and forgetting agree with fits of the rows.
    fn assert_operations_agree(&self, name: &str, first: &str, second: &str) {
        let (a, b) = (self.fit(&[first]), self.fit(&[second]));
        let whole = self.fit(&[first, second]);
        assert_same(name, &self.merge(&a, &b), &whole);
        assert_same(name, &self.merge(&b, &a), &whole);
        let updated = self.update(&a, second);
        assert_same(name, &updated, &whole);
        let rest = self.forget(&updated, second);
        // An inferred kind does not change back.
        if rest.mixture.schema == a.mixture.schema {
            assert_same(name, &rest, &a);
        } else {
            assert_eq!(rest.mixture.summary.rows, a.mixture.summary.rows);
        }
    }
}

#[test]
fn a_binary_column_may_be_constant_in_one_part() {
    let naive = Parts::new(Specification::naive_bayes("y"));
    let constant = "y,flag,n\na,0,1\nb,0,3\na,0,0\nb,0,2\na,0,5\n";
    let varying = "y,flag,n\na,1,0\nb,0,7\nb,1,3\na,0,1\n";
    naive.assert_operations_agree("flag", constant, varying);
}

#[test]
fn a_count_column_may_be_constant_in_one_part() {
    let naive = Parts::new(Specification::naive_bayes("y"));
    let constant = "y,n,x\na,3,1.5\nb,3,2.5\na,3,0.5\n";
    let varying = "y,n,x\na,0,1\nb,1,3\nb,4,2\na,2,2.5\n";
    naive.assert_operations_agree("count", constant, varying);
}

#[test]
fn weights_count_in_updates_merges_and_forgetting() {
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
        parts.assert_operations_agree("weights", first, second);
    }
}

#[test]
fn given_levels_stay_and_inferred_levels_go_with_their_last_row() {
    let first = "y,s,x\na,small,1\nb,medium,2\na,medium,1.5\nb,small,2.5\n";
    let second = "y,s,x\na,large,1\nb,large,3\n";
    for (kind, levels) in [
        ("s=ordinal(small,medium,large)", 3),
        ("s=categorical(small,medium,large)", 3),
        ("s=ordinal", 2),
        ("s=categorical", 2),
    ] {
        let mut parts = Parts::new(Specification::naive_bayes("y"));
        let sizes = abduce::data::parse_kind_override(kind).unwrap();
        parts.options.kinds.push(sizes);
        let model = parts.update(&parts.fit(&[first]), second);
        let rest = parts.forget(&model, second);
        assert_eq!(rest.mixture.schema.fields[1].levels.len(), levels, "{kind}");
        assert_same(kind, &rest, &parts.fit(&[first]));
    }
    let mut parts = Parts::new(Specification::naive_bayes("y"));
    let classes = abduce::data::parse_kind_override("y=categorical(a,b,c)").unwrap();
    parts.options.kinds.push(classes);
    let more = "y,s,x\nc,large,1\n";
    let rest = parts.forget(&parts.fit(&[first, more]), more);
    assert_eq!(rest.mixture.names(), ["a", "b", "c"]);
    assert_same("classes", &rest, &parts.fit(&[first]));
}

#[test]
fn forgetting_an_outlier_that_loses_all_precision_is_an_error() {
    let first = "y,s,x\na,u,1\nb,v,2\na,v,1.5\nb,u,2.5\n";
    for family in [
        "gaussian",
        "gamma",
        "exponential",
        "student-t",
        "log-normal",
    ] {
        let mut specification = Specification::naive_bayes("y");
        specification.families = vec![("x".into(), family.parse().unwrap())];
        let parts = Parts::new(specification);
        for size in ["1e7", "1e8", "1e12", "1e15"] {
            let outlier = format!("y,s,x\na,u,{size}\n");
            let model = parts.fit(&[first, &outlier]);
            let error = parts.try_forget(&model, &outlier).unwrap_err();
            assert_eq!(error.column(), Some("x"), "{family} {size}");
            assert!(
                error.to_string().contains("too much numerical precision"),
                "{error}"
            );
        }
        let outlier = "y,s,x\na,u,1e3\n";
        let rest = parts.forget(&parts.fit(&[first, outlier]), outlier);
        let fitted = parts.fit(&[first]);
        let (a, b) = (rest.log_likelihood, fitted.log_likelihood);
        assert!((a - b).abs() < 1e-6 * b.abs(), "{family}: {a} {b}");
    }
}

#[test]
fn a_requested_kind_applies_to_constant_columns() {
    for (kind, constant, varying) in [
        (
            "x=count",
            "y,x,z\na,3,1.5\nb,3,2\na,3,2.5\n",
            "y,x,z\na,4,1\nb,5,2\na,9,3\n",
        ),
        (
            "x=real",
            "y,x,z\na,0,1.5\nb,0,2\na,0,2.5\n",
            "y,x,z\na,1,1\nb,0,2\na,1,3\n",
        ),
    ] {
        let mut parts = Parts::new(Specification::naive_bayes("y"));
        let kind_override = abduce::data::parse_kind_override(kind).unwrap();
        parts.options.kinds.push(kind_override);
        parts.assert_operations_agree(kind, constant, varying);
    }
}

#[test]
fn a_constant_column_with_missing_values_cannot_join_a_gaussian_block() {
    let parts = Parts::new(Specification::gda("y", CovarianceKind::Full));
    let constant = "y,a,b,c\np,,,5\np,1.5,2.5,\np,2.5,2.1,5\np,3.1,4,5\nq,1,2.5,5\n\
                 q,2.7,2,5\nq,3.3,4.9,5\n";
    let varying = "y,a,b,c\np,2.2,2.8,6\np,2,3.8,7.5\nq,2,3,4\nq,2.4,3.1,4.5\n";
    let model = parts.fit(&[constant]);
    let (rows, options) = (parts.more(&model, varying), FitOptions::default());
    let updated = model.mixture.update(
        &*rows.source,
        &parts.specification,
        &options,
        0.0,
        Control::default(),
    );
    let error = updated.unwrap_err();
    assert!(error.to_string().contains("cannot be converted"), "{error}");
}

#[test]
fn weights_left_by_rounding_count_as_zero() {
    let mut parts = Parts::new(Specification::naive_bayes("y"));
    parts.options.weight = Some("w".into());
    parts.options.text = Some(TextOptions::default());
    let text = abduce::data::parse_kind_override("t=text").unwrap();
    parts.options.kinds.push(text);
    let first = "w,y,x,t\n.7,a,p,one two\n.6,b,q,two three\n.1,a,q,two\n";
    let forgotten = "w,y,x,t\n.1,b,r,two four\n.2,b,r,two four\n.3,b,r,two\n";
    for event in [Event::Multinomial, Event::Bernoulli] {
        parts.specification.event = Some(event);
        let rest = parts.forget(&parts.fit(&[first, forgotten]), forgotten);
        assert_eq!(rest.mixture.schema, parts.fit(&[first]).mixture.schema);
        assert_same("weights", &rest, &parts.fit(&[first]));
    }
}

#[test]
fn unlabelled_rows_of_weight_0_change_nothing() {
    let first = "y,x,z\na,p,1\nb,q,2\na,q,2.5\nb,r,3\na,p,4\n";
    let unlabelled = "y,x,z\n,r,900\n,p,-5\n";
    let with_unseen_level = "y,x,z\n,s,7\n";
    let parts = Parts::new(Specification::naive_bayes("y"));
    let options = FitOptions {
        unlabelled: Unlabelled::Weight(0.0),
        ..FitOptions::default()
    };
    let (_folder, paths) = Parts::files(&[first, unlabelled]);
    let rows = open(&paths, &parts.options).unwrap().source;
    let all = fit(&parts.specification, &*rows, &options, Control::default()).unwrap();
    let alone = parts.fit(&[first]);
    assert_eq!(all.mixture.schema, alone.mixture.schema);
    assert_eq!(all.mixture.summary.rows, 5);
    assert_same("fitted", &all, &alone);
    for more in [unlabelled, with_unseen_level] {
        let updated = parts.update(&alone, more);
        assert_eq!(updated.mixture.schema, alone.mixture.schema);
        assert_same("updated", &updated, &alone);
    }
}
