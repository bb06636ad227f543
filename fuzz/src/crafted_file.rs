//! Edits of the sections of a saved file, with lengths and checksums that fit: files with an author.
//!
//! [`open_file`](crate::open_file) mutates whole files, most of which end at the container. Here an input is a base file
//! and a list of edits, so every mutation reaches the content. What is opened is used; nothing may panic.

use crate::open_file::use_all;
use arbitrary::{Result, Unstructured};
use std::sync::LazyLock;
use tamis_conformance::container::{Container, Section};
use tamis_core::engine::registry::OptionValue;
use tamis_core::index::{Id, Index, Settings};

/// Maximum edits of one file.
const MAX_EDITS: usize = 24;

/// Rules whose segments have every kind of section: lists, scans, pairs, groups, bitmaps, shared subexpressions, patterns,
/// list elements, tables of integers, hashed and ordered strings, instants.
static BASES: LazyLock<[Container; 3]> = LazyLock::new(|| {
    let small = |n: i64| match n % 8 {
        0 => format!("age between {} and {} and country in ('DE', 'US', 'c{n}')", n % 30, n % 30 + 9),
        1 => format!("any(tags) = 't{n}' or all(tags) like 'eu-%' and age > {n}"),
        2 => format!("price > {n}.5 and (vip or ip like '10.0.%' and age != {n})"),
        3 => format!("country > 'D{n}' xor age = {n} xor vip"),
        4 => format!("country rlike 'U[A-Z]{{1,{n}}}' or in_cidr(ip, '10.0.0.0/8')"),
        5 => format!("at > TIMESTAMP '2027-01-{:02} 10:00:00' and age in (1, 5, 18, {n}, 70)", n % 28 + 1),
        6 => format!("age is null or not (price <= {n} and any(tags) in ('new', 'x{n}'))"),
        _ => {
            if n % 3 == 0 {
                "TRUE".to_owned()
            } else {
                format!("age < {n} and age > {n}")
            }
        }
    };
    let grouped = |n: i64| format!("country = 'DE' and age > {} and price < {n} and vip", n % 50);
    let strings = |n: i64| format!("country = 's{n}' and (age = {n} or price > {n} and age < {n})");
    [base(40, 16, small), base(300, 512, grouped), base(120, 512, strings)]
});

fn base(rules: i64, recent: i64, rule: impl Fn(i64) -> String) -> Container {
    let options = [("recent".to_owned(), OptionValue::Int(recent))].into();
    let settings = Settings { engine: "compiled".into(), options, ..Settings::default() };
    let index = Index::new(settings).expect("an index");
    for n in 0..rules {
        let id = if n % 5 == 0 { Id::from(format!("id-{n}").as_str()) } else { Id::from(n) };
        index.add(id, rule(n).as_str().into()).expect("added");
    }
    index.compact().expect("compacted");
    // Some recent rules, and tombstones.
    for n in rules..rules + 5 {
        index.add(Id::from(n), rule(n).as_str().into()).expect("added");
    }
    index.remove(&Id::from(1)).expect("present");
    Container::read(&index.to_bytes())
}

/// Checks one file.
pub fn check(data: &[u8]) {
    if let Some(file) = crafted(&mut Unstructured::new(data))
        && let Ok(index) = Index::from_bytes(&file.to_bytes())
    {
        use_all(&index);
    }
}

/// A base file with edits; `None` without any.
fn crafted(input: &mut Unstructured<'_>) -> Option<Container> {
    let mut file = input.choose(&*BASES).ok()?.clone();
    let mut edits = 0;
    while edits < MAX_EDITS && !input.is_empty() && edit(&mut file, input).is_ok() {
        edits += 1;
    }
    (edits > 0).then_some(file)
}

fn edit(file: &mut Container, input: &mut Unstructured<'_>) -> Result<()> {
    let section = input.choose_index(file.sections.len())?;
    let Section { element, bytes, .. } = &mut file.sections[section];
    // Elements are made of numbers of 1, 2, 4 or 8 bytes; most of 4.
    let width = (*element as usize).min(*input.choose(&[4, 4, 4, 8])?);
    let numbers = bytes.len() / width.max(1);
    match input.int_in_range(0..=9)? {
        // Longer: the last element again.
        0 => {
            let copied = bytes[bytes.len().saturating_sub(*element as usize)..].to_vec();
            (0..input.int_in_range(1..=64)?).for_each(|_| bytes.extend(&copied));
        }
        // Shorter by some elements.
        1 => bytes.truncate(bytes.len().saturating_sub(*element as usize * input.int_in_range(1..=8)?)),
        _ if numbers == 0 => {}
        kind => {
            let at = input.choose_index(numbers)? * width;
            let number = &mut bytes[at..at + width];
            let mut before = [0; 8];
            before[..width].copy_from_slice(number);
            let before = u64::from_le_bytes(before);
            let after = match kind {
                2 => input.arbitrary::<u64>()?,
                3 => u64::from(input.arbitrary::<u8>()?),
                4 => u64::MAX,
                5 => before.wrapping_add(1),
                6 => before.wrapping_sub(1),
                7 => before << input.int_in_range(0..=31)?,
                // A number from elsewhere in the section.
                _ => {
                    let from = input.choose_index(numbers)? * width;
                    let mut copied = [0; 8];
                    copied[..width].copy_from_slice(&bytes[from..from + width]);
                    u64::from_le_bytes(copied)
                }
            };
            bytes[at..at + width].copy_from_slice(&after.to_le_bytes()[..width]);
        }
    }
    Ok(())
}
