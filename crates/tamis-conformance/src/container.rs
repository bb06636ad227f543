//! Files of formats 2 and 3 taken apart and put together again, with lengths and checksums that fit: for files that no index
//! wrote.
//!
//! Written from `docs/file-format.md`, not from the code it tests.

use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the header, of a line of the section table, and of a hashed block.
const HEADER: usize = 64;
const LINE: usize = 40;
const BLOCK: usize = 1 << 20;

/// One array of a file.
#[derive(Clone, Debug)]
pub struct Section {
    /// Group 0 is the index, each further group a segment.
    pub group: u32,
    /// What the array holds.
    pub tag: u32,
    /// Bytes of an element.
    pub element: u32,
    /// The elements.
    pub bytes: Vec<u8>,
}

/// The arrays of a file.
#[derive(Clone, Debug)]
pub struct Container {
    /// The format version.
    pub version: u32,
    /// In the order of the file.
    pub sections: Vec<Section>,
}

impl Container {
    /// The sections of an undamaged file.
    pub fn read(file: &[u8]) -> Container {
        let u32_at = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("4 bytes"));
        let u64_at = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("8 bytes")) as usize;
        let lines = (u64_at(24)..file.len()).step_by(LINE);
        let section = |line: usize| {
            let (offset, length) = (u64_at(line + 16), u64_at(line + 24));
            Section {
                group: u32_at(line),
                tag: u32_at(line + 4),
                element: u32_at(line + 8),
                bytes: file[offset..offset + length].to_vec(),
            }
        };
        Container { version: u32_at(8), sections: lines.map(section).collect() }
    }

    /// The bytes of a section.
    pub fn bytes(&mut self, group: u32, tag: u32) -> &mut Vec<u8> {
        let found = self.sections.iter_mut().find(|section| (section.group, section.tag) == (group, tag));
        &mut found.expect("a section").bytes
    }

    /// A section as numbers of 4 bytes.
    pub fn words(&mut self, group: u32, tag: u32) -> Vec<u32> {
        let bytes = self.bytes(group, tag).chunks_exact(4);
        bytes.map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect()
    }

    /// Replaces a section by numbers of 4 bytes.
    pub fn set_words(&mut self, group: u32, tag: u32, words: &[u32]) {
        *self.bytes(group, tag) = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    }

    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (mut file, mut table) = (vec![0; HEADER], Vec::new());
        for Section { group, tag, element, bytes } in &self.sections {
            let offset = file.len();
            file.extend(bytes);
            file.resize(file.len().next_multiple_of(64), 0);
            let blocks = file[offset..].chunks(BLOCK).flat_map(|block| xxh3_64(block).to_le_bytes());
            let checksum = xxh3_64(&blocks.collect::<Vec<u8>>());
            table.extend([*group, *tag, *element, 0].iter().flat_map(|word| word.to_le_bytes()));
            table.extend(
                [offset as u64, bytes.len() as u64, checksum].iter().flat_map(|word| word.to_le_bytes()),
            );
        }
        let at = file.len() as u64;
        file.extend(&table);
        let mut header = b"tamis\0ix".to_vec();
        header.extend([self.version, 0x0A0B_0C0D_u32].iter().flat_map(|word| word.to_le_bytes()));
        let numbers = [file.len() as u64, at, self.sections.len() as u64, xxh3_64(&table), 0];
        header.extend(numbers.iter().flat_map(|word| word.to_le_bytes()));
        header.extend(xxh3_64(&header).to_le_bytes());
        file[..HEADER].copy_from_slice(&header);
        file
    }
}
