//! G-3: rendering is deterministic and loses no field.
use super::{Subject, leaves, shown};
use crate::corpus::{Marked, Sample, corpus, marks};
use contract::{Refusal, Rendered};

/// Renders every content of the corpus twice, byte for byte the same, and finds every marked field
/// in a request, a degrade or the refusal.
pub fn g_3_every_field_of_the_corpus_is_somewhere(subject: &Subject) {
    for sample in corpus() {
        let rendered = subject.render_json(&sample.json);
        assert_eq!(rendered, subject.render_json(&sample.json), "{}", sample.name);
        let lost: Vec<Marked> = match &rendered {
            Ok(rendered) => lost(subject, &sample, rendered),
            Err(refusal) => unexplained(&sample, refusal),
        };
        assert!(lost.is_empty(), "{} loses {lost:?}", sample.name);
    }
}

fn lost(subject: &Subject, sample: &Sample, rendered: &Rendered) -> Vec<Marked> {
    let mut texts = Vec::new();
    for view in shown(&rendered.parts) {
        leaves(&view, &mut texts);
    }
    let somewhere = |wanted: &str| texts.iter().any(|text| text.contains(wanted));
    let approximated = |path: &str| rendered.degrades.iter().any(|d| d.detail.contains(path));
    marks(&sample.json)
        .into_iter()
        .filter(|mark| {
            let minted = choice_index(sample, &mark.path)
                .is_some_and(|index| somewhere(&subject.minted(index)));
            // A form's tag is the author's alone, and a template's message the inbox's.
            let kept_here = mark.path == "form_tag"
                || (mark.path == "message" && sample.json.get("template").is_some());
            !(somewhere(&mark.marker) || approximated(&mark.path) || minted || kept_here)
        })
        .collect()
}

/// The index of the choice whose author's id stands at this path.
fn choice_index(sample: &Sample, path: &str) -> Option<usize> {
    let choice = path.strip_suffix(".id")?;
    let content = crate::content::content(&sample.json);
    let contract::Surface::Choice(surface) = &content.surface else { return None };
    surface.list.replies().iter().find(|c| c.path() == choice).map(|c| c.index)
}

/// A refusal names what it refuses: at least one field of the content.
fn unexplained(sample: &Sample, refusal: &Refusal) -> Vec<Marked> {
    let names = |member: &String| refusal.problems.iter().any(|p| p.field.starts_with(member));
    let known = sample.json.as_object().expect("an object").keys().any(names);
    if known { Vec::new() } else { marks(&sample.json) }
}
