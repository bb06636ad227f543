//! The arrays of a segment, as those who walk through them see them.

use crate::compiled::arena::test_encoding::Format;
use crate::compiled::arena::writer::Dimension;
use crate::compiled::values::spaces::SpacesView;
use crate::compiled::values::string_predicates::Textuals;

/// The arrays of a segment, unpacked once for many events.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct View<'a> {
    pub format: Format,
    pub attributes: usize,
    pub len: usize,
    pub spaces: SpacesView<'a>,
    pub elements: &'a [[u32; 2]],
    pub dimensions: &'a [Dimension],
    pub nodes: &'a [u32],
    pub arena: &'a [u32],
    pub everywhere: u32,
    pub entries: &'a [[u32; 4]],
    pub intervals: &'a [[u32; 2]],
    pub bits: &'a [u64],
    pub programs: &'a [u64],
    pub memos: u32,
    pub textuals: &'a Textuals,
    /// Whether some expression may be found several times.
    pub repeats: bool,
    /// Whether events can be matched together.
    pub together: bool,
}
