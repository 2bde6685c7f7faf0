//! `[channels.NAME.pace]`: how fast requests of a channel may follow each other, where the operator
//! wants it otherwise than the medium's own figures.
use super::values::{Problems, add};
use contract::Pace;
use toml::{Table, Value};

/// Keys of the table, for the docs.
pub const FIELDS: &[&str] =
    &["account_per_second", "account_burst", "recipient_per_second", "recipient_burst"];

/// Figures that replace the medium's own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PaceConfig {
    account: Override,
    recipient: Override,
}

/// One lane's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Override {
    per_second: Option<f64>,
    burst: Option<f64>,
}

impl Override {
    /// A rate without a burst of its own keeps the medium's, or lets a second's worth through.
    fn over(self, medium: Pace) -> Pace {
        let per_second = self.per_second.unwrap_or(medium.per_second);
        let own = if medium.burst > 0.0 { medium.burst } else { per_second.max(1.0) };
        Pace { per_second, burst: self.burst.unwrap_or(own) }
    }
}

impl PaceConfig {
    /// The account's pace over the medium's.
    #[must_use]
    pub fn account(self, medium: Pace) -> Pace {
        self.account.over(medium)
    }
    /// A recipient's pace over the medium's.
    #[must_use]
    pub fn recipient(self, medium: Pace) -> Pace {
        self.recipient.over(medium)
    }

    pub(super) fn read(path: &str, table: &Table, problems: &mut Problems) -> Self {
        for unknown in table.keys().filter(|key| !FIELDS.contains(&key.as_str())) {
            let detail = format!("there is no such key; known: {}", FIELDS.join(", "));
            add(problems, format!("{path}.{unknown}"), detail);
        }
        let mut number = |key: &str| {
            let value = table.get(key)?;
            #[expect(clippy::cast_precision_loss)] // figures are small
            let found = match value {
                Value::Integer(n) => Some(*n as f64),
                Value::Float(n) => Some(*n),
                _ => None,
            };
            let found = found.filter(|n| (0.0..=1_000_000.0).contains(n));
            if found.is_none() {
                let detail = "must be a number from 0 to 1000000; 0 is unpaced";
                add(problems, format!("{path}.{key}"), detail);
            }
            found
        };
        Self {
            account: Override {
                per_second: number("account_per_second"),
                burst: number("account_burst"),
            },
            recipient: Override {
                per_second: number("recipient_per_second"),
                burst: number("recipient_burst"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_replace_the_mediums_and_bad_ones_are_named() {
        let read = |text: &str| {
            let mut problems = Problems::new();
            let table = text.parse::<Table>().unwrap();
            let pace = PaceConfig::read("channels.x.pace", &table, &mut problems);
            (pace, problems.into_iter().map(|p| p.path).collect::<Vec<_>>())
        };
        let medium = Pace { per_second: 25.0, burst: 30.0 };
        let (pace, problems) = read("account_per_second = 0.5\nrecipient_per_second = 0");
        assert!(problems.is_empty());
        assert_eq!(pace.account(medium), Pace { per_second: 0.5, burst: 30.0 });
        assert_eq!(pace.recipient(medium).per_second, 0.0);
        assert_eq!(pace.account(Pace::NONE), Pace { per_second: 0.5, burst: 1.0 });
        let (_, problems) = read(
            "account_per_second = -1\naccount_burst = \"3\"\nper_second = 2\nrecipient_burst = nan",
        );
        assert_eq!(
            problems,
            [
                "channels.x.pace.per_second",
                "channels.x.pace.account_per_second",
                "channels.x.pace.account_burst",
                "channels.x.pace.recipient_burst"
            ]
        );
    }
}
