//! Bytes to index: a file as it is, and the same file with its checksums made to fit.
//!
//! Opening must not panic, hang or allocate without bound, whatever the bytes are. A file with fitting checksums and
//! damaged content may be refused, or opened as an index that answers something. libFuzzer's panic hook ends the process,
//! also where the panic would be caught, so nothing that follows may panic either.

use crate::seal::seal;
use std::num::NonZeroUsize;
use tamis_conformance::event::{Given, GivenEvent, write_row};
use tamis_core::event::Rows;
use tamis_core::index::{EventWeights, Id, Index};

/// Checks one file.
pub fn check(data: &[u8]) {
    if let Ok(index) = Index::from_bytes(data) {
        index.validate().expect("a file with its own checksums holds a sound index");
    }
    let mut sealed = data.to_vec();
    seal(&mut sealed);
    if let Ok(index) = Index::from_bytes(&sealed) {
        use_all(&index);
    }
}

/// Matches events, explains, changes and saves. Whatever comes back is fine, as long as it comes back.
pub(crate) fn use_all(index: &Index) {
    let view = index.pin();
    let mut rows = Rows::default();
    events().iter().for_each(|event| write_row(event, view.schema(), &mut rows));
    let threads = NonZeroUsize::new(1);
    let _ = (view.match_rows(&rows, threads, true).is_ok(), view.match_rows(&rows, threads, false).is_ok());
    let _ = view.match_row(&rows, 0);
    let _ = view.top_k(&rows, 1, 3, &EventWeights::default());
    let _ = view.near_misses(&rows, 0, 3);
    // Enough events for a batch.
    (0..20).flat_map(|_| events()).for_each(|event| write_row(&event, view.schema(), &mut rows));
    let _ = (view.match_rows(&rows, threads, false).is_ok(), view.match_rows(&rows, threads, false).is_ok());
    drop(view);
    let _ = (index.validate().is_ok(), index.memory(), index.engine_stats());
    let ids = index.ids();
    for id in ids.iter().take(3) {
        let _ = (index.text(id).is_ok(), index.plan_of(id).is_ok());
        let _ = index.replace(id, "a = 1".into());
    }
    for id in ids.iter().skip(2).take(3) {
        let _ = index.remove(id);
    }
    let _ = index.add(Id::from(123_456), "b = 2".into());
    let _ = index.compact();
    let _ = index.to_bytes();
}

/// Values on and beside the boundaries of the seeds' predicates.
fn events() -> Vec<GivenEvent> {
    let text = |text: &str| Given::Text(text.to_owned());
    let event = |age, country: &str, tag: &str| {
        let tags = Given::List(vec![text(tag), Given::Missing, Given::Int(3)]);
        let names = ["age", "country", "tags", "ip", "at", "vip", "price"];
        let values = [
            Given::Int(age),
            text(country),
            tags,
            text("10.0.0.7"),
            Given::Time(1_800_000_000_000_000),
            Given::Bool(age > 30),
            Given::Float(0.5),
        ];
        names.into_iter().map(String::from).zip(values).collect()
    };
    vec![event(18, "DE", "new"), event(35, "US", "eu-1"), event(-1, "", ""), Vec::new()]
}
