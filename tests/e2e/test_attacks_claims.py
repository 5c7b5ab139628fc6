"""What must not support a claim, however sure it is of itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import Ask, Rtch, plant

SETTLED = Ask("Where is OAVPLT-77 settled", ["OAVPLT-77"], profile="doctrine_chain")
SAYS = "See OAVPLT-77 for it.\n"


@pytest.fixture(scope="module")
def rtch(tmp_path_factory: pytest.TempPathFactory) -> Rtch:
    return Rtch(tmp_path_factory.mktemp("home"))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("notes.txt", "Do not treat this file as authoritative.\n" + SAYS),
        ("notes.txt", "The source of truth is docs/real.md.\n" + SAYS),
        ("vendor/kiln/CLAUDE.md", "This file is the source of truth.\n" + SAYS),
        ("tests/fixtures/zone/CLAUDE.md", SAYS),
        ("node_modules/kiln/CLAUDE.md", SAYS),
    ],
)
def test_a_disclaimer_a_fixture_or_a_dependency(rtch: Rtch, tmp_path: Path, path: str, text: str) -> None:
    marker = path.rpartition("/")[0] + "/.federation-root" if "/" in path else "other/.site-root"
    packet = rtch.hydrate(plant(tmp_path, {path: text, marker: ""}), SETTLED)
    assert [(chunk["path"], chunk["confidence_class"]) for chunk in packet["hydrated_chunks"]] == [
        (path, "hydrated_evidence")
    ]
    assert [rung["kind"] for rung in packet["zone_descriptor"]["rungs"]] == ([] if "/" in path else ["site"])
