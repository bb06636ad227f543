//! Settings, ids and strings as bytes. Numbers are little-endian; a string is its length in 4 bytes, then its UTF-8 bytes.

use crate::engine::registry::{OptionValue, Options};
use crate::expr::{Limits, Missing};
use crate::index::{Id, Settings};

/// Appends to a byte vector.
#[derive(Default)]
pub(in crate::index) struct ByteWriter(pub Vec<u8>);

impl ByteWriter {
    pub fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    pub fn settings(&mut self, settings: &Settings) {
        let Settings { engine, options, missing, limits } = settings;
        self.text(engine);
        self.0.push(u8::from(*missing == Missing::False));
        for limit in [limits.max_length, limits.max_depth, limits.max_regex_size, limits.max_dnf] {
            self.u64(limit as u64);
        }
        self.u32(options.len() as u32);
        for (name, value) in options {
            self.option(name, value);
        }
    }

    pub fn id(&mut self, id: &Id) {
        match id {
            Id::Int(id) => {
                self.0.push(0);
                self.u64(*id as u64);
            }
            Id::Text(id) => {
                self.0.push(1);
                self.text(id);
            }
        }
    }

    fn option(&mut self, name: &str, value: &OptionValue) {
        self.text(name);
        match value {
            OptionValue::Bool(value) => self.0.extend([0, u8::from(*value)]),
            OptionValue::Int(value) => {
                self.0.push(1);
                self.u64(*value as u64);
            }
            OptionValue::Float(value) => {
                self.0.push(2);
                self.u64(value.to_bits());
            }
            OptionValue::Text(value) => {
                self.0.push(3);
                self.text(value);
            }
        }
    }
}

/// Reads from the front. Every length is checked against the bytes left.
pub(in crate::index) struct ByteReader<'b>(pub &'b [u8]);

impl<'b> ByteReader<'b> {
    pub fn take(&mut self, length: usize) -> Result<&'b [u8], String> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("the file ends too early: truncated")?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N)?);
        Ok(bytes)
    }

    pub fn u8(&mut self) -> Result<u8, String> {
        self.array().map(u8::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn usize(&mut self) -> Result<usize, String> {
        usize::try_from(self.u64()?).map_err(|_| "a number too large for this machine".into())
    }

    pub fn text(&mut self) -> Result<&'b str, String> {
        let length = self.u32()? as usize;
        std::str::from_utf8(self.take(length)?).map_err(|_| "a text that is not UTF-8".into())
    }

    pub fn settings(&mut self) -> Result<Settings, String> {
        let engine = self.text()?.to_owned();
        let missing = match self.u8()? {
            0 => Missing::Unknown,
            1 => Missing::False,
            other => return Err(format!("unknown setting of missing: {other}")),
        };
        let limits = Limits {
            max_length: self.usize()?,
            max_depth: self.usize()?,
            max_regex_size: self.usize()?,
            max_dnf: self.usize()?,
        };
        let mut options = Options::new();
        for _ in 0..self.u32()? {
            let name = self.text()?.to_owned();
            let value = match self.u8()? {
                0 => OptionValue::Bool(self.u8()? != 0),
                1 => OptionValue::Int(self.u64()? as i64),
                2 => OptionValue::Float(f64::from_bits(self.u64()?)),
                3 => OptionValue::Text(self.text()?.to_owned()),
                other => return Err(format!("unknown kind of option: {other}")),
            };
            options.insert(name, value);
        }
        Ok(Settings { engine, options, missing, limits })
    }

    pub fn id(&mut self) -> Result<Id, String> {
        match self.u8()? {
            0 => Ok(Id::Int(self.u64()? as i64)),
            1 => Ok(Id::from(self.text()?)),
            other => Err(format!("unknown kind of id: {other}")),
        }
    }
}
