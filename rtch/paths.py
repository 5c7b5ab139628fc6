"""How paths are written and ordered: their bytes where they are UTF-8, percent-encoded where not."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

_IMPROPER = (b"//", b"/./", b"/../", b"/.git/")


def shown(name: bytes) -> str:
    """Return how a path is written: itself, or percent-encoded where it is not UTF-8."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return escaped(name)


def escaped(name: bytes) -> str:
    """Return a path with ``%`` and every byte that is not UTF-8 percent-encoded."""
    text = name.replace(b"%", b"%25").decode("utf-8", "surrogateescape")
    return "".join(f"%{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else c for c in text)


def improper(names: Sequence[bytes]) -> frozenset[bytes]:
    """Return those of some paths that git would never take: with an empty or dotted part, or one that is ``.git``.

    An index may hold them all the same, for whoever made it need not have used git.
    """
    whole = b"/" + b"/\0/".join(names).lower() + b"/"
    if not names or not any(part in whole for part in _IMPROPER):
        return frozenset()
    return frozenset(name for name in names if any(part in b"/" + name.lower() + b"/" for part in _IMPROPER))


def typed(text: str) -> str:
    """Return a path that somebody typed, without lone surrogates."""
    return text.encode("utf-8", "replace").decode()


def lies_in(name: bytes, folders: Iterable[bytes]) -> bool:
    """Tell whether a path is one of these or lies below one."""
    return any(name == folder or name.startswith(folder + b"/") for folder in folders)


def texts_of(names: Sequence[bytes]) -> tuple[list[str], frozenset[bytes]]:
    """Return how each of some distinct paths is written, and which of them are percent-encoded.

    A path whose own text is another's encoded form is encoded as well, so no two share a text.
    """
    if not names:
        return [], frozenset()
    try:
        return b"\0".join(names).decode().split("\0"), frozenset()
    except UnicodeDecodeError:
        pass
    encoded = {name: escaped(name) for name in names if not _is_utf8(name)}
    plain = {name.decode(): name for name in names if name not in encoded}
    fresh = list(encoded.values())
    while fresh:
        taken = [plain.pop(text) for text in fresh if text in plain]
        encoded |= {name: escaped(name) for name in taken}
        fresh = [encoded[name] for name in taken]
    return [encoded.get(name) or name.decode() for name in names], frozenset(encoded)


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def collisions(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of paths that are one on file systems that fold case or compose accents."""
    whole = "\0".join(paths)
    if whole.isascii():
        folded = whole.lower().split("\0")
    else:
        folded = [unicodedata.normalize("NFC", path).casefold() for path in paths]
    if len(set(folded)) == len(folded):
        return []
    first: dict[str, str] = {}
    pairs = zip(paths, folded, strict=True)
    return [(twin, path) for path, key in pairs if (twin := first.setdefault(key, path)) != path]
