"""A drift report as JUnit's XML: a suite for each investigation, a case for each finding.

A case passes only where something was compared, and its name is the same in every run: what is counted, and lines
of now, stand in its text.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from rtch.escape import visible
from rtch.models.drift import DriftReport, DriftStatus, Finding, Investigation
from rtch.render.drift import aside, counted, details, ending, looked, standing

_FORBIDDEN = re.compile("[\ufffe\uffff]")
_TOTALS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def junit(report: DriftReport) -> str:
    """Return XML; what XML 1.0 forbids is written out."""
    root = ET.Element("testsuites", name="rtch drift")
    for one in report.investigations:
        _suite(root, one)
    for name in ("tests", *_TOTALS):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(root: ET.Element, one: Investigation) -> None:
    name = _text(f"{one.saved} @ {one.zone_name}")
    suite = ET.SubElement(
        root, "testsuite", name=name, timestamp=_text(one.started_at), time=f"{one.wall_ms / 1e3:.3f}"
    )
    whole = _case(suite, name, "investigation", _outcome(one))
    if looked(one):
        ET.SubElement(whole, "system-out").text = _text(counted(one))
    for found in one.findings:
        case = f"{found.kind} {found.at.path} {found.finding_id}"
        _case(suite, name, case, _finding_outcome(one, found), _lines(found))
    for row in one.not_judged:
        _case(suite, name, f"not judged: {row.what}", ("skipped", row.why))
    suite.set("tests", str(len(suite)))
    for total, tag in _TOTALS.items():
        suite.set(total, str(len(suite.findall(f"testcase/{tag}"))))


def _outcome(one: Investigation) -> tuple[str, str]:
    """Return with what the case of the whole investigation ends, and why."""
    if one.status is DriftStatus.FAILED:
        return "error", ending(one)
    if one.status is DriftStatus.BASELINE_TAKEN:
        return "skipped", ending(one)
    if not looked(one):
        return "skipped", "nothing was checked"
    return ("skipped", "not everything could be judged") if one.status is DriftStatus.NOT_JUDGED else ("", "")


def _finding_outcome(one: Investigation, found: Finding) -> tuple[str, str]:
    stands = standing(one, found)
    if stands == "drifted":
        return "failure", found.message
    if stands in {"accepted", "suppressed"}:
        return "skipped", f"{stands}: {aside(found) or found.message}"
    return ("skipped", f"{stands}: {found.message}") if ending(one) or not looked(one) else ("", "")


def _lines(found: Finding) -> str:
    return "\n".join(_text(f"{name}: {value}") for name, value in (*details(found), ("certainty", found.certainty)))


def _case(suite: ET.Element, group: str, name: str, outcome: tuple[str, str], text: str = "") -> ET.Element:
    case = ET.SubElement(suite, "testcase", classname=group, name=_text(name))
    tag, message = outcome
    if tag:
        ET.SubElement(case, tag, message=_text(message)).text = text if tag == "failure" else None
    return case


def _text(text: str) -> str:
    return _FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))
