//! Every seed of every target, without a fuzzer: what once found a fault stays found.

use std::path::Path;
use tamis_fuzz::TARGETS;

#[test]
fn seeds() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    for (name, check) in TARGETS {
        let entries = std::fs::read_dir(seeds.join(name)).expect("a folder of seeds");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        assert!(!paths.is_empty(), "{name} has no seeds");
        for path in paths {
            println!("{}", path.display());
            check(&std::fs::read(&path).expect("a seed"));
        }
    }
}
