//! Replacing a file as a whole: a crash leaves the old file or the new one, and savers do not disturb each other.
//!
//! The content is written to a temporary file beside the target, synced, and renamed. The name of the temporary file is
//! that of the target and 64 random bits, so that processes with equal process ids (two containers on one volume) have
//! different files. It is created exclusively: an entry that is there already, a symbolic link included, is never opened
//! for writing.
//!
//! A saver holds an advisory lock on its temporary file until the file is renamed. The next saver of the same target
//! removes temporary files whose lock it gets: their savers were killed. On file systems without locks nothing is removed.
//!
//! Invariants: a symbolic link at the target stays, the file it leads to is replaced. The mode bits of a replaced file
//! stay; so do its owner and group where the system permits it.
//!
//! Cost beside the content: one listing of the folder.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// The end of a temporary file's name. Before it are the target's name, a dot and [`DIGITS`] hexadecimal digits.
const ENDING: &str = ".tamis-tmp";
/// Hexadecimal digits of the random part of a temporary file's name: 64 bits.
const DIGITS: usize = 16;
/// Maximum symbolic links that are followed to the target, as in Linux.
const MAX_LINKS: usize = 40;
/// Maximum names that are tried: each attempt fails only if another process has the same 64 random bits, or takes the
/// file for that of a killed saver before it is locked.
const ATTEMPTS: usize = 100;

/// Replaces the file at a path by what `write` writes.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let target = follow_links(path)?;
    let old = match std::fs::metadata(&target) {
        Ok(old) if old.is_file() => Some(old),
        Ok(_) => return Err(Error::other("not a regular file: it is not replaced; save to another path")),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let names = TemporaryNames::of(&target)?;
    names.remove_abandoned();
    let (mut file, temporary) = names.create(old.is_some())?;
    let written = write(&mut file).and_then(|()| {
        if let Some(old) = &old {
            keep_access(&file, old)?;
        }
        file.sync_all()?;
        std::fs::rename(&temporary, &target)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
        return written;
    }
    // The rename is durable once the folder is synced. Some systems cannot open folders; they need no sync.
    if let Ok(folder) = File::open(&names.folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// The path that symbolic links lead to, which need not exist.
fn follow_links(path: &Path) -> Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::symlink_metadata(&target) {
            // A relative link begins at the folder of the link.
            Ok(entry) if entry.is_symlink() => target = folder_of(&target).join(std::fs::read_link(&target)?),
            _ => return Ok(target),
        }
    }
    Err(Error::other(format!("more than {MAX_LINKS} symbolic links")))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Gives the file the mode bits of the one it replaces, and its owner and group if that is permitted.
fn keep_access(file: &File, old: &Metadata) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            let _ = fchown(file, Some(old.uid()), Some(old.gid()));
        }
        file.set_permissions(PermissionsExt::from_mode(old.mode() & 0o777))
    }
    #[cfg(not(unix))]
    file.set_permissions(old.permissions())
}

/// The temporary files of one target.
struct TemporaryNames {
    /// The folder of the target.
    folder: PathBuf,
    /// The target's name and a dot.
    beginning: OsString,
}

impl TemporaryNames {
    fn of(target: &Path) -> Result<TemporaryNames> {
        let mut beginning = target.file_name().ok_or(ErrorKind::InvalidFilename)?.to_owned();
        beginning.push(".");
        Ok(TemporaryNames { folder: folder_of(target).to_owned(), beginning })
    }

    /// A name that no other process can guess: each [`RandomState`] has keys of its own.
    fn random(&self) -> PathBuf {
        let mut name = self.beginning.clone();
        name.push(format!("{:0DIGITS$x}{ENDING}", RandomState::new().hash_one(std::process::id())));
        self.folder.join(name)
    }

    /// Whether a file's name is one that [`TemporaryNames::random`] could have made.
    fn contain(&self, name: &OsStr) -> bool {
        let random = name
            .as_encoded_bytes()
            .strip_prefix(self.beginning.as_encoded_bytes())
            .and_then(|rest| rest.strip_suffix(ENDING.as_bytes()));
        let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
        random.is_some_and(|random| random.len() == DIGITS && random.iter().all(is_digit))
    }

    /// Creates and locks a temporary file. If the target exists, the file is for its owner only until it gets the mode of
    /// the target.
    fn create(&self, private: bool) -> Result<(File, PathBuf)> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        for _ in 0..ATTEMPTS {
            let name = self.random();
            let file = match options.open(&name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            // Another saver may have locked the file before this one did, to remove it.
            let is_taken =
                matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || is_removed(&file, &name);
            if !is_taken {
                return Ok((file, name));
            }
        }
        Err(Error::other(format!("{ATTEMPTS} temporary files were taken by others; try again")))
    }

    /// Removes the temporary files of killed savers. Faults are ignored: the files are only in the way.
    fn remove_abandoned(&self) {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| self.contain(&entry.file_name())) {
            // The type is that of the entry itself, not of what a symbolic link leads to.
            if entry.file_type().is_ok_and(|kind| kind.is_file())
                && let Ok(file) = File::open(entry.path())
                && file.try_lock().is_ok()
            {
                // The lock is held until the name is gone, so that no saver begins to use the file.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether the name of an open file is gone.
fn is_removed(file: &File, name: &Path) -> bool {
    #[cfg(unix)]
    {
        let _ = name;
        file.metadata().is_ok_and(|file| std::os::unix::fs::MetadataExt::nlink(&file) == 0)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        !name.exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_exact_pattern_are_temporary() {
        let names = TemporaryNames::of(Path::new("folder/x.tamis")).expect("a name");
        let temporary = names.random();
        let of = |name: &str| names.contain(OsStr::new(name));
        assert_eq!(temporary.parent(), Some(Path::new("folder")));
        assert!(temporary.file_name().is_some_and(|name| names.contain(name)), "{}", temporary.display());
        assert!(of("x.tamis.0123456789abcdef.tamis-tmp"));
        for other in [
            "x.tamis",
            "x.tamis.tamis-tmp",
            "x.tamis.0123456789abcdef.tmp",
            "x.tamis.0123456789abcde.tamis-tmp",
            "x.tamis.0123456789ABCDEF.tamis-tmp",
            "x.tamis.0123456789abcdefg.tamis-tmp",
            "y.tamis.0123456789abcdef.tamis-tmp",
            "x.tamis.0123456789abcdef.tamis-tmp.old",
        ] {
            assert!(!of(other), "{other}");
        }
        assert_ne!(names.random(), names.random());
    }

    #[test]
    fn a_path_without_a_name_is_refused() {
        assert!(TemporaryNames::of(Path::new("..")).is_err());
        assert!(replace(Path::new("/"), |_| Ok(())).is_err());
    }
}
