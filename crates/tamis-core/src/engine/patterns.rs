//! stub
use crate::expr::TextPattern;
use std::sync::Arc;
#[derive(Debug, Default)]
pub(crate) struct Patterns(Vec<(u32, Arc<TextPattern>)>);
#[derive(Debug, Default)]
pub(crate) struct PatternScratch;
impl Patterns {
    pub fn insert(&mut self, number: u32, pattern: &Arc<TextPattern>) {
        self.0.push((number, pattern.clone()));
    }
    pub fn remove(&mut self, number: u32) {
        self.0.retain(|x| x.0 != number);
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn find(&self, text: &str, _: &mut PatternScratch, each: &mut dyn FnMut(u32)) {
        for (n, p) in &self.0 {
            if p.matches(text) {
                each(*n);
            }
        }
    }
    pub fn validate(&self) -> Result<(), String> {
        Ok(())
    }
    pub fn memory(&self) -> usize {
        0
    }
}
