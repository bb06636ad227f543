//! Dates and timestamps as plain integers, and their text forms.
//!
//! A timestamp is microseconds since 1970-01-01 UTC; a date is days since then and compares as its midnight.

use jiff::Unit;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::Pieces;

/// Microseconds in a day.
pub const DAY: i64 = 86_400_000_000;

const EPOCH: Date = Date::constant(1970, 1, 1);

/// Days since the epoch of an ISO date such as `2026-11-15`.
pub fn parse_date(text: &str) -> Option<i32> {
    // jiff also reads dates out of longer forms; a date literal is ten characters and nothing else.
    let plain = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let date: Date = plain.then(|| text.parse().ok())??;
    Some(date.since((Unit::Day, EPOCH)).ok()?.get_days())
}

/// Microseconds since the epoch of an ISO timestamp: `2026-11-15 10:00:00`, with `T`, a fraction of up to six
/// digits, and optionally `Z` or an offset; UTC without one.
pub fn parse_timestamp(text: &str) -> Option<i64> {
    let pieces = Pieces::parse(text).ok()?;
    // A named time zone would need a time zone database.
    if pieces.time_zone_annotation().is_some() {
        return None;
    }
    let time = pieces.time().unwrap_or(Time::midnight());
    let nanos = time.since((Unit::Nanosecond, Time::midnight())).ok()?.get_nanoseconds();
    let days = pieces.date().since((Unit::Day, EPOCH)).ok()?.get_days();
    let offset = pieces.to_numeric_offset().map_or(0, |offset| i64::from(offset.seconds()));
    (nanos % 1000 == 0).then(|| micros_of_date(days).map(|day| day + nanos / 1000 - offset * 1_000_000))?
}

/// Whether an instant can be written as a timestamp: its year in UTC is -9999 to 9999.
pub fn is_writable(micros: i64) -> bool {
    date_of(micros.div_euclid(DAY)).is_some()
}

/// Midnight UTC of a day, in microseconds; `None` where it does not fit 64 bits.
pub fn micros_of_date(days: i32) -> Option<i64> {
    i64::from(days).checked_mul(DAY)
}

/// `2026-11-15`; days outside the years -9999 to 9999 print as a number of days.
pub fn format_date(days: i32) -> String {
    match date_of(i64::from(days)) {
        Some(date) => date.to_string(),
        None => format!("{days} days"),
    }
}

/// `2026-11-15 10:00:00`, with a fraction where there is one.
pub fn format_timestamp(micros: i64) -> String {
    let time = Time::midnight() + jiff::Span::new().microseconds(micros.rem_euclid(DAY));
    match date_of(micros.div_euclid(DAY)) {
        Some(date) => DateTime::from_parts(date, time).to_string().replace('T', " "),
        None => format!("{micros} microseconds"),
    }
}

/// Civil dates end with year 9999; jiff's instants end earlier, by the largest offset.
fn date_of(days: i64) -> Option<Date> {
    EPOCH.checked_add(jiff::Span::new().try_days(days).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_round_trip() {
        for (text, days) in
            [("1970-01-01", 0), ("1969-12-31", -1), ("2026-11-15", 20_772), ("0001-01-01", -719_162)]
        {
            assert_eq!(parse_date(text), Some(days), "{text}");
            assert_eq!(format_date(days), text);
        }
        for bad in ["2026-02-30", "2026-1-1", "20261115", "2026-11-15 10:00:00", "", "2026-11-1é"] {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
    }

    #[test]
    fn timestamps_read_the_usual_forms() {
        let ten = 20_772 * DAY + 10 * 3_600_000_000;
        for text in [
            "2026-11-15 10:00:00",
            "2026-11-15T10:00:00",
            "2026-11-15T10:00:00Z",
            "2026-11-15 10:00",
            "2026-11-15T12:00:00+02:00",
        ] {
            assert_eq!(parse_timestamp(text), Some(ten), "{text}");
        }
        assert_eq!(parse_timestamp("2026-11-15"), Some(20_772 * DAY));
        assert_eq!(parse_timestamp("2026-11-15 10:00:00.000001"), Some(ten + 1));
        assert_eq!(parse_timestamp("2026-11-15 10:00:00.0000001"), None, "nanoseconds would be lost");
        assert_eq!(parse_timestamp("noon"), None);
        assert_eq!(parse_timestamp("2026-11-15T10:00:00[Europe/Berlin]"), None, "no zone database");
        assert_eq!(parse_timestamp("9999-12-31T23:59:59-01:00"), Some(253_402_304_399_000_000));
        assert!(!is_writable(253_402_304_399_000_000), "the year 10000 in UTC");
        let (first, last) = (-377_705_116_800_000_000, 253_402_300_799_999_999);
        assert!(is_writable(first) && !is_writable(first - 1) && is_writable(last) && !is_writable(last + 1));
        for micros in [0, -1, ten, ten + 1, -62_135_596_800_000_000, first, first + 1, last] {
            assert_eq!(parse_timestamp(&format_timestamp(micros)), Some(micros));
        }
    }
}
