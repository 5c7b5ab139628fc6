"""Stage keys: one maker of the name under which a stage's result is stored, and the words for why it changed.

A key names content: the stage, the logic (rtch's own sources), the digests of the inputs, the stage's own
limits, and the state of the part of the zone that the stage reads. The parts are kept beside the key
(``KeyParts``), so that two keys can be compared in words. Storing is ``store``'s business.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rtch.errors import ArtifactError
from rtch.models.base import Record
from rtch.models.vocab import StageName

KEY_FORMAT = "rtch.key/1"
SOURCE_BYTES = 2**18
"""A source of rtch fits into one read of this size."""
NOT_LOGIC = frozenset({"tasks", "flows", "drift", "cli", "mcp", "render", "config", "tests", "__pycache__"})
"""Folders of rtch that cannot change a stage's result; the values in ``config`` enter through the limits."""


class NamedDigest(Record):
    """An input of a stage: what it is called in words, and its digest."""

    name: str
    digest: str


class KeyParts(Record):
    """What a stage key is made of.

    The names of the inputs and ``state_ref`` are for words alone and do not enter the key.
    """

    stage: StageName
    logic: str
    inputs: tuple[NamedDigest, ...] = ()
    limits: str = ""
    """Canonical JSON of the stage's limits, empty when it has none."""
    state: str = ""
    """Fingerprint of the part of the zone that the stage reads."""
    state_ref: str = ""
    """Digest of stored ``state_rows``, or empty; lets ``why`` name files."""

    @property
    def key(self) -> str:
        """The stage key of these parts."""
        return _digest_parts(
            ("format", KEY_FORMAT),
            ("stage", self.stage.value),
            ("logic", self.logic),
            *(("input", named.digest) for named in self.inputs),
            ("limits", self.limits),
            ("state", self.state),
        )


def key_parts(
    stage: StageName,
    logic: str,
    inputs: Sequence[NamedDigest],
    limits: Record | None,
    state: str = "",
) -> KeyParts:
    """Gather the parts of a stage key; ``parts.key`` is the key."""
    text = "" if limits is None else limits.canonical().decode()
    return KeyParts(stage=stage, logic=logic, inputs=tuple(inputs), limits=text, state=state)


def stage_key(stage: StageName, logic: str, inputs: Sequence[str], limits: Record | None, state: str = "") -> str:
    """Return the key under which the stage's result for these inputs is stored.

    Args:
        stage: the stage.
        logic: ``logic_digest()``.
        inputs: digests of the stage's inputs, in the order of its arguments.
        limits: the stage's own limits, never the whole settings.
        state: fingerprint of the part of the zone that the stage reads; empty for a pure function of its inputs.
    """
    return key_parts(stage, logic, [NamedDigest(name="", digest=digest) for digest in inputs], limits, state).key


def _digest_parts(*parts: tuple[str, str]) -> str:
    """Return the sha256 over name and value of each part, each with its length before it."""
    digest = hashlib.sha256()
    for part in parts:
        for text in part:
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
    return digest.hexdigest()


@functools.cache
def logic_digest() -> str:
    """Return the digest of rtch's own sources that can change a stage's result.

    The Python version counts as a source: its Unicode tables and regular expressions decide what matches.
    """
    return sources_digest(Path(__file__).parent)


def sources_digest(root: Path) -> str:
    """Return the digest of the ``*.py`` files below ``root``, by relative path and content.

    Links are followed, since a checkout has links where an installed package has folders.

    Raises:
        ArtifactError: there is no source to read, as in an installation of bytecode alone; every version
            would have the same key then.
    """
    python = f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256(f"{KEY_FORMAT}\0{python}\0".encode())
    count = 0
    for name, data in _sources(root):
        for part in (name.encode(), data):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
        count += 1
    if not count:
        raise ArtifactError(f"{root} holds no Python source to tell this version by")
    return digest.hexdigest()


def _sources(root: Path) -> Iterator[tuple[str, bytes]]:
    paths: list[tuple[str, str]] = []
    for folder, folders, files in os.walk(root, followlinks=True):
        inner = os.path.relpath(folder, root)
        prefix = "" if inner == "." else inner.replace(os.sep, "/") + "/"
        folders[:] = [name for name in folders if name != "__pycache__" and (prefix or name not in NOT_LOGIC)]
        paths.extend((prefix + name, f"{folder}/{name}") for name in files if name.endswith(".py"))
    for name, path in sorted(paths):
        yield name, _content(path)


def _content(path: str) -> bytes:
    """Return a file's bytes by bare system calls: a third of the cost of a file object."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(handle, SOURCE_BYTES), b""))
    finally:
        os.close(handle)


def zone_id(root: Path) -> str:
    """Return the name of a zone in the store: 16 hexadecimal digits of the sha256 of its real path."""
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]


class StateDiff(NamedTuple):
    """How the state of a zone's files differs: paths sorted, and the count of all files after."""

    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    total: int


def state_rows(tokens: Iterable[tuple[str, str]]) -> bytes:
    r"""Return (path, token) pairs as sorted ``path\0token\n`` rows; a token has no line break."""
    rows = sorted((os.fsencode(path), token.encode()) for path, token in tokens)
    return b"".join(path + b"\0" + token + b"\n" for path, token in rows)


def diff_states(before: bytes, after: bytes) -> StateDiff:
    """Compare two stored ``state_rows``."""
    old, new = _tokens(before), _tokens(after)
    changed = (path for path, token in new.items() if path in old and old[path] != token)
    return StateDiff(
        changed=tuple(sorted(changed)),
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        total=len(new),
    )


def _tokens(rows: bytes) -> dict[str, bytes]:
    """Read rows back; a path may hold a line break and a token may not, so rows end at the token's."""
    tokens: dict[str, bytes] = {}
    position = 0
    while (zero := rows.find(b"\0", position)) >= 0:
        end = rows.find(b"\n", zero)
        if end < 0:
            break
        tokens[os.fsdecode(rows[position:zero])] = rows[zero + 1 : end]
        position = end + 1
    return tokens


def explain(before: KeyParts | None, after: KeyParts, files: StateDiff | None = None) -> tuple[str, ...]:
    """Say in words which parts of a stage key differ; empty when none does.

    Args:
        before: the parts of the key before; None when the stage never ran here.
        after: the parts of the key in question.
        files: the difference of the two states, where both lists of files are known.
    """
    if before is None:
        return ("never run here before",)
    words: list[str] = []
    if before.logic != after.logic:
        words.append("logic of rtch changed")
    words += _input_words(before.inputs, after.inputs)
    words += _limit_words(before.limits, after.limits)
    if before.state != after.state:
        words.append(_state_words(files, stored=bool(before.state_ref and after.state_ref)))
    return tuple(words)


def _input_words(before: Sequence[NamedDigest], after: Sequence[NamedDigest]) -> Iterator[str]:
    if len(before) != len(after):
        yield f"number of inputs changed: {len(before)} -> {len(after)}"
        return
    for place, (old, new) in enumerate(zip(before, after, strict=True), start=1):
        if old.digest != new.digest:
            yield f"input {new.name or place} changed: {old.digest[:12]} -> {new.digest[:12]}"


def _limit_words(before: str, after: str) -> Iterator[str]:
    if before == after:
        return
    old, new = dict(_flat("", _json(before))), dict(_flat("", _json(after)))
    different = [name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    if not different:
        yield "limits changed in form"
    for name in different:
        was, now = old.get(name), new.get(name)
        if isinstance(was, list) and isinstance(now, list):
            yield f"limits changed: {name} {_list_words(was, now)}"
        else:
            yield f"limits changed: {name} {_short(was)} -> {_short(now)}"


def _json(limits: str) -> object:
    return json.loads(limits) if limits else {}


def _flat(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield the values of nested limits under dotted names; lists stay whole."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), inner)
    else:
        yield name, value


def _list_words(before: list[object], after: list[object]) -> str:
    """Say what a list gained and lost, or that only its order changed."""
    gone = [f"-{_short(value)}" for value in before if value not in after]
    come = [f"+{_short(value)}" for value in after if value not in before]
    changes = gone + come
    rest = f" and {len(changes) - 5} more" if len(changes) > 5 else ""
    return " ".join(changes[:5]) + rest if changes else "in another order"


def _short(value: object) -> str:
    text = "unset" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _state_words(files: StateDiff | None, *, stored: bool) -> str:
    if files is None:
        return "files of the zone changed" + (" (which ones is no longer stored)" if stored else "")
    counts = [(len(files.changed), "changed"), (len(files.added), "added"), (len(files.removed), "removed")]
    told = [f"{count} {verb}" for count, verb in counts if count]
    if not told:
        return "state of the zone changed, but no file of it"
    if len(told) == 1 and files.changed:
        head = f"{len(files.changed)} of {files.total} files changed"
    else:
        head = f"files: {', '.join(told)}, {files.total} in all"
    paths = (*files.changed, *files.added, *files.removed)
    shown = ", ".join(json.dumps(path, ensure_ascii=False) for path in paths[:5])
    rest = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return f"{head}: {shown}{rest}"
