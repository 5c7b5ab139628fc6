"""Plain values as YAML in block style, each scalar so that any reader takes it for the same value.

Written by hand for two reasons: a library folds or quotes text that people want to read as lines, and this
is some ten times faster. Text becomes a literal block only where that gives it back exactly; no content can
end its own scalar, for a block's lines are indented and everything else is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./()+@,-]*(?: [A-Za-z0-9_./()+@,=-]+)*")
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf"})
_NOT_IN_BLOCK_ASCII = re.compile("[^\t\n -~]")
_NOT_IN_BLOCK = (
    "[^\t\n -~\xa0-\u200a\u2010-\u2027\u202f-\u205f\u2070-\ud7ff\ue000-\ufefe\uff00-\uffef\ufffd\U00010000-\U000dffff]"
)
"""What a literal block cannot hold, or what would be read as a line end, a mark or a direction."""
_ESCAPED_ASCII = re.compile(r'[\\"\x00-\x1f\x7f]')
_ESCAPED = (
    r'[\\"\x00-\x1f\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\uffff'
    r"\U000e0000-\U0010ffff]"
)
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_STEP = "  "


def to_yaml_text(value: object) -> str:
    """Return a document of mappings with text keys, sequences, text, numbers, truth values and null.

    Args:
        value: a mapping or a sequence, at the top.
    """
    return "".join(_block(value, "")) if value else f"{_scalar(value, '')}\n"


def _block(value: object, indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{indent}{_key(key)}:"
            yield from _member(item, indent)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _item(item, indent)


def _member(item: object, indent: str) -> Iterator[str]:
    if item and isinstance(item, dict | list | tuple):
        yield "\n"
        yield from _block(item, indent + _STEP)
    else:
        yield f" {_scalar(item, indent)}\n"


def _item(item: object, indent: str) -> Iterator[str]:
    if item and isinstance(item, dict | list | tuple):
        inner = "".join(_block(item, indent + _STEP))
        yield f"{indent}- {inner[len(indent) + len(_STEP) :]}"
    else:
        yield f"{indent}- {_scalar(item, indent)}\n"


def _key(key: object) -> str:
    return _text(str(key))


def _scalar(value: object, indent: str) -> str:
    if isinstance(value, str):
        return _literal(value, indent) if "\n" in value and _fits_block(value) else _text(str(value))
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, int):
        return str(value)
    return "{}" if isinstance(value, dict) else "[]"


def _float(value: float) -> str:
    """YAML 1.1 reads a number as a float only with a point in its mantissa."""
    text = repr(float(value))
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else text


def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    escaped = _ESCAPED_ASCII if value.isascii() else re.compile(_ESCAPED)
    return '"' + escaped.sub(_escape, value) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    return _SHORT.get(char) or (
        f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    )


def _fits_block(value: str) -> bool:
    """Readers disagree about blank lines and tabs before the first text, so such text is quoted."""
    unfit = _NOT_IN_BLOCK_ASCII if value.isascii() else re.compile(_NOT_IN_BLOCK)
    return not unfit.search(value) and value[0] not in "\n\t" and bool(value.split("\n", 1)[0].strip(" "))


def _literal(value: str, indent: str) -> str:
    body = value.rstrip("\n")
    trailing = len(value) - len(body)
    chomp = "-" if trailing == 0 else "" if trailing == 1 else "+"
    inner = indent + _STEP
    lines = "\n".join(inner + line if line else "" for line in body.split("\n"))
    hint = "2" if body.startswith(" ") else ""
    return f"|{hint}{chomp}\n{lines}" + "\n" * max(0, trailing - 1)
