"""Packets as text: for programs, for people, and within a number of characters.

Every format says the same of a packet; those for people frame what was copied from files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtch.errors import IntakeError
from rtch.render.machine import to_json, to_plan, to_surfaces, to_yaml
from rtch.render.plan import rendered_plan
from rtch.render.reasons import explain, explain_plan, why_not, why_not_planned

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtch.models.packet import Packet

__all__ = [
    "FORMATS",
    "bounded",
    "explain",
    "explain_plan",
    "rendered",
    "rendered_plan",
    "to_json",
    "to_markdown",
    "to_plan",
    "to_surfaces",
    "to_yaml",
    "why_not",
    "why_not_planned",
]

FORMATS = ("yaml", "json", "markdown", "surfaces", "plan")


def to_markdown(packet: Packet) -> str:
    """Return the packet as Markdown; see ``render.markdown``."""
    from rtch.render import markdown  # noqa: PLC0415  most runs write YAML

    return markdown.to_markdown(packet)


def rendered(packet: Packet, form: str, *, max_chars: int | None = None) -> str:
    """Return the packet in one of ``FORMATS``.

    Args:
        packet: the packet.
        form: the format's name.
        max_chars: leave out what does not fit, and say so; None is the whole packet.

    Raises:
        IntakeError: an unknown format, or not even the barest view fits.
    """
    if max_chars is not None:
        return bounded(packet, max_chars, form)
    return _writer(form)(packet)


def bounded(packet: Packet, max_chars: int, form: str = "yaml") -> str:
    """Return the packet in a format, within a number of characters; see ``render.shortening``."""
    from rtch.documents import view_of  # noqa: PLC0415
    from rtch.render.shortening import bounded_document  # noqa: PLC0415

    write = _writer(form)
    whole = write(packet)
    if len(whole) <= max_chars:
        return whole
    document = bounded_document(packet, max_chars, lambda document: len(write(view_of(document))))
    return write(view_of(document))


def _writer(form: str) -> Callable[[Packet], str]:
    writers = {"yaml": to_yaml, "json": to_json, "markdown": to_markdown, "surfaces": to_surfaces, "plan": to_plan}
    if form not in writers:
        raise IntakeError(f"{form!r} is no format", hint=f"known are {', '.join(FORMATS)}")
    return writers[form]
