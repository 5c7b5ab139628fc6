"""A drift report as SARIF: held against a model of the standard, and against rules that no model states."""

from __future__ import annotations

import json

import drift_samples as sample
from hypothesis import given
from hypothesis import strategies as st
from sarif_pydantic import Sarif

from rtch.models.drift import DriftReport
from rtch.render.sarif import sarif


def lawful(text: str) -> None:
    """Check what refers to something else, and what has to be there."""
    Sarif.model_validate_json(text)
    whole = json.loads(text)
    assert whole["version"] == "2.1.0"
    for run in whole["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert all(
            base["uri"].startswith("file:///") and base["uri"][-1] == "/" for base in run["originalUriBaseIds"].values()
        )
        for row in run["results"]:
            assert rules[row["ruleIndex"]]["id"] == row["ruleId"]
            assert row["message"]["text"]
            for place in (*row["locations"], *row.get("relatedLocations", ())):
                artifact = place["physicalLocation"]["artifactLocation"]
                assert artifact["uriBaseId"] in run["originalUriBaseIds"]
                assert artifact["uri"].isascii()
                assert " " not in artifact["uri"]


def test_report_is_lawful_and_the_same_twice() -> None:
    text = sarif(sample.report())
    lawful(text)
    assert text == sarif(sample.report())


@given(st.text())
def test_any_text_is_lawful(text: str) -> None:
    found = sample.edited(message=text, captured=text, found=text, owners=(text,), next_command=text)
    one = sample.investigation(saved=text, findings=(found,), failure=text)
    lawful(sarif(DriftReport(rtch_version=text, investigations=(one,), exit_code=1)))
