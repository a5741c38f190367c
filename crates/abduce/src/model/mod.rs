//! Models: the mixture that serves naive Bayes, discriminant analysis and
//! clustering, and the specifications that make it one or the other; densities
//! without a family; k-means.

pub mod density;
pub mod kmeans;
pub mod mixture;

/// A list for people: the first few, and how many more.
pub(crate) fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}
