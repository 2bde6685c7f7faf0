//! From a request body to bytes.
//!
//! A multipart boundary is derived from the body's own bytes, so that the same body is the same
//! bytes at every try and no boundary can occur inside it unnoticed.
use bytes::{BufMut, Bytes, BytesMut};
use contract::{Body, MultipartField, MultipartValue, Resource};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// A body as it goes out.
pub(super) struct Encoded {
    pub bytes: Bytes,
    pub content_type: Option<String>,
    /// Some of it are files' bytes.
    pub has_files: bool,
}

/// Encodes a body; `None` when a file it refers to was not provided.
pub(super) fn encode(body: &Body, resources: &[Resource]) -> Option<Encoded> {
    let boundary = match body {
        Body::Multipart(fields) => boundary(fields, resources)?,
        Body::Empty | Body::Json(_) | Body::Form(_) => String::new(),
    };
    let content_type = crate::view::content_type(body, &boundary);
    let (bytes, has_files) = match body {
        Body::Empty => (Bytes::new(), false),
        Body::Json(text) => (Bytes::copy_from_slice(text.as_bytes()), false),
        Body::Form(fields) => {
            let pairs = fields.iter().map(|f| (f.name.as_str(), f.value.as_str()));
            let text =
                url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
            (Bytes::from(text), false)
        }
        Body::Multipart(fields) => (multipart(fields, resources, &boundary)?, has_files(fields)),
    };
    Some(Encoded { bytes, content_type, has_files })
}

fn has_files(fields: &[MultipartField]) -> bool {
    fields.iter().any(|field| matches!(field.value, MultipartValue::File { .. }))
}

/// A field's bytes, and what a file says about itself.
struct Content<'a> {
    bytes: &'a [u8],
    file: Option<FileHead<'a>>,
}

struct FileHead<'a> {
    filename: &'a str,
    content_type: &'a str,
}

fn content<'a>(field: &'a MultipartField, resources: &'a [Resource]) -> Option<Content<'a>> {
    match &field.value {
        MultipartValue::Text(text) => Some(Content { bytes: text.as_bytes(), file: None }),
        MultipartValue::File { file, filename } => match resources.get(file.0)? {
            Resource::Bytes { bytes, content_type } => {
                Some(Content { bytes, file: Some(FileHead { filename, content_type }) })
            }
            Resource::VendorId(_) => None,
        },
    }
}

fn boundary(fields: &[MultipartField], resources: &[Resource]) -> Option<String> {
    let mut hash = Sha256::new();
    for field in fields {
        hash.update(field.name.as_bytes());
        hash.update(content(field, resources)?.bytes);
    }
    let mut text = String::from("tidings-");
    for byte in &hash.finalize()[..16] {
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

fn multipart(fields: &[MultipartField], resources: &[Resource], boundary: &str) -> Option<Bytes> {
    let mut out = BytesMut::new();
    for field in fields {
        let Content { bytes, file } = content(field, resources)?;
        let mut head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
            quoted(&field.name)
        );
        if let Some(file) = file {
            let _ = write!(head, "; filename=\"{}\"", quoted(file.filename));
            let _ = write!(head, "\r\nContent-Type: {}", one_line(file.content_type));
        }
        out.put_slice(head.as_bytes());
        out.put_slice(b"\r\n\r\n");
        out.put_slice(bytes);
        out.put_slice(b"\r\n");
    }
    out.put_slice(format!("--{boundary}--\r\n").as_bytes());
    Some(out.freeze())
}

/// A name inside quotes, escaped as browsers do.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{FileRef, FormField};

    #[test]
    fn multipart_holds_fields_in_order_with_names_that_cannot_break_out() {
        let text = |name: &str, value: &str| MultipartField {
            name: name.to_owned(),
            value: MultipartValue::Text(value.to_owned()),
        };
        let file = MultipartField {
            name: "f0".to_owned(),
            value: MultipartValue::File { file: FileRef(0), filename: "a\"\r\nb.ü".to_owned() },
        };
        let resource = Resource::Bytes {
            bytes: Bytes::from_static(b"\0\xff"),
            content_type: "image/png\r\nx: y".to_owned(),
        };
        let body = Body::Multipart(vec![text("chat_id", "42"), file.clone()]);
        let once = encode(&body, std::slice::from_ref(&resource)).unwrap();
        let kind = once.content_type.clone().unwrap();
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
        let expected = [
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n42\r\n")
                .into_bytes(),
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"f0\"; filename=\"a%22%0D%0Ab.ü\"\r\nContent-Type: image/pngx: y\r\n\r\n"
            )
            .into_bytes(),
            b"\0\xff\r\n".to_vec(),
            format!("--{boundary}--\r\n").into_bytes(),
        ]
        .concat();
        assert_eq!(once.bytes, expected);
        assert!(once.has_files);
        assert_eq!(encode(&body, &[resource]).unwrap().bytes, once.bytes, "the same at each try");
        assert!(encode(&Body::Multipart(vec![file]), &[]).is_none());
    }

    #[test]
    fn forms_keep_repeats() {
        let field = |n: &str, v: &str| FormField { name: n.into(), value: v.into() };
        let body = Body::Form(vec![field("MediaUrl", "a b"), field("MediaUrl", "ü&")]);
        let encoded = encode(&body, &[]).unwrap();
        assert_eq!(encoded.bytes, "MediaUrl=a+b&MediaUrl=%C3%BC%26");
        assert!(!encoded.has_files);
    }
}
