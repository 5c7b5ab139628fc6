"""The story of docs/drift.md is replayed: each of its eight changes shows, and acceptance ends as it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_story_can_be_replayed(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    ran = subprocess.run(
        ["bash", str(DOCS / "drift-story.sh"), str(tmp_path)],
        cwd=tmp_path, env={"PATH": path, "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr
    first, changed, accepted, rest = re.split(r"== (?:What has|Accept one|Accept the rest).*", ran.stdout)
    assert "payments @ shop: baseline taken" in first
    kinds = set(re.findall(r"^    (\w+), (?:certain|likely|possible), drift_", changed, re.MULTILINE))
    assert kinds == {
        "edited", "deleted", "renamed", "relocated", "duplicated", "superseded", "surface_entered",
        "dangling_reference",
    }  # fmt: skip
    assert re.search(r"note +billing/report.py:L1-L8 is 2 lines down", changed)
    assert "names billing/payment.py, which is not there but is billing/incoming.py now" in changed
    assert "(exit 1)" in changed
    assert "payments are numbered anew each day" in accepted
    assert "suppressed docs/billing.md:L4 links to ../billing/refund.py" in accepted
    assert rest.count("payments @ shop: clean") == 2
    assert "(exit" not in rest
    assert "payments @ " in rest.split("--history")[1]


def test_the_page_tells_of_every_kind_of_finding() -> None:
    from rtch.models.drift import DriftKind  # noqa: PLC0415

    page = (DOCS / "drift.md").read_text()
    assert [kind.value for kind in DriftKind if f"`{kind.value}`" not in page] == []
