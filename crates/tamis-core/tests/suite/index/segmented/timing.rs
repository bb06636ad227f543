//! Times of updates and files.

use super::index;
use tamis_conformance::folder::Folder;
use tamis_core::index::{Id, Index, Source};

/// `cargo test --release -p tamis-core --test suite -- --ignored --nocapture segmented::timing`
#[test]
#[ignore = "measures"]
fn updates_and_files() {
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
