//! stub
pub(crate) const INFO: tamis_core::engine::registry::EngineInfo = super::k_index::INFO;
