"""A drift report for people, as SARIF and as JUnit's XML."""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import drift_samples as sample
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.models.drift import DriftReport
from rtch.render.drift import human, markdown
from rtch.render.junit import junit
from rtch.render.sarif import sarif

GOLDEN = Path(__file__).parents[1] / "golden" / "render"
ACCEPT = "ACCEPT_GOLDEN"
WRITERS = {"drift.txt": human, "drift.md": markdown, "drift.sarif": sarif, "drift.xml": junit}


def same_as_golden(name: str, text: str) -> None:
    """Compare with a file; ``ACCEPT_GOLDEN=1`` writes it."""
    if os.environ.get(ACCEPT):
        (GOLDEN / name).write_text(text, encoding="utf-8", newline="")
    expected = (GOLDEN / name).read_bytes().decode()
    diff = "\n".join(difflib.unified_diff(expected.split("\n"), text.split("\n"), "golden", "now", lineterm=""))
    assert text == expected, diff


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


@pytest.mark.parametrize("name", WRITERS)
def test_report_is_written_as_before(name: str) -> None:
    same_as_golden(name, WRITERS[name](sample.report()))
