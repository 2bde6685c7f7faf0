//! The generic cases every adapter gets from its registration and one sample account.
//!
//! [`run`] is all of them; each also stands alone under its number. They look only at the contract's
//! types and the JSON view of requests, so a medium needs to add nothing.
mod answers;
mod capabilities;
mod coverage;
mod limits;
mod secrecy;
mod texts;

pub use answers::g_6_answers_are_read_by_the_common_table;
pub use capabilities::g_1_support_is_what_render_does;
pub use coverage::g_3_every_field_of_the_corpus_is_somewhere;
pub use limits::g_2_each_limit_holds_at_its_edge;
pub use secrecy::g_8_no_secret_is_shown_anywhere;
pub use texts::{g_4_text_is_whole_and_in_order, g_5_hostile_text_breaks_nothing};

use crate::account;
use contract::{
    Adapter, Address, Content, Part, Refusal, Registration, RenderCtx, Rendered, SendId,
};
use kit::view::{Mask, part_views};
use serde_json::Value;
use std::sync::Arc;

/// A medium under test.
pub struct Subject {
    /// How it is registered.
    pub registration: &'static Registration,
    /// The sample account's table.
    pub table: Value,
    /// It, opened.
    pub adapter: Arc<dyn Adapter>,
    /// Where the cases send to.
    pub address: Address,
    send: SendId,
}

impl Subject {
    /// Opens the sample account; `recipient` must be one it takes.
    #[must_use]
    pub fn new(registration: &'static Registration, table: &Value, recipient: &str) -> Self {
        let adapter = account::open(registration, table).adapter;
        let address = adapter.recipient(Some(recipient), true).expect("a recipient it takes");
        let send = SendId::from_bits(0x0190_0000_0000_7000_8000_0000_0000_0001);
        Self { registration, table: table.clone(), adapter, address, send }
    }

    /// Renders a content for a send that exists.
    ///
    /// # Errors
    /// The refusal.
    pub fn render(&self, content: &Content) -> Result<Rendered, Refusal> {
        let ctx = RenderCtx {
            send: Some(&self.send),
            form_token: Some("token"),
            address: &self.address,
            reply_to: None,
        };
        self.adapter.render(&ctx, content)
    }

    /// Renders the JSON of a content.
    ///
    /// # Errors
    /// The refusal.
    pub fn render_json(&self, json: &Value) -> Result<Rendered, Refusal> {
        self.render(&crate::content::content(json))
    }

    /// The id that stands for a choice on the wire.
    fn minted(&self, index: usize) -> String {
        format!("o:{}:{index}", self.send.tail())
    }
}

/// Everything the requests of these parts hold, preparations and alternates included.
fn shown(parts: &[Part]) -> Vec<Value> {
    let mut views = Vec::new();
    for part in parts {
        views.extend(part_views(part, "frame:", Mask::Named));
        if let Some(alternate) = &part.alternate {
            views.push(kit::view::bare_view(&alternate.request, &alternate.needs, Mask::Named));
        }
    }
    views
}

/// Every text in a JSON value, depth first; texts that hold JSON are opened too.
fn leaves(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            out.push(text.clone());
            if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
                leaves(&inner, out);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| leaves(item, out)),
        Value::Object(members) => members.values().for_each(|member| leaves(member, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// All generic cases.
pub fn run(subject: &Subject) {
    g_1_support_is_what_render_does(subject);
    g_2_each_limit_holds_at_its_edge(subject);
    g_3_every_field_of_the_corpus_is_somewhere(subject);
    g_4_text_is_whole_and_in_order(subject);
    g_5_hostile_text_breaks_nothing(subject);
    g_6_answers_are_read_by_the_common_table(subject);
    g_8_no_secret_is_shown_anywhere(subject);
}
