"""The JSON Schema of an intake, in both vocabularies, for editors and agents.

Made from the model, so that bounds stand in one place; what each field and word means comes from ``field_guide``.
"""

from __future__ import annotations

from typing import Any

from rtch import dialects
from rtch.field_guide import FIELDS, MEANINGS
from rtch.models.intake import Intake
from rtch.models.vocab import Dialect, FanoutLevel

SCHEMA_ID = "urn:rtch:schema:intake:1"
SIDECAR_EXAMPLE: dict[str, object] = {
    "goal": "See where a stage key is made before changing it",
    "seeds": ["stage_key", "src/keys.py"],
    "profile": "mixed",
    "fanout": "conservative",
    "mutation_risk": "local_mutation",
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def intake_schema(examples: list[dict[str, object]]) -> dict[str, Any]:
    """Return a draft 2020-12 schema: with an ``intent`` key the sidecar vocabulary, else the tactical one.

    Args:
        examples: intakes to show in it.
    """
    tactical = Intake.model_json_schema()
    definitions: dict[str, Any] = tactical.pop("$defs")
    for name, field in FIELDS.items():
        tactical["properties"][name]["description"] = field.says
        if field.words is not None:
            definitions[field.words.__name__] = _words({word.value: MEANINGS[word] for word in field.words})
    tactical["title"] = "Tactical intake"
    tactical["description"] = "A request in the canonical fields."
    tactical["allOf"] = _fanout_rules()
    definitions |= {"Tactical": tactical, "Sidecar": _sidecar()}
    return {
        "$schema": _DIALECT,
        "$id": SCHEMA_ID,
        "title": "rtch intake",
        "description": "One request: what to find, how far to look, and when enough is known.",
        "type": "object",
        "if": {"required": [dialects.BLOCK]},
        "then": {"$ref": "#/$defs/Sidecar"},
        "else": {"$ref": "#/$defs/Tactical"},
        "$defs": definitions,
        "examples": examples,
    }


def _words(meanings: dict[str, str]) -> dict[str, Any]:
    return {"oneOf": [{"const": word, "description": meaning} for word, meaning in meanings.items()]}


def _sidecar() -> dict[str, Any]:
    """Return the schema of a request with an ``intent`` block."""
    words = {
        "profile": {word: MEANINGS[scope] for word, scope in dialects.PROFILES.items()},
        "fanout": {word: f"at most {cap} surfaces, {level.value}" for word, (level, cap) in dialects.FANOUTS.items()},
        "mutation_risk": {word: MEANINGS[risk] for word, risk in dialects.RISKS.items()},
    }
    block = {name: _words(meanings) for name, meanings in words.items()}
    for name in ("goal", "seeds"):
        block[name] = {"$ref": f"#/$defs/Tactical/properties/{dialects.CANONICAL[name]}"}
    beside = {name: {"$ref": f"#/$defs/Tactical/properties/{name}"} for name in dialects.BESIDE}
    return {
        "title": "Sidecar intake",
        "description": f"{MEANINGS[Dialect.SIDECAR]}.".capitalize(),
        "type": "object",
        "properties": {
            dialects.BLOCK: {
                "type": "object",
                "properties": block,
                "required": list(dialects.REQUIRED),
                "additionalProperties": False,
            },
            **beside,
        },
        "required": [dialects.BLOCK],
        "additionalProperties": False,
    }


def _fanout_rules() -> list[dict[str, Any]]:
    """Return the rules of ``legality`` for the tactical vocabulary, as conditions."""

    def says(**fields: object) -> dict[str, Any]:
        values = {
            name: {"enum": value} if isinstance(value, list) else {"const": value} for name, value in fields.items()
        }
        return {"properties": values, "required": list(values)}

    conservative = says(fanout_level=FanoutLevel.CONSERVATIVE.value)
    vague = says(target_profile="vague_intent")
    widening = says(investigation=["migration", "drift"])
    return [
        {"if": says(mutation_risk="high_mutation"), "then": conservative},
        {"if": says(target_profile="doctrine_chain", expected_output="claim_evidence"), "then": conservative},
        {
            "if": says(fanout_level=FanoutLevel.WIDE.value),
            "then": {"allOf": [says(mutation_risk="read_only"), {"anyOf": [vague, widening]}]},
        },
    ]
