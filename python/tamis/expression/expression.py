"""Expressions and the attributes they are built from in Python. Parsing text gives the same expressions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from tamis import _native
from tamis.errors import ParseError
from tamis.expression.limits import DEFAULT, Limits
from tamis.expression.literals import Value, attribute_name, literal, literal_list
from tamis.expression.predicate import Predicate
from tamis.results.explanation import Explanation

Missing: TypeAlias = Literal["unknown", "false"]


def parse(text: str, limits: Limits | None = None) -> Expression:
    """Parse an expression.

    >>> parse("age>=18 && !(country in ('US','DE'))")
    Expression("age >= 18 AND NOT country IN ('US', 'DE')")
    """
    return Expression(_native.parse(text, (limits or DEFAULT).as_tuple()))


class Expression:
    """A Boolean expression over an event's attributes. Immutable.

    Joins with ``&``, ``|``, ``^`` (exclusive or), ``~``; prints as canonical text.

    >>> both = parse("age >= 18") & parse("country = 'US' or vip")
    >>> both
    Expression("age >= 18 AND (country = 'US' OR vip)")
    >>> both.evaluate({"age": 20, "vip": True})
    True
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.NativeExpression) -> None:
        """Wrap an expression of the core; use `parse` or `attr` to make one."""
        self._native = native

    def __str__(self) -> str:
        """Give the canonical text, which parses back to the same expression."""
        return str(self._native)

    def __repr__(self) -> str:
        """Give the canonical text in quotes."""
        text = str(self)
        quoted = f'"{text}"' if '"' not in text and "\\" not in text else repr(text)
        return f"Expression({quoted})"

    def __eq__(self, other: object) -> bool:
        """Compare what is written, not what it means."""
        return isinstance(other, Expression) and self._native == other._native

    def __hash__(self) -> int:
        """Hash the canonical text."""
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as text; the deepest and longest expressions must read back."""
        return _unpickle, (str(self),)

    def __bool__(self) -> bool:
        """Refuse: ``and``, ``or``, ``not`` and chained comparisons would drop half the expression."""
        raise TypeError("an Expression has no truth value: use &, | and ~ instead of and, or and not")

    def __and__(self, other: Expression | Attribute) -> Expression:
        """Both hold."""
        return _join("AND", (self, other))

    def __or__(self, other: Expression | Attribute) -> Expression:
        """At least one holds."""
        return _join("OR", (self, other))

    def __xor__(self, other: Expression | Attribute) -> Expression:
        """Exactly one holds."""
        return _join("XOR", (self, other))

    def __invert__(self) -> Expression:
        """The expression does not hold."""
        return Expression(self._native.negated())

    def xnor(self, other: Expression | Attribute) -> Expression:
        """Both hold, or neither."""
        return _join("XNOR", (self, other))

    def weight(self, weight: float) -> Expression:
        """Give a single predicate its weight in scores.

        >>> (attr("age") > 30).weight(0.4)
        Expression("age > 30 ^ 0.4")
        """
        if not math.isfinite(weight) or weight < 0:
            raise ParseError(f"the weight {weight} is not finite and >= 0")
        # Adding zero turns -0.0 into 0.0, which is what its text reads back as.
        weighted = self._native.weighted(float(weight) + 0.0)
        if weighted is None:
            raise ParseError("a weight belongs to a single predicate, not to a joined or negated expression")
        return Expression(weighted)

    def attributes(self) -> frozenset[str]:
        """Name the attributes the expression refers to.

        >>> sorted(parse("a = 1 and b.c > 2").attributes())
        ['a', 'b.c']
        """
        return frozenset(self._native.attributes())

    def predicates(self) -> list[Predicate]:
        """List the predicates from left to right, as they are written.

        A predicate that occurs twice is listed twice. TRUE and FALSE are no predicates.

        >>> age, country = parse("age between 18 and 35 and not country in ('US', 'DE')").predicates()
        >>> age.attribute, age.operator, age.values, age.kind
        ('age', 'BETWEEN', (18, 35), 'number')
        >>> country.text, country.negated
        ("country IN ('US', 'DE')", True)
        """
        return [Predicate.from_native(parts) for parts in self._native.predicates()]

    def depth(self) -> int:
        """Count the levels of the expression: a predicate is one level, a connective or NOT one more.

        >>> parse("age > 30").depth(), parse("age > 30 and not vip").depth()
        (1, 3)
        """
        return self._native.depth()

    def conjunctions(self) -> float:
        """Count the conjunctions of the disjunctive normal form, none merged with another.

        Engines that take only conjunctions store this many, up to ``Limits.max_dnf``. Infinity if the number
        exceeds a float.

        >>> parse("(a = 1 or b = 2) and (c = 3 or d = 4)").conjunctions()
        4.0
        """
        return self._native.conjunctions()

    def evaluate(self, event: Mapping[str, Any], missing: Missing = "unknown") -> bool | None:
        """Evaluate for one event: True, False, or None for UNKNOWN.

        >>> parse("age > 30").evaluate({}) is None
        True
        """
        return self._native.evaluate(event, missing)

    def explain(self, event: Mapping[str, Any], missing: Missing = "unknown") -> Explanation:
        """Evaluate for one event, with the truth of every part."""
        return Explanation.from_native(self._native.explain(event, missing))


def _unpickle(text: str) -> Expression:
    return parse(text, Limits(max_length=2**62, max_depth=1000, max_regex_size=2**62))


def attr(name: str) -> Attribute:
    """Begin a predicate on an attribute; dotted names reach into nested events.

    >>> (attr("age") >= 18) & attr("country").is_in(["US", "DE"]) | ~attr("tv")
    Expression("age >= 18 AND country IN ('US', 'DE') OR NOT tv")
    """
    return Attribute(name)


def all_of(*expressions: Expression | Attribute) -> Expression:
    """Join any number of expressions with AND; none gives TRUE.

    >>> all_of(attr("a") > 1, attr("b") > 2)
    Expression("a > 1 AND b > 2")
    """
    return _join("AND", expressions)


def any_of(*expressions: Expression | Attribute) -> Expression:
    """Join any number of expressions with OR; none gives FALSE.

    >>> any_of(attr("a") > 1, attr("b") > 2)
    Expression("a > 1 OR b > 2")
    """
    return _join("OR", expressions)


def _join(connective: str, operands: Iterable[object]) -> Expression:
    native = []
    for operand in operands:
        if isinstance(operand, Attribute):
            operand = operand.is_true()
        if not isinstance(operand, Expression):
            name = type(operand).__name__
            raise TypeError(f"{connective} joins expressions, not {name}; parse() makes one of text")
        native.append(operand._native)
    return Expression(_native.join(connective, native))


class Attribute:
    """An attribute of events, from which predicates are made by comparing it.

    >>> attr("price").between(10, 20)
    Expression("price BETWEEN 10 AND 20")
    >>> attr("tags").any() == "new"
    Expression("any(tags) = 'new'")
    """

    __slots__ = ("_quantifier", "name")

    def __init__(self, name: str, quantifier: Literal["any", "all"] | None = None) -> None:
        """Name the attribute; use `attr`."""
        self.name = attribute_name(name)
        self._quantifier = quantifier

    def __repr__(self) -> str:
        """Show how it was made."""
        return f"attr({self.name!r})" + (f".{self._quantifier}()" if self._quantifier else "")

    __hash__ = None  # type: ignore[assignment]  # == makes a predicate, so attributes cannot be keys

    def __bool__(self) -> bool:
        """Refuse, as an Expression does."""
        raise TypeError("an Attribute has no truth value: use &, | and ~ instead of and, or and not")

    def any(self) -> Attribute:
        """Make predicates that hold for some element of a list."""
        return Attribute(self.name, "any")

    def all(self) -> Attribute:
        """Make predicates that hold for every element of a list."""
        return Attribute(self.name, "all")

    def is_true(self) -> Expression:
        """Make a predicate of a boolean attribute by itself."""
        return self._predicate("{}")

    def __eq__(self, value: object) -> Expression:  # type: ignore[override]
        """Equal to a value."""
        return self._compare("=", value)

    def __ne__(self, value: object) -> Expression:  # type: ignore[override]
        """Different from a value."""
        return self._compare("!=", value)

    def __lt__(self, value: Value) -> Expression:
        """Less than a value."""
        return self._compare("<", value)

    def __le__(self, value: Value) -> Expression:
        """At most a value."""
        return self._compare("<=", value)

    def __gt__(self, value: Value) -> Expression:
        """Greater than a value."""
        return self._compare(">", value)

    def __ge__(self, value: Value) -> Expression:
        """At least a value."""
        return self._compare(">=", value)

    def between(self, low: Value, high: Value) -> Expression:
        """From low to high, both included."""
        return self._predicate(f"{{}} BETWEEN {literal(low)} AND {literal(high)}")

    def is_in(self, values: Iterable[Value]) -> Expression:
        """Equal to one of the values."""
        return self._predicate(f"{{}} IN ({literal_list(values)})")

    def not_in(self, values: Iterable[Value]) -> Expression:
        """Different from all of the values."""
        return self._predicate(f"{{}} NOT IN ({literal_list(values)})")

    def is_null(self) -> Expression:
        """The event lacks the attribute."""
        return self._predicate("{} IS NULL")

    def is_not_null(self) -> Expression:
        """The event has the attribute."""
        return self._predicate("{} IS NOT NULL")

    def like(self, pattern: str) -> Expression:
        """Match an SQL pattern: ``%`` any string, ``_`` one character, backslash escapes."""
        return self._predicate(f"{{}} LIKE {literal(pattern)}")

    def ilike(self, pattern: str) -> Expression:
        """Match an SQL pattern whatever the case."""
        return self._predicate(f"{{}} ILIKE {literal(pattern)}")

    def rlike(self, regex: str) -> Expression:
        """Find a regular expression anywhere in the string."""
        return self._predicate(f"{{}} RLIKE {literal(regex)}")

    def startswith(self, prefix: str) -> Expression:
        """Begin with a string."""
        return self._predicate(f"startswith({{}}, {literal(prefix)})")

    def endswith(self, suffix: str) -> Expression:
        """End with a string."""
        return self._predicate(f"endswith({{}}, {literal(suffix)})")

    def contains(self, part: str) -> Expression:
        """Contain a string."""
        return self._predicate(f"contains({{}}, {literal(part)})")

    def in_cidr(self, *networks: str) -> Expression:
        """Be an address inside one of the networks.

        >>> attr("source").in_cidr("10.0.0.0/8", "2001:db8::/32")
        Expression("in_cidr(source, '10.0.0.0/8', '2001:db8::/32')")
        """
        return self._predicate(f"in_cidr({{}}, {literal_list(networks)})")

    def __and__(self, other: Expression | Attribute) -> Expression:
        """Both hold, this one as a boolean."""
        return self.is_true() & other

    def __or__(self, other: Expression | Attribute) -> Expression:
        """At least one holds, this one as a boolean."""
        return self.is_true() | other

    def __xor__(self, other: Expression | Attribute) -> Expression:
        """Exactly one holds, this one as a boolean."""
        return self.is_true() ^ other

    def __invert__(self) -> Expression:
        """The boolean does not hold."""
        return ~self.is_true()

    def xnor(self, other: Expression | Attribute) -> Expression:
        """Both hold, or neither, this one as a boolean."""
        return self.is_true().xnor(other)

    def _compare(self, symbol: str, value: object) -> Expression:
        return self._predicate(f"{{}} {symbol} {literal(value)}")

    def _predicate(self, form: str) -> Expression:
        """Write the predicate as text and parse it: one language, one place where it is checked."""
        quoted = '"' + self.name.replace('"', '""') + '"'
        operand = f"{self._quantifier}({quoted})" if self._quantifier else quoted
        head, tail = form.split("{}", 1)
        return parse(head + operand + tail, Limits(max_length=2**62))
