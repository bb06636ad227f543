//! Detection rules over process events, as security teams keep them: substrings of command lines, suffixes of paths, names
//! of hosts, alternatives in regular expressions. Most rules search for rare words; some match daily.

use super::{Event, GeneratedWorkload, Value};
use crate::random::Random;
use serde::Deserialize;

const TOOLS: &[&str] = &[
    "bash",
    "curl",
    "wget",
    "python3",
    "perl",
    "nc",
    "ssh",
    "scp",
    "tar",
    "openssl",
    "base64",
    "systemctl",
    "crontab",
    "docker",
    "kubectl",
    "node",
    "java",
    "git",
    "rsync",
    "find",
    "xargs",
    "sed",
    "awk",
    "chmod",
];
const FOLDERS: &[&str] =
    &["/usr/bin", "/usr/local/bin", "/bin", "/opt/app/bin", "/tmp", "/var/tmp", "/dev/shm", "/home/ann/bin"];
const FLAGS: &[&str] = &[
    "-c",
    "-e",
    "-x",
    "-rf",
    "--silent",
    "--insecure",
    "--output",
    "-decode",
    "--no-check-certificate",
    "-la",
    "--recursive",
    "--exec",
    "-nv",
    "--eval",
    "+x",
    "--privileged",
    "-i",
    "--upload-file",
    "--proxy",
];
const ENDINGS: &[&str] = &[".sh", ".py", ".tar.gz", ".so", ".log", ".conf", ".zip", ".key", ".pem", ".jar"];
const ZONES: &[&str] = &[".example.com", ".example.net", ".test", ".internal", ".example.org"];
const USERS: &[&str] = &["root", "ann", "bob", "www-data", "postgres", "deploy"];
const LETTERS: &[u8] = b"etaoinshrdlucmfwypvbgk";

/// What a definition sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of words besides tools, folders and flags: names of files and hosts.
    words: u64,
    /// Percentage of searched words that no event has.
    unheard: u64,
}

struct Language {
    words: Vec<String>,
    unheard: u64,
}

impl Language {
    /// A word of the events; a few are common.
    fn word(&self, random: &mut Random) -> &str {
        &self.words[random.skewed(self.words.len() as u64) as usize]
    }

    /// A word that a rule searches for.
    fn searched_word(&self, random: &mut Random) -> String {
        if random.percent(self.unheard) { invent(random, 6, 12) } else { self.word(random).to_owned() }
    }

    fn path(&self, random: &mut Random) -> String {
        format!("{}/{}{}", random.pick(FOLDERS), self.word(random), random.pick(ENDINGS))
    }

    fn address(&self, random: &mut Random) -> String {
        let (host, zone) = (self.word(random), random.pick(ZONES));
        format!("https://{host}{zone}/{}/{}{}", self.word(random), self.word(random), random.pick(ENDINGS))
    }

    fn command(&self, random: &mut Random) -> String {
        let mut words = vec![(*random.pick(TOOLS)).to_owned()];
        let mut length = words[0].len();
        while length < 90 {
            let word = match random.below(10) {
                0..4 => (*random.pick(FLAGS)).to_owned(),
                4..7 => self.path(random),
                7 => self.address(random),
                _ => self.word(random).to_owned(),
            };
            length += word.len() + 1;
            words.push(word);
        }
        words.join(" ")
    }

    fn event(&self, random: &mut Random) -> Event {
        let text = |text: &&str| Value::Text((*text).to_owned());
        let tool =
            |random: &mut Random| Value::Text(format!("{}/{}", random.pick(FOLDERS), random.pick(TOOLS)));
        let mut event = vec![
            ("event_id".into(), Value::Int(random.between(1, 8) as i64)),
            ("image".into(), tool(random)),
            ("parent_image".into(), tool(random)),
            ("command_line".into(), Value::Text(self.command(random))),
            ("user".into(), text(random.pick(USERS))),
        ];
        if random.percent(50) {
            event.push(("target".into(), Value::Text(self.path(random))));
        }
        if random.percent(40) {
            event.push(("url".into(), Value::Text(self.address(random))));
        }
        event
    }

    /// A predicate on the command line.
    fn indicator(&self, random: &mut Random) -> String {
        let (first, second) = (self.searched_word(random), self.searched_word(random));
        let (flag, ending) = (random.pick(FLAGS), random.pick(ENDINGS));
        match random.below(7) {
            0 => format!("contains(command_line, '{flag} {first}')"),
            1 => format!("contains(command_line, '{first}{ending}')"),
            2 => format!("command_line ilike '%{}%'", first.to_uppercase()),
            3 => format!("command_line like '%{flag}%{first}%'"),
            4 => {
                format!("command_line rlike '({first}|{second}|{})[.](sh|py|so)'", self.searched_word(random))
            }
            5 => format!("command_line rlike '(?i)/(tmp|shm)/{first}[a-z0-9]*'"),
            _ => format!("contains(command_line, '{first}')"),
        }
    }

    /// A predicate on the process, its parent, its target or its URL.
    fn location(&self, random: &mut Random) -> String {
        match random.below(6) {
            0 => format!("endswith(image, '/{}')", random.pick(TOOLS)),
            1 => format!("startswith(image, '{}/')", random.pick(FOLDERS)),
            2 => format!("endswith(parent_image, '/{}')", random.pick(TOOLS)),
            3 => format!("endswith(target, '{}{}')", self.searched_word(random), random.pick(ENDINGS)),
            4 => format!("url like '%{}{}/%'", self.searched_word(random), random.pick(ZONES)),
            _ => format!("startswith(url, 'https://{}.')", self.searched_word(random)),
        }
    }

    fn rule(&self, random: &mut Random) -> String {
        let mut parts = Vec::new();
        if random.percent(70) {
            parts.push(format!("event_id = {}", random.between(1, 8)));
        }
        if random.percent(60) {
            parts.push(self.location(random));
        }
        let indicators: Vec<String> = (0..random.between(1, 3)).map(|_| self.indicator(random)).collect();
        if random.percent(50) && indicators.len() > 1 {
            parts.push(format!("({})", indicators.join(" or ")));
        } else {
            parts.extend(indicators);
        }
        if random.percent(20) {
            parts.push(format!(
                "not (user = '{}' or contains(command_line, '{}'))",
                random.pick(USERS),
                self.word(random)
            ));
        }
        parts.join(" and ")
    }
}

fn invent(random: &mut Random, shortest: u64, longest: u64) -> String {
    (0..random.between(shortest, longest)).map(|_| char::from(*random.pick(LETTERS))).collect()
}

/// Words first, then events, then rules.
pub fn draw(
    parameters: &Parameters,
    subscriptions: usize,
    events: usize,
    random: &mut Random,
) -> GeneratedWorkload {
    let words = (0..parameters.words).map(|_| invent(random, 4, 9)).collect();
    let language = Language { words, unheard: parameters.unheard };
    let events = (0..events).map(|_| language.event(random)).collect();
    GeneratedWorkload { subscriptions: (0..subscriptions).map(|_| language.rule(random)).collect(), events }
}
