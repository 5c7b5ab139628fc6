"""``rtch hydrate``, an edit of the tree, ``rtch verify``: as they are installed, on a real packet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driving import Ask, Packet, Rtch, canonical, corpus, disk_path, hold_to_the_laws, lines_of, plant, tree_state

tree = corpus("tree")

SETTLE = Ask(f"Where is {tree.SYMBOL} defined and who calls it", [tree.SYMBOL])


@pytest.fixture
def rtch(tmp_path: Path) -> Rtch:
    (tmp_path / "home").mkdir()
    return Rtch(tmp_path / "home")


@pytest.fixture
def harbor(tmp_path: Path) -> Path:
    """An ordinary project of 60 files, in git."""
    root: Path = tmp_path / "tree"
    tree.build(root, files=60, git=True)
    return root


def verified(rtch: Rtch, packet: Packet, *more: str, code: int) -> Packet:
    ran = rtch.run("verify", packet["packet_id"], "--format", "json", *more)
    assert ran.code == code, (ran.err, ran.out[:2000])
    found: Packet = json.loads(ran.out)
    assert sum(found["counts"].values()) == len(found["chunks"])
    return found


def verdicts(found: Packet) -> dict[str, set[str]]:
    """Return the verdicts of each path."""
    by_path: dict[str, set[str]] = {}
    for chunk in found["chunks"]:
        by_path.setdefault(chunk["path"], set()).add(chunk["verdict"])
    return by_path


def test_a_packet_holds_until_the_tree_changes_and_is_anchored_anew(rtch: Rtch, harbor: Path) -> None:
    packet = rtch.hydrate(harbor, SETTLE)
    before = tree_state(harbor)
    assert set().union(*verdicts(verified(rtch, packet, code=0)).values()) == {"unchanged"}
    assert tree_state(harbor) == before

    paths = list(dict.fromkeys(chunk["path"] for chunk in packet["hydrated_chunks"]))
    assert len(paths) >= 4
    moved, edited, renamed, gone = paths[:4]
    plant(harbor, {moved: b"\n\n" + (harbor / moved).read_bytes()})
    first = next(chunk for chunk in packet["hydrated_chunks"] if chunk["path"] == edited)
    lines = lines_of((harbor / edited).read_bytes())
    lines.insert(first["end_line"] - 1, b"one more line\n")
    plant(harbor, {edited: b"".join(lines)})
    tree.run_git(harbor, "mv", renamed, f"{renamed}.moved")
    (harbor / gone).unlink()

    found = verified(rtch, packet, code=1)
    by_path = verdicts(found)
    assert by_path[moved] == {"moved"}
    assert by_path[renamed] == {"renamed"}
    assert by_path[gone] == {"deleted"}
    (changed,) = (chunk for chunk in found["chunks"] if chunk["chunk_id"] == first["chunk_id"])
    assert changed["verdict"] == "edited"
    assert (changed["now"]["start_line"], changed["now"]["end_line"]) == (first["start_line"], first["end_line"] + 1)
    captured = {chunk["chunk_id"]: chunk for chunk in packet["hydrated_chunks"]}
    for chunk in found["chunks"]:
        if chunk["verdict"] in {"unchanged", "moved", "renamed"}:
            now = chunk["now"]
            data = lines_of(Path(disk_path(harbor, now).decode()).read_bytes())
            text = b"".join(data[now["start_line"] - 1 : now["end_line"]]).decode()
            assert text == captured[chunk["chunk_id"]]["text"]

    place = rtch.home / "anew.json"
    found = verified(rtch, packet, "--reanchor", "--output", str(place), code=1)
    anew = json.loads(place.read_text())
    assert anew["packet_id"] == found["reanchored_as"]
    assert anew["parent_packet_id"] == packet["packet_id"]
    assert canonical(anew["intake"]) == canonical(packet["intake"])
    assert set().union(*verdicts(verified(rtch, anew, code=0)).values()) == {"unchanged"}
    hold_to_the_laws(anew, harbor)
    ran = rtch.run("verify", "-", stdin=place.read_text())
    assert (ran.code, ran.out.splitlines()[-1].partition(":")[0]) == (0, f"{len(anew['hydrated_chunks'])} chunks")


def test_reading_again_by_the_new_commands_gives_the_chunks(rtch: Rtch, harbor: Path) -> None:
    packet = rtch.hydrate(harbor, SETTLE)
    for path in {chunk["path"] for chunk in packet["hydrated_chunks"]}:
        plant(harbor, {path: b"\n" + (harbor / path).read_bytes()})
    ran = rtch.run("verify", packet["packet_id"], "--reanchor", "--output", str(rtch.home / "anew.json"))
    assert ran.code == 0, ran.out
    anew = json.loads((rtch.home / "anew.json").read_text())
    assert len(anew["hydrated_chunks"]) == len(packet["hydrated_chunks"])
    for chunk in anew["hydrated_chunks"][:3]:
        ran = rtch.run("read", f"{anew['packet_id']}#{chunk['chunk_id']}", "--format", "json", cwd=harbor)
        read = json.loads(ran.out)
        assert (read["start_line"], read["text"]) == (chunk["start_line"], chunk["text"])
        assert read["same_as_packet"] is True


def test_the_library_and_the_command_agree(rtch: Rtch, harbor: Path) -> None:
    packet = rtch.hydrate(harbor, SETTLE)
    place = rtch.home / "packet.json"
    place.write_text(json.dumps(packet))
    (harbor / packet["hydrated_chunks"][0]["path"]).write_text("other\n")
    by_command = verified(rtch, packet, code=1)
    code = f"import rtch; print(rtch.verify({str(place)!r}).model_dump_json())"
    python = Rtch(rtch.home, command=(str(Path(rtch.command[0]).with_name("python")), "-P", "-c", code))
    assert json.loads(python.run().out) == by_command
