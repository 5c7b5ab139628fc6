"""Packets for programs: the whole as YAML or JSON, and the two narrower shapes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rtch.documents import document_of
from rtch.yaml_text import to_yaml_text

if TYPE_CHECKING:
    from rtch.models.packet import Packet

_PLAN_FIELDS = (
    "constraint_stack",
    "candidate_basket",
    "probe_plan",
    "next_legal_probes",
    "next_legal_probes_cut",
    "generic_alone_warnings",
    "fanout_level_used",
)


def to_yaml(packet: Packet) -> str:
    """Return the whole packet as YAML, fields in the model's order."""
    return to_yaml_text(document_of(packet))


def to_json(packet: Packet) -> str:
    """Return the whole packet as JSON in ASCII, fields in the model's order.

    A field has a line of its own, and so has each item of its list: to be read, compared and cut with
    the tools of lines, at a tenth of what indenting every value costs.
    """
    fields = (f"  {json.dumps(name)}: {_json_value(value)}" for name, value in document_of(packet).items())
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _json_value(value: object) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    return "[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]"


def to_surfaces(packet: Packet) -> str:
    """Return the sidecar vocabulary's packet: surfaces, questions, cautions and the read budget, no more."""
    omitted = getattr(packet, "omitted", None)
    left_out = (*omitted.what, f"whole: {omitted.whole}") if omitted else ()
    shape: dict[str, Any] = {
        "selected_surfaces": [
            {
                "path": surface.path,
                "role": surface.why,
                "line_range": surface.line_range,
                "re_entry_command": surface.re_entry_command,
            }
            for surface in packet.selected_surfaces
        ],
        "unresolved_questions": [question.question for question in packet.unresolved_questions],
        "caution_map": [
            {"surface": caution.path, "caution": f"{caution.flag!s}: {caution.note}"} for caution in packet.caution_map
        ]
        + [{"surface": ".", "caution": f"left out: {what}"} for what in left_out],
        "read_budget_consumed": packet.read_budget.consumed,
        "read_budget_remaining": packet.read_budget.remaining,
    }
    return to_yaml_text(shape)


def to_plan(packet: Packet) -> str:
    """Return what was declared before anything was read: intake, basket, probes and what they may cost."""
    document = document_of(packet)
    shape = {"packet_id": document["packet_id"], "intake": document["intake"]}
    shape |= {name: document[name] for name in _PLAN_FIELDS}
    return to_yaml_text(shape | {"read_budget_lines": document["read_budget"]["total"]})
