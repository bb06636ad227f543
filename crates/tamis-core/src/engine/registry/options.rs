//! Engine options: one table per engine states name, type, default and accepted values of each option.
//!
//! Validation, listings and documentation read that table. An engine reads [`OptionValues`]: every option of the table
//! with a value that the table accepts, so no engine has a default or a range of its own.

use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

/// The value of an engine option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// On or off.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A word.
    Text(String),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Bool(value) => write!(f, "{value}"),
            OptionValue::Int(value) => write!(f, "{value}"),
            OptionValue::Float(value) => write!(f, "{value}"),
            OptionValue::Text(value) => write!(f, "{value:?}"),
        }
    }
}

/// Engine options as a user gives them, by name.
pub type Options = BTreeMap<String, OptionValue>;

/// A row of an engine's option table.
#[derive(Clone, Debug)]
pub struct OptionInfo {
    /// What users write.
    pub name: &'static str,
    /// What it decides, in a line.
    pub description: &'static str,
    /// Type, default and accepted values.
    pub kind: OptionKind,
}

/// Type, default and accepted values of an option. Displays as the accepted values.
#[derive(Clone, Debug)]
pub enum OptionKind {
    /// On or off.
    Switch {
        /// The value if the user gives none.
        default: bool,
    },
    /// A whole number.
    WholeNumber {
        /// The value if the user gives none.
        default: usize,
        /// Accepted values.
        range: RangeInclusive<usize>,
    },
    /// A number; whole numbers are accepted as well.
    Number {
        /// The value if the user gives none.
        default: f64,
        /// Accepted values.
        range: RangeInclusive<f64>,
    },
    /// One of a few words.
    Choice {
        /// The value if the user gives none.
        default: &'static str,
        /// Accepted values.
        words: &'static [&'static str],
    },
}

impl OptionKind {
    /// The type's name: `switch`, `whole number`, `number` or `choice`.
    pub fn name(&self) -> &'static str {
        match self {
            OptionKind::Switch { .. } => "switch",
            OptionKind::WholeNumber { .. } => "whole number",
            OptionKind::Number { .. } => "number",
            OptionKind::Choice { .. } => "choice",
        }
    }

    /// The value if the user gives none.
    pub fn default_value(&self) -> OptionValue {
        match self {
            OptionKind::Switch { default } => OptionValue::Bool(*default),
            OptionKind::WholeNumber { default, .. } => OptionValue::Int(*default as i64),
            OptionKind::Number { default, .. } => OptionValue::Float(*default),
            OptionKind::Choice { default, .. } => OptionValue::Text((*default).to_owned()),
        }
    }

    /// The value in the option's own type; `None` if it is not accepted.
    fn accepted(&self, value: &OptionValue) -> Option<OptionValue> {
        let accepted = match (self, value) {
            (OptionKind::Switch { .. }, OptionValue::Bool(_)) => true,
            (OptionKind::WholeNumber { range, .. }, OptionValue::Int(value)) => {
                usize::try_from(*value).is_ok_and(|value| range.contains(&value))
            }
            (OptionKind::Number { range, .. }, OptionValue::Float(value)) => range.contains(value),
            (OptionKind::Number { .. }, OptionValue::Int(value)) => {
                return self.accepted(&OptionValue::Float(*value as f64));
            }
            (OptionKind::Choice { words, .. }, OptionValue::Text(value)) => words.contains(&value.as_str()),
            _ => false,
        };
        accepted.then(|| value.clone())
    }
}

impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionKind::Switch { .. } => write!(f, "true or false"),
            OptionKind::WholeNumber { range, .. } => {
                write!(f, "a whole number from {} to {}", range.start(), range.end())
            }
            OptionKind::Number { range, .. } => {
                write!(f, "a number from {} to {}", range.start(), range.end())
            }
            OptionKind::Choice { words, .. } => {
                for (at, word) in words.iter().enumerate() {
                    let before = if at == 0 { "" } else { " or " };
                    write!(f, "{before}{word:?}")?;
                }
                Ok(())
            }
        }
    }
}

/// Every option of an engine's table with an accepted value.
#[derive(Clone, Debug)]
pub struct OptionValues {
    table: &'static [OptionInfo],
    /// By row of the table, in the row's own type.
    values: Vec<OptionValue>,
}

impl OptionValues {
    /// The defaults of a table.
    pub fn defaults(table: &'static [OptionInfo]) -> OptionValues {
        OptionValues { table, values: table.iter().map(|option| option.kind.default_value()).collect() }
    }

    /// What the user gave, and defaults for the rest. The error names the engine, the option, the value and what is
    /// accepted; of an unknown option, it lists the known ones.
    pub fn new(engine: &str, table: &'static [OptionInfo], given: &Options) -> Result<OptionValues> {
        let mut resolved = OptionValues::defaults(table);
        for (name, value) in given {
            let Some(at) = table.iter().position(|option| option.name == name) else {
                let known: Vec<_> = table.iter().map(|option| option.name).collect();
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                return Err(Error::Option(format!(
                    "engine {engine} has no option {name:?}; it takes: {known}"
                )));
            };
            let kind = &table[at].kind;
            resolved.values[at] = kind.accepted(value).ok_or_else(|| {
                Error::Option(format!("engine {engine}: option {name} is {value}, must be {kind}"))
            })?;
        }
        Ok(resolved)
    }

    fn value(&self, name: &str) -> &OptionValue {
        match self.table.iter().position(|option| option.name == name) {
            Some(at) => &self.values[at],
            None => unreachable!("the option table has no row {name:?}"),
        }
    }

    /// The value of a [`OptionKind::Switch`] of the table.
    pub fn switch(&self, name: &str) -> bool {
        match self.value(name) {
            OptionValue::Bool(value) => *value,
            other => unreachable!("option {name} is {other}, not a switch"),
        }
    }

    /// The value of a [`OptionKind::WholeNumber`] of the table.
    pub fn whole_number(&self, name: &str) -> usize {
        match self.value(name) {
            // Accepted values come from a range of `usize`.
            OptionValue::Int(value) => *value as usize,
            other => unreachable!("option {name} is {other}, not a whole number"),
        }
    }

    /// The value of a [`OptionKind::Number`] of the table.
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            OptionValue::Float(value) => *value,
            other => unreachable!("option {name} is {other}, not a number"),
        }
    }

    /// The value of a [`OptionKind::Choice`] of the table.
    pub fn choice(&self, name: &str) -> &str {
        match self.value(name) {
            OptionValue::Text(value) => value,
            other => unreachable!("option {name} is {other}, not a choice"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[OptionInfo] = &[
        OptionInfo { name: "on", description: "", kind: OptionKind::Switch { default: true } },
        OptionInfo {
            name: "many",
            description: "",
            kind: OptionKind::WholeNumber { default: 3, range: 1..=9 },
        },
        OptionInfo {
            name: "part",
            description: "",
            kind: OptionKind::Number { default: 0.5, range: 0.0..=1.0 },
        },
        OptionInfo {
            name: "way",
            description: "",
            kind: OptionKind::Choice { default: "fast", words: &["fast", "exact"] },
        },
    ];

    fn resolved(name: &str, value: OptionValue) -> Result<OptionValues> {
        OptionValues::new("sieve", TABLE, &[(name.to_owned(), value)].into())
    }

    #[test]
    fn defaults_come_from_the_table() {
        let values = OptionValues::new("sieve", TABLE, &Options::new()).expect("no options");
        assert!(values.switch("on"));
        assert_eq!(values.whole_number("many"), 3);
        assert_eq!(values.number("part"), 0.5);
        assert_eq!(values.choice("way"), "fast");
    }

    #[test]
    fn given_values_replace_defaults() {
        assert!(!resolved("on", OptionValue::Bool(false)).expect("a switch").switch("on"));
        assert_eq!(resolved("many", OptionValue::Int(9)).expect("in range").whole_number("many"), 9);
        assert_eq!(resolved("part", OptionValue::Int(1)).expect("in range").number("part"), 1.0);
        assert_eq!(resolved("part", OptionValue::Float(0.25)).expect("in range").number("part"), 0.25);
        assert_eq!(
            resolved("way", OptionValue::Text("exact".into())).expect("a word").choice("way"),
            "exact"
        );
    }

    #[test]
    fn errors_say_the_option_the_value_and_what_is_accepted() {
        for (name, value, message) in [
            ("on", OptionValue::Int(1), "option on is 1, must be true or false"),
            ("many", OptionValue::Int(0), "option many is 0, must be a whole number from 1 to 9"),
            ("many", OptionValue::Int(-1), "option many is -1, must be a whole number from 1 to 9"),
            ("many", OptionValue::Float(2.0), "option many is 2, must be a whole number from 1 to 9"),
            ("part", OptionValue::Float(1.5), "option part is 1.5, must be a number from 0 to 1"),
            ("part", OptionValue::Float(f64::NAN), "option part is NaN, must be a number from 0 to 1"),
            (
                "way",
                OptionValue::Text("slow".into()),
                "option way is \"slow\", must be \"fast\" or \"exact\"",
            ),
        ] {
            let error = resolved(name, value).expect_err("a value that is not accepted").to_string();
            assert_eq!(error, format!("engine sieve: {message}"));
        }
        let error = resolved("size", OptionValue::Int(1)).expect_err("an unknown option").to_string();
        assert_eq!(error, "engine sieve has no option \"size\"; it takes: on, many, part, way");
        let error = OptionValues::new("sieve", &[], &[("size".to_owned(), OptionValue::Int(1))].into());
        assert!(error.expect_err("an unknown option").to_string().ends_with("it takes: none"));
    }
}
