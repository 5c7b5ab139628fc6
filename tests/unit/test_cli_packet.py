"""``rtch packet`` and ``rtch package``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import samples as sample
from jsonschema import Draft202012Validator

from rtch import packets, render
from rtch.cli.main import main
from rtch.handoff.dump import write_dump


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def test_schema_describes_packets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["packet", "schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    document = json.loads(render.to_json(sample.packet()))
    assert list(validator.iter_errors(document)) == []
    assert list(validator.iter_errors(document | {"surprise": 1}))
    shortened = json.loads(render.rendered(sample.packet(), "json", max_chars=6_000))
    assert "omitted" in shortened
    assert list(validator.iter_errors(shortened)) == []


def test_list_is_newest_first_and_says_what_it_leaves_out(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    made = [sample.packet(halting_detail=f"packet {n}") for n in range(3)]
    for n, packet in enumerate(made):
        os.utime(packets.remember(packet), (1_000_000 + n, 1_000_000 + n))
    assert main(["packet", "list", "--limit", "2"]) == 0
    out, err = capsys.readouterr()
    rows = out.strip().split("\n")
    assert [row.split("  ")[0] for row in rows] == [made[2].packet_id, made[1].packet_id]
    assert rows[0].endswith("1970-01-12T13:46:42+00:00  /zones/harbor  how is a route settled")
    assert err == "rtch: 1 older ones are not shown\n"


def test_list_as_json_names_damaged_packets_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    place = packets.remember(sample.packet())
    place.write_text("{}")
    assert main(["packet", "list", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["total"] == 1
    assert listed["packets"][0]["path"] == str(place)
    assert "is no packet: it has no schema_version" in listed["packets"][0]["goal"]


def test_empty_list_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["packet", "list"]) == 0
    assert capsys.readouterr() == ("", "")


def test_packet_show_is_show(capsys: pytest.CaptureFixture[str]) -> None:
    packet = sample.packet()
    packets.remember(packet)
    assert main(["packet", "show", packet.packet_id, "--format", "markdown"]) == 0
    assert capsys.readouterr().out == render.to_markdown(packet)


def test_package_writes_the_dump_and_prints_where_and_how(
    capsys: pytest.CaptureFixture[str], home: Path, tmp_path: Path
) -> None:
    packet = sample.packet()
    packets.remember(packet)
    assert main(["package", packet.packet_id]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert (err, told["left_out"]) == ("", [])
    assert list(told) == ["packet_id", "packet_path", "dump_path", "argv", "exit_code", "left_out"]
    assert packets.load(Path(told["packet_path"])) == packet
    assert told["exit_code"] is None
    assert told["packet_id"] == packet.packet_id
    assert told["dump_path"] == str(home / "dumps" / f"{packet.packet_id}.md")
    assert Path(told["dump_path"]).read_text() == write_dump(packet).text
    argv = told["argv"]
    assert argv[argv.index("--rtch-packet-id") + 1] == packet.packet_id
    assert argv[argv.index("--targets") + 1 :] == ["/zones/harbor/src/settle.py"]
    assert main(["package", packet.packet_id, "--output", "mine.md"]) == 0
    assert json.loads(capsys.readouterr().out)["dump_path"] == str(tmp_path / "mine.md")
    assert (tmp_path / "mine.md").read_text() == write_dump(packet).text


def test_package_says_which_surfaces_are_no_targets(capsys: pytest.CaptureFixture[str]) -> None:
    packet = sample.packet(selected_surfaces=(sample.surface(path="caf%E9.md", path_encoded=True),))
    packets.remember(packet)
    assert main(["package", packet.packet_id]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["left_out"] == ["caf%E9.md"]
    assert "--targets" not in json.loads(out)["argv"]
    assert err.startswith("rtch: 1 selected surfaces are no targets of the command, for their path bytes are not UTF-8")
