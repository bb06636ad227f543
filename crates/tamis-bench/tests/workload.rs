//! The benchmark's workloads: the same bytes on every machine, and answers that every engine gives.

use tamis_baselines::ALL;
use tamis_bench::workload::abe::Abe;
use tamis_bench::workload::conj::Conj;
use tamis_bench::workload::{Workload, json};
use tamis_core::engine::registry::Takes;
use tamis_core::index::{Id, Index, Settings};
use xxhash_rust::xxh3::Xxh3;

fn check(workload: &dyn Workload) {
    for engine in ALL.iter() {
        let index = Index::with_registry(ALL, Settings { engine: engine.name.into(), ..Settings::default() })
            .expect("an index");
        let mut held = vec![true; workload.len()];
        for (n, held) in held.iter_mut().enumerate() {
            match index.add(Id::from(n as i64), workload.text(n).as_str().into()) {
                Ok(_) => {}
                Err(error) if error.is_too_complex() => *held = false,
                Err(error) => unreachable!("{}: {error}", workload.text(n)),
            }
        }
        let takes_all = held.iter().all(|held| *held);
        assert!(takes_all || engine.takes != Takes::All, "{}", engine.name);
        let mut matches = 0;
        for event in &workload.events()[..20] {
            let ids = index.match_json(json(event).as_bytes()).expect("valid JSON");
            let sum =
                ids.iter().map(|id| if let Id::Int(n) = id { n as u64 } else { unreachable!("{id}") }).sum();
            let (found, right) = ((ids.len() as u64, sum), workload.answer(event));
            // An engine that is not exact may find more.
            let is_right = found == right || !engine.exact && found >= right;
            assert!(is_right || !takes_all, "{}: {found:?}, not {right:?}: {}", engine.name, json(event));
            matches += ids.len();
        }
        assert!(matches > 0, "{}", engine.name);
    }
}

#[test]
fn dense_conjunctions() {
    check(&Conj::new(5_000, 100));
}

#[test]
fn sparse_conjunctions() {
    check(&Conj::new(5_000, 30_000));
}

#[test]
fn arbitrary_expressions() {
    check(&Abe::new(5_000, 1_000));
}

/// Texts, events and answers in one number.
fn fingerprint(workload: &dyn Workload) -> u64 {
    let mut hash = Xxh3::new();
    for n in 0..workload.len() {
        hash.update(format!("{n}\t{}\n", workload.text(n)).as_bytes());
    }
    for event in workload.events() {
        hash.update(format!("{}\n", json(event)).as_bytes());
    }
    for (n, event) in workload.events().iter().enumerate() {
        let (count, sum) = workload.answer(event);
        hash.update(format!("{n}\t{count}\t{sum}\n").as_bytes());
    }
    hash.digest()
}

/// Whoever changes a generator changes what all records were measured on.
#[test]
fn workloads_do_not_change() {
    assert_eq!(fingerprint(&Conj::new(3_000, 100)), 0x90f9_ba62_cf51_2988);
    assert_eq!(fingerprint(&Conj::new(3_000, 30_000)), 0x5117_e4ec_cf39_7885);
    assert_eq!(fingerprint(&Abe::new(3_000, 1_000)), 0x3ea4_727c_f6a7_4292);
}
