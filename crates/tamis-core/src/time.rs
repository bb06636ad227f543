//! Dates and timestamps as plain integers, and their text forms.
//!
//! A timestamp is microseconds since 1970-01-01 UTC; a date is days since then and compares as its midnight.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};

/// Microseconds in a day.
pub const DAY: i64 = 86_400_000_000;

const EPOCH: Date = Date::constant(1970, 1, 1);

/// Days since the epoch of an ISO date such as `2026-11-15`.
pub fn parse_date(text: &str) -> Option<i32> {
    // jiff also reads dates out of longer forms; a date literal is ten characters and nothing else.
    let plain = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let date: Date = plain.then(|| text.parse().ok())??;
    i32::try_from(date.since((Unit::Day, EPOCH)).ok()?.get_days()).ok()
}

/// Microseconds since the epoch of an ISO timestamp: `2026-11-15 10:00:00`, with `T`, a fraction of up to six
/// digits, and `Z` or an offset if wished; without one it is UTC.
pub fn parse_timestamp(text: &str) -> Option<i64> {
    if let Some(days) = parse_date(text) {
        return micros_of_date(days);
    }
    let instant = match text.parse::<Timestamp>() {
        Ok(instant) => instant,
        Err(_) => text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp(),
    };
    (instant.subsec_nanosecond() % 1000 == 0).then(|| instant.as_microsecond())
}

/// Midnight UTC of a day, in microseconds; `None` where it does not fit 64 bits.
pub fn micros_of_date(days: i32) -> Option<i64> {
    i64::from(days).checked_mul(DAY)
}

/// `2026-11-15`; days outside the years -9999 to 9999 print as a number of days.
pub fn format_date(days: i32) -> String {
    match Date::constant(1970, 1, 1).checked_add(jiff::Span::new().days(days)) {
        Ok(date) => date.to_string(),
        Err(_) => format!("{days} days"),
    }
}

/// `2026-11-15 10:00:00`, with a fraction where there is one.
pub fn format_timestamp(micros: i64) -> String {
    match Timestamp::from_microsecond(micros) {
        Ok(instant) => instant.to_zoned(TimeZone::UTC).datetime().to_string().replace('T', " "),
        Err(_) => format!("{micros} microseconds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_round_trip() {
        for (text, days) in [("1970-01-01", 0), ("1969-12-31", -1), ("2026-11-15", 20_772), ("0001-01-01", -719_162)] {
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
        for micros in [0, -1, ten, ten + 1, -62_135_596_800_000_000, 253_402_300_799_999_999] {
            assert_eq!(parse_timestamp(&format_timestamp(micros)), Some(micros));
        }
    }
}
