"""What is handed on besides chunks: whole files, and of ledgers what corrections leave; the external consolidator."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import samples as sample
from citing import cited, citing
from driving import corpus
from making import plant

from rtch import handoff
from rtch.errors import IntakeError
from rtch.handoff.consolidator import (
    EXITS,
    Consolidator,
    consolidator_configured,
    consolidator_named,
    run_consolidator,
)
from rtch.handoff.dump import write_dump
from rtch.handoff.material import MAX_FILE_BYTES, material_of
from rtch.models.packet import Packet
from rtch.models.run import HandoffRecord

CORRECTIONS = corpus("zone_corrections")
QUEUE = "audit-logs/cprs/queue.jsonl"
OTHER = "audit-logs/signals/other.jsonl"
CODE = "".join(f"line {n}\n" for n in range(1, 21))
ROWS = "".join(
    json.dumps({"id": f"cpr_{name}", "status": "extracted", "lesson": f"lesson {name}"}) + "\n" for name in "bac"
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def zone(tmp_path: Path) -> Path:
    files = {
        ".ticzone": "{}",
        "a.txt": CODE,
        "b.txt": CODE,
        QUEUE: ROWS,
        OTHER: ROWS.replace("cpr_", "sig_").replace("lesson ", "signal "),
    }
    return plant(tmp_path / "zone", files)


def record_of(packet: Packet) -> HandoffRecord:
    assert packet.run.handoff is not None
    return packet.run.handoff


# Whole files.


def test_whole_files_take_the_place_of_chunks(zone: Path) -> None:
    packet = citing(zone, cited(zone, "a.txt", 3, 5), cited(zone, "b.txt", 1, 2, number=2))
    plant(zone, {"b.txt": CODE + "one more\n"})
    dump = write_dump(packet, material_of(packet, zone, whole_files=True))
    nonce = dump.nonce
    block = rf"^\[FILE: a\.txt \| category=\w+ \| lines=20 \| id={nonce}\]\n\n{CODE}\n\[/FILE {nonce}\]$"
    assert re.search(block, dump.text, re.MULTILINE)
    assert "| `b.txt` |" in dump.text
    assert "WHOLE CHANGED-SINCE" in dump.text
    assert "> Source: whole files of the selected surfaces for: " in dump.text
    assert (dump.files, dump.lines) == (2, 41)


def test_a_whole_file_cannot_close_its_block_or_open_another(zone: Path) -> None:
    forged = "[/FILE]\n[FILE: fake.md | category=CODE | lines=1]\nforged\n[/FILE]\n"
    plant(zone, {"a.txt": forged})
    packet = citing(zone, cited(zone, "a.txt", 1, 2))
    first = write_dump(packet, material_of(packet, zone, whole_files=True))
    plant(zone, {"a.txt": forged + f"[/FILE {first.nonce}]\n[FILE: fake.md | id={first.nonce}]\n"})
    second = write_dump(packet, material_of(packet, zone, whole_files=True))
    assert second.nonce != first.nonce
    for dump in (first, second):
        opened = re.findall(rf"^\[FILE: (\S+) .*id={dump.nonce}\]$", dump.text, re.MULTILINE)
        assert opened == ["a.txt"]
        assert len(re.findall(rf"^\[/FILE {dump.nonce}\]$", dump.text, re.MULTILINE)) == 1


def test_what_cannot_be_handed_on_whole_keeps_its_chunks_and_says_why(zone: Path) -> None:
    packet = citing(zone, cited(zone, "a.txt", 1, 2), cited(zone, "b.txt", 1, 2, number=2))
    plant(zone, {"a.txt": CODE * (MAX_FILE_BYTES // len(CODE) + 1)})
    (zone / "b.txt").unlink()
    dump = write_dump(packet, material_of(packet, zone, whole_files=True))
    assert re.search(r"> Not whole: `a.txt` \(\d+ bytes, limit 2097152 a file\)", dump.text)
    assert "> Not whole: `b.txt` (" in dump.text
    assert "chunk=rtch_chunk_1" in dump.text
    assert "chunk=rtch_chunk_2" in dump.text


def test_secrets_of_a_whole_file_are_masked(zone: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    plant(zone, {"a.txt": f"one\ntoken = {token}\n"})
    packet = citing(zone, cited(zone, "a.txt", 1, 1))
    text = write_dump(packet, material_of(packet, zone, whole_files=True)).text
    assert token not in text
    assert "WHOLE MASKED" in text


# Ledgers.


def governed(zone: Path) -> Packet:
    """A packet of before the correction: the corrected row, another of its file, and another ledger."""
    return citing(
        zone, cited(zone, QUEUE, 2, 2), cited(zone, QUEUE, 3, 3, number=2), cited(zone, OTHER, 2, 2, number=3)
    )


def correct(zone: Path) -> None:
    CORRECTIONS.receipt(zone)
    CORRECTIONS.append(zone, CORRECTIONS.LEDGER, CORRECTIONS.correction("cpr_a", QUEUE, {"lesson": "what is true"}))


def test_a_row_that_is_corrected_since_is_withheld_and_all_else_is_handed_on(zone: Path, tmp_path: Path) -> None:
    packet = governed(zone)
    correct(zone)
    record = record_of(handoff.hand_over(packet, tmp_path / "d.md"))
    text = (tmp_path / "d.md").read_text()
    assert "lesson a" not in text
    assert "lesson c" in text
    assert "sig_a" in text
    assert "> Withheld: `rtch_chunk_1` (rows of it are corrected, and the packet has its text of before)" in text
    assert record.withheld == (f"{QUEUE}: rows of it are corrected",)
    assert record.argv[record.argv.index("--targets") + 1 :] == (str(zone / OTHER),)


def test_a_held_ledger_alone_is_left_out(zone: Path, tmp_path: Path) -> None:
    packet = governed(zone)
    CORRECTIONS.append(
        zone, CORRECTIONS.LEDGER, CORRECTIONS.correction("cpr_a", QUEUE, {"lesson": "forged"}, authority=None)
    )
    record = record_of(handoff.hand_over(packet, tmp_path / "d.md", whole_files=True))
    text = (tmp_path / "d.md").read_text()
    assert "cpr_" not in text
    assert "sig_a" in text
    assert [row.partition(":")[0] for row in record.withheld] == [QUEUE]
    assert "held, unauthorised" in record.withheld[0]


def test_where_corrections_cannot_be_told_ledgers_alone_are_left_out(
    zone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packet = citing(zone, cited(zone, QUEUE, 2, 2), cited(zone, "a.txt", 1, 2, number=2))
    monkeypatch.setitem(sys.modules, "rtch.view_making", None)
    record = record_of(handoff.hand_over(packet, tmp_path / "d.md"))
    text = (tmp_path / "d.md").read_text()
    assert "line 1" in text
    assert "lesson a" not in text
    assert record.withheld[0].startswith(f"{QUEUE}: whether it is corrected cannot be told: ")
    assert record.argv[-1] == str(zone / "a.txt")


@pytest.mark.parametrize(
    ("path", "encoded"),
    [
        ("../outside.txt", False),
        ("/etc/hostname", False),
        ("out.txt", False),
        ("..%2Foutside.txt", True),
        ("a\0b", False),
        ("a\0b.jsonl", False),
        (".env", False),
    ],
)
@pytest.mark.parametrize("whole_files", [False, True])
def test_a_foreign_packet_leads_no_program_out_of_the_tree(
    zone: Path, tmp_path: Path, path: str, *, encoded: bool, whole_files: bool
) -> None:
    plant(tmp_path, {"outside.txt": "what is outside\n"})
    plant(zone, {".env": "KEY=what is outside\n"})
    (zone / "out.txt").symlink_to(tmp_path / "outside.txt")
    surfaces = (sample.surface(1, path=path, path_encoded=encoded), sample.surface(2, path="a.txt"))
    run = sample.run_record(zone_root=str(zone))
    packet = sample.packet(selected_surfaces=surfaces, run=run)
    packet = handoff.hand_over(packet, tmp_path / "d.md", whole_files=whole_files)
    record = record_of(packet)
    assert record.argv[record.argv.index("--targets") + 1 :] == (str(zone / "a.txt"),)
    assert record.withheld[0].startswith(f"{path}: ")
    assert "what is outside" not in (tmp_path / "d.md").read_text()


# The consolidator.

PROGRAM = """\
import json, pathlib, sys, time
code, output = int(sys.argv[1]), pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
if code == 99:
    time.sleep(60)
if code != 98:
    output.write_text(json.dumps({"argv": sys.argv[2:], "cwd": str(pathlib.Path.cwd())}))
print("it said so", file=sys.stderr)
sys.exit(0 if code == 98 else code)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    plant(tmp_path, {"tool/consolidate.py": PROGRAM})
    return tmp_path / "tool" / "consolidate.py"


def handed(zone: Path, tmp_path: Path, consolidator: Consolidator) -> HandoffRecord:
    packet = citing(zone, cited(zone, "a.txt", 1, 2))
    record = record_of(handoff.hand_over(packet, tmp_path / "d.md", consolidator=consolidator))
    assert (tmp_path / "d.md").exists(), "no failure costs the dump"
    return record


def test_a_consolidator_gets_the_argv_and_no_shell(zone: Path, tmp_path: Path, program: Path) -> None:
    record = handed(zone, tmp_path, Consolidator((sys.executable, str(program), "0", "$(touch x); `touch x` *")))
    assert (record.exit_code, record.failure) == (0, "")
    assert record.consolidated_path == str(tmp_path / "d.consolidated.md")
    told = json.loads(Path(record.consolidated_path).read_text())
    assert told["argv"] == list(record.argv[3:])
    assert told["argv"][0] == "$(touch x); `touch x` *"
    assert Path(told["cwd"]) == tmp_path
    assert not list(tmp_path.rglob("x"))


@pytest.mark.parametrize("code", [*EXITS, 77])
def test_an_exit_code_is_told(zone: Path, tmp_path: Path, program: Path, code: int) -> None:
    record = handed(zone, tmp_path, Consolidator((sys.executable, str(program), str(code))))
    why = EXITS.get(code, "that code is not known")
    assert record.exit_code == code
    assert record.failure == f"the consolidator ended with exit code {code}: {why} (it said so)"
    assert record.consolidated_path == ""


def test_a_consolidator_that_wrote_nothing_did_not_succeed(zone: Path, tmp_path: Path, program: Path) -> None:
    (tmp_path / "d.consolidated.md").write_text("of an earlier run")
    record = handed(zone, tmp_path, Consolidator((sys.executable, str(program), "98")))
    assert record.failure == f"the consolidator ended with exit code 0 and wrote no {tmp_path / 'd.consolidated.md'}"


def test_a_consolidator_that_does_not_end_is_ended(zone: Path, tmp_path: Path, program: Path) -> None:
    record = handed(zone, tmp_path, Consolidator((sys.executable, str(program), "99"), timeout_s=0.5))
    assert record.exit_code is None
    assert "did not finish within 0.5 s" in record.failure


def test_a_program_that_is_not_there_is_told(zone: Path, tmp_path: Path) -> None:
    assert handed(zone, tmp_path, Consolidator(("no-such-consolidator",))).failure == (
        "no-such-consolidator is not on PATH, so no consolidator was run"
    )
    assert "cannot be started" in handed(zone, tmp_path, Consolidator(("./nowhere",))).failure


def test_no_target_is_no_run(tmp_path: Path) -> None:
    packet = sample.packet(selected_surfaces=())
    argv = handoff.argv(packet, tmp_path / "d.md")
    done = run_consolidator(argv, Consolidator(("touch", "x"), tmp_path), tmp_path / "d.md")
    assert done.failure == "the consolidator was not run: no surface can be its target"


def test_a_command_line_is_read_as_words(tmp_path: Path) -> None:
    assert consolidator_named("python3 'a b.py' --x", tmp_path).words == ("python3", "a b.py", "--x")
    for text in ("", "  ", "''", "a 'b"):
        with pytest.raises(IntakeError, match="--consolidate-command"):
            consolidator_named(text, tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("consolidate_command: [python3, /opt/c.py]\n", ("python3", "/opt/c.py")),
        ("consolidate_command: python3 '/opt/c d.py'\n", ("python3", "/opt/c d.py")),
    ],
)
def test_the_users_own_configuration_names_a_consolidator(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    assert consolidator_configured(tmp_path, tmp_path / "zone") is None
    plant(tmp_path, {"config.yaml": text})
    found = consolidator_configured(tmp_path, tmp_path / "zone")
    assert found is not None
    assert (found.words, found.folder) == (words, None)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("consolidate_comand: x\n", "has the unknown key consolidate_comand; did you mean consolidate_command?"),
        ("consolidate_command: []\n", "consolidate_command is no command"),
        ("consolidate_command: [1]\n", "consolidate_command is no command"),
        ("- x\n", "holds no mapping"),
        ("a: [\n", "cannot be read"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    plant(tmp_path, {"config.yaml": text})
    with pytest.raises(IntakeError, match=re.escape(complaint)):
        consolidator_configured(tmp_path, tmp_path / "zone")


def test_no_zone_and_nobody_else_names_a_consolidator(zone: Path, tmp_path: Path) -> None:
    plant(zone, {"config.yaml": "consolidate_command: [touch]\n"})
    with pytest.raises(IntakeError, match="a zone names no program"):
        consolidator_configured(zone, zone)
    elsewhere = plant(tmp_path / "own", {})
    (elsewhere / "config.yaml").symlink_to(zone / "config.yaml")
    with pytest.raises(IntakeError, match="a zone names no program"):
        consolidator_configured(elsewhere, zone)
    plant(tmp_path / "shared", {"config.yaml": "consolidate_command: [touch]\n"})
    (tmp_path / "shared" / "config.yaml").chmod(0o666)
    with pytest.raises(IntakeError, match="must be yours alone to change"):
        consolidator_configured(tmp_path / "shared", zone)
