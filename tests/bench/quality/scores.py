"""What an answer is worth against a case's gold, and how sure a mean of such scores is.

A score lies between 0 and 1. Acc@k: every gold file is among the first k. MRR: one over the rank of
the first gold file. line@B: the share of the gold lines among the first B distinct lines shown.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rtch.models.base import LineNumber, Record

RANKS = (1, 3, 5, 10)
BUDGETS = (400, 2000)
METRICS = (*(f"Acc@{rank}" for rank in RANKS), "MRR", *(f"line@{budget}" for budget in BUDGETS))
RESAMPLES = 2000
RESAMPLING_SEED = 0
"""Fixed, so that the same scores have the same interval in every run."""
EQUAL = 1e-9
"""Two scores nearer than this are a tie: they are quotients of small whole numbers."""


class Span(Record):
    """Lines of a file, from 1, both ends included."""

    path: str
    start: LineNumber
    end: LineNumber


class Answer(Record):
    """What a locator said: files by rank, and the lines to read, in reading order."""

    surfaces: tuple[str, ...] = ()
    chunks: tuple[Span, ...] = ()


def ranks_of(answer: Answer, gold: Sequence[str]) -> dict[str, int | None]:
    """Return each gold file's rank from 1, and None where it was not named; a file named twice counts once."""
    order = dict.fromkeys(path.removeprefix("./") for path in answer.surfaces)
    ranks = {path: rank for rank, path in enumerate(order, start=1)}
    return {path: ranks.get(path) for path in gold}


def scores_of(answer: Answer, gold: Mapping[str, Sequence[tuple[int, int]]]) -> dict[str, float]:
    """Return the value of each metric.

    Args:
        answer: what the locator said.
        gold: the line ranges of each gold file; neither is empty.
    """
    ranks = [math.inf if rank is None else rank for rank in ranks_of(answer, tuple(gold)).values()]
    wanted = {
        (path, line) for path, ranges in gold.items() for first, last in ranges for line in range(first, last + 1)
    }
    scores = {f"Acc@{rank}": float(max(ranks) <= rank) for rank in RANKS}
    scores["MRR"] = 1 / min(ranks)
    for budget in BUDGETS:
        scores[f"line@{budget}"] = len(wanted & set(first_lines(answer, budget))) / len(wanted)
    return scores


def first_lines(answer: Answer, budget: int) -> list[tuple[str, int]]:
    """Return the first distinct lines shown, at most ``budget`` of them."""
    shown: dict[tuple[str, int], None] = {}
    for line in _lines(answer):
        if len(shown) == budget:
            break
        shown[line] = None
    return list(shown)


def _lines(answer: Answer) -> Iterator[tuple[str, int]]:
    for chunk in answer.chunks:
        path = chunk.path.removeprefix("./")
        yield from ((path, line) for line in range(chunk.start, chunk.end + 1))


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean and its bootstrap 95 % interval."""

    value: float
    low: float
    high: float


def mean_of(values: Sequence[float]) -> Mean:
    """Return the mean of at least one value with the interval of its resampled means."""
    draw = random.Random(RESAMPLING_SEED)
    count = len(values)
    means = sorted(sum(draw.choices(values, k=count)) / count for _ in range(RESAMPLES))
    edge = RESAMPLES // 40
    return Mean(sum(values) / count, means[edge], means[-edge - 1])


@dataclass(frozen=True, slots=True)
class Pairing:
    """How one locator did against another on the same cases, in one metric."""

    wins: int
    losses: int
    ties: int
    difference: Mean
    chance: float
    """Of a split at least as uneven among the wins and losses if both were equally good: a two-sided sign test."""


def paired(ours: Sequence[float], theirs: Sequence[float]) -> Pairing:
    """Compare scores of the same cases in the same order; at least one."""
    differences = [our - their for our, their in zip(ours, theirs, strict=True)]
    wins = sum(difference > EQUAL for difference in differences)
    losses = sum(difference < -EQUAL for difference in differences)
    ties = len(differences) - wins - losses
    return Pairing(wins, losses, ties, mean_of(differences), sign_test(wins, losses))


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided probability under even odds; ties count for neither side."""
    total = wins + losses
    tail = sum(math.comb(total, count) for count in range(min(wins, losses) + 1))
    return min(1.0, 2 * tail / float(2**total))
