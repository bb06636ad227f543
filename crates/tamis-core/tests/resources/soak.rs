//! Four readers and two writers of one `compiled` index for a while: every answer must be that of a state the index had
//! between the call and the return. `TAMIS_SOAK_SECONDS` says how long, by default a few seconds;
//! `TAMIS_SOAK_SUBSCRIPTIONS` says over how many, by default a few thousand.

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tamis_conformance::counting::held;
use tamis_conformance::folder::Folder;
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::OptionValue;
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{Id, Index, Settings, Source};

const IDS: usize = 300;

/// Ids of the standing subscriptions begin here. One in so many matches the events; the others come and go.
const STANDING: i64 = 1_000_000_000;
const MATCHING: usize = 1_000;

/// Which ids match the event on the left and which the one on the right, each in order of insertion.
type Answer = [Vec<i64>; 2];

fn fingerprint(answer: &Answer) -> u64 {
    let mut hasher = DefaultHasher::new();
    answer.hash(&mut hasher);
    hasher.finish()
}

/// What the index should hold. Every state has a version, and what it answers is known before it can be seen.
#[derive(Default)]
struct Model {
    /// Ids in order of insertion, and the side each demands.
    held: Vec<(i64, usize)>,
    /// How many standing ones there were, and those that are gone. They came first.
    standing: usize,
    gone: BTreeSet<usize>,
}

impl Model {
    fn place(&self, id: i64) -> Option<usize> {
        self.held.iter().position(|(known, _)| *known == id)
    }

    fn fingerprint(&self) -> u64 {
        let on = |side| {
            let held = self.held.iter().filter(|(_, s)| *s == side).map(|(id, _)| *id);
            standing(side, self.standing).chain(held).collect()
        };
        fingerprint(&[on(0), on(1)])
    }
}

/// Standing subscriptions that match the event of a side.
fn standing(side: usize, count: usize) -> impl Iterator<Item = i64> {
    let matching = (0..count).step_by(MATCHING).filter(move |n| n / MATCHING % 2 == side);
    matching.map(|n| STANDING + n as i64)
}

fn standing_text(n: usize) -> String {
    let (group, side) = (n % MATCHING, ["l", "r"][n / MATCHING % 2]);
    format!("side = '{side}' and standing = {group} and (n{} is null or n{} > {n})", n % 7, n % 11)
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
    // Attributes come and go with the number, so that the schema grows, too.
    format!("side = '{}' and (extra{} is null or extra{} > 0)", ["l", "r"][side], n % 50, n % 50)
}

impl Soak {
    /// One update, under the lock that gives it its version.
    fn update(&self, draw: &mut Draw) {
        let mut model = self.model.lock();
        let (id, side, n) = (draw.below(IDS) as i64, draw.below(2), draw.below(1_000));
        let source = Source::from(text(side, n).as_str());
        let place = model.place(id);
        let other = draw.below(model.standing.max(1));
        if !other.is_multiple_of(MATCHING) && draw.below(4) == 0 {
            return self.update_standing(&mut model, other);
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

    /// A standing subscription that matches nothing goes, or comes back.
    fn update_standing(&self, model: &mut Model, n: usize) {
        let id = Id::from(STANDING + n as i64);
        self.answers.lock().push(model.fingerprint());
        if model.gone.insert(n) {
            self.index.remove(&id).expect("present");
        } else {
            model.gone.remove(&n);
            assert!(self.index.add(id, Source::from(standing_text(n).as_str())).expect("added"));
        }
        self.version.fetch_add(1, Ordering::SeqCst);
        self.updates.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self, threads: usize) {
        let before = self.version.load(Ordering::SeqCst);
        let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
        let view = self.index.pin();
        for event in [r#"{"side": "l", "standing": 0}"#, r#"{"side": "r", "standing": 0}"#] {
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

    fn while_running(&self, mut work: impl FnMut()) {
        while !self.over.load(Ordering::Relaxed) {
            work();
        }
    }
}

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    status.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4
}

#[test]
fn every_answer_is_that_of_one_state() {
    let given = |name| std::env::var(name).ok().and_then(|given| given.parse().ok());
    let seconds: u64 = given("TAMIS_SOAK_SECONDS").unwrap_or(4);
    let standing = given("TAMIS_SOAK_SUBSCRIPTIONS").unwrap_or(5_000) as usize;
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let folder = Folder::new("soak");
    let options = [("recent", 8), ("fanout", 2)];
    let options = options.map(|(name, value)| (name.to_owned(), OptionValue::Int(value)));
    let settings = Settings { engine: "compiled".into(), options: options.into(), ..Settings::default() };
    let soak = Soak {
        index: Index::new(settings).expect("an index"),
        model: Mutex::new(Model { standing, ..Model::default() }),
        answers: Mutex::new(vec![Model { standing, ..Model::default() }.fingerprint()]),
        version: AtomicUsize::new(0),
        updates: AtomicU64::new(0),
        matches: AtomicU64::new(0),
        over: AtomicBool::new(false),
    };
    let all = (0..standing).map(|n| (Id::from(STANDING + n as i64), Source::from(standing_text(n).as_str())));
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
        soak.over.store(true, Ordering::Relaxed);
    });
    let took = start.elapsed().as_secs_f64();
    soak.index.compact().expect("compacted");
    soak.index.validate().expect("a sound index");
    let Model { held: held_ids, gone, .. } = soak.model.into_inner();
    let mut ids = soak.index.ids();
    let standing_ids = ids.extract_if(.., |id| *id >= Id::from(STANDING)).count();
    assert_eq!(standing_ids, standing - gone.len());
    assert_eq!(ids, held_ids.iter().map(|(id, _)| Id::from(*id)).collect::<Vec<Id>>());
    // Nothing is left of what came and went but what the threads keep for the next match.
    drop((soak.answers.into_inner(), held_ids, gone, ids));
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
    assert!(updates > 1_000 && matches > 100);
}
