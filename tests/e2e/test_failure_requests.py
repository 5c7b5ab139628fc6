"""Broken requests, kept packets, and everything that must not change an answer."""

from __future__ import annotations

import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from driving import Ask, Rtch, corpus, plant, same_part

tree = corpus("tree")

HARPOON = Ask("Where is harpoon defined", ["harpoon"])


@pytest.fixture(scope="module")
def rtch(tmp_path_factory: pytest.TempPathFactory) -> Rtch:
    return Rtch(tmp_path_factory.mktemp("home"))


# --- determinism ---------------------------------------------------------------------------------------------------


def test_the_order_in_which_files_were_made_does_not_matter(rtch: Rtch) -> None:
    """On tmpfs, where a folder lists its files in the order of their making."""
    base = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: PTH112
    names = [f"d{n % 9}/f{n}.py" for n in range(120)]
    found = []
    with tempfile.TemporaryDirectory(prefix="rtch-order-", dir=base) as folder:
        for place, order in (("one", names), ("other", names[::-1])):
            root = plant(Path(folder) / place, {name: f"x = '{name}'\nharpoon = 1\n" for name in order})
            found.append(rtch.hydrate(root, HARPOON))
    assert same_part(found[0]) == same_part(found[1])
    assert found[0]["packet_id"] == found[1]["packet_id"]


def test_what_was_touched_or_cloned_is_the_same(rtch: Rtch, tmp_path: Path) -> None:
    root = tmp_path / "one"
    tree.build(root, files=40, git=True)
    ask = Ask("Who settles it", [tree.SYMBOL])
    first = rtch.hydrate(root, ask)
    for path in root.rglob("*.py"):
        os.utime(path, (2_000_000_000, 2_000_000_000))
    assert same_part(rtch.hydrate(root, ask)) == same_part(first)
    tree.run_git(tmp_path, "clone", "-q", "one", "other")
    assert same_part(rtch.hydrate(tmp_path / "other", ask)) == same_part(first)


# --- requests ------------------------------------------------------------------------------------------------------

FIELDS: dict[str, Any] = {
    "goal": "Where is harpoon defined", "target_profile": "code_path", "fanout_level": "normal",
    "mutation_risk": "read_only", "expected_output": "hydration_packet",
    "enough_evidence_definition": "at least 1 surface", "explicit_seeds": ["harpoon"],
}  # fmt: skip
BROKEN: dict[str, str | bytes] = {
    "not-json": "{", "a-list": "[]", "a-number": "7", "empty": "",
    "null-seeds": json.dumps(FIELDS | {"explicit_seeds": None}),
    "number-seed": json.dumps(FIELDS | {"explicit_seeds": [3]}),
    "string-seeds": json.dumps(FIELDS | {"explicit_seeds": "abc"}),
    "nul-seed": json.dumps(FIELDS | {"explicit_seeds": ["a\0b"]}),
    "huge-seed": json.dumps(FIELDS | {"explicit_seeds": ["a" * 300_000]}),
    "number-target": json.dumps(FIELDS | {"known_target": 7}),
    "blank-goal": json.dumps(FIELDS | {"goal": "   "}),
    "number-goal": json.dumps(FIELDS | {"goal": 7}),
    "unknown-key": json.dumps(FIELDS | {"fanout_levle": "normal"}),
    "bad-utf8": b'{"goal": "\xff"}',
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_request_is_refused_in_a_sentence(rtch: Rtch, tmp_path: Path, name: str) -> None:
    plant(tmp_path, {"intake.json": BROKEN[name]})
    ran = rtch.run("hydrate", str(tmp_path / "intake.json"), "--root", str(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert 10 < len(ran.err) < 3000


def test_an_unknown_key_is_met_with_the_nearest_known_one(rtch: Rtch, tmp_path: Path) -> None:
    plant(tmp_path, {"intake.json": BROKEN["unknown-key"]})
    assert "fanout_level" in rtch.run("hydrate", str(tmp_path / "intake.json"), "--root", str(tmp_path)).err


def test_a_request_may_begin_with_a_byte_order_mark_and_come_by_stdin(rtch: Rtch, tmp_path: Path) -> None:
    root = plant(tmp_path / "zone", {"a.py": "harpoon = 1\n"})
    plant(tmp_path, {"intake.json": "\ufeff" + json.dumps(FIELDS)})
    by_file = rtch.run("hydrate", str(tmp_path / "intake.json"), "--root", str(root), "--format", "json")
    by_stdin = rtch.run("hydrate", "-", "--root", str(root), "--format", "json", stdin=json.dumps(FIELDS))
    assert (by_file.code, by_stdin.code) == (0, 0)
    assert same_part(by_file.packet) == same_part(by_stdin.packet) == same_part(rtch.hydrate(root, HARPOON))


# --- keeping -------------------------------------------------------------------------------------------------------


def test_persist_makes_no_folders_for_a_target_that_is_not_there(rtch: Rtch, tmp_path: Path) -> None:
    root = plant(tmp_path / "zone", {"a.py": "harpoon = 1\n"})
    rtch.hydrate(root, HARPOON.but(target="ghost/dir/x.py"), "--persist")
    assert [path.name for path in root.iterdir()] == ["a.py"]


def test_another_zone_has_another_packet(rtch: Rtch, tmp_path: Path) -> None:
    found = {
        rtch.hydrate(plant(tmp_path / name, {"a.py": f"harpoon = '{name}'\n"}), HARPOON, "--persist")["packet_id"]
        for name in ("one", "other")
    }
    assert len(found) == 2
    assert all(list((rtch.home / "rtch/packets").rglob(f"{name}.yaml")) for name in found)


def test_six_at_once_keep_one_whole_packet(tmp_path: Path) -> None:
    rtch = Rtch(tmp_path / "home")
    rtch.home.mkdir()
    root = plant(
        tmp_path / "zone", {"audit-logs/x.md": "# x\n", ".ticzone": "{}", "a.py": "def harpoon():\n    pass\n"}
    )
    with ThreadPoolExecutor(6) as pool:
        packets = list(pool.map(lambda _: rtch.hydrate(root, HARPOON, "--persist"), range(6)))
    assert len({packet["packet_id"] for packet in packets}) == 1
    kept = list((root / "audit-logs/rtch/packets").iterdir())
    assert [path.name for path in kept] == [f"{packets[0]['packet_id']}.yaml"]
    written = yaml.safe_load(kept[0].read_text())
    assert written["packet_id"] == packets[0]["packet_id"]
    assert same_part(written) == same_part(packets[0])


def test_a_damaged_store_changes_nothing_but_the_time(tmp_path: Path) -> None:
    rtch = Rtch(tmp_path / "home")
    rtch.home.mkdir()
    root = plant(tmp_path / "zone", {"a.py": "def harpoon():\n    pass\n"})
    first = rtch.hydrate(root, HARPOON)
    for path in (rtch.home / "rtch").rglob("*"):
        if path.is_file():
            path.write_bytes(b"torn" * 100)
    assert same_part(rtch.hydrate(root, HARPOON)) == same_part(first)
