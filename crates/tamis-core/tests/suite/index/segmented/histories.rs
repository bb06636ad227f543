//! Random histories against a plain model, across files and compactions.

use super::{figure, index, settings};
use std::num::NonZeroUsize;
use tamis_conformance::event::{GivenEvent, write_row};
use tamis_conformance::folder::Folder;
use tamis_conformance::generate::{event, expression};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::Error;
use tamis_core::event::Rows;
use tamis_core::expr::{Expr, Missing, Truth};
use tamis_core::index::{Id, Index, Source};

fn source(expr: &Expr) -> Source {
    Source::from(expr.to_string().as_str())
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
