//! Secrets are `***` in everything the sandbox keeps or shows.
//!
//! Where a secret is expected (a path segment, a header, a form field) its place is masked whatever
//! stands there. As a last net, every line of the log has the configured secrets replaced, wherever
//! they turned up: their letters never need escaping in JSON, so replacing text is exact.

/// What stands where a secret stood.
pub const MASK: &str = "***";

/// Headers whose values are credentials.
const SECRET_HEADERS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// Query keys whose values are credentials.
const SECRET_KEYS: [&str; 4] = ["token", "access_token", "secret", "secret_token"];

/// The secrets this sandbox was given.
#[derive(Clone, Default)]
pub struct Masks(Vec<String>);

impl Masks {
    /// Of whole tokens; what follows a colon is a secret by itself too.
    #[must_use]
    pub fn new<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Self {
        let mut list: Vec<String> = Vec::new();
        for token in tokens.into_iter().filter(|token| !token.is_empty()) {
            list.push(token.to_owned());
            list.push(token.replace(':', "%3A"));
            list.extend(token.split_once(':').map(|(_, secret)| secret.to_owned()));
        }
        list.retain(|secret| secret.len() >= 8);
        Self(list)
    }
    /// The text without them.
    #[must_use]
    pub fn clean(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), MASK) } else { text }
        })
    }
}

/// A header's value as it may be shown.
pub(crate) fn header<'a>(name: &str, value: &'a str) -> &'a str {
    if SECRET_HEADERS.contains(&name) { MASK } else { value }
}

/// A query as it may be shown.
pub(crate) fn query(query: &str) -> String {
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, _)) if SECRET_KEYS.contains(&key.to_ascii_lowercase().as_str()) => {
            format!("{key}={MASK}")
        }
        _ => pair.to_owned(),
    });
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sb_34_configured_secrets_vanish_wherever_they_stand() {
        let masks = Masks::new(["123:abcdefghijklmnopqrst", ""]);
        let text = r#"{"a":"x123:abcdefghijklmnopqrsty","b":"abcdefghijklmnopqrst","c":"123%3Aabcdefghijklmnopqrst"}"#;
        assert_eq!(masks.clean(text.to_owned()), r#"{"a":"x***y","b":"***","c":"***"}"#);
        assert_eq!(masks.clean("123:other".to_owned()), "123:other");
    }

    #[test]
    fn sb_34_places_of_secrets_are_masked_unseen() {
        assert_eq!(query("a=b&Token=q&token"), "a=b&Token=***&token");
        assert_eq!(header("authorization", "Bearer x"), "***");
        assert_eq!(header("accept", "x"), "x");
    }
}
