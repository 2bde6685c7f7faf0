//! The `tidings` binary: parses the command line, nothing else.

fn main() -> std::process::ExitCode {
    tidings::cli::run()
}
