"""``rtch verify``: what is printed, where packets come from, and what the exit codes say."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
import samples as sample
import yaml
from citing import cited, citing
from making import plant

from rtch import packets, render
from rtch.cli.main import main
from rtch.errors import ArtifactError
from rtch.models.packet import Packet
from rtch.models.verification import Verification

CODE = "".join(f"line {n} of some text\n" for n in range(1, 21))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    zone = plant(tmp_path / "zone", {".ticzone": "", "a.txt": CODE, "b.txt": CODE})
    monkeypatch.chdir(zone)
    return zone


@pytest.fixture
def packet(zone: Path) -> Packet:
    made = citing(zone, cited(zone, "a.txt", 3, 5), cited(zone, "b.txt", 1, 20, number=2))
    packets.remember(made)
    return made


def verify(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(["verify", *argv])
    return code, *capsys.readouterr()


def test_one_line_a_chunk_and_the_counts(zone: Path, packet: Packet, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(capsys, packet.packet_id) == (
        0,
        "unchanged   rtch_chunk_1  a.txt:L3-L5\nunchanged   rtch_chunk_2  b.txt:L1-L20\n2 chunks: 2 unchanged\n",
        "",
    )
    plant(zone, {"a.txt": f"\n{CODE}"})
    (zone / "b.txt").rename(zone / "c.txt")
    assert verify(capsys, packet.packet_id) == (
        1,
        """\
moved       rtch_chunk_1  a.txt:L3-L5 -> L4-L6 (1 line down)
renamed     rtch_chunk_2  b.txt:L1-L20 -> c.txt:L1-L20 (the file is gone)
2 chunks: 1 moved, 1 renamed
""",
        "",
    )


def become_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"a.txt": f"\n{CODE}"}, 0),
        ({"a.txt": CODE.replace("line 4", "line four")}, 1),
        ({"a.txt": "other\n"}, 1),
        ({"a.txt": f"\n{CODE}{CODE}"}, 1),
        ({"a.txt": None}, 7),
        ({"a.txt": "\0"}, 7),
        ({"a.txt": None, "b.txt": f"\n{CODE}"}, 7),
        ({"a.txt": None, "b.txt": "other\n"}, 1),
    ],
    ids=["same", "moved", "edited", "deleted", "ambiguous", "fifo", "binary", "fifo and moved", "fifo and deleted"],
)
def test_exit_code(
    zone: Path, packet: Packet, capsys: pytest.CaptureFixture[str], changes: dict[str, str | None], code: int
) -> None:
    for name, text in changes.items():
        if text is None:
            become_fifo(zone / name)
        else:
            plant(zone, {name: text})
    assert verify(capsys, packet.packet_id)[0] == code
    assert verify(capsys, packet.packet_id, "--format", "json")[0] == code


def test_json_is_the_record(zone: Path, packet: Packet, capsys: pytest.CaptureFixture[str]) -> None:
    plant(zone, {"a.txt": f"\n{CODE}"})
    code, out, err = verify(capsys, packet.packet_id, "--format", "json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert list(found) == ["schema_version", "packet_id", "chunks", "counts", "reanchored_as"]
    assert (found["schema_version"], found["packet_id"]) == ("rtch.verification/1", packet.packet_id)
    assert found["chunks"][0] == {
        "chunk_id": "rtch_chunk_1",
        "verdict": "moved",
        "path": "a.txt",
        "path_encoded": False,
        "start_line": 3,
        "end_line": 5,
        "now": {"path": "a.txt", "path_encoded": False, "start_line": 4, "end_line": 6},
        "detail": "1 line down",
    }
    assert found["counts"] == dict.fromkeys(found["counts"], 0) | {"unchanged": 1, "moved": 1}
    assert Verification.parse(out).reanchored_as is None


def test_a_packet_is_a_file_an_id_or_standard_input(
    zone: Path, packet: Packet, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = verify(capsys, packet.packet_id)
    plant(tmp_path, {"p.json": render.to_json(packet), "p.yaml": render.to_yaml(packet)})
    for ref in (packet.packet_id[12:22], str(tmp_path / "p.json"), str(tmp_path / "p.yaml")):
        assert verify(capsys, ref) == expected
    for name in ("p.json", "p.yaml"):
        stdin = io.TextIOWrapper(io.BytesIO((tmp_path / name).read_bytes()))
        monkeypatch.setattr("sys.stdin", stdin)
        assert verify(capsys, "-") == expected


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "standard input is no packet: a mapping was expected, not NoneType"),
        ("{}", "standard input is no packet: it has no schema_version"),
        ("{", "standard input is neither JSON nor YAML: Expecting property name"),
        ('{"schema_version": "rtch.packet/9"}', "standard input has the schema 'rtch.packet/9'"),
    ],
)
def test_standard_input_that_is_no_packet(
    zone: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str, complaint: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code, out, err = verify(capsys, "-")
    assert (code, out) == (6, "")
    assert err.startswith(f"rtch: {complaint}")


def test_standard_input_is_bounded(
    zone: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rtch.packet_files.MAX_PACKET_BYTES", 100)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b" " * 1000)))
    assert verify(capsys, "-")[::2] == (6, "rtch: standard input is larger than a packet can be (100 bytes)\n")


@pytest.mark.parametrize("ref", ["../x", "/etc/passwd", "rtch_packet_../../x", "0" * 64, "nothing", "0" * 7])
def test_what_names_no_packet(zone: Path, capsys: pytest.CaptureFixture[str], ref: str) -> None:
    code, out, _ = verify(capsys, ref)
    assert (code, out) == (6, "")


def test_a_changed_packet_is_refused(
    zone: Path, packet: Packet, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plant(tmp_path, {"p.json": render.to_json(packet).replace('"end_line": 5', '"end_line": 6')})
    assert verify(capsys, str(tmp_path / "p.json"))[0] == 6


def test_a_root_is_named_where_the_packets_own_is_not_there(
    zone: Path, packet: Packet, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    zone.rename(tmp_path / "other")
    code, out, err = verify(capsys, packet.packet_id)
    assert (code, out) == (3, "")
    assert err.endswith("name the tree with --root\n")
    assert verify(capsys, packet.packet_id, "--root", "other")[0] == 0
    assert verify(capsys, packet.packet_id, "--root", "none")[0] == 3


def test_the_same_from_any_working_folder(
    zone: Path, packet: Packet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = verify(capsys, packet.packet_id)
    plant(zone, {"deep/er/x": ""})
    for folder in (zone / "deep/er", zone.parent):
        monkeypatch.chdir(folder)
        assert verify(capsys, packet.packet_id) == expected


def test_no_chunk_is_no_ok(zone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packet = sample.packet(hydrated_chunks=(), run=sample.run_record(zone_root=str(zone)))
    packets.remember(packet)
    told = f"0 chunks: {packet.packet_id} has none that could be held against the tree\n"
    assert verify(capsys, packet.packet_id) == (0, told, "")


def test_names_of_the_tree_stay_on_their_line(zone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(zone, {"new\nline\x1b[2J.txt": CODE})
    packet = citing(zone, cited(zone, "new\nline\x1b[2J.txt", 1, 2))
    packets.remember(packet)
    assert verify(capsys, packet.packet_id)[1] == (
        "unchanged   rtch_chunk_1  new\\nline\\x1b[2J.txt:L1-L2\n1 chunk: 1 unchanged\n"
    )


# --- --reanchor ----------------------------------------------------------------------------------------------------


def test_a_new_packet_is_remembered_and_written(
    zone: Path, packet: Packet, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plant(zone, {"a.txt": f"\n{CODE}", "b.txt": CODE.replace("line 4", "line four")})
    before = {path: path.read_bytes() for path in zone.iterdir()}
    for name, reader in (("q.yaml", yaml.safe_load), ("q.json", json.loads)):
        place = tmp_path / name
        code, out, err = verify(capsys, packet.packet_id, "--reanchor", "--output", str(place), "--format", "json")
        found: Any = reader(place.read_text())
        assert code == 1
        assert json.loads(out)["reanchored_as"] == found["packet_id"]
        assert err == f"rtch: {found['packet_id']} has 1 of 2 chunks where they are now\n"
        assert found["parent_packet_id"] == packet.packet_id
        assert found["hydrated_chunks"][0]["line_range"] == "L4-L6"
        assert packets.load(found["packet_id"]) == packets.load(place)
        assert verify(capsys, str(place))[:2] == (0, "unchanged   rtch_chunk_1  a.txt:L4-L6\n1 chunk: 1 unchanged\n")
    assert {path: path.read_bytes() for path in zone.iterdir()} == before
    assert packets.load(packet.packet_id) == packet


def test_a_place_for_no_packet_is_refused(
    zone: Path, packet: Packet, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = verify(capsys, packet.packet_id, "--output", str(tmp_path / "q.yaml"))
    assert (code, out) == (2, "")
    assert err == "rtch: --output says where the new packet goes, and none is made; give --reanchor as well\n"


def test_a_packet_that_cannot_be_remembered_is_still_written(
    zone: Path, packet: Packet, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Packet) -> Path:
        raise ArtifactError("the disk is full")

    monkeypatch.setattr(packets, "remember", full)
    code, _, err = verify(capsys, packet.packet_id, "--reanchor", "--output", str(tmp_path / "q.yaml"))
    assert code == 0
    assert "the packet is not remembered: the disk is full" in err
    assert packets.load(tmp_path / "q.yaml").parent_packet_id == packet.packet_id
    assert verify(capsys, packet.packet_id, "--reanchor")[0] == 6
    assert verify(capsys, packet.packet_id, "--reanchor", "--output", str(tmp_path / "no/q.yaml"))[0] == 6
