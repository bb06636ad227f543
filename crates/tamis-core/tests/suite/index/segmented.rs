//! The engine `compiled`, with lists and segments so small that it freezes and merges all the time: random histories
//! against a plain model, across files and compactions; and what becomes of damaged files.

use std::num::NonZeroUsize;
use tamis_conformance::event::{GivenEvent, write_row};
use tamis_conformance::folder::Folder;
use tamis_conformance::generate::{event, expression};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::Error;
use tamis_core::engine::registry::OptionValue;
use tamis_core::event::Rows;
use tamis_core::expr::{Expr, Missing, Truth};
use tamis_core::index::{EventWeights, Id, Index, Settings, Source};
use xxhash_rust::xxh3::xxh3_64;

fn settings(recent: i64, fanout: i64) -> Settings {
    let options = [("recent", recent), ("fanout", fanout)];
    let options = options.map(|(name, value)| (name.to_owned(), OptionValue::Int(value)));
    Settings { engine: "compiled".into(), options: options.into(), ..Settings::default() }
}

fn index(recent: i64, fanout: i64) -> Index {
    Index::new(settings(recent, fanout)).expect("an index")
}

fn source(expr: &Expr) -> Source {
    Source::from(expr.to_string().as_str())
}

fn figure(index: &Index, name: &str) -> u64 {
    index.engine_stats().iter().find(|(known, _)| *known == name).map_or(0, |(_, figure)| *figure)
}

/// Integers and strings, and numbers that look alike as both.
fn id(draw: &mut Draw, bound: usize) -> Id {
    let n = draw.below(bound) as i64;
    if draw.below(3) == 0 { Id::from(n.to_string().as_str()) } else { Id::from(n) }
}

/// What an index should hold, in order of insertion.
#[derive(Default)]
struct Model(Vec<(Id, Expr)>);

impl Model {
    fn place(&self, id: &Id) -> Option<usize> {
        self.0.iter().position(|(known, _)| known == id)
    }

    fn check(&self, index: &Index, events: &[GivenEvent]) {
        let view = index.pin();
        let mut rows = Rows::default();
        events.iter().for_each(|event| write_row(event, view.schema(), &mut rows));
        let matches = view.match_rows(&rows, NonZeroUsize::new(2), true).expect("never stale");
        let any_order = view.match_rows(&rows, None, false).expect("never stale");
        for row in 0..rows.len() {
            let holds =
                |expr: &Expr| expr.evaluate_row(view.schema(), &rows, row, Missing::Unknown) == Truth::True;
            let expected: Vec<Id> =
                self.0.iter().filter(|(_, expr)| holds(expr)).map(|(id, _)| id.clone()).collect();
            assert_eq!(view.match_row(&rows, row).expect("never stale"), expected);
            let range = matches.offsets[row]..matches.offsets[row + 1];
            assert_eq!(range.map(|at| matches.ids.get(at as usize)).collect::<Vec<_>>(), expected);
            let range = any_order.offsets[row]..any_order.offsets[row + 1];
            let mut found: Vec<Id> = range.map(|at| any_order.ids.get(at as usize)).collect();
            let mut expected = expected;
            found.sort();
            expected.sort();
            assert_eq!(found, expected);
        }
    }

    fn check_contents(&self, index: &Index) {
        assert_eq!(index.len(), self.0.len());
        assert_eq!(index.ids(), self.0.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>());
        for (id, expr) in &self.0 {
            assert_eq!(index.text(id).expect("present"), expr.to_string());
        }
    }
}

/// One step of a history; returns the index to go on with.
fn step(index: Index, model: &mut Model, draw: &mut Draw, folder: &Folder, ids: usize) -> Index {
    match draw.below(24) {
        0..8 => {
            let (id, expr) = (id(draw, ids), draw.one(&expression()));
            match (index.add(id.clone(), source(&expr)), model.place(&id)) {
                (Ok(_), None) => model.0.push((id, expr)),
                (Err(Error::DuplicateId(named)), Some(_)) => assert_eq!(named, id),
                other => unreachable!("adding {id}: {other:?}"),
            }
        }
        8..10 => {
            let count = draw.below(20);
            let batch: Vec<(Id, Expr)> =
                (0..count).map(|_| (id(draw, ids * 8), draw.one(&expression()))).collect();
            let bad = (0..count).find(|row| {
                let id = &batch[*row].0;
                model.place(id).is_some() || batch[..*row].iter().any(|(earlier, _)| earlier == id)
            });
            let attributes = index.schema().len();
            match (index.add_many(batch.iter().map(|(id, expr)| (id.clone(), source(expr)))), bad) {
                (Ok(_), None) => model.0.extend(batch),
                (Err(Error::Row { row, .. }), Some(bad)) => {
                    assert_eq!(row, bad);
                    assert_eq!(index.schema().len(), attributes, "the schema is as it was");
                }
                other => unreachable!("adding a batch: {other:?}"),
            }
        }
        10..13 => {
            let (id, expr) = (id(draw, ids), draw.one(&expression()));
            match (index.replace(&id, source(&expr)), model.place(&id)) {
                (Ok(_), Some(place)) => model.0[place].1 = expr,
                (Err(Error::UnknownId(named)), None) => assert_eq!(named, id),
                other => unreachable!("replacing {id}: {other:?}"),
            }
        }
        13..19 => {
            // Mostly somebody who is there.
            let present = (!model.0.is_empty()).then(|| model.0[draw.below(model.0.len().max(1))].0.clone());
            let id = present.filter(|_| draw.below(4) > 0).unwrap_or_else(|| id(draw, ids));
            match (index.remove(&id), model.place(&id)) {
                (Ok(()), Some(place)) => drop(model.0.remove(place)),
                (Err(Error::UnknownId(named)), None) => assert_eq!(named, id),
                other => unreachable!("removing {id}: {other:?}"),
            }
        }
        19 => {
            index.compact().expect("compacted");
            // Whoever waits finds one segment, unless the index is empty.
            assert_eq!(figure(&index, "segments"), u64::from(!model.0.is_empty()));
            assert_eq!((figure(&index, "recent"), figure(&index, "dead")), (0, 0));
        }
        20 => {
            let view = index.pin();
            let mut rows = Rows::default();
            (0..draw.below(10)).for_each(|_| write_row(&draw.one(&event()), view.schema(), &mut rows));
            index.observe_rows(view.schema(), &rows).expect("a fresh schema");
        }
        21 => return Index::from_bytes(&index.to_bytes()).expect("a copy"),
        22 => {
            // Over the very file that is mapped.
            let path = folder.path("history.tamis");
            index.save(&path).expect("saved");
            return Index::load(&path).expect("loaded");
        }
        _ => model.check(&index, &(0..3).map(|_| draw.one(&event())).collect::<Vec<_>>()),
    }
    index
}

#[test]
fn histories() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let folder = Folder::new("histories");
    for (at, (recent, fanout)) in [(1, 2), (2, 3), (5, 2), (64, 8)].into_iter().enumerate() {
        let mut draw = Draw::new(seed.wrapping_add(at as u64));
        let (mut tested, mut model) = (index(recent, fanout), Model::default());
        for round in 0..1_000 {
            tested = step(tested, &mut model, &mut draw, &folder, 40);
            tested.validate().expect("a sound index");
            if round % 10 == 0 {
                model.check_contents(&tested);
            }
        }
        model.check_contents(&tested);
        assert!(tested.settings() == &settings(recent, fanout), "settings survive files");
    }
    assert_eq!(folder.names(), ["history.tamis"]);
}

/// Many additions one by one: few segments, and every one of them is needed.
#[test]
fn segments_stay_few() {
    let tested = index(4, 4);
    for n in 0..5_000 {
        tested.add(Id::from(n), format!("a = {}", n % 100).as_str().into()).expect("added");
        assert!(figure(&tested, "segments") <= 40, "{:?}", tested.engine_stats());
    }
    let done = |index: &Index| figure(index, "segments") <= 7;
    for _ in 0..200 {
        if done(&tested) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(done(&tested), "{:?}", tested.engine_stats());
    tested.validate().expect("sound");
    assert_eq!(tested.match_json(br#"{"a": 7}"#).expect("valid JSON").len(), 50);
}

/// What is removed takes no room for long.
#[test]
fn worn_segments_are_rewritten() {
    let tested = index(8, 8);
    let batch = (0..3_000).map(|n| (Id::from(n), Source::from(format!("a = {n}").as_str())));
    tested.add_many(batch).expect("added");
    for n in 0..2_500 {
        tested.remove(&Id::from(n)).expect("present");
    }
    for _ in 0..200 {
        if figure(&tested, "dead") * 3 <= 500 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(figure(&tested, "dead") <= 250, "{:?}", tested.engine_stats());
    assert_eq!(tested.len(), 500);
    tested.validate().expect("sound");
}

/// A view stays what it was, whatever happens to the index.
#[test]
fn views_stay() {
    let tested = index(2, 2);
    tested.add(Id::from(1), "a = 1".into()).expect("added");
    let view = tested.pin();
    let mut rows = Rows::default();
    write_row(&vec![("a".to_owned(), tamis_conformance::event::Given::Int(1))], view.schema(), &mut rows);
    for n in 2..100 {
        tested
            .add(Id::from(n), format!("a = 1 and (b{n} is null or b{n} > 0)").as_str().into())
            .expect("added");
    }
    tested.remove(&Id::from(1)).expect("present");
    tested.compact().expect("compacted");
    assert_eq!(view.match_row(&rows, 0).expect("never stale"), [Id::from(1)]);
    assert_eq!(tested.match_json(br#"{"a": 1}"#).expect("valid JSON").len(), 98);
}

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
    assert_eq!(&tested.to_bytes()[8..12], &2u32.to_le_bytes(), "saved in the second format");
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

/// Damage under checksums that fit: refused, or an index that answers something, if only that matching panicked.
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
    let view = index.pin();
    let mut rows = Rows::default();
    events.iter().for_each(|event| write_row(event, view.schema(), &mut rows));
    let _ = Error::catch(|| view.match_rows(&rows, NonZeroUsize::new(1), true));
    let _ = Error::catch(|| view.match_rows(&rows, NonZeroUsize::new(1), false));
    let _ = Error::catch(|| view.match_row(&rows, 0));
    let _ = Error::catch(|| view.top_k(&rows, 0, 3, &EventWeights::default()));
    let _ = Error::catch(|| view.near_misses(&rows, 0, 3));
    let _ = (index.validate().is_ok(), index.memory(), index.engine_stats(), index.len());
    let ids = index.ids();
    for id in ids.iter().take(5) {
        let _ = (index.contains(id), index.text(id).is_ok(), index.expression(id).is_ok());
        let _ = index.replace(id, "a = 1".into());
    }
    for id in ids.iter().skip(3).take(5) {
        let _ = index.remove(id);
    }
    let _ = index.add(Id::from(123_456), "b = 2".into());
    let _ = index.add_many((0..20).map(|n| (Id::from(n + 200_000), Source::from("c = 3"))));
    let _ = index.compact();
    let _ = index.to_bytes();
}

/// `cargo test -p tamis-core --test segmented -- --ignored --nocapture figures`
#[test]
#[ignore = "measures"]
fn figures() {
    const MANY: i64 = 300_000;
    let folder = Folder::new("figures");
    let (path, tested) = (folder.path("x.tamis"), index(64, 8));
    let text = |n: i64| format!("age between {} and {} and country = 'c{}'", n % 60, n % 60 + 10, n % 500);
    let timed = |what: &str, count: i64, work: &mut dyn FnMut()| {
        let start = std::time::Instant::now();
        work();
        let took = start.elapsed().as_secs_f64();
        println!("{what}: {:.2} us each, {:.1} ms in all", took * 1e6 / count as f64, took * 1e3);
    };
    timed("add_many", MANY, &mut || {
        let batch = (0..MANY).map(|n| (Id::from(n), Source::from(text(n).as_str())));
        tested.add_many(batch).expect("added");
    });
    timed("pin", 1_000_000, &mut || (0..1_000_000).for_each(|_| drop(std::hint::black_box(tested.pin()))));
    timed("add", 20_000, &mut || {
        (MANY..MANY + 20_000).for_each(|n| assert!(tested.add(Id::from(n), text(n).as_str().into()).is_ok()));
    });
    timed("remove", 20_000, &mut || {
        (0..20_000).for_each(|n| assert!(tested.remove(&Id::from(n * 3)).is_ok()));
    });
    timed("replace", 20_000, &mut || {
        (0..20_000)
            .for_each(|n| assert!(tested.replace(&Id::from(n * 3 + 1), text(n).as_str().into()).is_ok()));
    });
    timed("compact", MANY, &mut || tested.compact().expect("compacted"));
    timed("save", MANY, &mut || tested.save(&path).expect("saved"));
    timed("load", MANY, &mut || drop(Index::load(&path).expect("loaded")));
    println!(
        "{:?} {:?} {}",
        tested.engine_stats(),
        tested.memory(),
        std::fs::metadata(&path).expect("a file").len()
    );
}
