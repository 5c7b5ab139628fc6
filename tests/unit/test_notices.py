"""New marks on cited surfaces: what is one, what is new, and what is none."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

import samples as sample
from citing import cited, citing
from making import desk_of, limits_with, plant

sys.path.pop(0)

from rtch.deprecation import marks_of_code
from rtch.limits import DriftLimits, load_limits
from rtch.marks import MarkFinder
from rtch.models.chunk import Caution
from rtch.models.drift import Certainty, Checked, DriftKind, Finding
from rtch.models.packet import Packet
from rtch.models.vocab import CautionFlag
from rtch.stages.notices import notices

CODE = """\
import sys


class River:
    def settle(self, route, ledger):
        total = route.total()
        for berth in route.berths:
            ledger.charge(berth, total)
        return ledger.close(total)

    def raise_to(self, level):
        self.level = level


def open_gate(river, level):
    return river.raise_to(level)
"""
SETTLE = (5, 9)
GUIDE = """\
# Guide

How berths are charged.

## Settling

A route is settled at dusk.
The ledger is closed then.

## Gates

They are opened at dawn.
"""


def checked(root: Path, packet: Packet, limits: DriftLimits | None = None) -> Checked:
    desk = desk_of(root)
    return notices(packet, packet, desk.workspace.listing, limits or load_limits().drift, desk)


def after(
    tmp_path: Path, path: str, old: str, new: str, *, lines: tuple[int, int], files: dict[str, str] | None = None
) -> Checked:
    """Cite lines of a file, write it anew, and look."""
    root = plant(tmp_path / "zone", {path: old, **(files or {})})
    packet = citing(root, cited(root, path, *lines))
    plant(root, {path: new})
    return checked(root, packet)


def after_code(tmp_path: Path, old: str, new: str, path: str = "river.py", **more: Any) -> Checked:
    assert CODE.count(old) == 1
    return after(tmp_path, path, CODE, CODE.replace(old, new), lines=SETTLE, **more)


def told(found: Checked) -> list[tuple[str, str, str]]:
    return [(one.kind.value, one.certainty.value, one.message) for one in found.findings]


def the_one(found: Checked) -> Finding:
    (one,) = found.findings
    return one


HEAD = "    def settle(self, route, ledger):\n"


@pytest.mark.parametrize(
    ("added", "kind", "line", "by"),
    [
        ("    @deprecated\n", DriftKind.DEPRECATED, 5, ""),
        ('    @deprecated("use open_gate instead")\n', DriftKind.SUPERSEDED, 5, " by open_gate"),
        ("    @typing_extensions.deprecated('it leaks')\n", DriftKind.DEPRECATED, 5, ""),
        ("    # DEPRECATED: it leaks\n", DriftKind.DEPRECATED, 5, ""),
        ("    # Superseded by `gates.close`.\n", DriftKind.SUPERSEDED, 5, " by gates.close"),
        ("    # Deprecated, replaced by lib/gates.py.\n", DriftKind.SUPERSEDED, 5, " by lib/gates.py"),
    ],
)
def test_a_mark_right_above_cited_lines(tmp_path: Path, added: str, kind: DriftKind, line: int, by: str) -> None:
    one = the_one(after_code(tmp_path, HEAD, added + HEAD))
    said = "superseded" if kind is DriftKind.SUPERSEDED else "deprecated"
    assert (one.kind, one.certainty) == (kind, Certainty.LIKELY)
    assert one.message == f"river.py:L{line} marks River.settle as {said}{by}"
    assert (one.chunk_id, one.found) == ("rtch_chunk_1", added.strip())
    assert one.next_command == f"rtch read 'river.py:L{line}-L{line}'"


@pytest.mark.parametrize(
    ("added", "kind"),
    [
        ('        """Settle.\n\n        .. deprecated:: 2.0\n        """\n', DriftKind.DEPRECATED),
        ('        """Deprecated: use `charge_all` instead."""\n', DriftKind.SUPERSEDED),
        ('        warnings.warn("settle is old", DeprecationWarning, stacklevel=2)\n', DriftKind.DEPRECATED),
        (
            '        warnings.warn(\n            "use charge_all instead",\n            DeprecationWarning)\n',
            DriftKind.SUPERSEDED,
        ),
    ],
)
def test_a_mark_inside_cited_lines(tmp_path: Path, added: str, kind: DriftKind) -> None:
    one = the_one(after_code(tmp_path, HEAD, HEAD + added))
    assert (one.kind, one.certainty) == (kind, Certainty.LIKELY)


@pytest.mark.parametrize(
    "added",
    [
        "        if route.deprecated:\n            return None\n",
        '        self.kind = {"deprecated": 1}["deprecated"]\n',
        '        log("the old one is deprecated")\n',
        "        # routes that are not deprecated\n",
        "        # this supersedes charge_all\n",
        "        # see the deprecation policy\n",
        '        warnings.filterwarnings("ignore", category=DeprecationWarning)\n',
        "        with pytest.warns(DeprecationWarning):\n            pass\n",
        "        deprecated = False\n",
    ],
)
def test_a_name_a_value_or_a_mention_is_no_mark(tmp_path: Path, added: str) -> None:
    assert after_code(tmp_path, HEAD, HEAD + added) == Checked()


@pytest.mark.parametrize(
    ("path", "old", "mark"),
    [
        ("a.java", "class A {\n  int settle(int x) {\n    return x;\n  }\n}\n", "  @Deprecated\n"),
        ("a.rs", "fn other() {\n}\nfn settle(x: u8) -> u8 {\n  x\n}\n", '#[deprecated(since = "2.0")]\n'),
        ("a.ts", "class A {\n  settle(x: number) {\n    return x;\n  }\n}\n", "  /** @deprecated it leaks */\n"),
        ("a.go", "package a\n\nfunc settle(x int) int {\n\treturn x\n}\n", "// Deprecated: it leaks.\n"),
        ("a.cs", "class A {\n  int Settle(int x) {\n    return x;\n  }\n}\n", '  [Obsolete("it leaks")]\n'),
        ("a.cpp", "int other();\n\nint settle(int x) {\n  return x;\n}\n", "[[deprecated]]\n"),
    ],
)
def test_each_language_has_marks_of_its_own(tmp_path: Path, path: str, old: str, mark: str) -> None:
    lines = old.split("\n")
    at = next(number for number, line in enumerate(lines, 1) if "ettle" in line)
    new = "\n".join([*lines[: at - 1], mark.rstrip("\n"), *lines[at - 1 :]])
    one = the_one(after(tmp_path, path, old, new, lines=(at, at + 2)))
    assert (one.kind, one.certainty, one.found) == (DriftKind.DEPRECATED, Certainty.LIKELY, mark.strip())


def test_a_mark_that_was_captured_is_not_new(tmp_path: Path) -> None:
    old = CODE.replace(HEAD, HEAD + "        # Deprecated since the flood.\n")
    new = old.replace("total = route.total()", "total = route.sum()")
    assert after(tmp_path, "river.py", old, new, lines=SETTLE) == Checked()


def test_a_mark_right_above_that_was_there_is_not_new(tmp_path: Path) -> None:
    old = CODE.replace(HEAD, "    @deprecated('it leaks into the sea')\n" + HEAD)
    new = old.replace("total = route.total()", "total = route.sum()")
    assert after(tmp_path, "river.py", old, new, lines=(6, 10)) == Checked()


def test_a_file_as_it_was_has_no_new_mark(tmp_path: Path) -> None:
    old = CODE + "\n\n@deprecated\ndef old():\n    pass\n"
    assert after(tmp_path, "river.py", old, old, lines=SETTLE) == Checked()


def test_what_says_so_of_all_around_the_cited_lines_is_possible(tmp_path: Path) -> None:
    of_class = after_code(tmp_path / "a", "class River:\n", "@deprecated\nclass River:\n")
    of_file = after_code(tmp_path / "b", "import sys\n", '"""Deprecated: use lib/gates.py instead."""\nimport sys\n')
    assert told(of_class) == [
        ("deprecated", "possible", "river.py:L4 marks River as deprecated, away from the cited lines")
    ]
    assert told(of_file) == [
        (
            "superseded",
            "possible",
            "river.py:L1 marks the file as superseded by lib/gates.py, away from the cited lines",
        )
    ]


def test_a_mark_on_something_else_in_a_code_file_is_counted(tmp_path: Path) -> None:
    found = after_code(tmp_path, "def open_gate", "@deprecated\ndef open_gate")
    assert found.findings == ()
    assert [(row.what, row.why) for row in found.not_judged] == [
        ("river.py", "1 marks of deprecation stand away from what was cited, and may be old")
    ]


def test_marks_on_one_thing_are_one_finding(tmp_path: Path) -> None:
    added = (
        HEAD + '        """Settle.\n\n        .. deprecated:: 2\n        """\n        warn("", DeprecationWarning)\n'
    )
    found = after_code(tmp_path, HEAD, "    @deprecated\n" + added)
    assert the_one(found).message == "river.py:L5 marks River.settle as deprecated"


def test_an_id_stays_when_lines_move_and_a_state_follows_the_words(tmp_path: Path) -> None:
    one = the_one(after_code(tmp_path / "a", HEAD, "    # Deprecated: it leaks\n" + HEAD))
    moved = the_one(after_code(tmp_path / "b", HEAD, "\n\n    # Deprecated: it leaks\n" + HEAD))
    other = the_one(after_code(tmp_path / "c", HEAD, "    # Deprecated: it floods\n" + HEAD))
    assert (one.finding_id, one.state) == (moved.finding_id, moved.state)
    assert one.finding_id == other.finding_id
    assert one.state != other.state


# Documents.


def after_guide(tmp_path: Path, old: str, new: str, **more: Any) -> Checked:
    assert GUIDE.count(old) == 1
    return after(tmp_path, "docs/guide.md", GUIDE, GUIDE.replace(old, new), lines=(5, 8), **more)


@pytest.mark.parametrize(
    ("added", "kind", "by"),
    [
        ("---\nstatus: superseded\n---\n", DriftKind.SUPERSEDED, ""),
        ("---\nstatus: deprecated\n---\n", DriftKind.DEPRECATED, ""),
        ("---\nsuperseded_by: new.md\n---\n", DriftKind.SUPERSEDED, " by new.md"),
        ("Status: Superseded by ADR 7\n\n", DriftKind.SUPERSEDED, " by ADR 7"),
        ("> **Deprecated**: see elsewhere.\n\n", DriftKind.DEPRECATED, ""),
        ("This guide is obsolete, use [the new one](new.md) instead.\n\n", DriftKind.SUPERSEDED, " by new.md"),
        ("This page has moved to `new.md`.\n\n", DriftKind.SUPERSEDED, " by new.md"),
    ],
)
def test_a_document_that_says_so_of_itself(tmp_path: Path, added: str, kind: DriftKind, by: str) -> None:
    found = after_guide(tmp_path, "# Guide\n", added + "# Guide\n", files={"docs/new.md": "# New\n"})
    one = the_one(found)
    said = "superseded" if kind is DriftKind.SUPERSEDED else "deprecated"
    assert (one.kind, one.certainty) == (kind, Certainty.LIKELY)
    assert one.message.endswith(f" marks the file as {said}{by}")
    assert [place.path for place in one.related] == (["docs/new.md"] if "new.md" in by else [])


def test_a_section_that_is_cited_says_so(tmp_path: Path) -> None:
    found = after_guide(tmp_path, "A route is settled", "**Deprecated.** A route is settled")
    assert told(found) == [("deprecated", "likely", "docs/guide.md:L7 marks Guide > Settling as deprecated")]


def test_another_section_says_so(tmp_path: Path) -> None:
    found = after_guide(tmp_path, "They are opened", "Deprecated: they are opened")
    assert told(found) == [
        ("deprecated", "possible", "docs/guide.md:L12 marks Guide > Gates as deprecated, away from the cited lines")
    ]


@pytest.mark.parametrize(
    "added",
    [
        "---\ndeprecated: false\n---\n",
        "---\nsuperseded_by: null\n---\n",
        "---\nsupersedes: old.md\n---\n",
        "---\nstatus: pending\n---\n",
        "Read the deprecation policy first.\n\n",
        "It is not deprecated.\n\n",
    ],
)
def test_a_document_that_says_nothing_of_itself(tmp_path: Path, added: str) -> None:
    assert after_guide(tmp_path, "# Guide\n", added + "# Guide\n") == Checked()


def test_a_document_that_bore_a_mark_may_have_had_another(tmp_path: Path) -> None:
    root = plant(tmp_path / "zone", {"docs/guide.md": GUIDE})
    caution = Caution(path="docs/guide.md", flag=CautionFlag.DEPRECATED, note="speaks of deprecation", line=10)
    packet = citing(root, cited(root, "docs/guide.md", 5, 8), caution_map=(caution,))
    plant(root, {"docs/guide.md": GUIDE.replace("They are", "Deprecated: they are")})
    found = checked(root, packet)
    assert (found.findings, len(found.not_judged)) == ((), 1)
    plant(root, {"docs/guide.md": GUIDE.replace("How berths", "Deprecated: how berths")})
    assert the_one(checked(root, packet)).certainty is Certainty.LIKELY


def test_logs_of_the_past_and_files_that_are_gone_are_left_alone(tmp_path: Path) -> None:
    new = "# Changes\n\n## 2\n\nDeprecated: the old gates.\n"
    assert after(tmp_path / "a", "CHANGELOG.md", "# Changes\n\n## 1\n\nNew.\n", new, lines=(3, 5)) == Checked()
    root = plant(tmp_path / "zone", {"river.py": CODE})
    packet = citing(root, cited(root, "river.py", *SETTLE))
    (root / "river.py").unlink()
    assert checked(root, packet) == Checked()


def test_what_cannot_be_read_is_not_judged(tmp_path: Path) -> None:
    root = plant(tmp_path / "zone", {"river.py": CODE})
    packet = citing(root, cited(root, "river.py", *SETTLE))
    plant(root, {"river.py": "# Deprecated\n\0"})
    found = checked(root, packet)
    assert found.findings == ()
    assert [(row.what, row.why) for row in found.not_judged] == [
        ("river.py", "its marks of deprecation: a NUL in the first 8192 bytes")
    ]


def test_findings_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    root = plant(tmp_path / "zone", {f"{name}.py": CODE for name in "abc"})
    packet = citing(root, *(cited(root, f"{name}.py", *SETTLE, number=n) for n, name in enumerate("abc", 1)))
    plant(root, {f"{name}.py": CODE.replace(HEAD, "    @deprecated\n" + HEAD) for name in "abc"})
    found = checked(root, packet, limits_with(drift={"max_findings": 1}).drift)
    assert len(found.findings) == 1
    assert [row.why for row in found.not_judged] == ["2 more marks were found than are kept"]


def test_a_secret_beside_a_mark_is_not_shown(tmp_path: Path) -> None:
    token = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7d"
    one = the_one(after_code(tmp_path, HEAD, f"    # Deprecated: use '{token}' instead\n" + HEAD))
    assert token not in one.model_dump_json()


def test_an_empty_packet_has_nothing_to_look_at(tmp_path: Path) -> None:
    root = plant(tmp_path / "zone", {"river.py": "# Deprecated\n"})
    bare = sample.packet(hydrated_chunks=(), selected_surfaces=(), caution_map=())
    assert checked(root, bare) == Checked()


def test_an_old_mark_at_the_head_had_no_room_to_come(tmp_path: Path) -> None:
    old = '"""Deprecated: use lib/gates.py instead."""\n' + CODE
    new = old.replace("total = route.total()", "total = route.sum_of_all()")
    assert after(tmp_path, "river.py", old, new, lines=(6, 10)) == Checked()


def test_a_mark_on_a_line_in_a_class_is_not_about_the_class(tmp_path: Path) -> None:
    body = "class River:\n" + "".join(f"    a{n} = {n}\n" for n in range(14))
    found = after_code(tmp_path, "class River:\n", body + "    #: Deprecated: use a1 instead\n    depth = 3\n\n")
    assert (found.findings, len(found.not_judged)) == ((), 1)


def test_a_comment_beside_code_is_about_that_line(tmp_path: Path) -> None:
    one = the_one(after_code(tmp_path, "total = route.total()", "total = route.sum()  # deprecated since 2.0"))
    assert (one.kind, one.certainty) == (DriftKind.DEPRECATED, Certainty.POSSIBLE)


@pytest.mark.parametrize(
    "text",
    [
        '\\"' * 200_000,
        "/*" * 200_000,
        "'" * 200_000,
        "@deprecated\n" * 100_000,
        "warn(DeprecationWarning " * 40_000,
        "# deprecated " * 20_000,
        '"""' * 100_000,
        "use " * 100_000,
    ],
)
@pytest.mark.parametrize("path", ["a.py", "a.ts"])
def test_hostile_code_costs_little(path: str, text: str) -> None:
    limits = load_limits().survey
    start = time.perf_counter()
    marks_of_code(path, text, MarkFinder(limits.patterns), limits.features)
    assert time.perf_counter() - start < 5
