//! Indexes as bytes and files: what is written comes back, what is damaged is refused.

use proptest::prelude::*;
use std::path::PathBuf;
use tamis_conformance::event::{GivenEvent, write_row};
use tamis_conformance::folder::Folder;
use tamis_conformance::generate::{event, expression};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::Error;
use tamis_core::event::Rows;
use tamis_core::expr::{Expr, Limits, Missing};
use tamis_core::index::{Id, Index, LoadOptions, Settings};

/// In the first format; `segmented.rs` damages files of the second.
fn small() -> Index {
    let index = empty("scan");
    index.add(Id::from("ad-17"), "age between 18 and 35".into()).expect("added");
    index.add(Id::from(-5), "country = 'DE' ^ 0.5".into()).expect("added");
    index
}

fn empty(engine: &str) -> Index {
    Index::new(Settings { engine: engine.into(), ..Settings::default() }).expect("an index")
}

fn matches(index: &Index, events: &[GivenEvent]) -> Vec<Vec<Id>> {
    let schema = index.schema();
    let mut rows = Rows::default();
    events.iter().for_each(|event| write_row(event, &schema, &mut rows));
    (0..events.len())
        .map(|row| index.match_row(&schema, &rows, row).expect("a fresh schema").to_vec())
        .collect()
}

fn assert_same(index: &Index, copy: &Index, events: &[GivenEvent]) {
    copy.validate().expect("a sound copy");
    assert_eq!(copy.settings(), index.settings());
    assert_eq!(copy.ids(), index.ids());
    for id in index.ids() {
        assert_eq!(copy.text(&id).expect("present"), index.text(&id).expect("present"));
    }
    assert_eq!(matches(copy, events), matches(index, events));
    assert_eq!(copy.to_bytes(), index.to_bytes());
}

fn id() -> impl Strategy<Value = Id> {
    prop_oneof![any::<i64>().prop_map(Id::from), ".{0,30}".prop_map(|id| Id::from(id.as_str()))]
}

fn settings() -> impl Strategy<Value = Settings> {
    let missing = prop_oneof![Just(Missing::Unknown), Just(Missing::False)];
    let engine = prop::sample::select(vec!["auto", "scan", "compiled"]);
    let bounds = (500usize..1_000, 1_000usize..1 << 20);
    (engine, missing, bounds).prop_map(|(engine, missing, (max_depth, max_length))| {
        let limits = Limits { max_depth, max_length, ..Limits::default() };
        Settings { engine: engine.into(), missing, limits, ..Settings::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn bytes_round_trip(
        settings in settings(),
        given in prop::collection::vec((id(), expression()), 0..20),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        events in prop::collection::vec(event(), 3),
    ) {
        let index = Index::new(settings).expect("an index");
        for (id, expr) in &given {
            let _ = index.add(id.clone(), expr.to_string().as_str().into());
        }
        // Removals leave free numbers, which a loaded copy has not got.
        for at in removed.iter().filter(|_| !given.is_empty()) {
            let _ = index.remove(&given[at.index(given.len())].0);
        }
        // The limits of the reader rule, not those in the bytes.
        let options = LoadOptions { limits: Some(index.settings().limits), ..LoadOptions::default() };
        let copy = Index::from_bytes_with(&index.to_bytes(), &options).map_err(TestCaseError::fail)?;
        assert_same(&index, &copy, &events);
    }

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Index::from_bytes(&bytes).is_err());
    }

    /// A right header and checksum before random content: only the content can be wrong.
    #[test]
    fn random_content_is_refused(content in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Index::from_bytes(&framed(&content)).is_err());
    }

    /// A right header and checksum before content with a fault: refused, or an index that holds together.
    #[test]
    fn changed_content_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut content = small().to_bytes().split_off(32);
        let at = at.index(content.len());
        content[at] = byte;
        if cut {
            content.truncate(at);
        }
        if let Ok(index) = Index::from_bytes(&framed(&content)) {
            index.validate().expect("a sound index");
        }
    }
}

/// Content as a file whose header fits.
fn framed(content: &[u8]) -> Vec<u8> {
    let mut bytes = small().to_bytes()[..16].to_vec();
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend(xxhash_rust::xxh3::xxh3_64(content).to_le_bytes());
    bytes.extend(content);
    bytes
}

#[test]
fn files_round_trip() {
    let folder = Folder::new("round-trip");
    let path = folder.0.join("ads.tamis");
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    let events: Vec<GivenEvent> = (0..20).map(|_| draw.one(&event())).collect();
    for (size, engine) in [0, 1, 1_000].into_iter().flat_map(|size| [(size, "scan"), (size, "compiled")]) {
        let index = empty(engine);
        for n in 0..size {
            let expr: Expr = draw.one(&expression());
            index.add(Id::from(n), expr.to_string().as_str().into()).expect("added");
        }
        // Two saves are the same byte for byte only if nothing is merged in between.
        index.compact().expect("compacted");
        index.save(&path).expect("saved");
        assert_eq!(folder.names(), ["ads.tamis"], "nothing is left aside, the old file is replaced");
        assert_same(&index, &Index::load(&path).expect("loaded"), &events);
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = small().to_bytes();
    for length in 0..bytes.len() {
        assert!(Index::from_bytes(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(Index::from_bytes(&longer).is_err_and(|message| message.contains("extended")));
}

#[test]
fn every_flipped_bit_is_refused() {
    let bytes = small().to_bytes();
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(Index::from_bytes(&damaged).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
    }
}

#[test]
fn foreign_and_newer_files_are_named_as_such() {
    let message = |bytes: &[u8]| Index::from_bytes(bytes).map(drop).expect_err("no index");
    assert!(message(b"").contains("not a tamis index"));
    assert!(message(b"PAR1 and more than eight bytes").contains("not a tamis index"));
    assert!(message(&[0; 4_096]).contains("not a tamis index"));
    let mut newer = small().to_bytes();
    newer[8..12].copy_from_slice(&4u32.to_le_bytes());
    let message = message(&newer);
    assert!(message.contains("version 4") && message.contains("reads 1 to 3"), "{message}");
}

#[test]
fn faults_of_the_file_system_name_the_path() {
    let folder = Folder::new("faults");
    let named = |outcome: Result<(), Error>, path: &PathBuf| {
        assert!(matches!(&outcome, Err(Error::File { path: named, .. }) if named == path), "{outcome:?}");
    };
    let absent = folder.0.join("absent.tamis");
    named(Index::load(&absent).map(drop), &absent);
    named(Index::load(&folder.0).map(drop), &folder.0);
    let nowhere = folder.0.join("no-such-folder").join("x.tamis");
    named(small().save(&nowhere), &nowhere);
    // A folder cannot be replaced by a file; what was written aside must go.
    let taken = folder.0.join("taken");
    std::fs::create_dir(&taken).expect("a folder");
    named(small().save(&taken), &taken);
    assert_eq!(folder.names(), ["taken"]);
    let damaged = folder.0.join("damaged.tamis");
    std::fs::write(&damaged, &small().to_bytes()[..50]).expect("written");
    named(Index::load(&damaged).map(drop), &damaged);
}

/// Threads that save to one path at the same time leave one whole file.
#[test]
fn saves_at_once_do_not_mix() {
    let folder = Folder::new("at-once");
    let path = folder.0.join("x.tamis");
    let index = small();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    index.save(&path).expect("saved");
                    assert_eq!(Index::load(&path).expect("a whole file").len(), 2);
                }
            });
        }
    });
    assert_eq!(folder.names(), ["x.tamis"]);
}
