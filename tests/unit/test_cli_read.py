"""``rtch read``: lines as they are now, and what is said when they are not the packet's."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
import samples as sample

from rtch import packets, spans
from rtch.cli.main import main
from rtch.models.packet import Packet

LINES = [f"line {n}\n" for n in range(1, 21)]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    zone = tmp_path / "zone"
    zone.mkdir()
    (zone / ".ticzone").touch()
    (zone / "a.txt").write_text("".join(LINES))
    monkeypatch.chdir(zone)
    return zone


def read(capsysbinary: pytest.CaptureFixture[bytes], *argv: str) -> tuple[int, bytes, str]:
    code = main(["read", *argv])
    out, err = capsysbinary.readouterr()
    return code, out, err.decode()


def packet_of(zone: Path, start: int = 3, end: int = 5, path: str = "a.txt", **changes: Any) -> Packet:
    data = (zone / path).read_bytes().split(b"\n")
    text = b"".join(line + b"\n" for line in data[start - 1 : end])
    chunk = sample.chunk(
        1, path=path, start=start, text=text.decode(), text_sha256=hashlib.sha256(text).hexdigest(), **changes
    )
    packet = sample.packet(hydrated_chunks=(chunk,), run=sample.run_record(zone_root=str(zone)))
    packets.remember(packet)
    return packet


@pytest.mark.parametrize(
    ("ref", "first", "last"),
    [("a.txt:L3-L5", 3, 5), ("a.txt:L7", 7, 7), ("a.txt:L18-", 18, 20), ("a.txt", 1, 20), ("./a.txt:L20-L20", 20, 20)],
)
def test_lines_are_printed_as_they_are(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes], ref: str, first: int, last: int
) -> None:
    code, out, err = read(capsysbinary, ref)
    assert (code, out.decode(), err) == (0, "".join(LINES[first - 1 : last]), "")


def test_root_and_working_folder_lead_to_the_same_lines(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    (zone / "deep/er").mkdir(parents=True)
    monkeypatch.chdir(zone / "deep/er")
    assert read(capsysbinary, "a.txt:L1")[1] == b"line 1\n"
    monkeypatch.chdir(zone.parent)
    assert read(capsysbinary, "a.txt:L1", "--root", str(zone))[1] == b"line 1\n"
    assert read(capsysbinary, "a.txt:L1")[0] == 3


def test_lines_that_are_not_there_are_said_to_be_none(zone: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert read(capsysbinary, "a.txt:L30-L40") == (1, b"", "rtch: a.txt:L30-L40: no such lines, the file has 20\n")
    code, out, err = read(capsysbinary, "a.txt:L19-L40")
    assert (code, out, err) == (0, b"line 19\nline 20\n", "rtch: a.txt:L19-L40: lines end at L20, the file has 20\n")
    (zone / "empty").touch()
    assert read(capsysbinary, "empty")[0] == 1


def test_last_line_without_line_end_and_odd_line_ends_are_kept(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    data = "a\r\nb\x0cc\u2028d\re\nlast".encode()
    (zone / "odd").write_bytes(data)
    assert read(capsysbinary, "odd:L2-L3")[1] == data.split(b"\n", 1)[1]
    assert read(capsysbinary, "odd:L3")[1] == b"last"


@pytest.mark.parametrize(
    ("encoding", "bom"),
    [
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-32-be", b"\0\0\xfe\xff"),
        ("latin-1", b""),
        ("utf-8", b"\xef\xbb\xbf"),
    ],
)
def test_encoding_is_the_files(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes], encoding: str, bom: bytes
) -> None:
    (zone / "enc").write_bytes(bom + "één\ntwéé\ndrie\n".encode(encoding))
    record = json.loads(read(capsysbinary, "enc:L2", "--format", "json")[1])
    assert (record["text"], record["encoding"]) == ("twéé\n", encoding)
    assert json.loads(read(capsysbinary, "enc:L1", "--format", "json")[1])["text"] == "één\n"


def test_chunk_is_read_from_the_last_packet_and_by_name(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packet = packet_of(zone)
    kept = packets.save(packet, zone)
    expected = (0, b"line 3\nline 4\nline 5\n", "")
    monkeypatch.chdir(tmp_path)
    for argv in (
        ["rtch_chunk_1"],
        [f"{packet.packet_id}#rtch_chunk_1"],
        [f"{kept}#rtch_chunk_1"],
        ["rtch_chunk_1", "--packet", packet.packet_id[12:24]],
    ):
        assert read(capsysbinary, *argv) == expected
    code, _, err = read(capsysbinary, "rtch_chunk_9")
    assert code == 6
    assert f"{packet.packet_id} has no chunk rtch_chunk_9" in err


def test_every_command_in_a_packet_reads_its_chunk(zone: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    import shlex  # noqa: PLC0415

    for name in ("with space.md", "-x.md", "it's.md", "has:3:colon.md", "new\nline.md", "50%.md", "rtch_chunk_1"):
        (zone / name).write_text("".join(LINES))
        packet = packet_of(zone, path=name)
        words = shlex.split(packet.hydrated_chunks[0].next_re_entry_command)
        assert read(capsysbinary, *words[2:]) == (0, b"line 3\nline 4\nline 5\n", "")


def test_path_whose_bytes_are_not_utf8_is_read(zone: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    Path(os.fsdecode(os.fsencode(zone) + b"/caf\xe9")).write_text("raw\n")
    assert read(capsysbinary, "--encoded", "caf%E9:L1")[1] == b"raw\n"
    assert read(capsysbinary, "caf%E9:L1")[1] == b"raw\n"
    (zone / "caf%E9").write_text("literal\n")
    assert read(capsysbinary, "caf%E9:L1")[1] == b"literal\n"
    assert read(capsysbinary, "--encoded", "caf%E9:L1")[1] == b"raw\n"


def test_difference_from_the_packet_is_said(zone: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    packet = packet_of(zone)
    assert read(capsysbinary, "a.txt:L3-L5")[2] == ""
    (zone / "a.txt").write_text("new first line\n" + "".join(LINES))
    expected = (
        0,
        b"line 2\nline 3\nline 4\n",
        f"rtch: a.txt:L3-L5 differs from rtch_chunk_1 of {packet.packet_id}: it was edited, or its lines have moved\n",
    )
    assert read(capsysbinary, "a.txt:L3-L5") == expected
    assert read(capsysbinary, "rtch_chunk_1") == expected
    record = json.loads(read(capsysbinary, "rtch_chunk_1", "--format", "json")[1])
    assert (record["same_as_packet"], record["chunk_id"]) == (False, "rtch_chunk_1")
    assert read(capsysbinary, "a.txt:L3-L6")[2] == ""


def test_packet_of_another_zone_is_not_compared_with(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("other\n" * 9)
    packet_of(other)
    assert read(capsysbinary, "a.txt:L3-L5") == (0, b"line 3\nline 4\nline 5\n", "")


def test_without_any_packet_a_chunk_id_is_refused(zone: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    code, out, err = read(capsysbinary, "rtch_chunk_1")
    assert (code, out) == (6, b"")
    assert err == "rtch: no packet is remembered that rtch_chunk_1 could be of; name one with --packet\n"


@pytest.mark.parametrize("ref", ["../secret:L1", "/etc/passwd:L1", "a/../../secret:L1", ".git/config:L1", "..", "."])
def test_what_lies_outside_the_zone_is_refused(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes], ref: str
) -> None:
    (zone.parent / "secret").write_text("outside\n")
    (zone / "a").mkdir()
    (zone / ".git").mkdir()
    (zone / ".git/config").write_text("inside git\n")
    code, out, err = read(capsysbinary, ref)
    assert (code, out) == (3, b"")
    assert err.startswith("rtch: ")


def test_links_and_special_files_are_refused_without_waiting(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (zone / "link").symlink_to("/etc/passwd")
    (zone / "folder").symlink_to("/etc")
    os.mkfifo(zone / "fifo")
    (zone / "binary").write_bytes(b"a\0b\n")
    for ref in ("link:L1", "folder/passwd:L1", "fifo:L1", "binary:L1", "absent:L1"):
        code, out, _ = read(capsysbinary, ref)
        assert (code, out) == (3, b""), ref


def test_percent_encoding_leads_nowhere_else(zone: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (zone.parent / "secret").write_text("outside\n")
    for ref in ("%2e%2e/secret:L1", "..%2Fsecret:L1", "%2Fetc%2Fpasswd:L1", "a%00b:L1"):
        assert read(capsysbinary, "--encoded", ref)[0] == 3
        assert read(capsysbinary, ref)[0] == 3


def test_secrets_are_masked_and_secret_files_are_not_read(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    token = "ghp" + "_" + "a1B2" * 9
    (zone / "c.ini").write_text(f"a\nkey = {token}\n")
    (zone / ".env").write_text("A=1\n")
    code, out, err = read(capsysbinary, "c.ini:L1-L2")
    assert (code, out, err) == (0, b"a\nkey = [masked:github_token]\n", "rtch: c.ini:L2: masked github_token\n")
    code, out, err = read(capsysbinary, ".env")
    assert (code, out) == (3, b"")
    assert err == "rtch: '.env' is not shown: environment file, where services keep their passwords\n"


def test_masked_lines_are_still_compared_by_their_bytes(zone: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (zone / "a.txt").write_text("x\nghp_" + "a1B2" * 9 + "\ny\nz\nw\n")
    packet_of(zone, start=2, end=3)
    assert "differs" not in read(capsysbinary, "rtch_chunk_1")[2]


def test_control_characters_are_written_out_on_a_terminal_only(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    (zone / "esc").write_bytes(b"\x1b[2Jx\r\n")
    assert read(capsysbinary, "esc:L1")[1] == b"\x1b[2Jx\r\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert read(capsysbinary, "esc:L1")[1] == b"\\x1b[2Jx\n"


def test_lines_of_a_large_file_are_found_without_reading_it_whole(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spans, "WHOLE_BYTES", 10)
    monkeypatch.setattr(spans, "_BLOCK", 16)
    for first, last in ((1, 1), (3, 5), (19, 20), (20, 20), (1, 20)):
        assert read(capsysbinary, f"a.txt:L{first}-L{last}") == (0, "".join(LINES[first - 1 : last]).encode(), "")
    assert read(capsysbinary, "a.txt:L19-")[1] == b"line 19\nline 20\n"
    assert read(capsysbinary, "a.txt:L21")[:2] == (1, b"")
    assert read(capsysbinary, "a.txt:L19-L99")[2] == "rtch: a.txt:L19-L99: lines end at L20\n"


def test_answer_longer_than_its_bound_is_cut_and_says_so(
    zone: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    (zone / "wide").write_text("é" * 100 + "\nnext\n")
    for whole in (10, 10_000):
        monkeypatch.setattr(spans, "WHOLE_BYTES", whole)
        monkeypatch.setattr(spans, "MAX_SPAN_BYTES", 51)
        code, out, err = read(capsysbinary, "wide:L1-L2")
        assert (code, out.decode()) == (0, "é" * 25)
        assert err == "rtch: wide:L1-L2: cut after L1, the lines are longer than one answer\n"


def test_wrong_reference_is_a_usage_error(zone: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert read(capsysbinary, "a.txt:L9-L3")[0] == 2


def test_what_cannot_be_read_is_told_with_the_remedy(zone: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (zone / "link").symlink_to("a.txt")
    (zone / "folder").mkdir()
    told = {
        "absent.txt:L1": f"absent.txt is not in {zone}; paths are relative to the zone root; --root names it",
        "a.txt:2-3": f"a.txt:2-3 is not in {zone}; did you mean a.txt:L2-L3?",
        "a.txt:7": f"a.txt:7 is not in {zone}; did you mean a.txt:L7?",
        "link:L1": "link is or lies behind a symbolic link; read what it leads to by its own path",
        "folder": "folder is no regular file",
        f"{zone}/a.txt:L1": f"'{zone}/a.txt' is absolute; paths are relative to the zone root, or to --root",
    }
    for ref, sentence in told.items():
        assert read(capsysbinary, ref) == (3, b"", f"rtch: {sentence}\n")
