//! The `OpenAPI` 3.1 document, made from the table of routes and the request's schema.
use super::routes::{Access, ROUTES, Route};
use crate::compose::schema;
use crate::problem::CODES;
use serde_json::{Map, Value, json};

/// The document.
#[must_use]
pub fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.template).or_insert_with(|| json!({}));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(route.method.to_lowercase(), operation(route));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tidings",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Multi-channel delivery gateway: one call, a durable send, an inbox.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
            "schemas": {
                "NotifyRequest": schema::request(),
                "NotifyAnswer": notify_answer(),
                "Problem": problem(),
            },
        },
    })
}

fn operation(route: &Route) -> Value {
    let mut operation = Map::new();
    operation.insert("summary".into(), json!(route.summary));
    if let Access::Key(scope) | Access::KeyOrInternal(scope) = route.access {
        operation.insert("security".into(), json!([{ "key": [scope.as_str()] }]));
    }
    let parameters = parameters(route);
    if !parameters.is_empty() {
        operation.insert("parameters".into(), json!(parameters));
    }
    let notifies = route.template.starts_with("/api/notifications") && route.method == "POST";
    if notifies {
        let schema = json!({ "$ref": "#/components/schemas/NotifyRequest" });
        let body =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
        operation.insert("requestBody".into(), body);
    } else if route.method == "POST" && route.template == "/api/media" {
        let bytes = json!({ "schema": { "type": "string", "format": "binary" } });
        let body = json!({ "required": true, "content": { "*/*": bytes } });
        operation.insert("requestBody".into(), body);
    }
    operation.insert("responses".into(), responses(route));
    Value::Object(operation)
}

fn parameters(route: &Route) -> Vec<Value> {
    let in_path = route.template.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }),
        )
    });
    let in_query = route.query.iter().map(|name| {
        let schema = match *name {
            "limit" => json!({ "type": "integer", "minimum": 1, "maximum": 200, "default": 50 }),
            _ => json!({ "type": "string" }),
        };
        json!({ "name": name, "in": "query", "schema": schema })
    });
    let headers = (route.method == "POST" && route.template == "/api/notifications").then(|| {
        [
            ("Idempotency-Key", json!({ "type": "string", "minLength": 1, "maxLength": 255 })),
            ("Prefer", json!({ "type": "string", "examples": ["wait=10"] })),
            ("traceparent", json!({ "type": "string" })),
        ]
        .map(|(name, schema)| json!({ "name": name, "in": "header", "schema": schema }))
    });
    in_path.chain(in_query).chain(headers.into_iter().flatten()).collect()
}

fn responses(route: &Route) -> Value {
    let mut responses = Map::new();
    let records = route.method == "POST" && route.template == "/api/notifications";
    for status in route.answers {
        let mut response = json!({ "description": "Done." });
        if records {
            let schema = json!({ "$ref": "#/components/schemas/NotifyAnswer" });
            response["content"] = json!({ "application/json": { "schema": schema } });
        }
        responses.insert(status.to_string(), response);
    }
    let schema = json!({ "$ref": "#/components/schemas/Problem" });
    let problem = json!({
        "description": "A problem document; `code` says which.",
        "content": { "application/problem+json": { "schema": schema } },
    });
    responses.insert("default".into(), problem);
    Value::Object(responses)
}

fn notify_answer() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "required": ["id", "created_at", "audience", "trace_id", "send"],
        "properties": {
            "id": text, "created_at": { "type": "string", "format": "date-time" },
            "audience": { "type": ["string", "null"] }, "trace_id": text,
            "send": {
                "type": ["object", "null"],
                "required": ["id", "channel", "medium", "status", "thread", "parts", "degrades", "fault"],
                "properties": {
                    "id": text, "channel": text, "medium": text, "status": text,
                    "thread": { "type": ["string", "null"] },
                    "parts": { "type": "array", "items": { "type": "object" } },
                    "degrades": { "type": "array", "items": { "type": "object" } },
                    "fault": { "type": ["object", "null"] },
                },
            },
        },
    })
}

fn problem() -> Value {
    let codes: Vec<&str> = CODES.iter().map(|(code, _, _)| *code).collect();
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "code"],
        "properties": {
            "type": { "type": "string" }, "title": { "type": "string" },
            "status": { "type": "integer" }, "detail": { "type": "string" },
            "code": { "type": "string", "enum": codes },
            "errors": { "type": "array", "maxItems": 50, "items": {
                "type": "object", "required": ["field", "code", "detail"],
                "properties": { "field": { "type": "string" }, "code": { "type": "string" },
                                "detail": { "type": "string" } } } },
            "errors_total": { "type": "integer" },
        },
    })
}
