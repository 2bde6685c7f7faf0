//! Pins: coordinates, and the venue's title and address.
use super::answers::{MessageBody, Refused};
use super::limits::{LATITUDE, LONGITUDE};
use super::request::Arguments;
use serde_json::{Value, json};

/// The pin of `sendLocation`.
///
/// # Errors
/// A coordinate is missing, no number, or not on the globe.
pub fn location(arguments: &Arguments<'_>) -> Result<MessageBody, Refused> {
    let mut body = MessageBody::new();
    body.insert("location".to_owned(), coordinates(arguments)?);
    Ok(body)
}

/// The pin of `sendVenue`.
///
/// # Errors
/// As [`location`], or the title or the address is missing.
pub fn venue(arguments: &Arguments<'_>) -> Result<MessageBody, Refused> {
    let coordinates = coordinates(arguments)?;
    let text = |name: &str| {
        let text = arguments.text(name).map(str::trim).filter(|text| !text.is_empty());
        text.ok_or_else(|| Refused::bad(format!("venue {name} must be non-empty")))
    };
    let venue =
        json!({ "location": coordinates, "title": text("title")?, "address": text("address")? });
    let mut body = MessageBody::new();
    body.insert("venue".to_owned(), venue);
    body.insert("location".to_owned(), coordinates);
    Ok(body)
}

fn coordinates(arguments: &Arguments<'_>) -> Result<Value, Refused> {
    let latitude = degrees(arguments, "latitude", LATITUDE)?;
    let longitude = degrees(arguments, "longitude", LONGITUDE)?;
    Ok(json!({ "latitude": latitude, "longitude": longitude }))
}

fn degrees(arguments: &Arguments<'_>, name: &str, most: f64) -> Result<f64, Refused> {
    let text = arguments.text(name).ok_or_else(|| Refused::bad(format!("{name} is empty")))?;
    let number = text.parse::<f64>().ok().filter(|number| number.abs() <= most);
    number.ok_or_else(|| Refused::bad("wrong location specified"))
}
