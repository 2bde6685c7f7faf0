//! The audience clamp: a restricted key can address only its own slice, by any parameter.
use super::keyring::Caller;
use crate::problem::Refused;

/// The effective audience of a call. Comparison is exact on the whole string.
///
/// # Errors
/// 403 `audience_not_allowed` when a restricted caller names anyone but itself.
pub fn clamp(caller: &Caller, given: Option<&str>) -> Result<Option<String>, Refused> {
    match given {
        None if caller.restricted => Ok(Some(caller.identity.clone())),
        Some(audience) if caller.restricted && audience != caller.identity => Err(Refused::new(
            "audience_not_allowed",
            "This key addresses and reads its own audience only; leave the audience out.",
        )),
        given => Ok(given.map(str::to_owned)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(restricted: bool) -> Caller {
        Caller { identity: "k".to_owned(), restricted, scopes: Vec::new(), key: 0 }
    }

    #[test]
    fn nt_29_a_restricted_key_reaches_its_own_audience_alone() {
        let open = caller(false);
        assert_eq!(clamp(&open, None), Ok(None));
        assert_eq!(clamp(&open, Some("x")), Ok(Some("x".to_owned())));
        let owned = caller(true);
        assert_eq!(clamp(&owned, None), Ok(Some("k".to_owned())));
        assert_eq!(clamp(&owned, Some("k")), Ok(Some("k".to_owned())));
        for other in ["K", "k ", "owner", ""] {
            assert_eq!(clamp(&owned, Some(other)).unwrap_err().code, "audience_not_allowed");
        }
    }
}
