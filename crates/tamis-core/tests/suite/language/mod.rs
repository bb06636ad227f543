//! What does a text mean?

mod cases;
mod expressions;
mod parser_robustness;
