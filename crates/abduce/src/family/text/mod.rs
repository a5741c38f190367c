//! Families of documents.

pub(crate) mod presence;
pub(crate) mod term_stats;
pub(crate) mod words;

use crate::family::{Domain, WordsShape};

/// Documents are a column of text, or a column of counts for each term.
macro_rules! over_documents {
    ($($family:ty),*) => {$(
        impl Domain for $family {
            const HAS_UNITS: bool = false;
            const TEXT: bool = true;

            fn shape_of_column(terms: usize) -> Option<WordsShape> {
                Some(WordsShape::of_text(terms))
            }

            fn columns(shape: &WordsShape) -> usize {
                if shape.columns { shape.terms } else { 1 }
            }

            fn supports(x: f64) -> bool {
                x >= 0.0 && x.is_finite()
            }
        }
    )*};
}

over_documents!(words::Words, presence::Presence);
