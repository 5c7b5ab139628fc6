"""A zone's own markers and configuration may be anything: they cost a caution or a sentence, and never a crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driving import Ask, Rtch, corpus, flags_of, paths_of, plant, together, tree_state

tree = corpus("tree")

HARPOON = Ask("Where is harpoon defined", ["harpoon"])


@pytest.fixture(scope="module")
def rtch(tmp_path_factory: pytest.TempPathFactory) -> Rtch:
    return Rtch(tmp_path_factory.mktemp("home"))


MARKERS = {
    "a NUL": json.dumps({"audit_logs_path": "a\0b"}),
    "half a pair": '{"audit_logs_path": "\\ud800x", "name": "\\ud800"}',
    "a long name": json.dumps({"audit_logs_path": "x" * 5000}),
    "a long path": json.dumps({"audit_logs_path": "x/" * 3000}),
    "a large number": '{"name": ' + "9" * 5000 + "}",
    "no end": "[" * 60_000,
    "git's folder": json.dumps({"audit_logs_path": ".git"}),
    "a file": json.dumps({"audit_logs_path": "a.py"}),
}


def test_a_marker_of_any_kind_ends_no_run_and_leads_nowhere(rtch: Rtch, tmp_path: Path) -> None:
    roots = [plant(tmp_path / name, {"a.py": "harpoon = 1\n", ".ticzone": text}) for name, text in MARKERS.items()]
    for root in roots:
        tree.run_git(root, "init", "-q")
    before = [tree_state(root) for root in roots]
    packets = together(lambda root: rtch.hydrate(root, HARPOON, "--persist"), roots)
    assert [paths_of(packet) for packet in packets] == [["a.py"]] * len(roots)
    assert [tree_state(root) for root in roots] == before
    unfit = {name for name, packet in zip(MARKERS, packets, strict=True) if "malformed" in flags_of(packet)}
    assert unfit == set(MARKERS) - {"half a pair", "a file"}


CONFIGURATIONS = {
    "nested without end": "generic: " + "[" * 3000,
    "a large number": "limits: {hydrate: {window_lines: " + "9" * 5000 + "}}",
    "no date": "generic: 2024-99-99",
    "no truth value": "generic: !!bool perhaps",
    "no number": "generic: !!int ''",
    "no moment": "generic: !!timestamp soon",
    "a bomb": "limits: {hydrate: {window_lines: [&a [x,x,x,x,x,x,x,x,x,x]"
    + "".join(f", &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 10)}]" for n in range(9))
    + "]}}",
    "an escape": '"\\e[31mred\\u202e": 1',
}


def test_a_configuration_of_any_kind_is_refused_in_a_sentence(rtch: Rtch, tmp_path: Path) -> None:
    roots = [plant(tmp_path / name, {"a.py": "x", ".rtch.yaml": text}) for name, text in CONFIGURATIONS.items()]
    for ran in together(lambda root: rtch.run("hydrate", "--root", str(root), *HARPOON.flags()), roots):
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("rtch: .rtch.yaml")
        assert ran.err.removesuffix("\n").isprintable()
        assert len(ran.err) < 1000


@pytest.mark.parametrize("name", [".ticzone", ".federation-root"])
def test_a_folder_of_a_markers_name_is_no_marker_and_ends_no_run(rtch: Rtch, tmp_path: Path, name: str) -> None:
    root = plant(tmp_path / "zone", {"a.py": "harpoon = 1\n", f"{name}/b.txt": "", "audit-logs/rows.jsonl": "{}\n"})
    assert paths_of(rtch.hydrate(root, HARPOON, "--persist")) == ["a.py"]
    assert rtch.run("chain", str(root / "a.py")).code in {0, 1}


def test_several_problems_of_a_request_stand_on_lines_of_their_own(rtch: Rtch, tmp_path: Path) -> None:
    ran = rtch.run("hydrate", "--root", str(tmp_path), *HARPOON.flags(), "--dialect", "sidecar")
    assert ran.code == 2
    assert len(ran.err.splitlines()) >= 3
