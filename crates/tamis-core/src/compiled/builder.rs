//! From expressions to a segment: the passes, one after another.

use crate::compiled::arena::complex_test::{ComplexTest, ComplexTests};
use crate::compiled::arena::writer::{self, ArenaLayout, WriterInputs};
use crate::compiled::build::alternatives::{Alternatives, Operand, Subexpressions};
use crate::compiled::build::conditions::SpaceConditions;
use crate::compiled::build::cover::Cover;
use crate::compiled::build::expressions::ExpressionTokens;
use crate::compiled::build::placement::{self, Postings};
use crate::compiled::build::profile::EventProfile;
use crate::compiled::limits::{ExpressionNumber, SegmentLimits, SegmentOverflow};
use crate::compiled::matching::strategy::ModeChooser;
use crate::compiled::options::CompiledOptions;
use crate::compiled::scores::{ScoreTest, ScoresBuilder};
use crate::compiled::segment::CompiledSegment;
use crate::compiled::values::string_predicates::StringPredicates;
use crate::engine::scoring::WeightedPredicates;
use crate::engine::shared::predicates::Predicates;
use crate::error::Interruption;
use crate::event::Rows;
use crate::expr::Normal;

/// Takes expressions one after another and builds a segment of them.
pub(crate) struct CompiledBuilder {
    options: CompiledOptions,
    /// Each distinct predicate once.
    predicates: Predicates,
    expressions: ExpressionTokens,
    scores: ScoresBuilder,
    /// Why there is no segment: the first limit that was exceeded.
    overflow: Option<SegmentOverflow>,
}

impl CompiledBuilder {
    pub fn new(options: &CompiledOptions) -> CompiledBuilder {
        CompiledBuilder {
            options: *options,
            predicates: Predicates::default(),
            expressions: ExpressionTokens::default(),
            scores: ScoresBuilder::default(),
            overflow: None,
        }
    }

    /// The next expression, with its predicates as written; the first has number 0. What exceeds a limit is reported by
    /// [`CompiledBuilder::finish`].
    pub fn add(&mut self, expression: &Normal, weighted: &WeightedPredicates) {
        let limits = self.options.limits;
        let added = self.expressions.add(expression, &mut self.predicates, &limits);
        if let Err(overflow) = added.and_then(|()| self.scores.add(weighted, &mut self.predicates, &limits)) {
            self.overflow.get_or_insert(overflow);
        }
    }

    /// Gives the next number to an expression that is not matched here; only its score is.
    pub fn skip(&mut self, weighted: &WeightedPredicates) {
        self.expressions.skip();
        let limits = self.options.limits;
        if let Err(overflow) = self.scores.add(weighted, &mut self.predicates, &limits) {
            self.overflow.get_or_insert(overflow);
        }
    }

    /// Builds the segment, for events with this many attributes. `sample` holds typical events, if some are known. Unwinds
    /// if the end of the call is requested.
    pub fn finish(
        self,
        attributes: usize,
        sample: Option<&Rows>,
    ) -> Result<CompiledSegment, SegmentOverflow> {
        let CompiledBuilder { options, predicates, expressions, scores, overflow } = self;
        let limits = &options.limits;
        if let Some(overflow) = overflow {
            return Err(overflow);
        }
        let len = expressions.len();
        if let Some(last) = len.checked_sub(1) {
            ExpressionNumber::new(last, limits)?;
        }
        let mut conditions = SpaceConditions::new(&predicates, attributes, limits)?;
        let strings = StringPredicates::new(std::mem::take(&mut conditions.strings));
        let profile = EventProfile::new(&mut conditions, &strings, &predicates, attributes, sample);
        let distinct_predicates = predicates.len();
        drop(predicates);
        let mut cover = Cover::new(&conditions.conditions, limits);
        (0..len).try_for_each(|number| {
            Interruption::unwind_if_requested();
            cover.add(&expressions, number)
        })?;
        let Cover { alternatives, mut subexpressions, .. } = cover;
        drop(expressions);
        let postings = placement::place(&conditions, &alternatives, &profile, limits)?;
        let score_tests = score_operands(scores.tests(), &mut subexpressions, limits)?;
        let ranks = scores.ranks();
        let inputs = WriterInputs {
            alternatives: &alternatives,
            subexpressions: &subexpressions,
            postings: &postings,
            ranks: ranks.view(),
            score_tests: &score_tests,
        };
        let mut layout = writer::write(&mut conditions, inputs, limits)?;
        let score_tests = std::mem::take(&mut layout.score_tests);
        let statistics =
            statistics(distinct_predicates, &alternatives, &subexpressions, &postings, &layout).to_vec();
        let is_repeated = |number: usize| alternatives.target(number).is_repeated();
        Ok(CompiledSegment {
            len,
            attributes,
            encoding: layout.encoding,
            everywhere: layout.everywhere,
            needs_dedup: (0..alternatives.len()).any(is_repeated) || !conditions.elements.is_empty(),
            batchable: !layout.complex.iter().any(|test| test.is_per_event(&conditions.intervals)),
            spaces: conditions.spaces,
            elements: conditions.elements.into(),
            complex: ComplexTests {
                entries: layout.complex.into_iter().map(ComplexTest::pack).collect::<Vec<_>>().into(),
                intervals: conditions.intervals.into(),
                bits: conditions.bits.into(),
                subexpression_tests: layout.subexpression_tests.into(),
                memos: layout.memos,
            },
            strings,
            dimensions: layout.dimensions.into(),
            nodes: layout.nodes.into(),
            arena: layout.arena.into(),
            statistics: statistics.into(),
            presence: profile.presence.into(),
            scores: scores.finish(ranks, score_tests),
            chooser: ModeChooser::new(options.mode),
        })
    }
}

/// Tests of weighted predicates as operands: a predicate, or a disjunction of some.
fn score_operands(
    tests: &[ScoreTest],
    subexpressions: &mut Subexpressions,
    limits: &SegmentLimits,
) -> Result<Vec<Operand>, SegmentOverflow> {
    let operand = |test: &ScoreTest| match **test {
        [predicate] => Ok(Operand::of_predicate(predicate)),
        _ => {
            let any_of: Vec<Operand> = test.iter().map(|one| Operand::of_predicate(*one)).collect();
            let operand = subexpressions.intern(false, &any_of, limits)?;
            subexpressions.count_uses(&[operand]);
            Ok(operand)
        }
    };
    tests.iter().map(operand).collect()
}

/// Counts in the order of [`STATISTICS`](crate::compiled::segment::STATISTICS).
fn statistics(
    distinct_predicates: usize,
    alternatives: &Alternatives,
    subexpressions: &Subexpressions,
    postings: &Postings,
    layout: &ArenaLayout,
) -> [u64; 8] {
    let counts = [distinct_predicates, alternatives.len(), postings.sorted.len(), subexpressions.len()];
    let [predicates, alternatives, places, subexpressions] = counts.map(|count| count as u64);
    let records = &layout.counts;
    [
        predicates,
        alternatives,
        places,
        subexpressions,
        records.scans,
        records.pairs,
        records.groups,
        records.lists,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::limits::SegmentLimits;
    use crate::expr::{Limits, Missing, Normalizer, parse};
    use crate::schema::Schema;
    use std::sync::Arc;

    /// Builds a segment of some expressions.
    fn build(
        texts: impl Iterator<Item = String>,
        limits: SegmentLimits,
    ) -> Result<CompiledSegment, SegmentOverflow> {
        let mut builder = CompiledBuilder::new(&CompiledOptions { limits, ..CompiledOptions::default() });
        let (mut normalizer, mut schema) = (Normalizer::default(), Arc::new(Schema::default()));
        for text in texts {
            let expr = parse(&text, &Limits::default()).expect("an expression");
            let normal = normalizer.normalize(&expr, &mut schema, Missing::Unknown);
            builder.add(normal, &WeightedPredicates::default());
        }
        builder.finish(schema.len(), None)
    }

    /// Each limit of the format has a segment that exceeds it: a typed error, never a number that wraps.
    #[test]
    fn every_limit_is_checked() {
        let format = SegmentLimits::default();
        let conjunctions = |n: i64| format!("a = 1 and (b < {n} or c = {n}) and s = 's{n}'");
        let patterns = |n: i64| format!("s like '%{n}%' and b in (1, 3, 5, {n}, 90, 100)");
        // A disjunction with IS NULL is no witness, so `a` is the access predicate of all.
        let one_list = |n: i64| format!("a = 1 and (b is null or c = {n})");
        let shared = |n: i64| format!("a = {} and (b is null or c = {})", n % 5, n % 40);
        let values = |n: i64| format!("a in ({}, {}, {})", 1_000 * n, 1_000 * n + 100, 1_000 * n + 200);
        let points = |n: i64| format!("a = {n} and b = {n}");
        let few = |n: i64| format!("a = {} and b = {}", n % 3, n % 5);
        let items = |array_items: u32| SegmentLimits { array_items, ..format };
        /// Text of the n-th expression, the limits, and what the error names.
        type Case = (fn(i64) -> String, SegmentLimits, &'static str);
        let cases: [Case; 12] = [
            (conjunctions, SegmentLimits { expressions: 299, ..format }, "rules"),
            (
                conjunctions,
                SegmentLimits { arena_words: 1_000, ..format },
                "words of posting lists and tables",
            ),
            (one_list, SegmentLimits { list_entries: 299, ..format }, "entries of one posting list"),
            (conjunctions, SegmentLimits { spaces: 300, ..format }, "distinct values of one attribute"),
            (conjunctions, SegmentLimits { string_bytes: 1_000, ..format }, "bytes of distinct strings"),
            (conjunctions, SegmentLimits { dimensions: 3, ..format }, "attributes"),
            (
                patterns,
                SegmentLimits { dimensions: 301, ..format },
                "dimensions (attributes, list elements and patterns)",
            ),
            (conjunctions, items(800), "distinct predicates"),
            (few, items(200), "operands of conjunctions"),
            (shared, items(60), "operands of subexpressions"),
            (values, items(400), "intervals of value sets"),
            (points, items(602), "nodes"),
        ];
        for (text, limits, what) in cases {
            let overflow = build((1..=300).map(text), limits).map(drop).expect_err(what);
            assert_eq!(overflow.what, what);
            let segment = build((1..=300).map(text), format).expect("within the limits of the format");
            segment.validate().expect("sound");
        }
    }

    #[test]
    fn the_last_number_below_a_limit_is_accepted() {
        let limits = SegmentLimits { expressions: 3, ..SegmentLimits::default() };
        let text = |n: i64| format!("a = {n}");
        assert!(build((0..3).map(text), limits).is_ok());
        let overflow = build((0..4).map(text), limits).map(drop).expect_err("one more");
        assert_eq!((overflow.what, overflow.limit, overflow.divisible), ("rules", 3, true));
    }

    #[test]
    fn one_expression_beyond_a_limit_cannot_be_divided() {
        let limits = SegmentLimits { array_items: 10, ..SegmentLimits::default() };
        let text = (0..20).map(|n| format!("a{n} = 1")).collect::<Vec<_>>().join(" or ");
        let overflow = build(std::iter::once(text), limits).map(drop).expect_err("21 nodes");
        assert!(!overflow.divisible);
    }
}
