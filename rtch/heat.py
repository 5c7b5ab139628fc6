"""How far a packet may be relied on by its age alone: computed when it is shown, never hashed, never stored.

Heat deletes nothing, and says nothing of the tree: whether a chunk still stands is what ``rtch verify`` tells.
That a newer packet answers the same question is a mark of its own, for an old answer may be the warmest there is.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

TTL_DAYS = 14.0
"""Days that stand for a packet's tics where its zone counts none: a fortnight's work touches most of an active tree."""
CAVEAT_TTLS = 2.0
"""Lives after which a caveat no longer does: past its own there is a grace of the same length, and no second one."""
_DAY_S = 86_400.0


class Heat(StrEnum):
    """What age leaves of a packet, warmest first."""

    ACTIVE = "active"
    """At most one TTL old."""
    RESTORED_WITH_CAVEAT = "restored_with_caveat"
    """At most two: verify before relying on it."""
    CAUTION_ONLY = "caution_only"
    """Older: a hint where to look, and no evidence."""
    NONE = "none"
    """No age can be told: the packet is unreadable, or says of no time when it was made."""


class Made(NamedTuple):
    """When a packet was made, by its own words."""

    generated_at: str
    """ISO 8601; without an offset it is UTC."""
    tic: int | None
    ttl_tics: int


def heat_of(made: Made, *, now: datetime, tic: int | None = None, ttl_days: float = TTL_DAYS) -> Heat:
    """Return a packet's heat; every input has an answer.

    Tics measure where the zone counts them and counted them then; a counter that stands below the packet's
    was set back and measures nothing, so days do. A packet from a clock that was ahead is new.

    Args:
        made: when the packet was made.
        now: with an offset.
        tic: the zone's counter, None where it has none.
        ttl_days: days, for what no tics measure; 0 or less lets a packet be active for the moment it is made.
    """
    if made.tic is not None and tic is not None and tic >= made.tic:
        return _by(tic - made.tic, made.ttl_tics)
    days = age_days(made.generated_at, now=now)
    return Heat.NONE if days is None else _by(days, ttl_days)


def age_days(generated_at: str, *, now: datetime) -> float | None:
    """Return the days since a packet was made, 0 for the future, None where the text is no time."""
    moment = moment_of(generated_at)
    return None if moment is None else max(0.0, (now - moment).total_seconds() / _DAY_S)


def moment_of(generated_at: str) -> datetime | None:
    """Return the time that a packet says it was made at, in UTC; None where the text is none."""
    try:
        moment = datetime.fromisoformat(generated_at)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return None


def _by(age: float, ttl: float) -> Heat:
    if age <= max(0.0, ttl):
        return Heat.ACTIVE
    return Heat.RESTORED_WITH_CAVEAT if age <= ttl * CAVEAT_TTLS else Heat.CAUTION_ONLY
