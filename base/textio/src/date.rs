//! Date and time of day in UTC, for reports and logs.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the date as `2026-11-21`.
pub fn today() -> String {
    format_date(seconds())
}

/// Returns date and time as `2026-11-21 15:30:46`.
pub fn now() -> String {
    format_time(seconds())
}

/// Returns the seconds since the beginning of 1970.
fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn format_date(seconds: u64) -> String {
    let (year, month, day) = civil_from_days(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

fn format_time(seconds: u64) -> String {
    let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{} {hours:02}:{minutes:02}:{:02}", format_date(seconds), seconds % 60)
}

/// Returns year, month and day of the date `days` days after 1970-01-01.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    // Years begin on 1 March here, so that a leap day is the last day of its year. 400 years are
    // 146,097 days. Day 0 is 1 March of the year 0.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let first = (153 * month + 2) / 5;
    let (year, month_of_year) = (era * 400 + year + u64::from(month > 9), (month + 2) % 12 + 1);
    (year, month_of_year, day - first + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_since_1970_are_dates() {
        assert_eq!(civil_from_days(0), (1970, 1, 1));
        assert_eq!(civil_from_days(59), (1970, 3, 1));
        assert_eq!(civil_from_days(11_016), (2000, 2, 29));
        assert_eq!(civil_from_days(20_778), (2026, 11, 21));
        assert_eq!(civil_from_days(20_818), (2026, 12, 31));
        assert_eq!(civil_from_days(20_819), (2027, 1, 1));
    }

    #[test]
    fn seconds_since_1970_are_times() {
        assert_eq!(format_time(0), "1970-01-01 00:00:00");
        assert_eq!(format_time(951_868_799), "2000-02-29 23:59:59");
        assert_eq!(format_time(1_796_000_645), "2026-11-30 01:04:05");
    }
}
