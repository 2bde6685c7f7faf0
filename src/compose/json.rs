//! Strict JSON: what `serde_json` lets pass and the door must not.
//!
//! Duplicate keys and nesting over [`DEPTH_MAX`] are refused; key order is kept. Invalid UTF-8,
//! lone surrogates and numbers outside the range are refused by the parser below.
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use std::collections::HashSet;
use std::fmt;

/// Deepest nesting taken.
pub const DEPTH_MAX: usize = 64;

/// Said of a key that occurs twice in one object.
const REPEATED: &str = "a key occurs twice in one object";
/// Said of nesting past the bound.
const TOO_DEEP: &str = "it nests deeper than 64 levels";

/// A JSON value with its key order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a whole document that is an object.
    ///
    /// # Errors
    /// Why it cannot be taken and where, without any of its text.
    pub fn object(bytes: &[u8]) -> Result<Vec<(String, Self)>, String> {
        let mut parser = serde_json::Deserializer::from_slice(bytes);
        let value = Strict { depth: 0 }.deserialize(&mut parser).map_err(|error| {
            let text = error.to_string();
            let why = [REPEATED, TOO_DEEP].into_iter().find(|why| text.starts_with(why));
            let why = why.unwrap_or("it is not JSON");
            format!(
                "The body cannot be read: {why}, at line {} column {}.",
                error.line(),
                error.column()
            )
        })?;
        parser.end().map_err(|_| "Something follows the JSON value.".to_owned())?;
        match value {
            Self::Object(entries) => Ok(entries),
            _ => Err("The body must be a JSON object.".to_owned()),
        }
    }

    /// The compact text.
    #[must_use]
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl serde::Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{SerializeMap, SerializeSeq};
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => value.serialize(serializer),
            Self::Text(value) => serializer.serialize_str(value),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: de::Error>(&self) -> Result<Self, E> {
        if self.depth == DEPTH_MAX {
            return Err(E::custom(TOO_DEEP));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Json;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Json, E> {
        Number::from_f64(value).map(Json::Number).ok_or_else(|| E::custom("not finite"))
    }
    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }
    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.deeper()?)? {
            items.push(item);
        }
        Ok(Json::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut entries: Vec<(String, Json)> = Vec::new();
        let mut seen = HashSet::new();
        while let Some(key) = access.next_key::<String>()? {
            if !seen.insert(key.clone()) {
                return Err(de::Error::custom(REPEATED));
            }
            let value = access.next_value_seed(self.deeper()?)?;
            entries.push((key, value));
        }
        Ok(Json::Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nt_6_what_is_not_strict_json_is_refused() {
        let deep = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        let bad: Vec<Vec<u8>> = vec![
            b"".to_vec(),
            b"[]".to_vec(),
            b"\"a\"".to_vec(),
            b"{\"a\":1,\"a\":2}".to_vec(),
            b"{\"a\":{\"b\":1,\"b\":2}}".to_vec(),
            br#"{"a":"\ud800"}"#.to_vec(),
            b"{\"a\":\"\xff\"}".to_vec(),
            b"{\"a\":1}x".to_vec(),
            b"{\"a\":1e999}".to_vec(),
            b"{\"a\":NaN}".to_vec(),
            deep(64).into_bytes(),
        ];
        for bytes in bad {
            assert!(Json::object(&bytes).is_err(), "{}", String::from_utf8_lossy(&bytes));
        }
        assert!(Json::object(deep(63).as_bytes()).is_ok());
    }

    #[test]
    fn nt_7_key_order_is_kept() {
        let text = r#"{"z":1,"a":{"y":[true,null,1.5],"b":"ä"}}"#;
        let entries = Json::object(text.as_bytes()).unwrap();
        assert_eq!(Json::Object(entries).to_text(), text);
    }
}
