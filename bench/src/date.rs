//! Today's date, for reports.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the date in UTC as `2026-11-21`.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let (year, month, day) = civil_from_days(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Returns year, month and day of the date `days` days after 1970-01-01.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    // Years are counted from 1 March, so that a leap day is the last day of its year; 400 years
    // are 146,097 days. Day 0 is 1 March 0000.
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
    use super::civil_from_days;

    #[test]
    fn days_since_1970_are_dates() {
        assert_eq!(civil_from_days(0), (1970, 1, 1));
        assert_eq!(civil_from_days(59), (1970, 3, 1));
        assert_eq!(civil_from_days(11_016), (2000, 2, 29));
        assert_eq!(civil_from_days(20_778), (2026, 11, 21));
        assert_eq!(civil_from_days(20_818), (2026, 12, 31));
        assert_eq!(civil_from_days(20_819), (2027, 1, 1));
    }
}
