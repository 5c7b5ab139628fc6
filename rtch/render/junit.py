"""A drift report as JUnit's XML: a suite for each investigation, a case for each finding."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from rtch.escape import visible
from rtch.models.drift import DriftReport, DriftStatus, Investigation
from rtch.render.drift import counted, ending, fails, standing, where

_FORBIDDEN = re.compile("[\ufffe\uffff]")


def junit(report: DriftReport) -> str:
    """Return XML; what XML 1.0 forbids is written out."""
    root = ET.Element("testsuites", name="rtch drift")
    for one in report.investigations:
        _suite(root, one)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(root: ET.Element, one: Investigation) -> None:
    name = _text(f"{one.saved} @ {one.zone_name}")
    suite = ET.SubElement(
        root, "testsuite", name=name, timestamp=_text(one.started_at), time=f"{one.wall_ms / 1e3:.3f}"
    )
    if one.status is DriftStatus.FAILED:
        _case(suite, name, "investigation", "error", ending(one))
    elif one.status is DriftStatus.BASELINE_TAKEN:
        _case(suite, name, "investigation", "skipped", ending(one))
    else:
        _case(suite, name, counted(one))
    for found in one.findings:
        title = f"{found.kind} {where(found.at)} {found.finding_id}"
        if fails(found):
            _case(suite, name, title, "failure", found.message)
        elif (stands := standing(found)) in {"accepted", "suppressed"}:
            _case(suite, name, title, "skipped", f"{stands}: {found.set_aside or found.message}")
        else:
            _case(suite, name, f"{stands}: {title}")
    for row in one.not_judged:
        _case(suite, name, f"not judged: {row.what}", "skipped", row.why)
    suite.set("tests", str(len(suite)))
    for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(count, str(len(suite.findall(f"testcase/{tag}"))))


def _case(suite: ET.Element, group: str, name: str, outcome: str = "", message: str = "") -> None:
    case = ET.SubElement(suite, "testcase", classname=group, name=_text(name))
    if outcome:
        ET.SubElement(case, outcome, message=_text(message))


def _text(text: str) -> str:
    return _FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))
