"""What the Prefect UI shows of a packet: a markdown page and a table of surfaces.

The UI renders markdown with images, so text of a scanned tree must not become markup there: an
image would make the viewer's browser fetch an address that the tree chose. Prose is escaped
character by character; source text stands in fences longer than any inside it. Cells of a table
are rendered in the same way.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator

from rtch.models.chunk import Chunk, Surface
from rtch.models.packet import Packet

PAGE_CHARS = 200_000  # the API takes more; a browser that has to lay it out does not
CELL_CHARS = 400
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
LANGUAGES = {
    "py": "python",
    "js": "javascript",
    "ts": "typescript",
    "rs": "rust",
    "go": "go",
    "c": "c",
    "cpp": "cpp",
    "java": "java",
    "rb": "ruby",
    "sh": "bash",
    "md": "markdown",
    "json": "json",
    "yaml": "yaml",
    "yml": "yaml",
    "toml": "toml",
}


def packet_page(packet: Packet) -> str:
    """Return a packet as markdown in which nothing of the tree or the intake is markup.

    Bounds: about ``PAGE_CHARS``; chunks that no longer fit are counted at the end.
    """
    parts = ["\n".join(_head(packet))]
    size = len(parts[0])
    for place, chunk in enumerate(packet.hydrated_chunks):
        part = _chunk(chunk)
        size += len(part)
        if size > PAGE_CHARS:
            left = len(packet.hydrated_chunks) - place
            parts.append(f"*{left} more chunks are in the packet and not on this page.*")
            break
        parts.append(part)
    parts.append("\n".join(_tail(packet)))
    return "\n\n".join(part for part in parts if part) + "\n"


def surface_rows(packet: Packet) -> list[dict[str, str | int | float]]:
    """Return the selected surfaces as rows, best first; the UI renders every cell as markdown."""
    return [_row(surface) for surface in packet.selected_surfaces]


def artifact_key(*words: str) -> str:
    """Return a valid artifact key: lower-case letters, digits and single dashes."""
    text = "-".join(re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")[:40].strip("-") for word in words)
    return re.sub(r"-+", "-", text).strip("-") or "rtch"


def inline(text: str) -> str:
    """Return text that markdown shows as it is, on one line."""
    return "".join(map(_escaped, visible(text)))


def code(text: str) -> str:
    """Return text as a code span."""
    shown = visible(text) or " "
    ticks = "`" * (_longest_run(shown) + 1)
    return f"{ticks} {shown} {ticks}" if "`" in shown or shown != shown.strip() else f"{ticks}{shown}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Return text in a fence longer than any inside it."""
    shown = "\n".join(visible(line, keep="\t") for line in text.removesuffix("\n").split("\n"))
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def visible(text: str, keep: str = "") -> str:
    """Return text with control and format characters, line ends among them, written as escapes."""
    if text.isprintable():
        return text
    return "".join(
        char if char in keep or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} else _escape_code(char)
        for char in text
    )


def _escape_code(char: str) -> str:
    number = ord(char)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _escaped(char: str) -> str:
    if char in ENTITIES:
        return ENTITIES[char]
    return f"\\{char}" if char in string.punctuation else char


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _head(packet: Packet) -> Iterator[str]:
    budget = packet.read_budget
    yield f"# {inline(packet.intake.goal)}"
    yield ""
    yield f"- packet: {code(packet.packet_id)}"
    yield f"- zone: {code(packet.run.zone_root)}"
    yield f"- profile: {code(packet.intake.target_profile)}, fanout: {code(packet.fanout_level_used)}"
    yield f"- halted: {code(packet.halting_reason)} {inline(packet.halting_detail)}".rstrip()
    yield f"- lines read: {budget.consumed} of {budget.total}"
    yield (
        f"- surfaces selected: {len(packet.selected_surfaces)}, skipped: "
        f"{sum(skipped.count for skipped in packet.skipped_surfaces)}, chunks: {len(packet.hydrated_chunks)}"
    )
    if packet.selected_surfaces:
        yield ""
        yield "## Surfaces"
        yield ""
        for surface in packet.selected_surfaces:
            lines = f" {code(surface.line_range)}" if surface.line_range else ""
            yield f"- {code(surface.path)}{lines}: {inline(surface.why)}"
    if packet.hydrated_chunks:
        yield ""
        yield "## Chunks"


def _chunk(chunk: Chunk) -> str:
    language = LANGUAGES.get(chunk.path.rpartition(".")[2].lower(), "")
    return "\n".join(
        (
            f"### {code(f'{chunk.path}:{chunk.line_range}')}",
            "",
            f"{code(chunk.confidence_class)}: {inline(chunk.why_included)}",
            "",
            fenced(chunk.text, language),
            "",
            f"Read it again: {code(chunk.next_re_entry_command)}",
        )
    )


def _tail(packet: Packet) -> Iterator[str]:
    if packet.caution_map:
        yield "## Cautions"
        yield ""
        for caution in packet.caution_map:
            yield f"- {code(caution.path or '.')} {code(caution.flag)}: {inline(caution.note)}"
        yield ""
    yield "## Open questions"
    yield ""
    for question in packet.unresolved_questions:
        yield f"- {inline(question.question)}"


def _row(surface: Surface) -> dict[str, str | int | float]:
    return {
        "rank": surface.rank,
        "path": code(_cut(surface.path)),
        "lines": inline(surface.line_range or ""),
        "role": surface.role.value,
        "class": surface.confidence_class.value,
        "score": round(surface.score, 4),
        "why": inline(_cut(surface.why)),
        "read again": code(_cut(surface.re_entry_command)),
    }


def _cut(text: str) -> str:
    return text if len(text) <= CELL_CHARS else f"{text[: CELL_CHARS - 1]}…"
