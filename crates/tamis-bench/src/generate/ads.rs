//! Ad targeting: subscriptions are campaigns, events are bid requests.
//!
//! Countries, sites and interests are drawn with skew: a few are in most requests and in most campaigns.

use super::{Event, GeneratedWorkload, Value, quoted};
use crate::random::Random;
use serde::Deserialize;

const DEVICES: &[&str] = &["mobile", "desktop", "tablet", "tv"];
const SYSTEMS: &[&str] = &["android", "ios", "windows", "macos", "linux", "tizen"];
const LANGUAGES: &[&str] = &["en", "de", "fr", "es", "pt", "it", "ja", "ko", "zh", "ar", "hi", "pl"];

/// What a definition sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of countries, at most 676.
    countries: u64,
    /// Maximum countries per campaign.
    listed: u64,
    /// Number of interests.
    interests: u64,
    /// Number of sites.
    sites: u64,
}

impl Parameters {
    fn country(&self, random: &mut Random) -> String {
        let number = random.skewed(self.countries);
        [number / 26, number % 26].iter().map(|letter| char::from(b'A' + *letter as u8)).collect()
    }

    fn interest(&self, random: &mut Random) -> String {
        format!("seg-{}", random.skewed(self.interests))
    }

    fn site(&self, random: &mut Random) -> String {
        format!("site-{}.example", random.skewed(self.sites))
    }

    fn request(&self, random: &mut Random) -> Event {
        let text = |text: &&str| Value::Text((*text).to_owned());
        let mut event = vec![
            ("country".into(), Value::Text(self.country(random))),
            ("device".into(), text(random.pick(DEVICES))),
            ("os".into(), text(random.pick(SYSTEMS))),
            ("language".into(), text(random.pick(LANGUAGES))),
            ("hour".into(), Value::Int(random.below(24) as i64)),
            ("site".into(), Value::Text(self.site(random))),
            ("floor".into(), Value::Thousandths(random.below(5_000) as i64)),
        ];
        // Age and interests of some users are unknown.
        if random.percent(80) {
            event.push(("age".into(), Value::Int(random.between(13, 90) as i64)));
        }
        if random.percent(90) {
            let count = random.between(1, 20) as usize;
            let interests = random.distinct(count, |random| self.interest(random));
            event.push(("interests".into(), Value::Texts(interests)));
        }
        event
    }

    fn countries(&self, random: &mut Random) -> String {
        // Most campaigns name few countries, the others up to all that may be listed.
        let most = if random.percent(70) { 5 } else { self.listed };
        let count = random.between(1, most) as usize;
        quoted(&random.distinct(count, |random| self.country(random)))
    }

    fn interest_predicate(&self, fewest: u64, most: u64, random: &mut Random) -> String {
        let count = random.between(fewest, most) as usize;
        format!("any(interests) in ({})", quoted(&random.distinct(count, |random| self.interest(random))))
    }

    fn campaign(&self, random: &mut Random) -> String {
        let mut parts = vec![format!("country in ({})", self.countries(random))];
        if random.percent(60) {
            parts.push(format!("device = '{}'", random.pick(DEVICES)));
        }
        if random.percent(40) {
            parts.push(format!("os = '{}'", random.pick(SYSTEMS)));
        }
        if random.percent(80) {
            let youngest = random.between(13, 55);
            parts.push(format!("age between {youngest} and {}", youngest + random.between(4, 20)));
        }
        if random.percent(75) {
            parts.push(self.interest_predicate(1, 8, random));
        }
        if random.percent(30) {
            let language = random.pick(LANGUAGES);
            parts.push(format!(
                "({} or language = '{language}' and hour < 12)",
                self.interest_predicate(1, 4, random)
            ));
        }
        if random.percent(30) {
            let count = random.between(1, 20) as usize;
            let sites = random.distinct(count, |random| self.site(random));
            parts.push(format!("site not in ({})", quoted(&sites)));
        }
        if random.percent(15) {
            let hour = random.below(20);
            let system = random.pick(SYSTEMS);
            parts.push(format!("not (os = '{system}' or hour between {hour} and {})", hour + 3));
        }
        if random.percent(40) {
            parts.push(format!("floor <= {}", super::decimal(random.between(500, 5_000) as i64)));
        }
        parts.join(" and ")
    }
}

/// Events first, so that more subscriptions mean the same events.
pub fn draw(
    parameters: &Parameters,
    subscriptions: usize,
    events: usize,
    random: &mut Random,
) -> GeneratedWorkload {
    let events = (0..events).map(|_| parameters.request(random)).collect();
    GeneratedWorkload {
        subscriptions: (0..subscriptions).map(|_| parameters.campaign(random)).collect(),
        events,
    }
}
