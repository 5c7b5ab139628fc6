"""A drift report as JUnit's XML: the counts add up, and nothing looked at is no pass."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import drift_samples as sample
from hypothesis import given
from hypothesis import strategies as st

from rtch.models.drift import DriftReport, DriftStatus, Investigation
from rtch.render.junit import junit


def suite_of(one: Investigation) -> ET.Element:
    report = DriftReport(rtch_version="1.0", investigations=(one,), exit_code=0)
    return ET.fromstring(junit(report).encode())[0]


def test_counts_add_up() -> None:
    suite = suite_of(sample.investigation())
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["9", "3", "0", "3"]


def test_clean_passes_by_name_and_what_was_not_compared_does_not() -> None:
    clean = suite_of(sample.investigation(status=DriftStatus.CLEAN, findings=(), not_judged=()))
    assert len(clean) == 1
    assert "checked 12 chunks" in clean[0].get("name", "")
    assert not len(clean[0])
    for status, outcome in ((DriftStatus.BASELINE_TAKEN, "skipped"), (DriftStatus.FAILED, "error")):
        suite = suite_of(sample.investigation(status=status, findings=(), not_judged=()))
        assert [case[0].tag for case in suite] == [outcome]


@given(st.text() | st.sampled_from(["\ufffe", "\x00", "\ud800", "]]>", "&#0;"]))
def test_any_text_is_xml(text: str) -> None:
    suite = suite_of(sample.investigation(saved=text, findings=(sample.edited(message=text),), failure=text))
    assert suite.get("tests") == str(len(suite))
