//! From a plain HTTP outcome to a fault: the one table every medium starts from.
//!
//! An adapter reads its vendor's codes first and falls back to [`from_wire`]. Nothing here looks
//! into a body, and nothing reads a clock: a `Retry-After` date is measured against the response's
//! own `Date`.
use contract::{
    FaultKind, MisconfiguredScope, SendFault, ThrottleScope, WireError, WireResponse, WireResult,
};
use std::borrow::Cow;
use std::time::Duration;

/// Longest wait taken from a vendor; a longer one is cut to it.
pub const WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The fault an outcome stands for when no table of the vendor says more. A 2xx that reaches this
/// function is one whose body names no message: whether it was accepted is unknown.
#[must_use]
pub fn from_wire(result: &WireResult) -> SendFault {
    match result {
        Ok(response) => from_response(response),
        Err(error) => from_error(error),
    }
}

/// The fault of a response by its status; see [`from_wire`].
#[must_use]
pub fn from_response(response: &WireResponse) -> SendFault {
    from_status(response.status, retry_after(response))
}

/// The fault of an HTTP status, with the wait the vendor asked for.
#[must_use]
pub fn from_status(status: u16, wait: Option<Duration>) -> SendFault {
    match status {
        429 => SendFault::new(
            FaultKind::Throttled { scope: ThrottleScope::Account },
            "throttled",
            "the medium asks to wait",
        )
        .after(wait),
        500 | 502 | 503 => SendFault::new(
            FaultKind::Transient,
            "provider_error",
            "the medium could not process the request",
        )
        .after(wait),
        401 | 403 => SendFault::new(
            FaultKind::Misconfigured { scope: MisconfiguredScope::Account },
            "credentials_refused",
            "the medium refuses the account's credentials",
        ),
        300..=399 => SendFault::new(
            FaultKind::Misconfigured { scope: MisconfiguredScope::Account },
            "redirected",
            "the medium answered with a redirect, which is never followed; check base_url",
        ),
        408 | 500..=599 => no_answer("the medium's own gateway gave no answer in time"),
        400..=499 => {
            SendFault::new(FaultKind::Permanent, "rejected", "the medium refused the request")
        }
        _ => answer_unreadable(),
    }
}

/// The fault of an exchange without a response.
#[must_use]
pub fn from_error(error: &WireError) -> SendFault {
    match error {
        WireError::Connect => SendFault::new(
            FaultKind::Transient,
            "connect_failed",
            "the medium could not be reached; nothing was sent",
        ),
        WireError::Timeout => no_answer("no answer came in time after the request was written"),
        WireError::Reset => no_answer("the connection broke after the request was written"),
        WireError::Unreadable => answer_unreadable(),
        WireError::Blocked { rule, key } => blocked(rule, key),
    }
}

/// Permanent `blocked_address`: names the rule and the key, never the address.
#[must_use]
pub fn blocked(rule: &str, key: &str) -> SendFault {
    let mut fault = SendFault::new(FaultKind::Permanent, "blocked_address", "");
    fault.detail = Cow::Owned(format!("the network rules refuse the target: {rule}; see {key}"));
    fault
}

fn no_answer(detail: &'static str) -> SendFault {
    SendFault::new(FaultKind::Ambiguous, "no_answer", detail)
}

/// Ambiguous `answer_unreadable`: there was an answer, and it settles nothing.
#[must_use]
pub fn answer_unreadable() -> SendFault {
    SendFault::new(
        FaultKind::Ambiguous,
        "answer_unreadable",
        "the medium answered, but its answer names no message",
    )
}

/// The wait a response asks for: seconds, or an HTTP date measured against the response's own
/// `Date`; at most [`WAIT_MAX`]. Anything else is absent.
#[must_use]
pub fn retry_after(response: &WireResponse) -> Option<Duration> {
    let value = response.header("retry-after")?.trim();
    let wait = if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // More digits than a u64 holds is still a number, and over the bound.
        Duration::from_secs(value.parse().unwrap_or(u64::MAX))
    } else {
        let then = http_date(value)?;
        let now = http_date(response.header("date")?)?;
        Duration::from_secs(u64::try_from(then - now).unwrap_or(0))
    };
    Some(wait.min(WAIT_MAX))
}

/// Seconds since the epoch of an HTTP date in the form of RFC 9110, 5.6.7.
fn http_date(text: &str) -> Option<i64> {
    let zoned = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    Some(zoned.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::FaultClass;

    fn response(status: u16, headers: &[(&str, &str)]) -> WireResponse {
        let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        WireResponse { status, headers, body: bytes::Bytes::new() }
    }

    #[test]
    fn every_row_of_the_table_has_its_class_and_code() {
        use FaultClass as C;
        for (statuses, class, code) in [
            (vec![429], C::Throttled, "throttled"),
            (vec![500, 502, 503], C::Transient, "provider_error"),
            (vec![408, 501, 504, 505, 520, 522, 524, 529, 599], C::Ambiguous, "no_answer"),
            (vec![401, 403], C::Misconfigured, "credentials_refused"),
            (vec![300, 301, 302, 304, 307, 308], C::Misconfigured, "redirected"),
            (vec![400, 402, 404, 409, 413, 422, 451, 499], C::Permanent, "rejected"),
            (vec![200, 201, 204, 299, 100, 0, 999], C::Ambiguous, "answer_unreadable"),
        ] {
            for status in statuses {
                let fault = from_wire(&Ok(response(status, &[])));
                assert_eq!((fault.kind.class(), &*fault.code), (class, code), "{status}");
            }
        }
        for (error, class, code) in [
            (WireError::Connect, C::Transient, "connect_failed"),
            (WireError::Timeout, C::Ambiguous, "no_answer"),
            (WireError::Reset, C::Ambiguous, "no_answer"),
            (WireError::Unreadable, C::Ambiguous, "answer_unreadable"),
        ] {
            let fault = from_wire(&Err(error));
            assert_eq!((fault.kind.class(), &*fault.code), (class, code));
        }
    }

    #[test]
    fn i_72_a_blocked_target_names_rule_and_key() {
        let error = WireError::Blocked { rule: "private address", key: "http.allow_hosts" };
        let fault = from_wire(&Err(error));
        assert_eq!((fault.kind, &*fault.code), (FaultKind::Permanent, "blocked_address"));
        assert!(fault.detail.contains("private address"));
        assert!(fault.detail.contains("http.allow_hosts"));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_garbage_is_absent() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        for (value, wait) in [
            ("0", Some(0)),
            (" 17 ", Some(17)),
            ("86401", Some(86_400)),
            ("99999999999999999999999", Some(86_400)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10)),
            ("Sun, 06 Nov 1994 08:49:00 GMT", Some(0)),
            ("Tue, 08 Nov 1994 08:49:37 GMT", Some(86_400)),
            ("-1", None),
            ("1.5", None),
            ("", None),
            ("soon", None),
            ("Sun, 99 Nov 1994 08:49:47 GMT", None),
        ] {
            let found = from_wire(&Ok(response(429, &[date, ("retry-after", value)]))).wait;
            assert_eq!(found, wait.map(Duration::from_secs), "{value:?}");
        }
        let dated = ("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT");
        assert_eq!(retry_after(&response(503, &[dated])), None, "no date to measure against");
        assert_eq!(
            from_wire(&Ok(response(503, &[("retry-after", "9")]))).wait.unwrap().as_secs(),
            9
        );
        assert_eq!(from_wire(&Ok(response(400, &[("retry-after", "9")]))).wait, None);
    }
}
