#!/bin/sh
# RUSTC_WORKSPACE_WRAPPER of `python3 dev.py fuzz`: compiles the crates of this workspace, and only these, with the
# coverage counters that libFuzzer reads. Dependencies stay as `cargo test` has built them, so they are built once.
exec "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares
