//! A process that updates, compacts and saves is killed at random moments: the file is that of the last save that
//! returned, or of a later one, and whole. `TAMIS_KILLS` says how often, by default ten times.
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
    assert!(states.is_sorted() && states.last().is_some_and(|last| *last > 10), "{states:?}");
}
