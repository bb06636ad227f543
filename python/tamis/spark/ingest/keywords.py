"""Converts search logs to rules and documents to events, for saved searches."""

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

from tamis import all_of
from tamis.spark.columns import exact_column, require_columns
from tamis.spark.ingest.conversion import BadRow, RowValues, convert
from tamis.spark.ingest.duplicates import Duplicates
from tamis.spark.ingest.ingested import Ingested
from tamis.spark.ingest.rules import checked_text
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
    """Make a rule of each query: an event must have all its words.

    A row is bad if its text is null or contains no word, if its id is null, or if another row has the same
    id.

    Args:
        logs: One row per query.
        text_col: The column of queries, which are converted to lower case.
        id_col: The column of ids, strings or integers.
        style: How a word becomes a predicate: `Presence` (the default), `Frequency` or `Split`.
        words: The words to use, see `vocabulary`; other words are ignored. By default all words are used.
        pattern: A Python regular expression that matches a word.
    """
    converter = QueryRule(text_col, style or Presence(), Tokens.of(pattern, words))
    return convert(logs, converter, id_col=id_col, columns=[text_col], result="expression")


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
    """Make an event, as JSON, of each document. Style, words and pattern must be those of the queries.

    A document without words is an event without attributes. A row is bad if its text or id is null, or if
    another row has the same id.

    Args:
        documents: One row per document.
        text_col: The column of texts.
        id_col: The column of ids, strings or integers.
        style: How a word becomes an attribute.
        words: The words to use; other words are ignored.
        pattern: A Python regular expression that matches a word.
        duplicates: ``"keep"`` does not check for repeated ids, which saves a shuffle and works on streams.
    """
    converter = DocumentEvent(text_col, style or Presence(), Tokens.of(pattern, words))
    return convert(
        documents, converter, id_col=id_col, columns=[text_col], result="event", duplicates=duplicates
    )


def vocabulary(logs: DataFrame, text_col: str, *, pattern: str = LETTERS_AND_DIGITS) -> DataFrame:
    """Count the words of a log: ``word`` and ``queries``, the most frequent first, ties by alphabet.

    The first few thousand words, collected, are an argument ``words`` of `keywords`.
    """
    require_columns(logs, [text_col])
    counted = logs.select(exact_column(text_col).cast("string")).mapInArrow(
        Tokens.of(pattern, None).count, "word string, queries bigint"
    )
    total = counted.groupBy("word").agg(F.sum("queries").alias("queries"))
    return total.orderBy(F.desc("queries"), "word")


@dataclass(frozen=True)
class Tokens:
    """Splits a text into words."""

    pattern: str
    known: frozenset[str] | None

    @classmethod
    def of(cls, pattern: str, words: Collection[str] | None) -> Tokens:
        """Check the pattern.

        Raises:
            ValueError: It is not a regular expression, or has groups, or ``words`` is a single string.
        """
        if isinstance(words, str):
            raise ValueError(f"words is the string {words!r}; accepted is a collection of words")
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise ValueError(f"pattern {pattern!r} is not a regular expression: {error}") from error
        if groups:
            raise ValueError(f"pattern {pattern!r} has groups; write (?:...) to group")
        return cls(pattern, None if words is None else frozenset(word.lower() for word in words))

    def words(self, text: str) -> list[str]:
        """Return the words of a text in order."""
        found = (word for word in re.findall(self.pattern, text.lower()) if word)
        return [word for word in found if self.known is None or word in self.known]

    def count(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count, for each word, the texts of a batch that contain it."""
        for batch in batches:
            texts = batch.column(0).cast(pa.binary()).to_pylist()
            found = (str(text, "utf-8", "replace") for text in texts if text is not None)
            counts = Counter(word for text in found for word in set(self.words(text)))
            columns = [pa.array(counts.keys(), pa.string()), pa.array(counts.values(), pa.int64())]
            yield pa.RecordBatch.from_arrays(columns, names=["word", "queries"])


@dataclass(frozen=True)
class KeywordConverter:
    """Converts the words of a column in a style; subclasses make rules or events of them."""

    column: str
    style: KeywordStyle
    tokens: Tokens

    def words(self, row: RowValues) -> list[str]:
        """Return the words of a row in order.

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
class QueryRule(KeywordConverter):
    """Makes an expression of a query."""

    def __call__(self, id: Any, row: RowValues) -> str:
        """Join the predicates of the words."""
        words = self.words(row)
        if not words:
            raise BadRow(self.column, "the text contains no word: the rule would match every event")
        return checked_text(all_of(*self.style.predicates(words, id)), self.column)


@dataclass(frozen=True)
class DocumentEvent(KeywordConverter):
    """Makes an event of a document."""

    def __call__(self, id: Any, row: RowValues) -> str:
        """Write the attributes of the words as JSON."""
        return json.dumps(self.style.event(self.words(row)), ensure_ascii=False)
