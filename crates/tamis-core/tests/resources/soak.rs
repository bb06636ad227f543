//! Four readers and two writers share one `compiled` index: every answer must be that of a state the index had between
//! the call and the return. `TAMIS_SOAK_SECONDS` is the duration, 4 seconds by default; `TAMIS_SOAK_SUBSCRIPTIONS` is
//! the number of base subscriptions, 5,000 by default.

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tamis_conformance::folder::Folder;
use tamis_conformance::resources::counting::held;
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::OptionValue;
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{Id, Index, Settings, Source};

const IDS: usize = 300;

/// The first id of the base subscriptions, which are added before the threads start.
const FIRST_BASE_ID: i64 = 1_000_000_000;
/// One base subscription in 1,000 matches an event and stays; the others match none, and are removed and added again.
const MATCHING: usize = 1_000;
/// Every run does at least this many updates and matches, however slow the machine.
const MIN_UPDATES: u64 = 1_100;
const MIN_MATCHES: u64 = 100;

/// Which ids match the event on the left and which the one on the right, each in order of insertion.
type Answer = [Vec<i64>; 2];

fn fingerprint(answer: &Answer) -> u64 {
    let mut hasher = DefaultHasher::new();
    answer.hash(&mut hasher);
    hasher.finish()
}

/// The expected contents of the index. Every state has a version; its answer is recorded before readers can see it.
#[derive(Default)]
struct Model {
    /// Ids in order of insertion, and the side each matches: 0 left, 1 right.
    held: Vec<(i64, usize)>,
    /// Number of base subscriptions, inserted before all others.
    base: usize,
    /// Numbers of the base subscriptions that are removed at present.
    removed: BTreeSet<usize>,
}

impl Model {
    fn place(&self, id: i64) -> Option<usize> {
        self.held.iter().position(|(known, _)| *known == id)
    }

    fn fingerprint(&self) -> u64 {
        let on = |side| {
            let held = self.held.iter().filter(|(_, s)| *s == side).map(|(id, _)| *id);
            base(side, self.base).chain(held).collect()
        };
        fingerprint(&[on(0), on(1)])
    }
}

/// Base subscriptions that match the event of a side.
fn base(side: usize, count: usize) -> impl Iterator<Item = i64> {
    let matching = (0..count).step_by(MATCHING).filter(move |n| n / MATCHING % 2 == side);
    matching.map(|n| FIRST_BASE_ID + n as i64)
}

fn base_text(n: usize) -> String {
    let (group, side) = (n % MATCHING, ["l", "r"][n / MATCHING % 2]);
    format!("side = '{side}' and base = {group} and (n{} is null or n{} > {n})", n % 7, n % 11)
}

struct Soak {
    index: Index,
    model: Mutex<Model>,
    /// By version: the answer.
    answers: Mutex<Vec<u64>>,
    /// The last version whose update has returned.
    version: AtomicUsize,
    updates: AtomicU64,
    matches: AtomicU64,
    over: AtomicBool,
}

fn text(side: usize, n: usize) -> String {
    // Attribute names depend on the number, so that the schema grows.
    format!("side = '{}' and (extra{} is null or extra{} > 0)", ["l", "r"][side], n % 50, n % 50)
}

impl Soak {
    /// One update, under the lock that gives it its version.
    fn update(&self, draw: &mut Draw) {
        let mut model = self.model.lock();
        let (id, side, n) = (draw.below(IDS) as i64, draw.below(2), draw.below(1_000));
        let source = Source::from(text(side, n).as_str());
        let place = model.place(id);
        let other = draw.below(model.base.max(1));
        if !other.is_multiple_of(MATCHING) && draw.below(4) == 0 {
            return self.update_base(&mut model, other);
        }
        let change: Box<dyn Fn()> = match (draw.below(10), place) {
            (0, _) => {
                let fresh: Vec<i64> = (0..30).map(|_| draw.below(IDS) as i64).collect();
                let mut batch: Vec<i64> = fresh.into_iter().filter(|id| model.place(*id).is_none()).collect();
                batch.sort_unstable();
                batch.dedup();
                model.held.extend(batch.iter().map(|id| (*id, side)));
                Box::new(move || {
                    let batch = batch.iter().map(|id| (Id::from(*id), source.clone()));
                    self.index.add_many(batch).expect("added");
                })
            }
            (_, None) => {
                model.held.push((id, side));
                Box::new(move || assert!(self.index.add(Id::from(id), source.clone()).expect("added")))
            }
            (1..5, Some(place)) => {
                model.held[place].1 = side;
                Box::new(move || assert!(self.index.replace(&Id::from(id), source.clone()).expect("present")))
            }
            (_, Some(place)) => {
                model.held.remove(place);
                Box::new(move || self.index.remove(&Id::from(id)).expect("present"))
            }
        };
        self.answers.lock().push(model.fingerprint());
        change();
        self.version.fetch_add(1, Ordering::SeqCst);
        self.updates.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes a base subscription that matches no event, or adds it again.
    fn update_base(&self, model: &mut Model, n: usize) {
        let id = Id::from(FIRST_BASE_ID + n as i64);
        self.answers.lock().push(model.fingerprint());
        if model.removed.insert(n) {
            self.index.remove(&id).expect("present");
        } else {
            model.removed.remove(&n);
            assert!(self.index.add(id, Source::from(base_text(n).as_str())).expect("added"));
        }
        self.version.fetch_add(1, Ordering::SeqCst);
        self.updates.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self, threads: usize) {
        let before = self.version.load(Ordering::SeqCst);
        let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
        let view = self.index.pin();
        for event in [r#"{"side": "l", "base": 0}"#, r#"{"side": "r", "base": 0}"#] {
            reader.read(event.as_bytes(), view.schema(), &mut rows).expect("valid JSON");
        }
        let matches = view.match_rows(&rows, NonZeroUsize::new(threads), true).expect("never stale");
        let of = |row: usize| {
            let range = matches.offsets[row]..matches.offsets[row + 1];
            range.map(|at| if let Id::Int(id) = matches.ids.get(at as usize) { id } else { -1 }).collect()
        };
        let answer: Answer = [of(0), of(1)];
        let after = self.version.load(Ordering::SeqCst);
        let answers = self.answers.lock();
        // The next one may be visible already, though its call has not returned.
        let possible = &answers[before..answers.len().min(after + 2)];
        assert!(
            possible.contains(&fingerprint(&answer)),
            "no state from {before} to {after} answers {answer:?}"
        );
        self.matches.fetch_add(1, Ordering::Relaxed);
    }

    /// Repeats the work until the test is over. A panic ends the test for all threads.
    fn while_running(&self, mut work: impl FnMut()) {
        let _over_on_panic = OverOnPanic(&self.over);
        while !self.over.load(Ordering::Relaxed) {
            work();
        }
    }
}

struct OverOnPanic<'s>(&'s AtomicBool);

impl Drop for OverOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    status.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4
}

#[test]
fn every_answer_is_that_of_one_state() {
    let _alone = crate::alone();
    let given = |name| std::env::var(name).ok().and_then(|given| given.parse().ok());
    let seconds: u64 = given("TAMIS_SOAK_SECONDS").unwrap_or(4);
    let base = given("TAMIS_SOAK_SUBSCRIPTIONS").unwrap_or(5_000) as usize;
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let folder = Folder::new("soak");
    let options = [("recent", 8), ("fanout", 2)];
    let options = options.map(|(name, value)| (name.to_owned(), OptionValue::Int(value)));
    let settings = Settings { engine: "compiled".into(), options: options.into(), ..Settings::default() };
    let soak = Soak {
        index: Index::new(settings).expect("an index"),
        model: Mutex::new(Model { base, ..Model::default() }),
        answers: Mutex::new(vec![Model { base, ..Model::default() }.fingerprint()]),
        version: AtomicUsize::new(0),
        updates: AtomicU64::new(0),
        matches: AtomicU64::new(0),
        over: AtomicBool::new(false),
    };
    let all = (0..base).map(|n| (Id::from(FIRST_BASE_ID + n as i64), Source::from(base_text(n).as_str())));
    soak.index.add_many(all).expect("added");
    let mut draw = Draw::new(seed);
    (0..1_000).for_each(|_| soak.update(&mut draw));
    soak.index.compact().expect("compacted");
    let (memory, at_start, held_at_start) = (soak.index.memory(), resident(), held());
    let start = Instant::now();
    std::thread::scope(|scope| {
        let soak = &soak;
        for writer in 0..2 {
            let mut draw = Draw::new(seed.wrapping_add(writer + 1));
            scope.spawn(move || soak.while_running(|| soak.update(&mut draw)));
        }
        for reader in 0..4 {
            scope.spawn(move || soak.while_running(|| soak.read(1 + reader % 2)));
        }
        let path = folder.path("soak.tamis");
        scope.spawn(move || {
            soak.while_running(|| {
                soak.index.compact().expect("compacted");
                soak.index.save(&path).expect("saved");
                Index::load(&path).expect("a whole file").validate().expect("a sound file");
                std::thread::sleep(Duration::from_millis(20));
            });
        });
        for quarter in 1..=4 {
            std::thread::sleep(Duration::from_millis(250 * seconds));
            println!("after {quarter} quarters: held {} KiB, resident {} KiB", held() >> 10, resident());
        }
        let too_few = || {
            soak.updates.load(Ordering::Relaxed) < MIN_UPDATES
                || soak.matches.load(Ordering::Relaxed) < MIN_MATCHES
        };
        while too_few() && !soak.over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
        soak.over.store(true, Ordering::Relaxed);
    });
    let took = start.elapsed().as_secs_f64();
    soak.index.compact().expect("compacted");
    soak.index.validate().expect("a sound index");
    let Model { held: held_ids, removed, .. } = soak.model.into_inner();
    let mut ids = soak.index.ids();
    let base_ids = ids.extract_if(.., |id| *id >= Id::from(FIRST_BASE_ID)).count();
    assert_eq!(base_ids, base - removed.len());
    assert_eq!(ids, held_ids.iter().map(|(id, _)| Id::from(*id)).collect::<Vec<Id>>());
    // Only the scratches of the threads remain allocated beyond what the index holds.
    drop((soak.answers.into_inner(), held_ids, removed, ids));
    let (updates, matches) = (soak.updates.into_inner(), soak.matches.into_inner());
    println!(
        "{took:.1} s: {:.0} updates/s, {:.0} matches/s of two events, {:?}",
        updates as f64 / took,
        matches as f64 / took,
        soak.index.engine_stats()
    );
    println!(
        "memory {memory:?} then, {:?} now; held {} KiB then, {} KiB now; resident {at_start} KiB then, {} KiB now",
        soak.index.memory(),
        held_at_start >> 10,
        held() >> 10,
        resident()
    );
    assert!(
        held() <= held_at_start + held_at_start / 10 + (1 << 20),
        "a leak: {} bytes",
        held() - held_at_start
    );
    assert!(updates >= MIN_UPDATES && matches >= MIN_MATCHES);
}
