//! Rich values of the command line: JSON, `@FILE`, or `-` for standard input.
use crate::clock::Millis;
use crate::compose::json::Json;
use crate::compose::{DecodeCtx, NotifyRequest};
use std::io::Read;

/// Reads values; standard input can be read once.
#[derive(Default)]
pub struct Reader {
    stdin_used: bool,
}

impl Reader {
    /// The text behind `-`, or the text itself.
    ///
    /// # Errors
    /// A sentence that names the argument.
    pub fn text(&mut self, name: &str, value: &str) -> Result<String, String> {
        if value == "-" { self.stdin(name) } else { Ok(value.to_owned()) }
    }

    /// A JSON value.
    ///
    /// # Errors
    /// A sentence that names the flag.
    pub fn json(&mut self, flag: &str, value: &str) -> Result<serde_json::Value, String> {
        let text = match value.strip_prefix('@') {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|error| format!("--{flag}: {path} cannot be read: {}", error.kind()))?,
            None => self.text(&format!("--{flag}"), value)?,
        };
        serde_json::from_str(&text).map_err(|_| format!("--{flag} is not JSON"))
    }

    fn stdin(&mut self, name: &str) -> Result<String, String> {
        if self.stdin_used {
            return Err(format!("{name}: only one argument may be read from standard input"));
        }
        self.stdin_used = true;
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|e| format!("{name}: {}", e.kind()))?;
        Ok(text)
    }
}

/// Checks that a rich value decodes into the field's shape; what it means is the gateway's to
/// judge, so only types and unknown keys count here.
///
/// # Errors
/// A sentence that names the flag and the first problem.
pub fn check_shape(flag: &str, field: &str, value: &serde_json::Value) -> Result<(), String> {
    let body = serde_json::json!({ "message": "", field: value });
    let entries =
        Json::object(body.to_string().as_bytes()).map_err(|why| format!("--{flag}: {why}"))?;
    let ctx = DecodeCtx { now: Millis(0), public_url: None };
    let Err(problems) = NotifyRequest::decode(entries, ctx) else { return Ok(()) };
    let shape = ["wrong_type", "unknown_field", "required"];
    match problems.iter().find(|p| shape.contains(&p.code) && p.field != "message") {
        Some(problem) => Err(format!("--{flag}: {}: {}", problem.field, problem.detail)),
        None => Ok(()),
    }
}
