"""Names of a tree that questions can be asked about, rare ones first: prints JSON, for ``trees``.

    python tests/bench/seeds.py ROOT LISTING WANTED

The listing holds paths below the root, each ended by a zero byte. It is a quick look through some of the
files, without a parser, and gives the same names for the same files. A process of its own, for what it
holds must not count as the memory of what is measured.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

MOST_FILES = 1_500
MOST_BYTES = 200_000
CODE = re.compile(
    r"\.(?:c|cc|cjs|cpp|cs|cxx|dart|exs?|go|h|hpp|java|jl|jsx?|kt|lua|mjs|php|pl|py|rb|rs|scala|sh|swift|tsx?)\Z"
)
NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{5,59}")
DEFINITION = re.compile(
    rb"^[ \t]*(?:[a-z]+(?:\([a-z]+\))?[ \t]+){0,4}"
    rb"(?:def|class|defmodule|function|func|fun|fn|struct|enum|trait|interface|type|module|object)[ \t]+"
    rb"(?:\([^()\n]*\)[ \t]*)?([A-Za-z_][A-Za-z0-9_]{5,59})",
    re.MULTILINE,
)
TWO_WORDS = re.compile(rb"[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]")


def looked_at(paths: Iterable[str]) -> list[str]:
    """Return the files of code, or all where there are none: as many as may be read, spread evenly."""
    known = sorted(paths)
    code = [path for path in known if CODE.search(path)] or known
    return code[:: -(-len(code) // MOST_FILES) or 1]


def texts(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield each file that can be read, is not too long and holds text."""
    for path in paths:
        place = root / path
        try:
            if place.is_symlink() or not place.is_file() or place.stat().st_size > MOST_BYTES:
                continue
            body = place.read_bytes()
        except OSError:
            continue
        if b"\0" not in body:
            yield path, body


def names(files: Iterable[tuple[str, bytes]], wanted: int) -> list[str]:
    """Return names that are defined once and used elsewhere, the rarest first; else any rare long words."""
    used: Counter[bytes] = Counter()
    defined: Counter[bytes] = Counter()
    for path, body in files:
        used.update(NAME.findall(body))
        if "test" not in path.lower():
            defined.update(DEFINITION.findall(body))
    once = [name for name, times in defined.items() if times == 1 and TWO_WORDS.search(name)]
    candidates = once or list(defined) or list(used)
    ranked = sorted(candidates, key=lambda name: (used[name] < 2, used[name], -len(name), name))
    return [name.decode() for name in ranked[:wanted]]


def main() -> None:
    """Print the names as the command line asks."""
    root, listing, wanted = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    paths = [part.decode("utf-8", "surrogateescape") for part in listing.read_bytes().split(b"\0") if part]
    print(json.dumps(names(texts(root, looked_at(paths)), wanted)))


if __name__ == "__main__":
    main()
