//! Every pair of options of `fit` on a small table with missing values and missing labels works
//! or is an error, but never an internal error.

use crate::run::{Files, abduce, abduce_reading};

const ROWS: &str = "y,x,w,n,c,t
a,1.5,2.25,0,red,the cat sat
b,2.5,1.75,3,blue,a dog ran
a,1.25,,1,red,the cat
b,,1.5,4,,dog
,3.5,0.5,2,blue,the dog sat
a,0.75,2.5,,green,cat cat
b,2.75,1.25,5,blue,
,1.125,2.125,1,red,a cat sat
a,,,,,
";

const SHARED: [&str; 9] = [
    "--smoothing=0",
    "--smoothing=m=2,pooled",
    "--event=bernoulli",
    "--family=n=zero-inflated-poisson",
    "--family=x=kde",
    "--tie=x",
    "--method=hard",
    "--weight=n",
    "--variance-floor=0",
];

/// Fits with every pair of options and lists the ones that panic.
fn panics(model: &[&str], options: &[&str]) -> Vec<String> {
    let files = Files::new();
    let table = files.write("rows.csv", ROWS);
    let pairs = options.iter().enumerate();
    let pairs = pairs.flat_map(|(i, a)| options[i + 1..].iter().map(move |b| (*a, *b)));
    let fails = |(a, b): &(&str, &str)| {
        let arguments = [&["fit"], model, &[&table, *a, *b]].concat();
        let outcome = abduce(&arguments);
        ![0, 1, 2].contains(&outcome.code) || outcome.stderr.contains("internal error")
    };
    pairs
        .filter(fails)
        .map(|(a, b)| format!("{a} {b}"))
        .collect()
}

#[test]
fn no_pair_of_naive_bayes_options_panics() {
    let base = [
        "--predictive",
        "--unlabelled=0.5",
        "--calibrate=platt",
        "--class-prior=uniform",
        "--kind=n=categorical",
    ];
    let found = panics(
        &["naive-bayes", "--target=y"],
        &[&SHARED[..], &base].concat(),
    );
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn no_pair_of_gda_options_panics() {
    let base = [
        "--covariance=tied",
        "--covariance=VEE",
        "--prior=mclust",
        "--tails=student-t",
        "--unlabelled=0.5",
    ];
    let found = panics(&["gda", "--target=y"], &[&SHARED[..], &base].concat());
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn no_pair_of_mixture_options_panics() {
    let base = [
        "--covariance=diagonal",
        "--prior=mclust",
        "--noise",
        "--start-by=y",
        "--fix=weights=0.5,0.5",
    ];
    let model = ["mixture", "-k2", "--restarts=2"];
    let found = panics(&model, &[&SHARED[..], &base].concat());
    assert!(found.is_empty(), "{found:?}");
}

/// Drops the columns that densities and k-means do not support.
const NUMBERS: &str = "--drop=c,t";

#[test]
fn no_pair_of_kmeans_options_panics() {
    let options = [
        "--standardize",
        "--distance=manhattan",
        "--distance=cosine",
        "--distance=mahalanobis",
        "--medoids",
        "--algorithm=mini-batch",
        "--algorithm=elkan",
        "--init=parallel",
        "--init=random",
        "--restarts=1",
        "--max-iter=1",
        "--tol=0",
        "--weight=n",
        "--kind=*=real",
    ];
    let found = panics(&["kmeans", "-k2", "--drop=y,c,t"], &options);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn no_pair_of_density_options_panics() {
    let shared = ["--target=y", "--weight=n", "--kind=*=real", "--kind=n=real"];
    let kde = [
        "--covariance=full",
        "--bandwidth=cv",
        "--bandwidth=0.5",
        "--bandwidth=sheather-jones",
        "--kernel=epanechnikov",
        "--kernel=tophat",
    ];
    let histogram = [
        "--bins=knuth",
        "--bins=3",
        "--bins=scott",
        "--smoothing=0",
        "--smoothing=2",
    ];
    let knn = ["--neighbors=1", "--neighbors=1000"];
    for (model, base) in [("kde", &kde[..]), ("histogram", &histogram), ("knn", &knn)] {
        for columns in [NUMBERS, "--drop=y,c,t"] {
            let found = panics(&[model, columns], &[&shared[..], base].concat());
            assert!(found.is_empty(), "{model}: {found:?}");
        }
    }
}

#[test]
fn without_smoothing_an_unseen_category_has_probability_0() {
    let files = Files::new();
    let table = files.write("rows.csv", "y,c\na,red\na,blue\nb,blue\nb,green\n");
    let model = files.fit(&["naive-bayes", &table, "--target=y", "--smoothing=0"]);
    let new = files.write("new.csv", "c\nblue\nblack\n");
    let scores = abduce(&["score", &model, &new]).succeeds();
    assert_eq!(scores.lines()[2], "-inf", "{}", scores.stdout);
    let predicted = abduce(&["predict", &model, &new, "--proba"]).succeeds();
    assert!(
        predicted.lines()[2].ends_with(",0.5,0.5"),
        "{}",
        predicted.stdout
    );
    assert!(
        predicted.stderr.contains("row 2 is impossible"),
        "{}",
        predicted.stderr
    );
}

#[test]
fn a_constant_column_changes_no_score() {
    let files = Files::new();
    let rows = |more: &str| {
        let numbers = (0..12).map(|i| format!("{}{more}\n", f64::from(i * i) / 8.0));
        numbers.collect::<String>()
    };
    let plain = files.write("plain.csv", format!("x\n{}", rows("")));
    let wider = files.write("wider.csv", format!("x,k\n{}", rows(",5.5")));
    let other = files.write("other.csv", "x,k\n1,8\n");
    let score = |table: &str, new: &str| {
        let fitted = abduce(&["fit", "mixture", "-k1", table, "--json"])
            .succeeds()
            .json();
        let model = files.fit(&["mixture", "-k1", table]);
        let scored = abduce(&["score", &model, new]).succeeds();
        let figures = ["log_likelihood", "bic"].map(|key| fitted[key].as_f64().unwrap());
        (figures, scored.lines()[1].to_string(), scored.stderr)
    };
    let one = files.write("one.csv", "x\n1\n");
    let (without, with) = (score(&plain, &one), score(&wider, &other));
    assert_eq!((without.0, without.1), (with.0, with.1));
    let note = "column k was constant when the model was fitted; 1 row with another value";
    assert!(with.2.contains(note), "{}", with.2);
}

#[test]
fn an_m_estimate_also_smooths_count_columns() {
    let table = "y,n\na,0\na,2\na,1\nb,7\nb,9\nb,5\n";
    let fit = |smoothing: &str| {
        let smoothing = format!("--smoothing={smoothing}");
        let arguments = [
            "fit",
            "naive-bayes",
            "-",
            "--target=y",
            "--json",
            &smoothing,
        ];
        let log_likelihood =
            abduce_reading(&arguments, table).succeeds().json()["log_likelihood"].clone();
        log_likelihood.as_f64().unwrap()
    };
    assert_eq!(fit("m=1"), fit("1"));
    assert_eq!(fit("m=0"), fit("0"));
    assert!(fit("m=50") < fit("m=1"));
}
