"""Which documents describe the past, and which lines do: what they name need not be there any more.

By path: changelogs and ledgers, dated records (a date or a tic in the name or a folder), audit logs, archives, posts,
documentation of earlier versions, and guides to an upgrade, which name what went. By their text: records whose
status says that they were superseded, rejected or withdrawn.
"""

from __future__ import annotations

import re

from rtch.models.vocab import FileRole
from rtch.roles import role_of

_DATED = re.compile(
    r"(?:^|[/_.-])(?:19|20)\d\d(?:/|[-_./]?(?:0[1-9]|1[0-2])(?:[-_./]?(?:0[1-9]|[12]\d|3[01]))?(?!\d))"
    r"|(?:^|[^a-z])tic[-_ ]?\d+",
    re.IGNORECASE,
)
_FOLDERS = re.compile(
    r"(?:^|/)_?(?:audit(?:[-_]?(?:logs?|trail|history))?|archived?|archives|blogs?|posts|post-?mortems|incidents"
    r"|retro(?:spective)?s|minutes|meetings|journals?|logs|sessions|handoffs?|releases|release[-_]notes|history"
    r"|versioned_docs|legacy|old|deprecated|superseded|attic)/",
    re.IGNORECASE,
)
_STEM = re.compile(r"(?:^|[-_. ])(?:upgrad|migrat|deprecat|changelog|history|releases?$|archive)", re.IGNORECASE)
_STATUS = re.compile(
    r"^[\W_]*status\b[\W_]*(?:\w+\W+){0,2}?(?:superseded|deprecated|rejected|withdrawn|obsolete|archived|abandoned)\b",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD_CHARS = 4000
"""Of a document, where its status stands."""
_LINE = re.compile(
    r"(?<![\w./-])(?:creat\w+|generat\w+|produc\w+|written|writes?|outputs?|for example|such as|former\w*|no longer"
    r"|not yet|previous\w*|deprecat\w+|remov\w+|delet\w+|renam\w+|moved|replac\w+|was|were|used to|old|older|legacy"
    r"|ignored?|gitignore\w*|would|planned|future|todo|instead of|absent|missing|existed|obsolete|historical\w*"
    r"|does(?:n.t| not) exist|until|dropped|gone|retired|superseded?s?|example|suppose|imagine|new file|add a|e\.g\.)"
    r"(?![\w/]|[.-]\w)",
    re.IGNORECASE,
)


def describes_past(path: str) -> bool:
    """Tell by a document's path whether it records what was."""
    folder, _, name = path.rpartition("/")
    return bool(
        role_of(path) in {FileRole.CHANGELOG, FileRole.LEDGER}
        or _DATED.search(path)
        or _FOLDERS.search(folder + "/")
        or _STEM.search(name.rpartition(".")[0] or name)
    )


def says_past(text: str) -> bool:
    """Tell by a document's own words whether it was superseded, rejected or withdrawn."""
    return _STATUS.search(text[:_HEAD_CHARS]) is not None


def speaks_of_other_times(line: str) -> bool:
    """Tell whether a line speaks of what was, will be, is made when something runs, or is an example."""
    return _LINE.search(line) is not None
