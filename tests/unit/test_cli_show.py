"""``rtch show``, ``rtch packet`` and ``rtch package`` over packets that were kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import samples as sample
import yaml

from rtch import packets, render
from rtch.cli.main import main
from rtch.models.packet import Packet


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def packet() -> Packet:
    packet = sample.packet()
    packets.remember(packet)
    return packet


@pytest.mark.parametrize("form", render.FORMATS)
def test_packet_is_shown_in_each_format(packet: Packet, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert main(["show", packet.packet_id[12:22], "--format", form, "--ttl-days", "1e9"]) == 0
    assert capsys.readouterr() == (render.rendered(packet, form), "")


def test_default_is_yaml_and_a_file_is_shown_too(
    packet: Packet, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    place = tmp_path / "kept.json"
    place.write_text(render.to_json(packet))
    assert main(["show", str(place)]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == json.loads(render.to_json(packet))


def test_reasons_alone_are_printed(packet: Packet, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", packet.packet_id, "--explain", "--why-not", ".env"]) == 0
    assert capsys.readouterr().out == f"{render.explain(packet)}\n{render.why_not(packet, '.env')}\n"


def test_bound_is_kept(packet: Packet, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", packet.packet_id, "--max-chars", "6000"]) == 0
    assert len(capsys.readouterr().out) <= 6000
    assert main(["show", packet.packet_id, "--max-chars", "10"]) == 2


def test_what_is_no_packet_exits_6(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("- 1\n")
    for ref in ("abcdef12", "nope", "p.yaml", "absent.yaml", "../../etc/passwd"):
        assert main(["show", ref]) == 6
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)


def test_packets_of_a_zone_are_found_with_root_and_from_within(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone = tmp_path / "zone"
    (zone / "audit-logs").mkdir(parents=True)
    base = sample.findings().zone_descriptor
    packet = sample.packet(zone_descriptor=base.model_copy(update={"audit_logs": "audit-logs"}))
    packets.save(packet, zone)
    assert main(["show", packet.packet_id]) == 6
    assert main(["show", packet.packet_id, "--root", str(zone)]) == 0
    (zone / "src").mkdir()
    monkeypatch.chdir(zone / "src")
    assert main(["show", packet.packet_id]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("command", [["show"], ["read", "rtch_chunk_1", "--packet"]])
def test_showing_and_reading_load_no_models(packet: Packet, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/settle.py").write_text("x\n" * 20)
    code = (
        "import sys; from rtch.cli.main import main; code = main(sys.argv[1:]); "
        "heavy = {'pydantic', 'prefect', 'mcp', 'tree_sitter', 'markdown_it', 'diskcache'} & set(sys.modules); "
        "sys.exit(f'{code} {sorted(heavy)}' if code or heavy else 0)"
    )
    argv = [*command, packet.packet_id, *(["--root", str(tmp_path)] if command[0] == "read" else [])]
    done = subprocess.run([sys.executable, "-c", code, *argv], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr if done.returncode else "") == (0, "")
