//! Subscriptions, events and right answers of one case.

use crate::definition::{CaseDefinition, Generator, Totals};
use crate::dialect::python;
use crate::generate::{self, Event, GeneratedWorkload, Value, ads, detection, equalities, ranges, wide};
use crate::random::Random;
use crate::workload::abe::Abe;
use crate::workload::conj::Conj;
use crate::workload::op::Op;
use crate::workload::{self, Workload};
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use tamis_core::event::{JsonReader, Rows};
use tamis_core::expr::{Limits, parse};
use tamis_core::index::{Id, IdColumn, Index, Settings, Source};

/// The input of all competitors, without the right answers.
pub struct Case {
    /// Expressions; a subscription's number is its position.
    pub subscriptions: Vec<String>,
    /// Events.
    pub events: Vec<Event>,
    /// The same workload in typed arrays, where the generator has it.
    pub tight: Option<Box<dyn Workload + Sync>>,
}

/// What each event matches: numbers of subscriptions, in ascending order.
pub type Answers = Vec<Vec<u32>>;

impl Case {
    /// Generates a case of the size that `definition` states.
    pub fn draw(generator: &Generator, definition: &CaseDefinition) -> Case {
        let (subscriptions, events) = (definition.subscriptions, definition.events);
        let mut random = Random::seeded(definition.seed);
        let drawn = match generator {
            Generator::Conj { dimensions } => {
                return Case::typed(Box::new(Conj::new(subscriptions, *dimensions)), events);
            }
            Generator::Abe(parameters) => {
                return Case::typed(Box::new(Abe::with(subscriptions, parameters.clone())), events);
            }
            Generator::Op(parameters) => {
                return Case::typed(
                    Box::new(Op::new(parameters, subscriptions, events, &mut random)),
                    events,
                );
            }
            Generator::Equalities(parameters) => {
                equalities::draw(parameters, subscriptions, events, &mut random)
            }
            Generator::Ads(parameters) => ads::draw(parameters, subscriptions, events, &mut random),
            Generator::Detection(parameters) => {
                detection::draw(parameters, subscriptions, events, &mut random)
            }
            Generator::Ranges(parameters) => ranges::draw(parameters, subscriptions, events, &mut random),
            Generator::Wide(parameters) => wide::draw(parameters, subscriptions, events, &mut random),
        };
        let GeneratedWorkload { subscriptions, events } = drawn;
        Case { subscriptions, events, tight: None }
    }

    /// A typed workload always generates the same events; the case takes the first ones.
    fn typed(workload: Box<dyn Workload + Sync>, events: usize) -> Case {
        let named = |event: &workload::TypedEvent| -> Event {
            event.iter().map(|(n, value)| (format!("a{n}"), Value::Int((*value).into()))).collect()
        };
        Case {
            subscriptions: (0..workload.len()).map(|n| workload.text(n)).collect(),
            events: workload.events().iter().take(events).map(named).collect(),
            tight: Some(workload),
        }
    }

    /// The right answers: from the typed workload, which shares no code with the library, or from `scan`.
    pub fn answers(&self) -> Answers {
        match &self.tight {
            Some(workload) => typed_answers(&**workload, self.events.len()),
            None => self.scanned_answers(),
        }
    }

    fn scanned_answers(&self) -> Answers {
        let settings = Settings { engine: "scan".into(), ..Settings::default() };
        let index = Index::new(settings).expect("scan is an engine");
        index.add_many(self.batch()).expect("scan takes every expression");
        let (schema, mut rows, mut reader) = (index.schema(), Rows::default(), JsonReader::default());
        for event in &self.events {
            reader.read(generate::json(event).as_bytes(), &schema, &mut rows).expect("valid JSON");
        }
        let found = index.match_rows(&schema, &rows, None, true).expect("a fresh schema");
        let IdColumn::Ints(ids) = found.ids else { unreachable!("all ids are integers") };
        let bounds = found.offsets.windows(2);
        bounds.map(|at| ids[at[0] as usize..at[1] as usize].iter().map(|id| *id as u32).collect()).collect()
    }

    /// The subscriptions as an index takes them.
    pub fn batch(&self) -> impl Iterator<Item = (Id, Source)> {
        (0..).zip(&self.subscriptions).map(|(n, text)| (Id::Int(n), Source::from(text.as_str())))
    }

    /// Writes `subscriptions.tsv` (number, expression), `python.tsv` (number, the same in Python), `events.jsonl` and
    /// `expected.tsv` (event, matches, sum of the matching numbers, the numbers), so that other systems can be run
    /// on the same data.
    pub fn write(&self, answers: &Answers, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let numbered = |texts: &[String]| -> String {
            texts.iter().enumerate().map(|(n, text)| format!("{n}\t{text}\n")).collect()
        };
        std::fs::write(folder.join("subscriptions.tsv"), numbered(&self.subscriptions))?;
        let translated = |text: &String| {
            let expr = parse(text, &Limits::default()).map_err(|error| error.to_string())?;
            python::expression(&expr)
        };
        let translated: Result<Vec<String>, String> = self.subscriptions.iter().map(translated).collect();
        std::fs::write(folder.join("python.tsv"), numbered(&translated.map_err(io::Error::other)?))?;
        let events: String = self.events.iter().map(|event| generate::json(event) + "\n").collect();
        std::fs::write(folder.join("events.jsonl"), events)?;
        let line = |(n, numbers): (usize, &Vec<u32>)| {
            let shown: Vec<String> = numbers.iter().map(u32::to_string).collect();
            let sum: u64 = numbers.iter().map(|number| u64::from(*number)).sum();
            format!("{n}\t{}\t{sum}\t{}\n", numbers.len(), shown.join(","))
        };
        let expected: String = answers.iter().enumerate().map(line).collect();
        std::fs::write(folder.join("expected.tsv"), expected)
    }
}

/// Uses all cores: nothing is timed here.
fn typed_answers(workload: &(dyn Workload + Sync), events: usize) -> Answers {
    let events = &workload.events()[..events.min(workload.events().len())];
    let workers = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| {
        let part = |events: &[workload::TypedEvent]| -> Answers {
            events.iter().map(|event| workload.matching(event)).collect()
        };
        let parts: Vec<_> = events
            .chunks(events.len().div_ceil(workers).max(1))
            .map(|events| scope.spawn(move || part(events)))
            .collect();
        parts.into_iter().flat_map(|part| part.join().expect("no panic while matching")).collect()
    })
}

/// The fingerprint of answers.
pub fn totals(answers: &Answers) -> Totals {
    let numbers = || answers.iter().flatten();
    Totals { matches: numbers().count() as u64, sum: numbers().map(|number| u64::from(*number)).sum() }
}
