"""A drift report for people, as SARIF and as JUnit's XML."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import drift_samples as sample
from hypothesis import given
from hypothesis import strategies as st

from rtch.models.drift import DriftReport
from rtch.render.drift import human, markdown
from rtch.render.junit import junit
from rtch.render.sarif import sarif


def test_counts_are_told_and_a_clean_one_is_two_lines() -> None:
    text = human(sample.report())
    assert (
        "checked 12 chunks, 7 surfaces, 19 references in 3 documents, 2 keys of 4 truth files: "
        "3 drifted, 1 accepted, 1 suppressed, 1 note, 1 not judged" in text
    )
    assert text.split("\n\n")[1].count("\n") == 1
    assert "failed: the zone /srv/x does not exist" in text
    assert "| error |" in markdown(sample.report()) or "| warning |" in markdown(sample.report())


def test_sarif_encodes_a_path_once_and_tells_of_failure() -> None:
    run = json.loads(sarif(sample.report()))["runs"][0]
    assert "docs/%FF.md" in {
        row["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for row in run["results"]
    }
    assert not run["invocations"][0]["executionSuccessful"]
    assert run["originalUriBaseIds"] == {"ZONE": {"uri": "file:///srv/shop/"}}


@given(st.text())
def test_any_text_is_kept_from_terminal_and_markup(text: str) -> None:
    found = sample.edited(message=text, captured=text, found=text, owners=(text,))
    one = sample.investigation(saved=text, findings=(found,))
    report = DriftReport(rtch_version="1.0", investigations=(one,), exit_code=1)
    assert "\x1b" not in human(report)
    json.loads(sarif(report).encode())
    suite = ET.fromstring(junit(report).encode())[0]
    assert int(suite.get("tests", "")) == len(suite)
    assert suite.get("failures") == "1"
