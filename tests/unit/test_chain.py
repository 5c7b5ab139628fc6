"""The doctrine chain of a path: which documents it has, in which order, and how much of each is read."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from driving import corpus
from making import limits_with, plant

sys.path.pop(0)

from rtch.chain import Wish, chain
from rtch.errors import ZoneError
from rtch.models.chain import Chain, ChainDocument
from rtch.reading import OpenFile
from rtch.render.chain import rendered_chain

zone = corpus("zone")

TREE: dict[str, str | bytes] = {
    ".federation-root": "All of it\n",
    ".ticzone": '{"name": "Not shown"}',
    "CLAUDE.md": "# Top\n\n- **One.** Said.\n  - *Ledger: [l](audit-logs/governance/a-ledger/ledger.md#one)*\n",
    "audit-logs/governance/a-ledger/ledger.md": "# L\n\n## One\n\nBody.\n",
    "estate/.estate-root": "",
    "estate/AGENTS.md": "# Estate\n",
    "estate/domain/.domain-root": "Kiln",
    "estate/domain/CLAUDE.md": "# Domain\n",
    "estate/domain/src/x.py": "pass\n",
    "estate/domain/site/.ticzone": "",
    "estate/domain/site/props.md": "# Props\n",
}


def chained(place: Path, target: str, files: dict[str, str | bytes] | None = None, **more: Any) -> Chain:
    """Return the chain of a path in a folder of these files."""
    plant(place, TREE if files is None else files)
    numbers = more.pop("numbers", {})
    return chain(place / target, Wish(**more), limits_with(chain=numbers))


def shown(found: Chain) -> list[tuple[str, str, list[str], list[str]]]:
    return [
        (one.rung, one.path, [doc.path for doc in one.documents], [doc.path for doc in one.ledgers])
        for one in found.rungs
    ]


def only(found: Chain) -> ChainDocument:
    return found.rungs[0].documents[0]


# The target


@pytest.mark.parametrize("target", ["estate/domain/src/x.py", "estate/domain/src", "."])
def test_a_relative_target_is_of_the_pinned_root_wherever_it_is_asked_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    root = plant(tmp_path / "zone", TREE)
    plant(tmp_path / "other", {"estate/domain/src/x.py": "", "CLAUDE.md": "# Another\n"})
    from_it = chain(root / target, Wish(root=root), limits_with())
    for folder in (tmp_path, tmp_path / "other", root / "estate"):
        monkeypatch.chdir(folder)
        assert chain(Path(target), Wish(root=root), limits_with()) == from_it
    monkeypatch.chdir(tmp_path)
    assert chain(Path(target), Wish(root=Path("zone")), limits_with()) == from_it


@pytest.mark.parametrize("target", ["a.py", "../other/a.py", "estate/gone.py"])
def test_a_relative_target_that_is_not_below_the_pinned_root_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    root = plant(tmp_path / "zone", TREE)
    monkeypatch.chdir(plant(tmp_path / "other", {"a.py": "", "estate/gone.py": ""}))
    with pytest.raises(ZoneError, match=r"cannot be opened|lies outside"):
        chain(Path(target), Wish(root=root), limits_with())


# Which rungs


def test_rungs_are_told_lowest_first_with_their_ledgers(tmp_path: Path) -> None:
    found = chained(tmp_path, "estate/domain/src/x.py")
    assert shown(found) == [
        ("domain", "estate/domain", ["estate/domain/CLAUDE.md"], []),
        ("estate", "estate", ["estate/AGENTS.md"], []),
        ("federation", ".", ["CLAUDE.md"], ["audit-logs/governance/a-ledger/ledger.md"]),
    ]
    assert (found.target, found.current_rung) == ("estate/domain/src/x.py", "estate/domain")
    assert [(one.name, one.dehydrated, one.is_current) for one in found.rungs] == [
        ("Kiln", False, True),
        ("", False, False),
        ("All of it", True, False),
    ]


def test_a_nested_zone_sees_the_rungs_above_it(tmp_path: Path) -> None:
    found = chained(tmp_path, "estate/domain/site/props.md")
    assert shown(found) == [
        ("site", ".", [], []),
        ("domain", "..", ["../CLAUDE.md"], []),
        ("estate", "../..", ["../../AGENTS.md"], []),
        ("federation", "../../..", ["../../../CLAUDE.md"], ["../../../audit-logs/governance/a-ledger/ledger.md"]),
    ]
    assert found.rungs[3].documents[0].re_entry_command == "rtch read --root ../../.. 'CLAUDE.md'"
    assert shown(chained(tmp_path, "estate/domain/site", parents=False)) == [("site", ".", [], [])]


def test_a_root_without_markers_speaks_all_the_same(tmp_path: Path) -> None:
    found = chained(tmp_path / "z", "src", {"AGENTS.md": "# Agents\n", "src/a.py": ""}, root=tmp_path / "z")
    assert shown(found) == [("root", ".", ["AGENTS.md"], [])]
    assert only(found).head == "# Agents\n"


def test_names_that_are_no_utf8_end_no_chain(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/od\xff"
    os.makedirs(folder + b"/x\xff-ledger")  # noqa: PTH103  bytes, which a Path does not take
    plant(tmp_path, {".federation-root": "", "CLAUDE.md": "# Top\n"})
    for name in (b"/.site-root", b"/CLAUDE.md", b"/x\xff-ledger/ledger.md"):
        with open(folder + name, "w") as file:  # noqa: PTH123
            file.write("# Odd\n")
    found = chain(Path(os.fsdecode(folder)), Wish(root=tmp_path), limits_with())
    assert [[one.head for one in rung.documents] for rung in found.rungs] == [["# Odd\n"], ["# Top\n"]]
    assert found.rungs[0].ledgers == ()
    assert Chain.parse(found.canonical()) == found
    rendered_chain(found).encode()


def test_a_folder_without_any_document_has_no_chain(tmp_path: Path) -> None:
    assert chained(tmp_path / "z", ".", {"a.py": ""}, root=tmp_path / "z", parents=False).rungs == ()


@pytest.mark.parametrize("target", ["no/such", "estate/../../.."])
def test_a_target_that_is_not_in_the_zone_is_refused(tmp_path: Path, target: str) -> None:
    with pytest.raises(ZoneError):
        chained(tmp_path / "z", target, root=tmp_path / "z")


@pytest.mark.parametrize("folder", ["estate/domain/src", "estate", "."])
def test_a_marker_that_cannot_be_read_is_told_and_waited_for_by_nobody(tmp_path: Path, folder: str) -> None:
    plant(tmp_path, {"estate/domain/src/x.py": "", "CLAUDE.md": "# Top\n"})
    os.mkfifo(tmp_path / folder / ".estate-root")
    (tmp_path / folder / ".domain-root").symlink_to("nowhere")
    (tmp_path / folder / ".ticzone").write_text('{"notes": "' + "x" * 70_000)
    (tmp_path / folder / ".federation-root").mkdir()
    prefix = "" if folder == "." else f"{folder}/"
    found = chain(Path("estate/domain/src/x.py"), Wish(root=tmp_path, parents=False), limits_with())
    assert {one.path: one.note.removeprefix("marker not read: ") for one in found.cautions} == {
        f"{prefix}.estate-root": "it is a FIFO, and no file",
        f"{prefix}.domain-root": "it is a link, and none is followed",
        f"{prefix}.ticzone": "it is larger than 65536 bytes",
        f"{prefix}.federation-root": "it is a folder, and no file",
    }
    text = rendered_chain(found)
    assert all(f"- caution: `{one.path}`: " in text for one in found.cautions)


# How much of each


def test_what_is_left_out_is_told_in_characters_and_lines(tmp_path: Path) -> None:
    text = "".join(f"line {number:03}\n" for number in range(1, 101))
    found = only(chained(tmp_path, ".", {".site-root": "", "CLAUDE.md": text}, max_chars=90))
    assert found.elided is not None
    assert found.head == "".join(f"line {number:03}\n" for number in range(1, 9))
    cut = found.elided
    assert found.tail == "line 099\nline 100\n"
    assert cut.characters == len(text) - len(found.head) - len(found.tail)
    assert (cut.first_line, cut.last_line, cut.lines_after) == (9, 98, 2)
    assert cut.re_entry_command == "rtch read 'CLAUDE.md:L9-L98'"


@pytest.mark.parametrize("numbers", [{}, {"whole_bytes": 1}])
@pytest.mark.parametrize("most", [0, 1, 7, 100, 1000, 10**6])
@pytest.mark.parametrize("text", ["", "x" * 5000, "é\n" * 900, "a\n\n" * 300 + "end", "\n" * 50])
def test_no_more_is_shown_than_was_asked_for(tmp_path: Path, text: str, most: int, numbers: dict[str, int]) -> None:
    found = only(chained(tmp_path, ".", {".site-root": "", "CLAUDE.md": text}, max_chars=most, numbers=numbers))
    assert len(found.head) + len(found.tail) <= most
    assert found.problem == ""
    if found.elided is None:
        assert found.head == text
    else:
        assert text.startswith(found.head)
        assert text.endswith(found.tail)
        left_out = len(text.encode()) - len((found.head + found.tail).encode())
        assert found.elided.size_bytes == left_out
        if found.elided.characters is not None:
            assert found.elided.characters == len(text) - len(found.head) - len(found.tail)


def test_a_large_ledger_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = "".join(f"\n## Rule {number}\n\n{'Words of it. ' * 40}\n" for number in range(1400))
    files: dict[str, str | bytes] = {".site-root": "", "CLAUDE.md": "# C\n", "kiln-ledger/ledger.md": "# L\n" + entries}
    read: list[int] = []
    before = OpenFile.pread

    def counted(self: OpenFile, start: int, length: int) -> bytes:
        data = before(self, start, length)
        read.append(len(data))
        return data

    monkeypatch.setattr(OpenFile, "pread", counted)
    found = chained(tmp_path, ".", files).rungs[0].ledgers[0]
    assert found.size_bytes > 700_000
    assert sum(read) < 100_000
    assert found.elided is not None
    assert (found.elided.characters, found.elided.last_line) == (None, None)
    assert "## Rule 1399\n" in found.tail
    lines = (tmp_path / "kiln-ledger/ledger.md").read_text().split("\n")
    assert "\n".join(lines[: found.elided.first_line - 1]) + "\n" == found.head
    assert found.elided.lines_after == found.tail.count("\n")
    assert len(found.tail) > len(found.head)  # what was added last counts most


def test_a_secret_is_masked_and_counted(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    found = only(chained(tmp_path, ".", {".site-root": "", "CLAUDE.md": f"# C\n\ntoken: {token}\n"}))
    assert token not in found.head
    assert found.masked == 1


@pytest.mark.parametrize("kind", ["link", "binary"])
def test_a_document_that_is_no_text_of_the_zone_is_told_and_not_shown(tmp_path: Path, kind: str) -> None:
    files: dict[str, str | bytes] = {".site-root": "", "CLAUDE.md": b"\0\0", "AGENTS.md": "# A\n"}
    if kind == "link":
        del files["CLAUDE.md"]
        plant(tmp_path / "out", {"secret.md": "hidden"})
        (tmp_path / "z").mkdir()
        (tmp_path / "z/CLAUDE.md").symlink_to(tmp_path / "out/secret.md")
    found = chained(tmp_path / "z", ".", files)
    documents = {one.path: one for one in found.rungs[0].documents}
    assert "hidden" not in found.canonical().decode()
    assert documents["AGENTS.md"].head == "# A\n"
    assert documents.get("CLAUDE.md") is None or documents["CLAUDE.md"].problem == "it holds NUL bytes"


def test_a_link_of_a_document_leads_out_of_no_rung(tmp_path: Path) -> None:
    index = "- x\n  - [l](../out-ledger/ledger.md#one)\n- y\n  - [l](/etc/ledger.md#one)\n- z [l](own/ledger.md#one)\n"
    files: dict[str, str | bytes] = {
        "out-ledger/ledger.md": "# Out\n",
        "z/.site-root": "",
        "z/CLAUDE.md": index,
        "z/own/ledger.md": "# Own\n",
    }
    found = chained(tmp_path, "z", files)
    assert shown(found) == [("site", ".", ["CLAUDE.md"], ["own/ledger.md"])]


# The page


def test_no_text_of_a_document_leaves_its_fence(tmp_path: Path) -> None:
    evil = "# C\n```\n# I am a heading of the page\n````\n\x1b[31m<!-- x -->\n"
    page = rendered_chain(chained(tmp_path, ".", {".site-root": "`x`\x1b", "CLAUDE.md": evil}))
    assert "\x1b" not in page
    outside, fence = [], ""
    for line in page.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line.rstrip("abcdefghijklmnopqrstuvwxyz")
        else:
            outside.append(line)
    assert not any("I am a heading" in line or "<!--" in line for line in outside)


def test_every_section_has_its_command(tmp_path: Path) -> None:
    zone.build(tmp_path)
    found = chain(tmp_path / zone.STAGE, Wish(root=tmp_path, max_chars=600), limits_with())
    page = rendered_chain(found)
    documents = [one for rung in found.rungs for one in (*rung.documents, *rung.ledgers)]
    assert [one.path for one in documents] == [
        f"{zone.DOMAIN}/CLAUDE.md",
        zone.DOMAIN_LEDGER,
        f"{zone.ESTATE}/CLAUDE.md",
        "CLAUDE.md",
        zone.FEDERATION_LEDGER,
    ]
    assert page.count("\n## ") >= len(documents)
    assert all(f"Read again: `{one.re_entry_command}`" in page for one in documents)
    assert Chain.parse(found.canonical()) == found
