//! Damaged files are refused or do no harm; files of format 1 open.

use super::settings;
use std::num::NonZeroUsize;
use tamis_conformance::event::{GivenEvent, write_row};
use tamis_conformance::generate::{event, expression};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::Error;
use tamis_core::engine::registry::OptionValue;
use tamis_core::event::Rows;
use tamis_core::index::{EventWeights, Id, Index, Settings, Source};
use xxhash_rust::xxh3::xxh3_64;

#[test]
fn files_of_the_first_format_fill_segments() {
    let old = Index::new(Settings { engine: "scan".into(), ..Settings::default() }).expect("an index");
    old.add(Id::from("x"), "a > 1".into()).expect("added");
    old.add(Id::from(7), "b = 'y'".into()).expect("added");
    // The engine's name is the first thing in the payload.
    let mut payload = old.to_bytes().split_off(32);
    payload.splice(0..8, [[8, 0, 0, 0].as_slice(), b"compiled"].concat());
    let mut bytes = old.to_bytes()[..16].to_vec();
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(xxh3_64(&payload).to_le_bytes());
    bytes.extend(payload);
    let tested = Index::from_bytes(&bytes).expect("an old file");
    assert_eq!(tested.engine_name(), "compiled");
    assert_eq!(tested.ids(), old.ids());
    assert_eq!(&tested.to_bytes()[8..12], &3u32.to_le_bytes(), "saved in the third format");
}

/// Several segments, some of them worn, and recent subscriptions; constants among them.
fn varied(draw: &mut Draw, path: &str) -> Index {
    let mut settings = settings(16, 1_000);
    settings.options.insert("path".to_owned(), OptionValue::Text(path.into()));
    let tested = Index::new(settings).expect("an index");
    // Predicates that ask each event would keep them from walking together.
    let together = path == "together";
    for n in 0..100 {
        let id = if n % 3 == 0 { Id::from(format!("id-{n}").as_str()) } else { Id::from(n) };
        let text = match n % 20 {
            3 => "TRUE".to_owned(),
            4 => "FALSE".to_owned(),
            _ if together => {
                format!(
                    "n > {n} and (s > 'b' or any(tags) < 'b{n}') and s like '%a' or n in (1, {n}) and flag"
                )
            }
            _ => draw.one(&expression()).to_string(),
        };
        tested.add(id, text.as_str().into()).expect("added");
    }
    for n in (1..100).step_by(9).filter(|n| n % 3 != 0) {
        tested.remove(&Id::from(n)).expect("present");
    }
    tested
}

#[test]
fn flipped_bits_and_truncations_are_refused() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    let bytes = varied(&mut draw, "auto").to_bytes();
    assert!(Index::from_bytes(&bytes).is_ok());
    let table = u64::from_le_bytes(bytes[24..32].try_into().expect("8 bytes")) as usize;
    let random = (0..2_000).map(|_| draw.below(bytes.len())).collect::<Vec<_>>();
    for at in (0..64).chain(table..bytes.len()).chain(random) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(Index::from_bytes(&damaged).is_err(), "byte {at}");
        assert!(Index::from_bytes(&bytes[..at]).is_err(), "{at} bytes");
    }
}

/// Damage under checksums that fit: refused, or an index that answers something. Nothing panics.
#[test]
fn damage_under_fitting_checksums_does_no_harm() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    let events: Vec<GivenEvent> = (0..3).map(|_| draw.one(&event())).collect();
    for path in ["one_by_one", "together"] {
        let bytes = varied(&mut draw, path).to_bytes();
        let (mut refused, mut opened) = (0, 0);
        for _ in 0..500 {
            match Index::from_bytes(&damaged(&bytes, &mut draw)) {
                Err(_) => refused += 1,
                Ok(index) => {
                    opened += 1;
                    use_all(&index, &events);
                }
            }
        }
        assert!(refused > 20 && opened > 20, "{refused} refused, {opened} opened");
    }
}

/// Changes some bytes of one section, or its length, and makes all checksums fit.
fn damaged(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let u64_at = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let table = u64_at(&bytes, 24) as usize;
    let sections = (bytes.len() - table) / 40;
    let entry = loop {
        let entry = table + 40 * draw.below(sections);
        if u64_at(&bytes, entry + 24) > 0 {
            break entry;
        }
    };
    let (offset, length) = (u64_at(&bytes, entry + 16) as usize, u64_at(&bytes, entry + 24) as usize);
    for _ in 0..=draw.below(3) {
        let at = offset + draw.below(length);
        bytes[at] = if draw.below(2) == 0 { draw.below(256) as u8 } else { bytes[at] ^ 1 << draw.below(8) };
    }
    if draw.below(8) == 0 {
        // Shorter within the same room, by whole elements or not.
        let shorter = length - draw.below(length.min(64)).min(length % 64);
        bytes[entry + 24..entry + 32].copy_from_slice(&(shorter as u64).to_le_bytes());
    }
    let room = length.next_multiple_of(64);
    let blocks: Vec<u8> =
        bytes[offset..offset + room].chunks(1 << 20).flat_map(|block| xxh3_64(block).to_le_bytes()).collect();
    bytes[entry + 32..entry + 40].copy_from_slice(&xxh3_64(&blocks).to_le_bytes());
    let sum = xxh3_64(&bytes[table..]);
    bytes[40..48].copy_from_slice(&sum.to_le_bytes());
    let sum = xxh3_64(&bytes[..56]);
    bytes[56..64].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Whatever comes back is fine, as long as it comes back.
fn use_all(index: &Index, events: &[GivenEvent]) {
    Error::catch(|| {
        let view = index.pin();
        let mut rows = Rows::default();
        events.iter().for_each(|event| write_row(event, view.schema(), &mut rows));
        let one = NonZeroUsize::new(1);
        let _ = (view.match_rows(&rows, one, true).is_ok(), view.match_rows(&rows, one, false).is_ok());
        let _ = view.match_row(&rows, 0);
        let _ = view.top_k(&rows, 0, 3, &EventWeights::default());
        let _ = view.near_misses(&rows, 0, 3);
        let _ = (index.validate().is_ok(), index.memory(), index.engine_stats(), index.len());
        let ids = index.ids();
        for id in ids.iter().take(5) {
            let _ = (index.contains(id), index.text(id).is_ok(), index.expression(id).is_ok());
            let _ = (index.plan_of(id).is_ok(), index.replace(id, "a = 1".into()));
        }
        for id in ids.iter().skip(3).take(5) {
            let _ = index.remove(id);
        }
        let _ = index.add(Id::from(123_456), "b = 2".into());
        let _ = index.add_many((0..20).map(|n| (Id::from(n + 200_000), Source::from("c = 3"))));
        let _ = index.compact();
        let _ = index.to_bytes();
    })
    .expect("no panic");
}
