//! Saving beside other savers, killed savers, and entries that somebody planted.
#![cfg(unix)]

use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use tamis_conformance::folder::Folder;
use tamis_core::index::{Id, Index, Settings};

fn small() -> Index {
    let index = Index::new(Settings::default()).expect("an index");
    index.add(Id::from(1), "a = 1".into()).expect("added");
    index
}

fn assert_saved(path: &Path) {
    assert_eq!(Index::load(path).expect("a whole file").ids(), [Id::from(1)]);
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("a file").permissions().mode() & 0o7777
}

/// A name as a saver of this file makes it.
fn temporary(number: u32) -> String {
    format!("x.tamis.{number:016x}.tamis-tmp")
}

/// The names that a process id and a counter lead to: another container with the same process id writes to them, and
/// anyone can guess them.
#[test]
fn names_of_temporary_files_cannot_be_guessed() {
    let folder = Folder::new("guessed");
    let (path, victim) = (folder.path("x.tamis"), folder.path("victim"));
    std::fs::write(&victim, "precious").expect("written");
    let guess = |number: usize| folder.path(&format!("x.tamis.{}.{number}.tmp", std::process::id()));
    for number in 0..2_000 {
        match number % 2 {
            0 => symlink(&victim, guess(number)).expect("a link"),
            _ => std::fs::write(guess(number), "of another saver").expect("written"),
        }
    }
    small().save(&path).expect("saved");
    assert_saved(&path);
    assert_eq!(std::fs::read_to_string(&victim).expect("a file"), "precious");
    for number in (1..2_000).step_by(2) {
        assert_eq!(std::fs::read_to_string(guess(number)).expect("a file"), "of another saver");
    }
}

#[test]
fn files_of_killed_savers_are_removed_and_nothing_else() {
    let folder = Folder::new("abandoned");
    let path = folder.path("x.tamis");
    let [abandoned, held, linked, unfolded] = [1, 2, 3, 4].map(temporary);
    let victim = folder.path("victim");
    for name in ["victim", &abandoned, &held, "y.tamis.0000000000000001.tamis-tmp", "x.tamis.1.tamis-tmp"] {
        std::fs::write(folder.path(name), "content").expect("written");
    }
    let saver = File::open(folder.path(&held)).expect("a file");
    saver.try_lock().expect("a lock");
    symlink(&victim, folder.path(&linked)).expect("a link");
    std::fs::create_dir(folder.path(&unfolded)).expect("a folder");
    small().save(&path).expect("saved");
    assert_saved(&path);
    let mut left = vec!["victim", &*held, &linked, &unfolded, "x.tamis"];
    left.extend(["y.tamis.0000000000000001.tamis-tmp", "x.tamis.1.tamis-tmp"]);
    left.sort_unstable();
    assert_eq!(folder.names(), left);
    drop(saver);
    small().save(&path).expect("saved");
    left.retain(|name| *name != held);
    assert_eq!(folder.names(), left, "its saver has ended");
}

#[test]
fn the_mode_of_a_replaced_file_stays() {
    let folder = Folder::new("mode");
    let path = folder.path("x.tamis");
    small().save(&path).expect("saved");
    let plain = folder.path("plain");
    File::create(&plain).expect("created");
    assert_eq!(mode(&path), mode(&plain), "a first file is as any that the process creates");
    for bits in [0o600, 0o640, 0o666, 0o444] {
        std::fs::set_permissions(&path, Permissions::from_mode(bits)).expect("changed");
        small().save(&path).expect("saved");
        assert_eq!(mode(&path), bits);
        assert_saved(&path);
    }
}

#[test]
fn a_symbolic_link_stays_and_leads_to_the_saved_file() {
    let folder = Folder::new("links");
    std::fs::create_dir(folder.path("data")).expect("a folder");
    let (real, link, second) = (folder.path("data/real.tamis"), folder.path("link"), folder.path("second"));
    symlink("data/real.tamis", &link).expect("a link");
    symlink(&link, &second).expect("a link");
    // At first the link leads nowhere.
    for path in [&link, &second] {
        small().save(path).expect("saved");
        assert!(link.is_symlink() && second.is_symlink() && !real.is_symlink());
        assert_saved(&real);
        assert_saved(path);
        assert_eq!(folder.names(), ["data", "link", "second"]);
    }
    let circle = folder.path("circle");
    symlink(&circle, &circle).expect("a link");
    assert!(small().save(&circle).is_err_and(|error| error.to_string().contains("symbolic links")));
}

#[test]
fn what_is_no_regular_file_is_not_replaced() {
    let null = Path::new("/dev/null");
    let error = small().save(null).expect_err("a device").to_string();
    assert!(error.contains("/dev/null") && error.contains("not a regular file"), "{error}");
}
