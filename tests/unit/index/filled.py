"""Indexes that several tests use."""

from __future__ import annotations

from tamis import Index


def index_of(**expressions: str) -> Index:
    """An index with these rules, each under its name."""
    index = Index()
    index.add_many(expressions)
    return index
