//! Reads a JSON tree field by field and collects every problem with its path.
//!
//! A decoder opens an [`Object`], takes the keys it knows in their documented order, and finishes
//! it: what is left over is unknown. `null` is the same as absent. Nothing stops at the first
//! problem; a value that could not be read is `None` and has left its problem behind.
use super::json::Json;
use contract::text::TextProblem;
use contract::{Filename, Line, Problem, Text, Token};

/// A value and where it stands.
pub(super) struct Node {
    pub path: String,
    pub json: Json,
}

/// The problems of one request, in field order.
#[derive(Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    pub fn add(&mut self, field: impl Into<String>, code: &'static str, detail: impl Into<String>) {
        self.0.push(Problem::new(field, code, detail));
    }
    pub fn into_list(self) -> Vec<Problem> {
        self.0
    }

    pub fn object(&mut self, node: Node, known: &'static [&'static str]) -> Option<Object> {
        match node.json {
            Json::Object(entries) => Some(Object { path: node.path, entries, known }),
            _ => self.wrong_type(&node.path, "an object"),
        }
    }

    pub fn list(&mut self, node: Node) -> Option<(String, Vec<Node>)> {
        match node.json {
            Json::List(items) => {
                let nodes = items
                    .into_iter()
                    .enumerate()
                    .map(|(i, json)| Node { path: format!("{}[{i}]", node.path), json })
                    .collect();
                Some((node.path, nodes))
            }
            _ => self.wrong_type(&node.path, "a list"),
        }
    }

    /// A list of 1 to `max` items.
    pub fn bounded_list(&mut self, node: Node, max: usize) -> Option<Vec<Node>> {
        let (path, items) = self.list(node)?;
        if items.is_empty() {
            self.add(
                path,
                "empty",
                format!("at least 1 item, at most {max}; leave the key out instead"),
            );
            return None;
        }
        if items.len() > max {
            self.add(path, "too_many", format!("at most {max} items"));
            return None;
        }
        Some(items)
    }

    pub fn string(&mut self, node: Node) -> Option<(String, String)> {
        match node.json {
            Json::Text(text) => Some((node.path, text)),
            _ => self.wrong_type(&node.path, "a string"),
        }
    }

    pub fn number(&mut self, node: Node, min: f64, max: f64) -> Option<f64> {
        let Json::Number(number) = node.json else {
            return self.wrong_type(&node.path, "a number");
        };
        let value = number.as_f64().filter(|n| n.is_finite() && (min..=max).contains(n));
        if value.is_none() {
            self.add(node.path, "out_of_range", format!("from {min} to {max}"));
        }
        value
    }

    pub fn wrong_type<T>(&mut self, path: &str, needed: &str) -> Option<T> {
        self.add(path, "wrong_type", format!("must be {needed}"));
        None
    }

    fn class<T>(
        &mut self,
        node: Node,
        max: usize,
        what: &str,
        parse: fn(String, usize) -> Result<T, TextProblem>,
    ) -> Option<T> {
        let (path, text) = self.string(node)?;
        match parse(text, max) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.text_problem(path, problem, what);
                None
            }
        }
    }

    pub fn text_problem(&mut self, path: String, problem: TextProblem, what: &str) {
        match problem {
            TextProblem::Blank => self.add(path, "blank", "must hold a visible character"),
            TextProblem::TooLong { max } => {
                self.add(path, "too_long", format!("at most {max} characters"));
            }
            TextProblem::BadText => {
                self.add(path, "bad_text", format!("holds a character that {what} refuses"));
            }
        }
    }

    pub fn text(&mut self, node: Node, max: usize) -> Option<Text> {
        self.class(node, max, "a text", Text::parse)
    }
    pub fn text_or_blank(&mut self, node: Node, max: usize) -> Option<Text> {
        self.class(node, max, "a text", Text::parse_or_blank)
    }
    pub fn line(&mut self, node: Node, max: usize) -> Option<Line> {
        self.class(node, max, "a single line", Line::parse)
    }
    pub fn filename(&mut self, node: Node, max: usize) -> Option<Filename> {
        self.class(node, max, "a file name", Filename::parse)
    }
    pub fn token(&mut self, node: Node, max: usize) -> Option<Token> {
        self.class(node, max, "a token (no white space)", Token::parse)
    }

    /// One of a closed list of words.
    pub fn word<T: Copy>(&mut self, node: Node, words: &[(&'static str, T)]) -> Option<T> {
        let (path, text) = self.string(node)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let list: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.add(path, "not_one_of", format!("one of: {}", list.join(", ")));
        }
        found
    }
}

/// An object being read.
pub(super) struct Object {
    path: String,
    entries: Vec<(String, Json)>,
    known: &'static [&'static str],
}

impl Object {
    /// The object over the whole body.
    pub fn root(entries: Vec<(String, Json)>, known: &'static [&'static str]) -> Self {
        Self { path: String::new(), entries, known }
    }

    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Takes a key; `null` counts as absent.
    pub fn take(&mut self, key: &'static str) -> Option<Node> {
        let place = self.entries.iter().position(|(name, _)| name == key)?;
        let (_, json) = self.entries.remove(place);
        (json != Json::Null).then(|| Node { path: self.path_of(key), json })
    }

    /// As [`Object::take`], and leaves `required` behind when it is absent.
    pub fn require(&mut self, key: &'static str, problems: &mut Problems) -> Option<Node> {
        let node = self.take(key);
        if node.is_none() {
            problems.add(self.path_of(key), "required", "this field is required");
        }
        node
    }

    /// Whatever was not taken is unknown. The key itself is the caller's word and is not repeated;
    /// a known name that is close to it is offered.
    pub fn finish(self, problems: &mut Problems) {
        for (key, _) in &self.entries {
            let near = self.known.iter().find(|name| is_near(name, key));
            let hint = near.map_or_else(
                || format!("known keys: {}", self.known.join(", ")),
                |name| format!("did you mean `{name}`?"),
            );
            let field = if self.path.is_empty() { "body".to_owned() } else { self.path.clone() };
            problems.add(field, "unknown_field", format!("holds a key that is not known; {hint}"));
        }
    }
}

/// One edit apart, or equal but for case and `_`/`-`.
fn is_near(known: &str, key: &str) -> bool {
    if key.len() > known.len() + 2 {
        return false;
    }
    let fold = |s: &str| s.to_ascii_lowercase().replace(['-', '_'], "");
    let (a, b) = (fold(known), fold(key));
    if a == b {
        return true;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let most = a.len().min(b.len()) - head;
    let tail = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(x, y)| x == y).count();
    (a.len() - head - tail).max(b.len() - head - tail) <= 1 && a.len() > 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_not_repeated_and_a_near_name_is_offered() {
        let entries = vec![
            ("mesage".to_owned(), Json::Bool(true)),
            ("s3cret-word".to_owned(), Json::Bool(true)),
        ];
        let mut problems = Problems::default();
        Object::root(entries, &["message", "media"]).finish(&mut problems);
        let list = problems.into_list();
        assert_eq!(list[0].detail, "holds a key that is not known; did you mean `message`?");
        assert!(list.iter().all(|p| p.field == "body" && !p.detail.contains("s3cret")));
    }
}
