//! An engine of another crate, and one that ranks by itself.

use std::num::NonZeroUsize;
use tamis_conformance::folder::Folder;
use tamis_conformance::generate::{event, expression};
use tamis_conformance::histories;
use tamis_conformance::model::rows_of;
use tamis_conformance::ranking_scan::{ALONE, WITH_CORE};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::{Options, Registry};
use tamis_core::event::{EventSlots, Rows};
use tamis_core::expr::Limits;
use tamis_core::index::{EventWeights, Id, Index, LoadOptions, RankedMatches, Settings, Source, Weighting};

fn index(engine: &str) -> Index {
    let settings = Settings { engine: engine.into(), ..Settings::default() };
    Index::with_registry(WITH_CORE, settings).expect("an index")
}

#[test]
fn short_histories() {
    histories::short(ALONE, 200);
}

#[test]
fn long_histories() {
    histories::long(ALONE, 1_000);
}

#[test]
fn a_composed_registry_has_the_engines_of_all_slices() {
    let names: Vec<_> = WITH_CORE.iter().map(|engine| engine.name).collect();
    assert!(names.contains(&"compiled") && names.contains(&"ranking_scan"));
    assert!(WITH_CORE.find("ranking_scan").expect("an engine").ranks());
    let ranking = Registry::CORE.iter().filter(|engine| engine.ranks()).map(|engine| engine.name);
    assert!(ranking.eq(["be_star_tree", "be_tree"]));
    let error = Registry::CORE.find("ranking_scan").err().expect("an engine of another crate").to_string();
    assert!(error.contains("there are: auto, compiled"), "{error}");
    assert_eq!(index("auto").engine_name(), "compiled");
}

#[test]
fn files_are_opened_with_the_registry_that_has_their_engine() {
    let folder = Folder::new("ranking");
    let path = folder.path("rules.tamis");
    let saved = index("ranking_scan");
    saved.add(Id::from(1), "a = 1 ^ 2".into()).expect("added");
    saved.save(&path).expect("saved");
    let loaded = Index::load_with_registry(WITH_CORE, &path, &LoadOptions::default()).expect("loaded");
    assert_eq!(loaded.engine_name(), "ranking_scan");
    assert_eq!(loaded.match_json(br#"{"a": 1}"#).expect("valid JSON"), [Id::from(1)]);
    let bytes = saved.to_bytes();
    assert!(Index::from_bytes_with_registry(WITH_CORE, &bytes, &LoadOptions::default()).is_ok());
    let error = Index::load(&path).err().expect("an engine of another crate").to_string();
    assert!(error.contains("unknown engine \"ranking_scan\""), "{error}");
}

#[test]
#[should_panic(expected = "engine ranking_scan was given a scratch of engine scan")]
fn a_scratch_of_another_engine_is_refused() {
    let [ranking, scan] = ["ranking_scan", "scan"].map(|name| {
        let info = WITH_CORE.find(name).expect("an engine");
        info.create(&Options::new(), &Limits::default()).expect("no options")
    });
    let (mut rows, mut slots) = (Rows::default(), EventSlots::default());
    rows.finish_row();
    ranking.match_event(&slots.load(&rows, 0, 0), &mut scan.scratch(), &mut Vec::new());
}

fn best_of(ranked: &RankedMatches, row: usize) -> Vec<(Id, f64)> {
    let offsets = &ranked.matches.offsets;
    let range = offsets[row] as usize..offsets[row + 1] as usize;
    range.map(|at| (ranked.matches.ids.get(at), ranked.scores[at])).collect()
}

/// The engine's best k are those of an index that scores all matches, sorts and cuts; also among subscriptions that match
/// every event, which the index keeps outside of engines and which give the engine's floor.
#[test]
fn the_best_k_are_those_of_sorting_all() {
    let rounds = std::env::var("TAMIS_TOP_K_ROUNDS").map_or(1, |rounds| rounds.parse().expect("a number"));
    for round in 0..rounds {
        for engine in ["ranking_scan", "be_star_tree", "be_tree"] {
            compare_best(engine, round);
        }
    }
}

/// Compares the best k of 150 events, for five k with and without weights: 1,500 rankings.
fn compare_best(engine: &str, round: u64) {
    let seed = seed().wrapping_add(round);
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    let (ranking, scan) = (index(engine), index("scan"));
    let add = |id: i64, text: &str| {
        // An engine of conjunctions may refuse an expression.
        if ranking.add(Id::from(id), text.into()).is_ok() {
            scan.add(Id::from(id), text.into()).expect("any expression");
        }
    };
    for n in 0..400 {
        add(n, &draw.one(&expression()).to_string());
        if n % 40 == 0 {
            let (present, absent) = (n / 40, 3);
            add(1_000 + n, &format!("n is not null ^ {present} or n is null ^ {absent}"));
        }
    }
    for n in (0..400).step_by(7) {
        let expr = Source::Expr(draw.one(&expression()).into());
        if ranking.replace(&Id::from(n), expr.clone()).is_ok() {
            scan.replace(&Id::from(n), expr).expect("a present id");
        }
    }
    for n in (0..400).step_by(5) {
        assert_eq!(ranking.remove(&Id::from(n)).is_ok(), scan.remove(&Id::from(n)).is_ok());
    }
    let events: Vec<_> = (0..150).map(|_| draw.one(&event())).collect();
    let schema = ranking.schema();
    assert_eq!(schema.len(), scan.schema().len());
    let rows = rows_of(&events, &schema);
    let (mut weights, none) = (EventWeights::default(), EventWeights::default());
    for (attribute, weight) in [("n", 0.25), ("s", 3.0), ("tags", 0.0)] {
        weights.set(attribute, weight).expect("a weight");
    }
    for (k, threads) in [(0, 1), (1, 1), (3, 2), (8, 1), (usize::MAX, 2)] {
        for weights in [&none, &weights] {
            let [found, expected] = [&ranking, &scan].map(|index| {
                let threads = NonZeroUsize::new(threads);
                let ranked = index.top_k_rows(&schema, &rows, k, Weighting::Same(weights), threads);
                ranked.expect("a fresh schema").expect("scores")
            });
            for (row, event) in events.iter().enumerate() {
                assert_eq!(best_of(&found, row), best_of(&expected, row), "{engine}, k = {k}: {event:?}");
            }
        }
    }
    ranking.validate().expect("a sound index");
}
