"""Search logs to subscriptions, documents to events: which saved searches does a document answer?"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis.expression import all_of
from tamis.spark.columns import named, require
from tamis.spark.ingest.conversion import BadRow, Row, convert
from tamis.spark.ingest.duplicates import Duplicates
from tamis.spark.ingest.ingested import Ingested
from tamis.spark.ingest.rules import accepted
from tamis.spark.ingest.styles import KeywordStyle, Presence

LETTERS_AND_DIGITS = r"[^\W_]+"
"""The default pattern of a word: a run of letters and digits, in any script."""


def keywords(
    logs: DataFrame,
    text_col: str,
    id_col: str,
    *,
    style: KeywordStyle | None = None,
    words: Collection[str] | None = None,
    pattern: str = LETTERS_AND_DIGITS,
) -> Ingested:
    """Make a subscription of each query: all its words must be there.

    Bad are rows whose text is null or has no word left, whose id is null, and all rows that share an id.

    Args:
        logs: A row for each query.
        text_col: The column of queries. They are taken in lower case.
        id_col: The column of ids, strings or integers.
        style: What a word means; `Presence`, `Frequency` or `Split`. By default `Presence`.
        words: The only words that count; see `vocabulary`. By default all do.
        pattern: A regular expression of Python that finds the words.
    """
    maker = QueryRule(text_col, style or Presence(), Tokens.of(pattern, words))
    return convert(logs, maker, id_col=id_col, columns=[text_col], result="expression")


def keyword_events(
    documents: DataFrame,
    text_col: str,
    id_col: str,
    *,
    style: KeywordStyle | None = None,
    words: Collection[str] | None = None,
    pattern: str = LETTERS_AND_DIGITS,
    duplicates: Duplicates = "bad",
) -> Ingested:
    """Make an event, as JSON, of each document; give the same style, words and pattern as for the queries.

    A document without words is an event without attributes. Bad are rows whose text or id is null, and all
    rows that share an id.

    Args:
        documents: A row for each document.
        text_col: The column of texts.
        id_col: The column of ids, strings or integers.
        style: What a word means.
        words: The only words that count.
        pattern: A regular expression of Python that finds the words.
        duplicates: ``"keep"`` does not look for shared ids, which saves a shuffle and works on streams.
    """
    maker = DocumentEvent(text_col, style or Presence(), Tokens.of(pattern, words))
    return convert(documents, maker, id_col=id_col, columns=[text_col], result="event", duplicates=duplicates)


def vocabulary(logs: DataFrame, text_col: str, *, pattern: str = LETTERS_AND_DIGITS) -> DataFrame:
    """Count the words of a log: ``word`` and ``queries``, the most frequent first, ties by the alphabet.

    The first thousands, collected, are what `keywords` takes as ``words``.
    """
    require(logs, [text_col])
    counted = logs.select(named(text_col).cast("string")).mapInArrow(
        Tokens.of(pattern, None).count, "word string, queries bigint"
    )
    total = counted.groupBy("word").agg(F.sum("queries").alias("queries"))
    return total.orderBy(F.desc("queries"), "word")


@dataclass(frozen=True)
class Tokens:
    """How a text falls into words."""

    pattern: str
    known: frozenset[str] | None

    @classmethod
    def of(cls, pattern: str, words: Collection[str] | None) -> Tokens:
        """Check the pattern.

        Raises:
            ValueError: It is no regular expression, or has groups, or ``words`` is a single string.
        """
        if isinstance(words, str):
            raise ValueError(f"words is the text {words!r}; it takes a collection of words")
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from error
        if groups:
            raise ValueError(f"pattern {pattern!r} has groups; write (?:...) to group")
        return cls(pattern, None if words is None else frozenset(word.lower() for word in words))

    def words(self, text: str) -> list[str]:
        """Give the words of a text in order."""
        found = (word for word in re.findall(self.pattern, text.lower()) if word)
        return [word for word in found if self.known is None or word in self.known]

    def count(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count for each word the texts of a batch that have it."""
        for batch in batches:
            texts = batch.column(0).cast(pa.binary()).to_pylist()
            found = (str(text, "utf-8", "replace") for text in texts if text is not None)
            counts = Counter(word for text in found for word in set(self.words(text)))
            columns = [pa.array(counts.keys(), pa.string()), pa.array(counts.values(), pa.int64())]
            yield pa.RecordBatch.from_arrays(columns, names=["word", "queries"])


@dataclass(frozen=True)
class Worded:
    """What is made of the words of a column, in a style."""

    column: str
    style: KeywordStyle
    tokens: Tokens

    def words(self, row: Row) -> list[str]:
        """Give the words of a row in order.

        Raises:
            BadRow: The column holds no text.
        """
        text = row[self.column]
        if text is None:
            raise BadRow(self.column, "the text is null")
        if not isinstance(text, str):
            raise BadRow(self.column, f"a text is needed, not {type(text).__name__}")
        return self.tokens.words(text)


@dataclass(frozen=True)
class QueryRule(Worded):
    """Makes an expression of a query."""

    def __call__(self, id: Any, row: Row) -> str:
        """Join the predicates of the words."""
        words = self.words(row)
        if not words:
            raise BadRow(self.column, "no word is left of the text: the rule would match every event")
        return accepted(all_of(*self.style.predicates(words, id)), self.column)


@dataclass(frozen=True)
class DocumentEvent(Worded):
    """Makes an event of a document."""

    def __call__(self, id: Any, row: Row) -> str:
        """Write the attributes of the words as JSON."""
        return json.dumps(self.style.event(self.words(row)), ensure_ascii=False)
