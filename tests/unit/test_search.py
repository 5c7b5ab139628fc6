"""One pass of rg: what matches where, what is cut, what cannot be searched."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rtch import rg_calls, rg_rows, search
from rtch.errors import ToolError
from rtch.literals import Literals
from rtch.models.vocab import SkipReason
from rtch.rg_calls import rg_version
from rtch.search import Match, SearchOutcome, find_matches
from rtch.workspace import Workspace, open_workspace


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    return folder


def put(folder: Path, name: str | bytes, data: bytes) -> None:
    path = Path(os.fsdecode(os.fsencode(folder) + b"/" + os.fsencode(name)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def look(
    ws: Workspace,
    patterns: Sequence[str],
    *,
    fixed: bool = True,
    ignore_case: bool = False,
    lines: int = 100,
    rows: int = 10_000,
) -> SearchOutcome:
    return find_matches(
        ws,
        ws.listing.paths,
        patterns,
        fixed=fixed,
        ignore_case=ignore_case,
        max_lines_per_file=lines,
        timeout_s=30,
        max_rows=rows,
    )


def places(outcome: SearchOutcome) -> list[tuple[str, int, int, bytes]]:
    return [(match.path, match.line, match.byte_offset, match.text) for match in outcome.matches]


def skipped(outcome: SearchOutcome) -> dict[str, SkipReason]:
    return {row.path: row.reason for row in outcome.skipped}


def test_matches_come_by_path_line_and_offset(tree: Path) -> None:
    put(tree, "b", b"foo\nx foo bar\n")
    put(tree, "a/z", b"bar")
    put(tree, "none", b"nothing\n")
    outcome = look(open_workspace(tree), ["foo", "bar"])
    assert outcome.matches == (
        Match("a/z", 1, 0, b"bar"),
        Match("b", 1, 0, b"foo"),
        Match("b", 2, 6, b"foo"),
        Match("b", 2, 10, b"bar"),
    )
    assert (outcome.files_searched, outcome.bytes_searched) == (3, 25)
    assert (outcome.truncated, outcome.timed_out, outcome.skipped) == ((), False, ())


def test_no_name_can_forge_or_lose_a_row(tree: Path) -> None:
    names = [
        b"has:3:colon.md",
        b"new\nline",
        b"a\n1:0:foo",
        b"-e",
        b"--help",
        b"-",
        b"-f",
        b'b: binary file matches (found "\\0" byte around offset 3)',
        b"caf\xe9",
        b"sp ace",
        b"quo'te\"",
        b"\\x",
        b"*?[a]",
        b"sub/-x.md",
    ]
    for name in names:
        put(tree, name, b"one\nfoo\n")
    outcome = look(open_workspace(tree), ["foo"])
    expected = sorted("caf%E9" if name == b"caf\xe9" else name.decode() for name in names)
    assert places(outcome) == [(path, 2, 4, b"foo") for path in expected]


@pytest.mark.parametrize("seed", ["--help", "-e", "-f/etc/passwd", "-r", "--version", "-", "--pre=x"])
def test_a_pattern_is_never_an_option(tree: Path, seed: str) -> None:
    put(tree, "a", f"x {seed}\n".encode())
    assert places(look(open_workspace(tree), [seed])) == [("a", 1, 2, seed.encode())]


def test_literals_are_literal(tree: Path) -> None:
    text = r"a.b*c+d?(e)[f]{g}|h^i$j\k<l>#m&n~o-p \b \< \w / ' " + '"'
    put(tree, "a", text.encode() + b"\naxb\n")
    ws = open_workspace(tree)
    assert places(look(ws, [text])) == [("a", 1, 0, text.encode())]
    assert places(look(ws, ["a.b"])) == [("a", 1, 0, b"a.b")]
    assert len(look(ws, ["a.b"], fixed=False).matches) == 2
    for char in r".*+?()[]{}|^$\<>#&~-/":
        assert {match.text for match in look(ws, [char]).matches} == {char.encode()}


def test_every_literal_is_found_on_its_line_also_where_literals_overlap(tree: Path) -> None:
    put(tree, "a", b"resolve_zone_root\nzone_root\nabcde\n")
    patterns = ("resolve_zone", "zone_root", "zone", "root", "abc", "cde", "bcd")
    outcome = look(open_workspace(tree), patterns)
    literals = Literals(patterns)
    found: dict[int, set[str]] = {}
    for match in outcome.matches:
        found.setdefault(match.line, set()).update(patterns[i] for i in literals.within(match.text))
    assert found == {
        1: {"resolve_zone", "zone_root", "zone", "root"},
        2: {"zone_root", "zone", "root"},
        3: {"abc", "cde", "bcd"},
    }


def test_case_is_ignored_when_asked(tree: Path) -> None:
    put(tree, "a", "Harmony HARMONY Straße Über ÜBER\n".encode())
    ws = open_workspace(tree)
    assert [m.text for m in look(ws, ["harmony"], ignore_case=True).matches] == [b"Harmony", b"HARMONY"]
    assert look(ws, ["harmony"]).matches == ()
    assert [m.text.decode() for m in look(ws, ["über"], ignore_case=True).matches] == ["Über", "ÜBER"]
    assert Literals(("harmony", "über"), ignore_case=True).within(b"HARMONY") == (0,)


def test_line_numbers_are_those_of_lf_alone(tree: Path) -> None:
    put(tree, "a", "one\u2028x\x0cy\x85\x1cz\rq\nfoo\r\nfoo".encode())
    assert [match.line for match in look(open_workspace(tree), ["foo"]).matches] == [2, 3]


def test_offsets_are_those_of_the_file_in_every_encoding(tree: Path) -> None:
    text = "# Tïtle \u0a0a\u010a\n\U0001f600 foo foo\nfoo"
    for name, data in {
        "utf8": text.encode(),
        "bom8": b"\xef\xbb\xbf" + text.encode(),
        "le16": b"\xff\xfe" + text.encode("utf-16-le"),
        "be16": b"\xfe\xff" + text.encode("utf-16-be"),
        "le32": b"\xff\xfe\0\0" + text.encode("utf-32-le"),
        "be32": b"\0\0\xfe\xff" + text.encode("utf-32-be"),
        "latin": "caf\xe9 foo\n".encode("latin-1"),
        "cp1251": "ключ foo\n".encode("cp1251"),
    }.items():
        put(tree, name, data)
    ws = open_workspace(tree)
    outcome = look(ws, ["foo"])
    for match in outcome.matches:
        data = ws.read(match.path, max_bytes=1000).data
        codec = f"utf-{match.path[2:]}-{match.path[:2]}" if match.path[2:] in {"16", "32"} else "ascii"
        assert data[match.byte_offset :].startswith("foo".encode(codec))
        assert match.text == b"foo"
    lines = {path: [m.line for m in outcome.matches if m.path == path] for path in ws.listing.paths}
    assert lines == {
        "utf8": [2, 2, 3],
        "bom8": [2, 2, 3],
        "le16": [2, 2, 3],
        "be16": [2, 2, 3],
        "le32": [2, 2, 3],
        "be32": [2, 2, 3],
        "latin": [1],
        "cp1251": [1],
    }
    assert places(look(ws, ["# T"])) == [
        ("be16", 1, 2, b"# T"),
        ("be32", 1, 4, b"# T"),
        ("bom8", 1, 3, b"# T"),
        ("le16", 1, 2, b"# T"),
        ("le32", 1, 4, b"# T"),
        ("utf8", 1, 0, b"# T"),
    ]


def test_words_beyond_ascii_are_found_in_latin1_files_too(tree: Path) -> None:
    put(tree, "latin", "le café noir, CAFÉ\n".encode("latin-1"))
    put(tree, "utf8", "le café noir\n".encode())
    ws = open_workspace(tree)
    assert places(look(ws, ["café"])) == [("latin", 1, 3, b"caf\xe9"), ("utf8", 1, 3, "café".encode())]
    assert [m.text for m in look(ws, ["café"], ignore_case=True).matches][:2] == [b"caf\xe9", b"CAF\xc9"]
    assert Literals(("café",)).within(b"caf\xe9") == (0,)


def test_damaged_utf16_keeps_its_offsets(tree: Path) -> None:
    data = b"\xff\xfe" + "foo\n".encode("utf-16-le") + b"\x00\xd8" + "foo\nfoo".encode("utf-16-le") + b"x"
    put(tree, "a", data)
    found = look(open_workspace(tree), ["foo"]).matches
    assert [(m.line, data[m.byte_offset : m.byte_offset + 6]) for m in found] == [
        (line, "foo".encode("utf-16-le")) for line in (1, 2, 3)
    ]


def test_damaged_utf32_keeps_its_offsets(tree: Path) -> None:
    units = "foo\n".encode("utf-32-be") + b"\x00\x00\xd8\x00" + b"\xff" * 4 + "foo\nfoo".encode("utf-32-be")
    data = b"\0\0\xfe\xff" + units
    put(tree, "a", data)
    found = look(open_workspace(tree), ["foo"]).matches
    assert [(m.line, data[m.byte_offset : m.byte_offset + 12]) for m in found] == [
        (line, "foo".encode("utf-32-be")) for line in (1, 2, 3)
    ]


def test_utf32_is_searched_among_others_within_every_limit(tree: Path) -> None:
    for n in range(3):
        put(tree, f"le{n}", b"\xff\xfe\0\0" + ("foo\n" * 5).encode("utf-32-le"))
    put(tree, "empty", b"\xff\xfe\0\0")
    put(tree, "none", b"\xff\xfe\0\0" + "bar\n".encode("utf-32-le"))
    put(tree, "plain", b"foo\n")
    outcome = look(open_workspace(tree), ["foo"], lines=2)
    assert [(m.path, m.line) for m in outcome.matches] == [
        *((f"le{n}", line) for n in range(3) for line in (1, 2)),
        ("plain", 1),
    ]
    assert outcome.truncated == ("le0", "le1", "le2")
    assert skipped(outcome) == {}
    assert outcome.files_searched == 6


def test_utf32_past_what_is_decoded_is_reported(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tree, "a", b"\xff\xfe\0\0" + ("foo\n" * 5).encode("utf-32-le"))
    monkeypatch.setattr("rtch.search.MAX_WIDE_BYTES", 20)
    assert skipped(look(open_workspace(tree), ["foo"])) == {"a": SkipReason.OVERSIZED}


def test_a_binary_file_is_reported_and_never_hit(tree: Path) -> None:
    put(tree, "bin", b"foo\n\0foo\nfoo\n")
    put(tree, "quiet", b"nothing\0\n")
    put(tree, "log", b"foo\n" + b"x" * 9000 + b"\n\0foo\n")
    put(tree, "odd16", "foo\n".encode("utf-16-le"))
    outcome = look(open_workspace(tree), ["foo"])
    assert places(outcome) == [("log", 1, 0, b"foo"), ("log", 3, 9006, b"foo")]
    assert skipped(outcome) == {"bin": SkipReason.BINARY}


def test_what_is_no_regular_file_is_reported_and_not_opened(tree: Path) -> None:
    put(tree, "a", b"root foo\n")
    (tree / "link").symlink_to("/etc/passwd")
    (tree / "dangling").symlink_to("nowhere")
    ws = open_workspace(tree)
    (tree / "gone-soon").touch()
    outcome = find_matches(
        ws, ["a", "link", "dangling", "missing"], ["root"], max_lines_per_file=9, timeout_s=9, max_rows=9
    )
    assert places(outcome) == [("a", 1, 0, b"root")]
    assert skipped(outcome) == {
        "link": SkipReason.NOT_REGULAR,
        "dangling": SkipReason.NOT_REGULAR,
        "missing": SkipReason.NOT_FOUND,
    }
    assert outcome.files_searched == 1


def test_a_file_that_vanished_is_reported_and_the_others_are_searched(tree: Path) -> None:
    put(tree, "a", b"foo\n")
    put(tree, "b: c\nrg: d", b"foo\n")
    put(tree, "e", b"foo\n")
    ws = open_workspace(tree)
    (tree / "a").unlink()
    (tree / "b: c\nrg: d").unlink()
    outcome = look(ws, ["foo"])
    assert places(outcome) == [("e", 1, 0, b"foo")]
    assert skipped(outcome) == {"a": SkipReason.VANISHED, "b: c\nrg: d": SkipReason.VANISHED}
    assert (outcome.files_searched, outcome.bytes_searched) == (1, 4)


def test_an_unreadable_file_is_reported(tree: Path) -> None:
    put(tree, "a", b"foo\n")
    put(tree, "b", b"foo\n")
    for folder in (tree, *list(tree.parents)[:4]):
        folder.chmod(folder.stat().st_mode | 0o055)
    (tree / "a").chmod(0)
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
            outcome = look(open_workspace(tree), ["foo"])
            assert places(outcome) == [("b", 1, 0, b"foo")]
            assert skipped(outcome) == {"a": SkipReason.UNREADABLE}
        except BaseException:  # noqa: BLE001  the parent sees the exit code alone
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_file_swapped_for_a_link_to_outside_gives_no_match(tree: Path) -> None:
    put(tree, "a", b"foo\n")
    ws = open_workspace(tree)
    put(tree.parent, "secret", b"foo SECRET\n")
    (tree / "a").unlink()
    (tree / "a").symlink_to(tree.parent / "secret")
    outcome = look(ws, ["foo"])
    assert (places(outcome), skipped(outcome)) == ([], {"a": SkipReason.SYMLINK})


def test_lines_past_the_limit_are_cut_and_that_is_said(tree: Path) -> None:
    put(tree, "many", b"foo\n" * 5)
    put(tree, "just", b"foo\n" * 3)
    outcome = look(open_workspace(tree), ["foo"], lines=3)
    assert [(m.path, m.line) for m in outcome.matches] == [(p, n) for p in ("just", "many") for n in (1, 2, 3)]
    assert outcome.truncated == ("many",)


def test_rows_past_the_limit_are_cut_alike_for_every_file(tree: Path) -> None:
    put(tree, "a", b"foo\n" * 50)
    put(tree, "b", b"foo\n" * 3)
    put(tree, "z", b"foo\n" * 40)
    outcome = look(open_workspace(tree), ["foo"], rows=20)
    assert {path: sum(m.path == path for m in outcome.matches) for path in "abz"} == {"a": 8, "b": 3, "z": 8}
    assert outcome.truncated == ("a", "z")
    few = look(open_workspace(tree), ["foo"], rows=2)
    assert [(m.path, m.line) for m in few.matches] == [("a", 1), ("b", 1)]
    assert few.truncated == ("a", "b", "z")


def test_a_line_of_five_megabytes_costs_a_few_rows(tree: Path) -> None:
    put(tree, "a", b"foo " * 1_250_000 + b"\nfoo\n")
    outcome = look(open_workspace(tree), ["foo"])
    assert [m.line for m in outcome.matches] == [1] * search.MATCHES_PER_LINE + [2]
    assert max(len(m.text) for m in outcome.matches) == 3
    assert outcome.truncated == ("a",)


def test_a_large_binary_file_is_not_searched_and_a_large_text_is(tree: Path) -> None:
    with (tree / "sparse").open("wb") as file:
        file.truncate(200 << 20)
    with (tree / "text").open("wb") as file:
        for _ in range(20):
            file.write(b"x" * 1_000_000 + b"\n")
        file.write(b"foo\n")
    outcome = look(open_workspace(tree), ["foo"])
    assert places(outcome) == [("text", 21, 20_000_020, b"foo")]
    assert skipped(outcome) == {"sparse": SkipReason.BINARY}


def test_the_time_limit_is_told(tree: Path) -> None:
    put(tree, "a", b"foo\n")
    outcome = find_matches(open_workspace(tree), ["a"], ["foo"], max_lines_per_file=9, timeout_s=0, max_rows=9)
    assert (outcome.matches, outcome.timed_out) == ((), True)


def test_a_hanging_rg_ends_at_the_time_limit(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tree, "a", b"foo\n")
    slow = tmp_path / "rg"
    slow.write_text("#!/bin/sh\nprintf 'a\\0001:0:foo\\n'\nexec sleep 60\n")
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(rg_calls, "rg_program", lambda: str(slow))
    outcome = find_matches(open_workspace(tree), ["a"], ["foo"], max_lines_per_file=9, timeout_s=0.5, max_rows=9)
    assert outcome.timed_out


def test_a_missing_rg_is_an_error_with_a_remedy(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tree, "a", b"foo\n")
    ws = open_workspace(tree)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(ToolError) as caught:
        look(ws, ["foo"])
    assert str(caught.value) == (
        "rg was not found beside the interpreter or on PATH; install ripgrep, for instance with: pip install ripgrep"
    )
    assert caught.value.exit_code == 5


def test_a_refused_expression_is_an_error(tree: Path) -> None:
    put(tree, "a", b"foo\n")
    with pytest.raises(ToolError, match="rg failed"):
        look(open_workspace(tree), ["(unclosed"], fixed=False)


@pytest.mark.parametrize("pattern", ["a\nb", "nul\0", "lone\ud800"])
def test_a_pattern_that_no_line_can_hold_is_an_error(tree: Path, pattern: str) -> None:
    put(tree, "a", b"foo\n")
    with pytest.raises(ToolError):
        look(open_workspace(tree), [pattern])


def test_no_configuration_and_no_ignore_file_plays_a_part(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tree.parent / "ran"
    put(tree.parent, "pre.sh", f"#!/bin/sh\ntouch '{marker}'\n".encode())
    (tree.parent / "pre.sh").chmod(0o755)
    put(tree.parent, "rc", f"--pre={tree.parent / 'pre.sh'}\n--max-count=1\n".encode())
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tree.parent / "rc"))
    for name in (".rgignore", ".ignore"):
        put(tree, name, b"*\n")
        put(tree.parent, name, b"*\n")
    put(tree, ".hidden", b"foo\nfoo\n")
    put(tree, "a", b"foo\n")
    outcome = look(open_workspace(tree), ["foo"])
    assert [(m.path, m.line) for m in outcome.matches] == [(".hidden", 1), (".hidden", 2), ("a", 1)]
    assert not marker.exists()


def test_more_names_than_one_call_can_take(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(30):
        put(tree, f"file{n:02}", b"foo\n")
    ws = open_workspace(tree)
    whole = look(ws, ["foo"])
    monkeypatch.setattr(rg_rows, "ARGUMENT_BYTES", 100)
    assert look(ws, ["foo"]) == whole
    assert len(whole.matches) == 30


def test_an_expression_that_matches_megabytes_keeps_little_of_them(tree: Path) -> None:
    put(tree, "a", b"foo " + b"x" * 3_000_000 + b"\nfoo end\n")
    outcome = look(open_workspace(tree), ["foo.*"], fixed=False)
    assert [(m.line, m.byte_offset, len(m.text)) for m in outcome.matches] == [(1, 0, 4096), (2, 3_000_005, 7)]


def test_nothing_to_look_for_is_no_search(tree: Path) -> None:
    put(tree, "a", b"foo\n")
    assert look(open_workspace(tree), ["", ""]).matches == ()
    ws = open_workspace(tree)
    assert find_matches(ws, [], ["foo"], max_lines_per_file=1, timeout_s=9, max_rows=1).matches == ()


def test_blocks_may_end_anywhere_in_a_row() -> None:
    output = b"a\nb\x001:0:fo\x00o\no\x002:0:x\nna\nme\x0033:4:y\n"
    for cut in range(len(output) + 1):
        end = rg_rows.complete_bytes(output[:cut])
        assert output[:end] == b"" or output[:end].endswith(b"\n")
        assert rg_rows.ROW.sub(b"", output[:end]) == b""


def test_rg_tells_its_version() -> None:
    assert rg_version().split(".")[0].isdigit()
