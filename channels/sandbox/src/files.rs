//! Bytes by their SHA-256: `vendors/files/<sha256>`.
//!
//! A file is written beside its place and renamed into it, so a name never holds half a file. All
//! names with their sizes are held in order of last use; past the bound the oldest go.
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

/// Bytes kept by default: 1 GiB.
pub const KEPT_BYTES: u64 = 1 << 30;

/// A digest in lower-case hex.
#[must_use]
pub(crate) fn digest(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// True for 64 lower-case hex digits: such a name cannot lead out of the folder.
fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[derive(Default)]
struct Held {
    /// Oldest first.
    order: VecDeque<(String, u64)>,
    total: u64,
}

/// The stored files.
pub struct Files {
    folder: PathBuf,
    bound: u64,
    held: Mutex<Held>,
}

impl Files {
    /// Opens the folder and counts what it holds; half-written files are removed.
    ///
    /// # Errors
    /// The folder cannot be made or read.
    pub fn open(folder: &Path, bound: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut found: Vec<(SystemTime, String, u64)> = Vec::new();
        for item in fs::read_dir(folder)? {
            let item = item?;
            let about = item.metadata()?;
            match item.file_name().into_string() {
                Ok(name) if is_digest(&name) => found.push((about.modified()?, name, about.len())),
                Ok(name) if name.ends_with(".part") => fs::remove_file(item.path())?,
                _ => {}
            }
        }
        found.sort();
        let mut held = Held::default();
        for (_, name, size) in found {
            held.total += size;
            held.order.push_back((name, size));
        }
        let files = Self { folder: folder.to_owned(), bound, held: Mutex::new(held) };
        files.trim(&mut files.lock());
        Ok(files)
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores bytes; the same bytes again are one file, and the newest again. Gives the digest.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn put(&self, bytes: &Bytes) -> io::Result<String> {
        let name = digest(bytes);
        let size = bytes.len() as u64;
        let mut held = self.lock();
        // Written again even when it is here: its age on disk is then the order of last use.
        let beside = self.folder.join(format!("{name}.part"));
        fs::write(&beside, bytes)?;
        fs::rename(&beside, self.folder.join(&name))?;
        match held.order.iter().position(|(known, _)| *known == name) {
            Some(at) => drop(held.order.remove(at)),
            None => held.total += size,
        }
        held.order.push_back((name.clone(), size));
        self.trim(&mut held);
        Ok(name)
    }

    /// The bytes of a digest; `None` when they are not, or no longer, here.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Bytes> {
        let read = is_digest(name).then(|| fs::read(self.folder.join(name)));
        read.and_then(Result::ok).map(Bytes::from)
    }

    /// Removes every file.
    ///
    /// # Errors
    /// One cannot be removed.
    pub fn clear(&self) -> io::Result<()> {
        let mut held = self.lock();
        while let Some((name, size)) = held.order.pop_front() {
            held.total -= size;
            remove(&self.folder.join(name))?;
        }
        Ok(())
    }

    /// The newest file stays, however large it is.
    fn trim(&self, held: &mut Held) {
        while held.total > self.bound && held.order.len() > 1 {
            if let Some((name, size)) = held.order.pop_front() {
                held.total -= size;
                if let Err(problem) = remove(&self.folder.join(name)) {
                    tracing::warn!(%problem, "a received file past the bound stays on disk");
                }
            }
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(problem) if problem.kind() != io::ErrorKind::NotFound => Err(problem),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|item| item.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn sorted(mut names: Vec<String>) -> Vec<String> {
        names.sort();
        names
    }

    #[test]
    fn sb_14_past_the_bound_the_longest_unused_go() {
        let folder = tempfile::TempDir::new().unwrap();
        let bytes = |letter: u8| Bytes::from(vec![letter; 40]);
        let files = Files::open(folder.path(), 100).unwrap();
        let [a, b] = [b'a', b'b'].map(|letter| files.put(&bytes(letter)).unwrap());
        assert_eq!(files.put(&bytes(b'a')).unwrap(), a, "the same bytes are one file");
        // A file system's clock may stand still for some milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(20));
        let c = files.put(&bytes(b'c')).unwrap();
        assert_eq!(held(folder.path()), sorted(vec![a.clone(), c.clone()]));
        assert_eq!((files.get(&a), files.get(&b)), (Some(bytes(b'a')), None));

        fs::write(folder.path().join(format!("{b}.part")), "half").unwrap();
        let files = Files::open(folder.path(), 100).unwrap();
        let d = files.put(&bytes(b'd')).unwrap();
        assert_eq!(held(folder.path()), sorted(vec![c, d]), "the order outlives a restart");
        let large = files.put(&Bytes::from(vec![0; 500])).unwrap();
        assert_eq!(held(folder.path()), std::slice::from_ref(&large));
        files.clear().unwrap();
        assert_eq!((held(folder.path()).len(), files.get(&large)), (0, None));
        files.put(&bytes(b'e')).unwrap();
        assert_eq!(held(folder.path()).len(), 1);
    }

    #[test]
    fn only_digests_are_names() {
        let folder = tempfile::TempDir::new().unwrap();
        let files = Files::open(&folder.path().join("files"), 100).unwrap();
        fs::write(folder.path().join("secret"), "x").unwrap();
        let upper = files.put(&Bytes::from_static(b"x")).unwrap().to_uppercase();
        for name in ["", ".", "..", "../secret", &upper, &"a".repeat(63), &"/".repeat(64)] {
            assert_eq!(files.get(name), None, "{name}");
        }
    }
}
