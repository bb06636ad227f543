//! Folders for files that tests write.

use std::path::PathBuf;

/// A folder of a test's own, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    /// A folder named after a test and the process.
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("tamis-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names of its files, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
