//! What does a text mean?

mod accepted;
mod cases;
mod expressions;
mod parser_robustness;
