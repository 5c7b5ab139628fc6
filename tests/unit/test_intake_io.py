"""Requests become intakes, or one message with every reason."""

# ruff: noqa: E501, ISC004  whole sentences are compared

from __future__ import annotations

import json
from typing import Any

import pytest

from rtch.errors import IntakeError
from rtch.intake_io import Preset, build_intake, dump_intake, parse_intake
from rtch.models.intake import EnoughEvidence
from rtch.models.vocab import (
    Dialect,
    ExpectedOutput,
    FanoutLevel,
    Investigation,
    MutationRisk,
    Scope,
    TargetProfile,
)
from rtch.plain_data import read_plain

FIELDS: dict[str, object] = {
    "goal": "Where is a key made",
    "target_profile": "code_path",
    "fanout_level": "normal",
    "mutation_risk": "read_only",
    "expected_output": "hydration_packet",
    "enough_evidence_definition": "at least 3 surfaces",
}


def refusal(fields: Any, **more: Any) -> str:
    with pytest.raises(IntakeError) as caught:
        build_intake(fields, name="F", **more)
    assert caught.value.exit_code == 2
    return str(caught.value)


def sentences(fields: Any, **more: Any) -> list[str]:
    head, *listed = refusal(fields, **more).split("\n- ")
    assert head == f"F has {len(listed)} problems:"
    return listed


def test_every_field_arrives() -> None:
    intake = build_intake(
        FIELDS
        | {
            "known_target": "src/a.py",
            "explicit_seeds": [" stage_key ", "b"],
            "forbidden_assumptions": ["c"],
            "known_neighbor_surfaces": ["d.py"],
            "scope": "narrow",
            "read_budget": 7,
            "investigation": "drift",
            "enough_evidence": {"min_surfaces": 2, "required_terms": ["x"], "per_seed_coverage": True},
        }
    )
    assert intake.goal == "Where is a key made"
    assert (intake.target_profile, intake.fanout_level) == (TargetProfile.CODE_PATH, FanoutLevel.NORMAL)
    assert (intake.mutation_risk, intake.expected_output) == (MutationRisk.READ_ONLY, ExpectedOutput.HYDRATION_PACKET)
    assert (intake.scope, intake.investigation) == (Scope.NARROW, Investigation.DRIFT)
    assert (intake.explicit_seeds, intake.known_target, intake.read_budget) == (("stage_key", "b"), "src/a.py", 7)
    assert (intake.forbidden_assumptions, intake.known_neighbor_surfaces) == (("c",), ("d.py",))
    assert intake.enough_evidence == EnoughEvidence(min_surfaces=2, required_terms=("x",), per_seed_coverage=True)
    assert (intake.dialect, intake.surface_cap, intake.notes) == (Dialect.TACTICAL, None, ())


def test_a_goal_is_trimmed_and_else_untouched() -> None:
    assert build_intake(FIELDS | {"goal": "  cafe\u0301  \n"}).goal == "cafe\u0301"


def test_yaml_and_json_are_read_alike() -> None:
    text = "".join(f"{name}: {value}\n" for name, value in FIELDS.items())
    by_yaml = parse_intake(text.encode(), name="F")
    assert by_yaml == parse_intake(json.dumps(FIELDS).encode(), name="F") == build_intake(FIELDS)


def test_what_is_absent_or_blank_is_named_with_what_it_may_be() -> None:
    assert sentences({"goal": " ", "target_profile": None, "fanout_level": ""}) == [
        "goal is missing (--goal): what you need to know or do, in one sentence, such as 'Find where a stage key is made'",
        "target_profile is missing (--profile): one of doctrine_chain, audit_history, code_path, manifest_registry, "
        "vague_intent, mixed",
        "fanout_level is missing (--fanout): one of conservative, normal, wide",
        "mutation_risk is missing (--risk): one of read_only, low_mutation, high_mutation",
        "expected_output is missing (--output-kind): one of hydration_packet, target_set_for_consolidate, single_chunk, "
        "claim_evidence",
        "enough_evidence_definition is missing (--enough): when the search may stop, in one sentence, such as "
        "'At least 3 surfaces, and every seed is covered'",
    ]


@pytest.mark.parametrize("name", FIELDS)
def test_each_required_field_is_required(name: str) -> None:
    left = {field: value for field, value in FIELDS.items() if field != name}
    assert refusal(left).startswith(f"F: {name} is missing ")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"explicit_seeds": "abc"}, "explicit_seeds must be a list, found 'abc'; write it as a list of one"),
        ({"explicit_seeds": None}, "explicit_seeds must be a list, found nothing; leave it out, or write []"),
        ({"explicit_seeds": ["a", 3]}, "explicit_seeds[1] must be text, found the number 3; put it in quotes"),
        ({"explicit_seeds": [True]}, "explicit_seeds[0] must be text, found true; put it in quotes"),
        ({"explicit_seeds": [None]}, "explicit_seeds[0] must be text, found nothing"),
        ({"explicit_seeds": [" "]}, "explicit_seeds[0] is blank"),
        ({"explicit_seeds": ["x" * 401]}, "explicit_seeds[0] has 401 characters, and at most 400 are read"),
        ({"explicit_seeds": ["x"] * 101}, "explicit_seeds has 101 entries, and at most 100 are read"),
        ({"explicit_seeds": {"a": 1}}, "explicit_seeds must be a list, found a mapping"),
        ({"explicit_seeds": ["a\nb"]}, "explicit_seeds[0] holds a line break; a term is one line: write each as its own entry"),
        ({"explicit_seeds": ["a\0"]}, "explicit_seeds[0] holds a NUL character; remove it"),
        ({"goal": "a\ud800"}, "goal holds bytes or escapes that are no UTF-8 text; write the text itself"),
        ({"goal": 7}, "goal must be text, found the number 7; put it in quotes"),
        ({"goal": ["a"]}, "goal must be text, found a list; only one value fits here"),
        ({"known_target": 7}, "known_target must be text, found the number 7; put it in quotes"),
        ({"known_target": ""}, "known_target is blank"),
        ({"read_budget": "12"}, "read_budget must be a whole number, found '12'; write plain digits without quotes"),
        ({"read_budget": 1.5}, "read_budget must be a whole number, found the number 1.5"),
        ({"read_budget": 0}, "read_budget must be at least 1, found 0"),
        ({"read_budget": 10**9}, "read_budget must be at most 1000000, found 1000000000"),
        ({"read_budget": True}, "read_budget must be a whole number, found true"),
        ({"schema_version": "2"}, "schema_version must be 'rtch.intake/1', found '2'"),
        (
            {"target_profile": "code_pth"},
            "target_profile must be one of doctrine_chain, audit_history, code_path, manifest_registry, vague_intent, mixed, "
            "found 'code_pth'; did you mean code_path?",
        ),
        ({"scope": 3}, "scope must be one of narrow, adjacent, broad, found the number 3"),
        (
            {"fanout_level": "moderate"},
            "fanout_level must be one of conservative, normal, wide, found 'moderate'; that word is for an intent block "
            "(or --dialect sidecar)",
        ),
        ({"fanout_levle": "wide"}, "fanout_levle is no field of an intake; did you mean fanout_level?"),
        ({"target-profile": "x"}, "'target-profile' is no field of an intake; did you mean target_profile?"),
        ({"risk": "x"}, "risk is no field of an intake; did you mean mutation_risk?"),
        (
            {"seeds": ["x"]},
            "seeds is no field of an intake; did you mean explicit_seeds? Or is this for an intent block (or --dialect sidecar)?",
        ),
        (
            {"zzz": 1},
            "zzz is no field of an intake; known are goal, target_profile, fanout_level, mutation_risk, expected_output, "
            "enough_evidence_definition, known_target, explicit_seeds, forbidden_assumptions, known_neighbor_surfaces, scope, "
            "read_budget, investigation, enough_evidence",
        ),
        (
            {"enough_evidence": []},
            "enough_evidence must be a mapping of min_surfaces, min_claim_supporting, required_terms, required_paths, "
            "per_seed_coverage, found an empty list",
        ),
        (
            {"enough_evidence": {"min_surface": 1}},
            "enough_evidence.min_surface is no criterion; did you mean min_surfaces?",
        ),
        ({"enough_evidence": {"min_surfaces": 0}}, "enough_evidence.min_surfaces must be at least 1, found 0"),
        (
            {"enough_evidence": {"per_seed_coverage": "yes"}},
            "enough_evidence.per_seed_coverage must be true or false, found 'yes'",
        ),
        (
            {"enough_evidence": {"required_terms": ["a", "b\nc"]}},
            "enough_evidence.required_terms[1] holds a line break; a term is one line: write each as its own entry",
        ),
        (
            {"enough_evidence": {}},
            "enough_evidence names no criterion; leave it out, and the sentence is compiled",
        ),
        (
            {"enough_evidence": {"per_seed_coverage": True}},
            "enough_evidence.per_seed_coverage is true, and there are no explicit_seeds; name a seed",
        ),
        ({"surface_cap": 3}, "surface_cap is set by the sidecar dialect alone; leave it out"),
        (
            {"fanout_level": "wide"},
            "fanout_level wide is not legal: wide requires target_profile vague_intent, or investigation migration or drift; "
            "the highest legal level is normal",
        ),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_one_wrong_thing_is_one_sentence(changed: Any, sentence: str) -> None:
    assert refusal(FIELDS | changed) == f"F: {sentence}"


def test_all_that_is_wrong_is_told_at_once() -> None:
    found = sentences(
        FIELDS | {"goal": None, "read_budget": "x", "explicit_seeds": ["a", 3, "\0"], "riskk": 1, "scope": "wide"}
    )
    assert [sentence.split()[0] for sentence in found] == [
        "riskk", "goal", "explicit_seeds[2]", "explicit_seeds[1]", "scope", "read_budget",
    ]  # fmt: skip


def test_a_value_that_cannot_be_encoded_hides_nothing_else() -> None:
    found = sentences(FIELDS | {"goal": "\ud800", "scope": "x"})
    assert [sentence.split()[0] for sentence in found] == ["goal", "scope"]


def test_what_could_not_be_read_is_reported_once_and_with_its_path() -> None:
    reading = read_plain(
        b"goal: 2024-01-01\ntarget_profile: code_path\nfanout_level: normal\nmutation_risk: no\n"
        b"expected_output: hydration_packet\nenough_evidence_definition: x\nexplicit_seeds: [a, 1.5]\n",
        name="F",
    )
    assert sentences(reading) == [
        "goal is '2024-01-01' on line 1, which YAML reads as a date; put it in quotes",
        "mutation_risk is 'no' on line 4, which YAML reads as a boolean; write true or false, or put it in quotes",
        "explicit_seeds[1] is '1.5' on line 7, which YAML reads as a number; put it in quotes",
    ]


def test_a_long_list_of_problems_is_cut_and_counted() -> None:
    *listed, last = sentences_of_many()
    assert len(listed) == 30
    assert last == "and 10 more"


def sentences_of_many() -> list[str]:
    head, *listed = refusal(FIELDS | {"explicit_seeds": list(range(40))}).split("\n- ")
    assert head == "F has 40 problems:"
    return listed


def test_nothing_of_a_message_steers_a_terminal() -> None:
    told = refusal(FIELDS | {"\x1b[2J": 1, "scope": "\x1b[31m"})
    assert "\x1b" not in told
    assert "\\u001b" in told


def test_null_and_absent_optional_fields_are_the_same() -> None:
    optional = ("known_target", "scope", "read_budget", "investigation", "enough_evidence")
    assert build_intake(FIELDS | dict.fromkeys(optional)) == build_intake(FIELDS)


def test_flags_win_over_fields() -> None:
    intake = build_intake(
        FIELDS | {"explicit_seeds": ["a"], "read_budget": 3},
        flags={"goal": "other", "explicit_seeds": ["b"], "scope": None},
    )
    assert (intake.goal, intake.explicit_seeds, intake.read_budget, intake.scope) == ("other", ("b",), 3, None)


def test_flags_may_be_the_whole_request() -> None:
    assert build_intake({}, flags=FIELDS) == build_intake(FIELDS)


PRESET = Preset("look", "to look", {**FIELDS, "goal": "preset", "investigation": "drift"})


def test_a_preset_fills_what_is_missing_and_says_so() -> None:
    intake = build_intake({"goal": "mine", "target_profile": " "}, preset=PRESET, flags={"mutation_risk": "read_only"})
    assert (intake.goal, intake.investigation) == ("mine", Investigation.DRIFT)
    assert intake.notes == (
        "target_profile was filled by preset look: code_path",
        "fanout_level was filled by preset look: normal",
        "expected_output was filled by preset look: hydration_packet",
        "enough_evidence_definition was filled by preset look: at least 3 surfaces",
        "investigation was filled by preset look: drift",
    )


def test_a_preset_overrides_nothing() -> None:
    given = FIELDS | {"investigation": "migration"}
    assert build_intake(given, preset=PRESET) == build_intake(given)


def test_a_flag_takes_back_what_a_saved_intake_tells_of_a_preset() -> None:
    notes = ["fanout_level was filled by preset look: normal", "mine", "scope was filled by hand"]
    saved = {**FIELDS, "notes": notes}
    intake = build_intake(saved, flags={"fanout_level": "conservative", "scope": "narrow"})
    assert intake.notes == ("mine", "scope was filled by hand")
    assert build_intake(saved).notes == tuple(notes)


def test_a_preset_does_not_hide_what_could_not_be_read() -> None:
    reading = read_plain(b"goal: x\nmutation_risk: no\n", name="F")
    assert refusal(reading, preset=PRESET) == (
        "F: mutation_risk is 'no' on line 2, which YAML reads as a boolean; write true or false, or put it in quotes"
    )


def test_what_is_written_is_read_back() -> None:
    intake = build_intake(
        FIELDS | {"goal": "a: b # c\n\nno", "explicit_seeds": ["no", "1", "--help", "2024-01-01"], "notes": ["x"]}
    )
    text = dump_intake(intake)
    assert parse_intake(text.encode(), name="F") == intake
    assert "schema_version" not in text
    assert text.startswith("goal: ")
