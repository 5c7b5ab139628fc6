"""Text that speaks to an agent and not to a reader: flagged, never altered.

Hydrated text is data. A line that tells its reader to ignore instructions, or who to be, is worth a
word of caution to whoever feeds it to a model. The shapes are those of public reports; a harmless
document about them is flagged as well.
"""

from __future__ import annotations

import re

_SHAPES = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|preceding|all)\b[^.\n]{0,20}"
    r"\b(?:instructions?|prompts?|rules|directions|messages?)\b"
    r"|\byou are (?:now )?(?:an?|the|my) (?:ai|assistant|agent|language model)\b"
    r"|\b(?:system|developer) prompt\b"
    r"|\bdo not (?:tell|inform|reveal to|mention to) the (?:user|human|operator)\b"
    r"|\b(?:ai|llm|coding) (?:agents?|assistants?) (?:must|should|shall)\b"
    r"|<\s*/?\s*(?:system|agent[-_ ]?instructions?|assistant)\s*>",
    re.IGNORECASE,
)


def agent_directed_line(text: str) -> int | None:
    """Return the first line, from 0, on which text speaks to an agent; None where none does."""
    found = _SHAPES.search(text)
    return None if found is None else text.count("\n", 0, found.start())
