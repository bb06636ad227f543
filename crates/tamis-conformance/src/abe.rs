//! Arbitrary Boolean expressions as the A-Tree paper's generator ABE-Gen makes them, and events for them, as text.

use crate::seeded::Draw;

fn pick<T: Copy>(draw: &mut Draw, from: &[T]) -> T {
    from[draw.below(from.len())]
}

const NUMBERS: &[&str] = &["n0", "n1", "n2", "n3", "n4", "n5"];
const TEXTS: &[&str] = &["s", "t"];
const FLAGS: &[&str] = &["flag", "vip"];
const WORDS: &[&str] = &["", "a", "b", "ab", "ba", "abc", "bab", "é"];
const COMPARISONS: &[&str] = &["=", "!=", "<", "<=", ">", ">="];

/// Between whole numbers one time in four.
fn number(draw: &mut Draw) -> String {
    let whole = draw.below(8);
    if draw.below(4) == 0 { format!("{whole}.5") } else { whole.to_string() }
}

/// Expressions as ABE-Gen makes them, as text: every operator, up to six levels, 40% AND, 40% OR, 10% NOT, 5% XOR,
/// 5% XNOR. Predicates and subexpressions are drawn repeatedly, so that expressions share them.
pub struct Generator {
    /// The source of randomness.
    pub draw: Draw,
    /// Predicates drawn so far.
    predicates: Vec<String>,
    /// Subexpressions drawn so far, by level; a predicate has level 0.
    parts: [Vec<Part>; Generator::LEVELS + 1],
}

#[derive(Clone)]
struct Part {
    text: String,
    predicates: usize,
}

impl Generator {
    const LEVELS: usize = 6;
    /// Maximum predicates of an expression: six levels of twelve children would be millions.
    const BUDGET: usize = 60;

    /// A generator that repeats for a seed.
    pub fn new(seed: u64) -> Generator {
        Generator { draw: Draw::new(seed), predicates: Vec::new(), parts: Default::default() }
    }

    /// The next expression.
    pub fn expression(&mut self) -> String {
        // A single predicate is an expression, too.
        let level = if self.draw.below(20) == 0 { 0 } else { 1 + self.draw.below(Generator::LEVELS) };
        let budget = 1 + self.draw.below(Generator::BUDGET);
        self.part(level, budget).text
    }

    /// The next `count` expressions.
    pub fn expressions(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.expression()).collect()
    }

    fn part(&mut self, level: usize, budget: usize) -> Part {
        if level == 0 || budget < 2 {
            return Part { text: self.predicate(), predicates: 1 };
        }
        let pool = &self.parts[level];
        if pool.len() >= 10 && self.draw.below(2) == 0 {
            let again = &pool[self.draw.below(pool.len())];
            if again.predicates <= budget {
                return again.clone();
            }
        }
        let made = self.connective(level, budget);
        self.parts[level].push(made.clone());
        made
    }

    fn connective(&mut self, level: usize, budget: usize) -> Part {
        let (word, count) = match self.draw.below(100) {
            0..40 => (" and ", 2 + self.draw.below(11.min(budget - 1))),
            40..80 => (" or ", 2 + self.draw.below(11.min(budget - 1))),
            80..90 => {
                let Part { text, predicates } = self.part(level - 1, budget);
                return Part { text: format!("not ({text})"), predicates };
            }
            90..95 => (" xor ", 2),
            _ => (" xnor ", 2),
        };
        let mut operands = Vec::with_capacity(count);
        let mut predicates = 0;
        for n in 0..count {
            // The first gives the level; each leaves a predicate's room for all that follow.
            let level = if n == 0 { level - 1 } else { self.draw.below(level) };
            let room = budget - predicates - (count - 1 - n);
            let part = self.part(level, room.div_ceil(2));
            predicates += part.predicates;
            operands.push(format!("({})", part.text));
        }
        self.draw.shuffle(&mut operands);
        Part { text: operands.join(word), predicates }
    }

    fn predicate(&mut self) -> String {
        if self.predicates.len() >= 40 && self.draw.below(10) > 0 {
            return self.predicates[self.draw.below(self.predicates.len())].clone();
        }
        let made = predicate(&mut self.draw);
        self.predicates.push(made.clone());
        made
    }

    /// A JSON object in which attributes are often missing, and sometimes null or of another kind.
    pub fn event(&mut self) -> String {
        let draw = &mut self.draw;
        let mut fields = Vec::new();
        for (attributes, value) in [
            (NUMBERS, number as fn(&mut Draw) -> String),
            (TEXTS, |draw| format!("\"{}\"", pick(draw, WORDS))),
            (FLAGS, |draw| pick(draw, &["true", "false"]).to_owned()),
            (&["tags"], |draw| list(draw, |draw| format!("\"{}\"", pick(draw, WORDS)))),
            (&["marks"], |draw| list(draw, number)),
        ] {
            for attribute in attributes {
                let value = match draw.below(20) {
                    0..6 => continue,
                    6 => "null".to_owned(),
                    7 => pick(draw, &["1", "\"a\"", "true", "[]", "{}", "[null, 1]"]).to_owned(),
                    _ => value(draw),
                };
                fields.push(format!("\"{attribute}\": {value}"));
            }
        }
        format!("{{{}}}", fields.join(", "))
    }
}

fn list(draw: &mut Draw, element: fn(&mut Draw) -> String) -> String {
    let elements: Vec<String> = (0..draw.below(4)).map(|_| element(draw)).collect();
    format!("[{}]", elements.join(", "))
}

fn predicate(draw: &mut Draw) -> String {
    let (n, s, word) = (pick(draw, NUMBERS), pick(draw, TEXTS), pick(draw, WORDS));
    let [a, b, c] = [(); 3].map(|()| number(draw));
    let not = pick(draw, &["", "not "]);
    match draw.below(30) {
        0..10 => format!("{n} {} {a}", pick(draw, COMPARISONS)),
        10..13 => format!("{n} {not}between {a} and {b}"),
        13..16 => format!("{n} {not}in ({a}, {b}, {c})"),
        16 => format!("{} is {not}null", pick(draw, &[n, s, "flag", "tags", "marks"])),
        17 | 18 => format!("{s} {} '{word}'", pick(draw, COMPARISONS)),
        19 | 20 => format!("{s} {not}in ('{word}', '{}')", pick(draw, WORDS)),
        21 => format!("{s} {not}like '{}'", pick(draw, &["a%", "%b", "%a%", "_b%", "a"])),
        22 | 23 => format!("{}({s}, '{word}')", pick(draw, &["contains", "startswith", "endswith"])),
        24 => format!("{s} {not}rlike '{}'", pick(draw, &["^[ab]+$", "ba?b", "é", "(?i)A"])),
        25 => format!("{}(tags) {} '{word}'", pick(draw, &["any", "all"]), pick(draw, COMPARISONS)),
        26 => format!("{}(tags) {not}like '{word}%'", pick(draw, &["any", "all"])),
        27 => format!("{}(marks) {} {a}", pick(draw, &["any", "all"]), pick(draw, COMPARISONS)),
        _ => format!("{}{}", pick(draw, FLAGS), pick(draw, &["", " = true", " != true"])),
    }
}
