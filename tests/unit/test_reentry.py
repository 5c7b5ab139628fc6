"""Re-entry commands and what they refer to."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.errors import IntakeError
from rtch.reentry import ChunkRef, PathRef, parse_ref, path_bytes, reentry_command

ODD_PATHS = [
    "src/a.py",
    "with space.md",
    'it\'s "quoted".md',
    "-x.md",
    "--root",
    "has:3:colon.md",
    "x:L3",
    "x:L3-L4",
    "a#b.md",
    "$(touch hacked).md",
    "`id`;&|.md",
    "100%.md",
    "rtch_chunk_1",
    "packet#rtch_chunk_1",
    "new\nline.md",
    "bell\x07\x1b.md",
    "каталог/файл.md",
    "back\\slash.md",
]


def _back(command: str) -> PathRef:
    words = shlex.split(command)
    assert words[:2] == ["rtch", "read"]
    encoded = words[2] == "--encoded"
    found = parse_ref(words[-1], encoded=encoded)
    assert isinstance(found, PathRef)
    assert len(words) == (4 if encoded else 3)
    assert not words[-1].startswith("-")
    return found


@pytest.mark.parametrize("path", ODD_PATHS)
@pytest.mark.parametrize("lines", [(10, 40), (7, 7), (None, None)])
def test_command_leads_back_to_path_and_lines(path: str, lines: tuple[int | None, int | None]) -> None:
    command = reentry_command(path, *lines)
    found = _back(command)
    assert path_bytes(found.path, encoded=found.encoded) == path.encode()
    assert (found.start or 1, found.end) == (lines[0] or 1, lines[1])
    assert "\n" not in command
    assert "\x1b" not in command


@given(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1).filter(
        lambda p: not p.startswith(("/", "."))
    )
)
def test_command_leads_back_whatever_the_path(path: str) -> None:
    found = _back(reentry_command(path, 3, 9))
    assert (path_bytes(found.path, encoded=found.encoded), found.start, found.end) == (path.encode(), 3, 9)


def test_command_is_what_the_design_shows() -> None:
    assert reentry_command("src/a.py", 10, 40) == "rtch read 'src/a.py:L10-L40'"
    assert reentry_command("src/a.py") == "rtch read 'src/a.py'"
    assert reentry_command("caf%E9.md", 1, 2, encoded=True) == "rtch read --encoded 'caf%E9.md:L1-L2'"
    assert reentry_command("-x.md", 1, 2) == "rtch read './-x.md:L1-L2'"


def test_shell_hands_the_argument_over_unchanged() -> None:
    command = reentry_command("it's $(echo no) `id`.md", 1, 2).replace("rtch read", "printf %s")
    out = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, timeout=20).stdout
    assert out == "it's $(echo no) `id`.md:L1-L2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.py:L10-L40", PathRef("a.py", 10, 40)),
        ("a.py:L10", PathRef("a.py", 10, 10)),
        ("a.py:L10-", PathRef("a.py", 10, None)),
        ("a:b:L1:L2-L3", PathRef("a:b:L1", 2, 3)),
        ("a.py", PathRef("a.py")),
        ("./a.py:L2", PathRef("a.py", 2, 2)),
        ("a.py:10", PathRef("a.py:10")),
        ("rtch_chunk_7", ChunkRef("rtch_chunk_7")),
        ("./rtch_chunk_7", PathRef("rtch_chunk_7")),
        ("abc#rtch_chunk_7", ChunkRef("rtch_chunk_7", "abc")),
        ("dir/p.yaml#rtch_chunk_7", ChunkRef("rtch_chunk_7", "dir/p.yaml")),
        ("notes#part", PathRef("notes#part")),
    ],
)
def test_reference_is_told_apart(text: str, expected: object) -> None:
    assert parse_ref(text) == expected


@pytest.mark.parametrize("text", ["", "a.py:L0", "a.py:L9-L3", "a\0b:L1"])
def test_reference_to_nothing_is_refused(text: str) -> None:
    with pytest.raises(IntakeError):
        parse_ref(text)


def test_refusal_is_one_sentence_with_the_remedy() -> None:
    with pytest.raises(IntakeError) as caught:
        parse_ref("a.py:L9-L3")
    assert str(caught.value) == "'a.py:L9-L3' is no range of lines; lines count from 1, both ends are included"


def test_a_command_of_an_encoded_path_is_one_line_too() -> None:
    command = reentry_command("a%E9\nb%25.py", 1, 2, encoded=True)
    assert command == "rtch read --encoded 'a%E9%0Ab%25.py:L1-L2'"
