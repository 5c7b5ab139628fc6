"""The limits that the specification sets, each in one place.

Seconds are asked of trees of some 650 files, where process start outweighs the work, and ratios of large
ones. In between and beyond, the ratio is told and nothing is judged.
"""

from __future__ import annotations

from dataclasses import dataclass

from verdicts import NO_LIMIT, Limit, shown

SMALL_FILES = 1_000
"""Up to here a tree counts as one of some 650 files."""
LARGE_FILES = 30_000
"""From here on the ratios hold."""
LARGEST_FILES = 60_000
"""Up to here the memory of 40,000 files must do."""

TRIVIAL = Limit("0.15 s", 0.15)
PREFECT_OVER_DIRECT = Limit("0.6 s", 0.6)
GIANT = Limit("200 MiB", 200)
EDIT_S = 0.15
EMPTY_STORE_S, WARM_STORE_S = 0.5, 0.3
COLD_TIMES, WIDE_TIMES, NEW_TIMES, AGAIN_TIMES, VERIFY_TIMES = 2, 4, 1.5, 1.5, 2
SMALL_MIB, LARGE_MIB = 100, 200


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The limits for a tree of so many files; every argument is seconds of a yardstick on that tree."""

    files: int

    @property
    def small(self) -> bool:
        return self.files <= SMALL_FILES

    def cold(self, rg_s: float) -> Limit:
        """Conservative, with an empty store."""
        return _seconds(EMPTY_STORE_S) if self.small else self._times(COLD_TIMES, "rg", rg_s)

    def wide(self, rg_s: float) -> Limit:
        """Wide, with an empty store; nothing is asked of it on a small tree."""
        return NO_LIMIT if self.small else self._times(WIDE_TIMES, "rg", rg_s)

    def new(self, rg_s: float) -> Limit:
        """Another question on a known tree."""
        return _seconds(WARM_STORE_S) if self.small else self._times(NEW_TIMES, "rg", rg_s)

    def again(self, status_s: float | None, start_s: float) -> Limit:
        """The same question on the same tree; outside git there is no status to hold it against."""
        if self.small:
            return _seconds(WARM_STORE_S)
        if status_s is None:
            return NO_LIMIT
        return self._times(AGAIN_TIMES, "status", status_s, start_s)

    def memory(self) -> Limit:
        """Peak memory of a hydrate."""
        ceiling = SMALL_MIB if self.small else LARGE_MIB
        return Limit(f"{ceiling} MiB", ceiling if self.files <= LARGEST_FILES else None)

    def _times(self, times: float, name: str, seconds: float, start_s: float = 0.0) -> Limit:
        ceiling = times * seconds + start_s
        words = f"{times:g} {name}{' + start' if start_s else ''} = {shown(ceiling, 's')} s"
        return Limit(words, ceiling) if self.files >= LARGE_FILES else Limit(f"({words} if large)")


def edited(unchanged_s: float) -> Limit:
    """After one file was edited, at every size."""
    ceiling = unchanged_s + EDIT_S
    return Limit(f"again + {EDIT_S:g} = {shown(ceiling, 's')} s", ceiling)


def verify(hashing_s: float, start_s: float) -> Limit:
    """Checking a packet, at every size; ``hashing_s`` is for the files it cites."""
    ceiling = VERIFY_TIMES * hashing_s + start_s
    return Limit(f"{VERIFY_TIMES} hashing + start = {shown(ceiling, 's')} s", ceiling)


def _seconds(ceiling: float) -> Limit:
    return Limit(f"{ceiling:g} s", ceiling)
