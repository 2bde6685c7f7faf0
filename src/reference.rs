//! Pages of the documentation that are written from the code.
use contract::{Capability, Descriptor, LimitName, Registration};
use std::fmt::Write;

const GENERATED: &str = "<!-- Generated from the code; a test fails when it drifts. -->\n\n";

/// The capability matrix and the limits of every medium: `docs/CHANNELS.md`.
#[must_use]
pub fn channels(media: &[&Registration]) -> String {
    let columns: Vec<(&str, Descriptor)> = media
        .iter()
        .flat_map(|registration| registration.samples.iter().map(move |s| (registration, s)))
        .filter_map(|(registration, sample)| {
            let opened = registration.open_sample(sample).ok()?;
            Some((sample.name, opened.adapter.descriptor().clone()))
        })
        .collect();
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut text = format!(
        "# Channels\n\n{GENERATED}What each medium does with what a notification holds. *native*: as it \
         is. *degraded*: by the named\napproximation, which is listed in the answer. *declined*: \
         refused with 501 before anything is recorded.\n\n## Capabilities\n\n"
    );
    heading(&mut text, "capability", &names);
    for capability in Capability::ALL {
        let cells = columns.iter().map(|(_, descriptor)| {
            let support = descriptor.matrix.support(*capability);
            match support.how() {
                Some(how) => format!("{} `{how}`", support.word()),
                None => support.word().to_owned(),
            }
        });
        row(&mut text, capability.as_str(), cells);
    }
    text.push_str(
        "\n## Limits\n\n`utf16` counts UTF-16 code units, `chars` Unicode scalar values.\n\n",
    );
    heading(&mut text, "limit", &names);
    for name in LimitName::ALL {
        let cells = columns.iter().map(|(_, descriptor)| {
            descriptor
                .limits
                .get(*name)
                .map_or("–".to_owned(), |l| format!("{} {}", l.max, l.unit))
        });
        row(&mut text, name.as_str(), cells);
    }
    text.push_str("\n## Statuses reached\n\n");
    for (name, descriptor) in &columns {
        let words: Vec<&str> = descriptor.receipts.iter().map(|r| r.as_str()).collect();
        let _ = writeln!(text, "- {name}: {}", words.join(", "));
    }
    text
}

fn heading(text: &mut String, first: &str, names: &[&str]) {
    let _ = writeln!(text, "| {first} | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(names.len()));
}

fn row(text: &mut String, first: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    let _ = writeln!(text, "| `{first}` | {} |", cells.join(" | "));
}

/// Every code of a refusal: `docs/PROBLEMS.md`.
#[must_use]
pub fn problems() -> String {
    let mut text = format!(
        "# Problems\n\n{GENERATED}A refusal is `application/problem+json`: `{{type, title, status, \
         detail, code, errors?, errors_total?, …}}`.\n`errors` lists every problem found at the stage \
         that refused. A problem names fields, bounds and\nregistered names; it never repeats a \
         value or a secret.\n\n| code | status | title |\n|---|---|---|\n"
    );
    for (code, status, title) in crate::problem::CODES {
        let waits = crate::problem::NOT_YET.iter().find(|(c, _)| c == code);
        let note = waits.map(|(_, why)| format!(" (not yet: {why})")).unwrap_or_default();
        let _ = writeln!(text, "| `{code}` | {status} | {title}{note} |");
    }
    text
}

/// The command line: `docs/CLI.md`.
#[must_use]
pub fn commands() -> String {
    let intro = "Exit codes: 0 done, 1 refused, 2 usage, 3 the gateway cannot be reached, 75 the store \
                 is locked.\nThe client commands talk to `TIDINGS_URL` with `TIDINGS_KEY`; without \
                 them, to the gateway whose\nfiles lie in `./tidings-data`.";
    format!("# Command line\n\n{GENERATED}{intro}\n\n{}", crate::cli::reference())
}
