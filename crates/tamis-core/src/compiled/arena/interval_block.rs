//! Sixteen intervals in one SIMD block: first the sixteen low ends, then the sixteen high ends, each in 1, 2 or 4 bytes,
//! whichever the number of spaces needs. [`simd`](crate::compiled::matching::simd) compares a block with a space.

/// Intervals per block.
pub(in crate::compiled) const BLOCK: usize = 16;

/// Bytes of an interval's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::compiled) enum EndWidth {
    One,
    Two,
    Four,
}

impl EndWidth {
    /// The narrowest width for a number of spaces, space 0 included.
    pub fn for_spaces(count: u32) -> EndWidth {
        match count {
            0..=0x100 => EndWidth::One,
            0x101..=0x1_0000 => EndWidth::Two,
            _ => EndWidth::Four,
        }
    }

    #[inline(always)]
    pub fn from_bits(bits: u32) -> EndWidth {
        match bits & 3 {
            0 => EndWidth::One,
            1 => EndWidth::Two,
            _ => EndWidth::Four,
        }
    }

    pub fn to_bits(self) -> u32 {
        self as u32
    }

    /// 32-bit words of a block.
    #[inline(always)]
    pub const fn block_words(self) -> usize {
        match self {
            EndWidth::One => 8,
            EndWidth::Two => 16,
            EndWidth::Four => 32,
        }
    }

    /// Appends a block of at most 16 intervals; unused places get an empty interval.
    pub fn write_block(self, intervals: &[(u32, u32)], out: &mut Vec<u32>) {
        let end = |at: usize, high: bool| match intervals.get(at) {
            Some((low, _)) if !high => *low,
            Some((_, high)) => *high,
            // Low end above high end. Spaces of events are at least 1, so none is inside.
            None if high => 0,
            None => u32::MAX,
        };
        let words = |bytes: Vec<u8>, out: &mut Vec<u32>| {
            let four = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
            out.extend(bytes.chunks_exact(4).map(four));
        };
        for high in [false, true] {
            let ends = (0..BLOCK).map(|at| end(at, high));
            match self {
                EndWidth::One => words(ends.map(|end| end.min(0xff) as u8).collect(), out),
                EndWidth::Two => {
                    words(ends.flat_map(|end| (end.min(0xffff) as u16).to_le_bytes()).collect(), out)
                }
                EndWidth::Four => out.extend(ends),
            }
        }
    }

    /// The interval at a place of a block.
    #[inline(always)]
    pub fn interval(self, block: &[u32], at: usize) -> (u32, u32) {
        let end = |at: usize| match self {
            EndWidth::One => block[at / 4] >> (8 * (at % 4)) & 0xff,
            EndWidth::Two => block[at / 2] >> (16 * (at % 2)) & 0xffff,
            EndWidth::Four => block[at],
        };
        (end(at), end(BLOCK + at))
    }
}
