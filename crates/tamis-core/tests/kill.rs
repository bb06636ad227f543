//! A process that updates, compacts and saves is killed at random moments: the file is that of the last save that
//! returned, or of a later one, and whole; the next save removes what killed savers left aside. `TAMIS_KILLS` says how
//! often, by default ten times.
//!
//! Another process cuts files short that it has mapped before: it survives, because nothing reads an index that was
//! dropped or stopped.
#![cfg(unix)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tamis_conformance::folder::Folder;
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::OptionValue;
use tamis_core::index::{Id, Index, Settings};

/// Tells the child its folder.
const FOLDER: &str = "TAMIS_KILL_FOLDER";
/// Subscriptions a state has.
const WINDOW: i64 = 200;

/// State `n` holds the last ids up to `n`; those divisible by three have been replaced once they were old.
fn expected(n: i64) -> Vec<(Id, String)> {
    let text = |id: i64| if id % 3 == 0 && id + 50 <= n { format!("b = {id}") } else { format!("a = {id}") };
    (0.max(n - WINDOW + 1)..=n).map(|id| (Id::from(id), text(id))).collect()
}

fn advance(index: &Index, n: i64) {
    index.add(Id::from(n), format!("a = {n}").as_str().into()).expect("added");
    let old = n - 50;
    if old >= 0 && old % 3 == 0 {
        index.replace(&Id::from(old), format!("b = {old}").as_str().into()).expect("present");
    }
    if n >= WINDOW {
        index.remove(&Id::from(n - WINDOW)).expect("present");
    }
}

/// The number of the state an index is in.
fn state(index: &Index) -> i64 {
    index.ids().last().map_or(-1, |id| if let Id::Int(id) = id { *id } else { -1 })
}

fn new_index() -> Index {
    let options = [("recent", 8), ("fanout", 2)];
    let options = options.map(|(name, value)| (name.to_owned(), OptionValue::Int(value)));
    Index::new(Settings { engine: "compiled".into(), options: options.into(), ..Settings::default() })
        .expect("an index")
}

/// The process that is killed: goes on from the file, for ever.
#[test]
#[ignore = "started by the other test"]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let (file, log) = (Path::new(&folder).join("x.tamis"), Path::new(&folder).join("log"));
    let index = if file.exists() { Index::load(&file).expect("a whole file") } else { new_index() };
    let mut log = std::fs::File::options().append(true).create(true).open(log).expect("a log");
    for n in state(&index) + 1.. {
        advance(&index, n);
        if n % 7 == 0 {
            index.compact().expect("compacted");
        }
        if n % 3 == 0 {
            index.save(&file).expect("saved");
            writeln!(log, "{n}").expect("logged");
        }
    }
}

#[test]
fn a_killed_process_leaves_a_whole_file() {
    let kills = std::env::var("TAMIS_KILLS").ok().and_then(|given| given.parse().ok()).unwrap_or(10);
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    let folder = Folder::new("kill");
    let (file, log) = (folder.path("x.tamis"), folder.path("log"));
    let mut states = Vec::new();
    for _ in 0..kills {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "child", "--ignored", "--nocapture"])
            .env(FOLDER, &folder.0)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        std::thread::sleep(Duration::from_millis(50 + draw.below(250) as u64));
        child.kill().expect("killed");
        let status = child.wait().expect("ended");
        assert_eq!(status.code(), None, "it ran until it was killed");
        if !file.exists() {
            continue;
        }
        let logged = std::fs::read_to_string(&log).unwrap_or_default();
        // The last line may be cut.
        let whole = logged.rfind('\n').map_or("", |end| &logged[..end]);
        let acknowledged: i64 = whole.lines().last().map_or(-1, |line| line.parse().expect("a number"));
        let index = Index::load(&file).expect("a whole file");
        index.validate().expect("a sound index");
        let n = state(&index);
        assert!(n >= acknowledged, "state {n} after {acknowledged} was saved");
        let held: Vec<(Id, String)> =
            index.ids().into_iter().map(|id| (id.clone(), index.text(&id).expect("present"))).collect();
        assert_eq!(held, expected(n));
        states.push(n);
    }
    println!("states {states:?}");
    // Temporary files of killed savers are removed by the next one.
    Index::load(&file).expect("a whole file").save(&file).expect("saved");
    assert_eq!(folder.names(), ["log", "x.tamis"]);
    assert!(states.is_sorted() && states.last().is_some_and(|last| *last > 10), "{states:?}");
}

/// The process that SIGBUS would end: cuts the file of a loaded index short as soon as the index is gone, while segments
/// were being merged.
#[test]
#[ignore = "started by the other test"]
fn cutting_child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let (whole, file) = (Path::new(&folder).join("whole.tamis"), Path::new(&folder).join("x.tamis"));
    let index = new_index();
    index.stop();
    // Without the thread, two segments of one size class are left to be merged.
    for (name, ids) in [("a", 0..5_000), ("b", 5_000..10_000)] {
        index.add_many(ids.map(|n| (Id::from(n), format!("{name} = {n}").as_str().into()))).expect("added");
    }
    index.save(&whole).expect("saved");
    for round in 0..60 {
        std::fs::copy(&whole, &file).expect("a copy");
        let loaded = Index::load(&file).expect("a whole file");
        assert!(loaded.engine_stats().contains(&("segments", 2)), "{:?}", loaded.engine_stats());
        // A change starts the thread.
        loaded.remove(&Id::from(1)).expect("present");
        std::thread::sleep(Duration::from_micros(round * 50));
        if round % 2 == 0 {
            drop(loaded);
            std::fs::File::create(&file).expect("cut short");
        } else {
            loaded.stop();
            std::fs::File::create(&file).expect("cut short");
            drop(loaded);
        }
    }
}

#[test]
fn nothing_reads_the_file_of_an_index_that_is_gone() {
    let folder = Folder::new("cut");
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "cutting_child", "--ignored", "--nocapture"])
        .env(FOLDER, &folder.0)
        .output()
        .expect("a process");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}", output.status);
}
