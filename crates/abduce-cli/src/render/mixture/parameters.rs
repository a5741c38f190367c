//! The weights of a mixture and the parameters of every column.

use super::components;
use crate::context::Context;
use crate::io::failure::Outcome;
use crate::io::output::Output;
use crate::render::density::bins_of;
use crate::render::text_table::{TextTable, labelled, readable};
use abduce::estimate::Numbers;
use abduce::family::{Covariance, Distribution, LeafFamily, MultivariateGaussian, Statistics};
use abduce::leaf::Leaf;
use abduce::model::Fitted;
use abduce::model::mixture::FittedMixture;
use std::io::Write;

/// Writes the weights and the distributions of every column.
pub fn write(fitted: &Fitted<FittedMixture>, context: &Context, output: &mut Output) -> Outcome {
    let mixture = &fitted.model;
    let names = mixture.names();
    let what = match mixture.target {
        Some(target) => mixture.schema.fields[target].name.clone(),
        None => "component".into(),
    };
    let heading = context.heading(output, "weights");
    writeln!(output, "\n{heading}")?;
    let table = components::all(&what, mixture, fitted.details.diagnostics.as_ref());
    write!(output, "{}", table.text(2))?;
    let leaves = mixture.leaves.iter().zip(&mixture.parameters.leaves);
    for ((leaf, distributions), seen) in leaves.zip(&mixture.statistics.leaves) {
        let columns: Vec<&str> = (leaf.columns.iter())
            .map(|column| mixture.schema.fields[*column].name.as_str())
            .collect();
        let family = leaf.family.name();
        writeln!(output)?;
        context.write_heading(output, &columns.join(", "), &format!(": {family}"))?;
        let (distributions, noise) = match distributions.split_last() {
            Some((Distribution::UniformBox(noise), others)) => (others, Some(noise)),
            _ => (&distributions[..], None),
        };
        match distributions.first() {
            Some(_) if leaf.family.is_text() => {
                let word = |term: usize| word(mixture, leaf, term);
                let words = typical_words(&names, distributions, word);
                write!(output, "{}", labelled(words, output.line_width()))?;
            }
            Some(Distribution::Multivariate(_) | Distribution::MultivariateStudentT(_)) => {
                write_multivariate(leaf, &columns, &names, distributions, seen, output)?;
            }
            _ => {
                let levels = &mixture.schema.fields[leaf.columns[0]].levels;
                let table = one_column(levels, &names, distributions, seen);
                write!(output, "{}{}", table.text(2), bins(&names, distributions))?;
            }
        }
        if let Some(noise) = noise {
            let mut table = TextTable::new(["noise", "from", "to"]);
            for (column, side) in columns.iter().zip(&noise.sides) {
                table.row([column.to_string(), readable(side.low), readable(side.high)]);
            }
            write!(output, "{}", table.text(2))?;
        }
    }
    Ok(())
}

/// The bins of the histograms among the distributions of a column.
fn bins(names: &[String], distributions: &[Distribution]) -> String {
    let named = names.iter().cloned().zip(distributions);
    let histograms = named.filter_map(|(name, distribution)| match distribution {
        Distribution::Histogram(histogram) => Some((name, histogram)),
        _ => None,
    });
    bins_of(&histograms.collect::<Vec<_>>(), 0)
}

/// How many words of each class are shown.
const MAX_WORDS: usize = 12;

/// The name of a term.
fn word(mixture: &FittedMixture, leaf: &Leaf, term: usize) -> String {
    let field = &mixture.schema.fields[leaf.columns[0]];
    match (&field.text, leaf.columns.get(term)) {
        (Some(text), _) => match text.encoding.term(term as u32) {
            Some(word) => word.to_string(),
            None => format!("#{term}"),
        },
        (None, Some(column)) => mixture.schema.fields[*column].name.clone(),
        (None, None) => String::new(),
    }
}

/// The most typical words of every class: those whose log-probability is farthest above its mean
/// over the classes.
fn typical_words(
    names: &[String],
    distributions: &[Distribution],
    word: impl Fn(usize) -> String,
) -> Vec<(String, String)> {
    let weight = |class: usize, term: usize| match &distributions[class] {
        Distribution::Words(words) => words.log_weight(term),
        Distribution::Presence(presence) => presence.log_probability(term, true),
        _ => 0.0,
    };
    let terms = match distributions.first() {
        Some(Distribution::Words(words)) => words.probabilities.len(),
        Some(Distribution::Presence(presence)) => presence.probabilities.len(),
        _ => 0,
    };
    let mean = |term: usize| {
        let all = (0..distributions.len()).map(|class| weight(class, term));
        all.sum::<f64>() / distributions.len() as f64
    };
    let means: Vec<f64> = (0..terms).map(mean).collect();
    let heading = ("class".to_string(), "typical words".to_string());
    let of_class = |(class, name): (usize, &String)| {
        let excess = |term: usize| {
            let excess = weight(class, term) - means[term];
            if excess.is_nan() { 0.0 } else { excess }
        };
        let mut ranked: Vec<usize> = (0..terms).collect();
        ranked.sort_by(|a, b| excess(*b).total_cmp(&excess(*a)));
        let best = ranked.into_iter().take(MAX_WORDS).map(&word);
        (name.clone(), best.collect::<Vec<_>>().join(", "))
    };
    let classes = names.iter().enumerate().map(of_class);
    [heading].into_iter().chain(classes).collect()
}

/// A family over one column: a line per component.
fn one_column(
    levels: &[String],
    names: &[String],
    distributions: &[Distribution],
    seen: &[Statistics],
) -> TextTable {
    let first = distributions
        .first()
        .map(|first| numbers(first, levels))
        .unwrap_or_default();
    let heading = first.into_iter().map(|(name, _)| name);
    let ends = [String::new()].into_iter().chain(heading);
    let mut table = TextTable::new(ends.chain(["rows".to_string()]));
    for ((name, distribution), seen) in names.iter().zip(distributions).zip(seen) {
        let numbers = numbers(distribution, levels).into_iter().map(|(_, x)| x);
        let cells = numbers.chain([seen.weight()]).map(readable);
        table.row([name.clone()].into_iter().chain(cells));
    }
    table
}

/// The parameters and figures shown of a distribution over one column.
fn numbers(distribution: &Distribution, levels: &[String]) -> Vec<(String, f64)> {
    let named = |pairs: &[(&str, f64)]| {
        let pairs = pairs.iter().map(|(name, x)| (name.to_string(), *x));
        pairs.collect()
    };
    match (distribution, distribution.probabilities()) {
        (Distribution::Gaussian(g), _) => named(&[("mean", g.mean), ("sd", g.variance.sqrt())]),
        (Distribution::Exponential(e), _) => named(&[("rate", e.rate), ("mean", 1.0 / e.rate)]),
        (Distribution::Kde(k), _) => {
            let width = k.bandwidth().widths(1)[0];
            named(&[
                ("bandwidth", width),
                ("distinct values", k.points().len() as f64),
            ])
        }
        (Distribution::Histogram(h), _) => {
            let edges = &h.edges[0];
            named(&[
                ("bins", edges.bins as f64),
                ("from", edges.start),
                ("to", edges.end),
            ])
        }
        (_, Some(probabilities)) => {
            let names = levels.iter().map(|level| format!("P({level})"));
            names.zip(probabilities).collect()
        }
        (other, None) => Numbers::of(other).0,
    }
}

/// Writes Gaussians or t distributions over several columns: the means and degrees of freedom, then
/// the standard deviations or covariances.
fn write_multivariate(
    leaf: &Leaf,
    columns: &[&str],
    names: &[String],
    distributions: &[Distribution],
    seen: &[Statistics],
    output: &mut Output,
) -> Outcome {
    let parts = distributions
        .iter()
        .filter_map(|distribution| match distribution {
            Distribution::Multivariate(gaussian) => Some((gaussian, None)),
            Distribution::MultivariateStudentT(t) => Some((&t.gaussian, Some(t.degrees))),
            _ => None,
        });
    let (gaussians, degrees): (Vec<&MultivariateGaussian>, Vec<Option<f64>>) = parts.unzip();
    let is_t = degrees.iter().any(Option::is_some);
    let [mean, spread, matrix] = if is_t {
        ["location", "scale", "scale matrix"]
    } else {
        ["mean", "sd", "covariance"]
    };
    let heading = [mean].into_iter().chain(columns.iter().copied());
    let heading = heading.chain(is_t.then_some("degrees")).chain(["rows"]);
    let mut means = TextTable::new(heading);
    let rows = names.iter().zip(&gaussians).zip(&degrees).zip(seen);
    for (((name, gaussian), degrees), seen) in rows {
        let numbers = gaussian.mean.iter().copied().chain(*degrees);
        let numbers = numbers.chain([seen.weight()]);
        means.row([name.clone()].into_iter().chain(numbers.map(readable)));
    }
    write!(output, "{}", means.text(2))?;
    let is_full =
        |gaussian: &&MultivariateGaussian| matches!(gaussian.covariance, Covariance::Full(_));
    if gaussians.iter().any(is_full) {
        return write_covariances(leaf, matrix, columns, names, &gaussians, output);
    }
    let mut table = TextTable::new([spread].into_iter().chain(columns.iter().copied()));
    for (name, gaussian) in names.iter().zip(&gaussians) {
        let numbers = (0..columns.len()).map(|c| readable(gaussian.covariance(c, c).sqrt()));
        table.row([name.clone()].into_iter().chain(numbers));
    }
    write!(output, "{}", table.text(2))?;
    Ok(())
}

/// Writes a matrix for each component, or one if they share it. `title` is what the matrix is.
fn write_covariances(
    leaf: &Leaf,
    title: &str,
    columns: &[&str],
    names: &[String],
    gaussians: &[&MultivariateGaussian],
    output: &mut Output,
) -> Outcome {
    let is_shared = match &leaf.family {
        LeafFamily::Multivariate { shape, .. } => shape.structure.is_shared(),
        LeafFamily::MultivariateStudentT { shape, .. } => shape.structure.is_shared(),
        _ => false,
    };
    let count = if is_shared { 1 } else { gaussians.len() };
    for (name, gaussian) in names.iter().zip(gaussians).take(count) {
        let name = if is_shared { "all" } else { name };
        let heading = [format!("{title} of {name}")].into_iter();
        let mut table = TextTable::new(heading.chain(columns.iter().map(|c| c.to_string())));
        for (i, column) in columns.iter().enumerate() {
            let numbers = (0..columns.len()).map(|j| readable(gaussian.covariance(i, j)));
            table.row([column.to_string()].into_iter().chain(numbers));
        }
        write!(output, "{}", table.text(2))?;
    }
    Ok(())
}
