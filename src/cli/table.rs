//! Tables for people. What comes from a caller or a person is shown with its control and format
//! characters made visible, so that no terminal acts on them.
use std::io::IsTerminal;

/// Makes control, format and line characters visible and cuts to `max` characters.
#[must_use]
pub fn safe(text: &str, max: usize) -> String {
    let mut shown = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == max {
            shown.push('…');
            break;
        }
        match c {
            '\n' => shown.push('⏎'),
            c if c.is_control() || contract::text::is_format(c) => {
                shown.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => shown.push(c),
        }
    }
    shown
}

/// Prints rows under headings, columns as wide as their widest cell.
pub fn print(headings: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([headings[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| {
            let gap = width.saturating_sub(cell.chars().count());
            format!("{cell}{}", " ".repeat(gap))
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let head: Vec<String> = headings.iter().map(|h| (*h).to_owned()).collect();
    println!("{}", bold(&line(&head)));
    for row in rows {
        println!("{}", line(row));
    }
}

/// Bold on a terminal.
#[must_use]
pub fn bold(text: &str) -> String {
    paint(text, "1")
}

/// A status in its colour on a terminal.
#[must_use]
pub fn status(word: &str) -> String {
    let colour = match word {
        "sent" | "delivered" | "read" | "ok" | "native" => "32",
        "failed" | "outcome_unknown" | "expired" | "failing" | "refused" => "31",
        "declined" | "degraded" | "queued" | "sending" | "unknown" => "33",
        _ => "0",
    };
    paint(word, colour)
}

fn paint(text: &str, code: &str) -> String {
    if std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_controls_become_visible() {
        let shown = safe("a\u{1b}[2J\u{202E}b\nc", 20);
        assert_eq!(shown, "a\\u{1b}[2J\\u{202e}b⏎c");
        assert_eq!(safe("abcdef", 3), "abc…");
    }
}
