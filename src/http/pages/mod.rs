//! What a browser is served that is no API: embedded files and the reference page.
pub mod assets;
pub mod docs;
