//! The engine `compiled` with lists and segments so small that it freezes and merges constantly.
//!
//! | file | what it proves |
//! | --- | --- |
//! | `histories` | random updates, files and compactions give the results of a plain model |
//! | `segments` | segments stay few, removed members are dropped, pinned snapshots do not change |
//! | `attributes` | a compaction drops unused attributes, and numbers stay right |
//! | `damage` | damaged files are refused or do no harm; files of format 1 open |
//! | `timing` | times of updates and files, on demand |

mod attributes;
mod damage;
mod histories;
mod segments;
mod timing;

use tamis_core::engine::registry::OptionValue;
use tamis_core::index::{Index, Settings};

fn settings(recent: i64, fanout: i64) -> Settings {
    let options = [("recent", recent), ("fanout", fanout)];
    let options = options.map(|(name, value)| (name.to_owned(), OptionValue::Int(value)));
    Settings { engine: "compiled".into(), options: options.into(), ..Settings::default() }
}

fn index(recent: i64, fanout: i64) -> Index {
    Index::new(settings(recent, fanout)).expect("an index")
}

fn figure(index: &Index, name: &str) -> u64 {
    index.engine_stats().iter().find(|(known, _)| *known == name).map_or(0, |(_, figure)| *figure)
}
