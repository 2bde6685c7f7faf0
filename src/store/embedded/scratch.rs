//! Folders for tests, gone when dropped.
use std::path::{Path, PathBuf};

/// One folder.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A fresh one.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tidings-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
