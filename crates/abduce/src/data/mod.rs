//! Tables: columns with kinds and missing values, the schema that remembers how they
//! were encoded, and sources that can be scanned again and again in chunks,
//! from memory or from files larger than memory.

mod alike;
mod bootstrap;
mod chosen;
mod chunk;
mod column;
mod encode;
mod fold;
mod infer;
mod labelled;
mod learn_terms;
mod levels;
mod names;
mod one_level;
mod open;
mod open_more;
mod options;
mod passes;
mod pattern;
mod raw;
mod read;
mod recoded;
mod schema;
mod settle;
mod source;
mod store;
mod streamed;
mod terms;
mod truth;
mod union;
mod without;

pub(crate) use bootstrap::BayesianBootstrap;
pub use chosen::Chosen;
pub use chunk::{CHUNK_ROWS, Chunk};
pub(crate) use column::Gather;
pub use column::{Bits, Cells, Column, Rows, Values};
pub(crate) use fold::fold_numbers;
pub use fold::{fold, reduce};
pub(crate) use labelled::Labelled;
pub(crate) use names::{listed, nearest};
pub use one_level::OneLevel;
pub use open::{Opened, label_column, open, open_frame, open_frame_with, open_with};
pub use open_more::open_more;
pub use options::{KindOverride, ReadOptions, TextOptions, UnseenCategory, parse_kind_override};
pub(crate) use options::{family_option, kind_option};
pub use raw::{RawBatch, RawCell, RawRows, raw_rows};
pub(crate) use read::{not_opened, number, token as number_token};
pub use recoded::Recoded;
pub(crate) use recoded::{NO_CODE, Translation};
pub use schema::{Asked, Field, Kind, Schema};
pub use source::{Maker, Source, Table};
pub use terms::{TermRows, Terms};
pub(crate) use truth::is_no;
pub(crate) use without::without;
