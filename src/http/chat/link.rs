//! The page's query: what a link into the chat says about where it came from. It becomes `params`
//! of every message of that page load.
use crate::problem::Refused;
use contract::Problem;

/// Most pairs.
const PAIRS: usize = 16;
/// Most characters of a value.
const VALUE: usize = 512;
/// Most bytes of all names and values.
const ALL: usize = 2048;

/// Names the gateway sets itself.
const OWN: &[&str] = &[
    "action_id",
    "button_payload",
    "contact_phone",
    "contacts_count",
    "deleted",
    "edited_message",
    "emoji",
    "form_dropped",
    "form_state",
    "from_id",
    "order",
    "record",
    "removed",
    "reply_description",
    "reply_id",
    "revision",
    "scope",
    "stale",
    "start",
    "sticker",
    "subtype",
    "typed",
    "unsupported",
    "voice",
];

/// Reads a raw query.
///
/// # Errors
/// 400 naming the rule that is broken.
pub fn params(raw: &str) -> Result<Vec<(String, String)>, Refused> {
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(raw.as_bytes())
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    let refuse = |code, detail: &str| {
        Refused::from_problems(vec![Problem::new("query", code, detail)])
            .unwrap_or_else(|| Refused::new(code, detail))
    };
    if pairs.len() > PAIRS {
        return Err(refuse("too_many", "a link may carry at most 16 parameters"));
    }
    if pairs.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > ALL {
        return Err(refuse("too_long", "a link's parameters may hold at most 2048 bytes in all"));
    }
    for (at, (name, value)) in pairs.iter().enumerate() {
        if !is_name(name) {
            let detail = "a parameter's name is 1 to 64 letters, digits, _ and -";
            return Err(refuse("bad_format", detail));
        }
        if value.chars().count() > VALUE {
            return Err(refuse("too_long", "a parameter may hold at most 512 characters"));
        }
        if pairs[..at].iter().any(|(other, _)| other == name) {
            return Err(refuse("duplicate", "a link may carry each parameter once"));
        }
        if OWN.contains(&name.as_str()) || name.starts_with("referral_") {
            return Err(refuse("not_allowed_here", "this name is one the gateway sets itself"));
        }
    }
    Ok(pairs)
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_links_parameters_are_bounded_and_never_the_gateways_own() {
        let code = |raw: &str| params(raw).err().map(|refused| refused.code);
        assert_eq!(params("").unwrap(), []);
        assert_eq!(params("order_no=7&from=mail").unwrap().len(), 2);
        assert_eq!(params("a=%C3%A4+b").unwrap(), [("a".to_owned(), "ä b".to_owned())]);
        let many: String = (0..17).map(|n| format!("k{n}=v&")).collect();
        assert_eq!(code(&many), Some("too_many"));
        for raw in ["=x", "a.b=1", "ä=1", &format!("{}=1", "n".repeat(65))] {
            assert_eq!(code(raw), Some("bad_format"), "{raw}");
        }
        assert_eq!(code(&format!("a={}", "v".repeat(513))), Some("too_long"));
        let whole: String = (0..5).map(|n| format!("k{n}={}&", "v".repeat(500))).collect();
        assert_eq!(code(&whole), Some("too_long"));
        assert_eq!(code("a=1&a=2"), Some("duplicate"));
        for raw in ["reply_id=1", "referral_x=1", "stale=true", "form_state=x"] {
            assert_eq!(code(raw), Some("not_allowed_here"), "{raw}");
        }
    }
}
