//! Tables: columns with kinds and missing values, the schema that says how they are
//! encoded, and sources of rows, in memory or in files larger than memory, that can be
//! scanned repeatedly in chunks.

mod adapt;
mod chunks;
mod encode;
mod kept;
mod missing;
#[cfg(test)]
mod one_pass_laws;
mod open;
mod open_more;
mod options;
mod passes;
mod raw;
mod read;
mod table;

pub(crate) use adapt::bootstrap::BayesianBootstrap;
pub use adapt::chosen::Chosen;
pub use adapt::folds::{Folds, MAX_FOLDS};
pub(crate) use adapt::labelled::Labelled;
pub use adapt::one_level::OneLevel;
pub use adapt::recoded::Recoded;
pub(crate) use adapt::recoded::{NO_CODE, Translation};
pub(crate) use adapt::without::without;
pub(crate) use encode::truth::is_no;
pub use open::{Opened, label_column, open, open_frame, open_frame_with, open_with};
pub use open_more::open_more;
pub use options::{KindOverride, ReadOptions, TextOptions, UnseenCategory, parse_kind_override};
pub(crate) use options::{family_option, kind_option};
pub use raw::{RawBatch, RawCell, RawRows, raw_rows};
pub(crate) use read::{not_opened, number, token as number_token};
pub use table::cells::{Bits, Cells, Rows, Values};
pub use table::chunk::{CHUNK_ROWS, Chunk};
pub use table::column::Column;
pub(crate) use table::column::Gather;
pub(crate) use table::fold::fold_numbers;
pub use table::fold::{fold, reduce};
pub(crate) use table::names::{listed, nearest};
pub use table::schema::{Field, Kind, Schema, SetByUser};
pub use table::source::{Maker, Source, Table};
pub use table::terms::{TermRows, Terms};
