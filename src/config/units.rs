//! Units as operators write them: `30s`, `2GiB`.
use std::time::Duration;

const TIMES: &[(&str, u64)] =
    &[("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
const SIZES: &[(&str, u64)] = &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1)];

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = text.split_at(split);
    let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
    digits.parse::<u64>().ok()?.checked_mul(*scale)
}

/// Reads `500ms`, `5s`, `2m`, `24h`, `30d`.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    scaled(text, TIMES).map(Duration::from_millis)
}

/// Reads `64KiB`, `16MiB`, `2GiB`, `100B`.
#[must_use]
pub fn size(text: &str) -> Option<u64> {
    scaled(text, SIZES)
}

/// The shortest way to write a duration.
#[must_use]
pub fn spell(duration: Duration) -> String {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let (name, scale) = TIMES
        .iter()
        .rev()
        .find(|(_, scale)| millis % scale == 0 && millis >= *scale)
        .unwrap_or(&TIMES[0]);
    format!("{}{name}", millis / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_and_spelt() {
        assert_eq!(duration("30s"), Some(Duration::from_secs(30)));
        assert_eq!(duration("500ms").map(spell).as_deref(), Some("500ms"));
        assert_eq!(duration("24h").map(spell).as_deref(), Some("1d"));
        assert_eq!(size("16MiB"), Some(16 << 20));
        for bad in ["", "30", "s", "-1s", "1.5s", "1 s", "99999999999999999999s"] {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }
}
