"""What one document or data file shows."""

import json

import pytest

from rtch.limits import load_limits
from rtch.marks import MarkFinder
from rtch.models.features import (
    DurableId,
    FeatureLimits,
    FileFeatures,
    Heading,
    Key,
    Marker,
    Problem,
    Reference,
    Section,
    Symbol,
)
from rtch.models.patterns import IdBody, IdShape, Patterns
from rtch.models.vocab import CautionFlag, FileRole, KeyKind, MarkerKind, SymbolKind
from rtch.structure import document_features, enclosing, headings_of, is_document, sections

LIMITS = FeatureLimits()
FINDER = MarkFinder(load_limits().survey.patterns)
TRUTH, DEPRECATION = MarkerKind.SOURCE_OF_TRUTH, MarkerKind.DEPRECATION


def ids(text: str) -> list[str]:
    return [one.id for one in FINDER.find(text, LIMITS).ids]


def markers(text: str) -> list[tuple[MarkerKind, str]]:
    return [(one.kind, one.phrase) for one in FINDER.find(text, LIMITS).markers]


def test_a_document_shows_all_of_its_structure() -> None:
    text = (
        "---\nstatus: superseded\n---\n# Plan for tic 299\n\nSee [the ledger](../x/ledger.md#a), cpr_abc_tic12.\n\n"
        "## Session Lessons (tic 300)\n\nThis file is authoritative.\n```\n# b\n"
    )

    assert document_features("docs/plan.md", text.encode()) == FileFeatures(
        path="docs/plan.md",
        role=FileRole.DOCUMENT,
        headings=(
            Heading(1, "Plan for tic 299", 4),
            Heading(2, "Session Lessons (tic 300)", 8),
            Heading(1, "b", 12),
        ),
        keys=(Key("status", "status", KeyKind.FRONT_MATTER, 2),),
        ids=(DurableId("tic 299", 4), DurableId("cpr_abc_tic12", 6), DurableId("tic 300", 8)),
        markers=(
            Marker(DEPRECATION, "status: superseded", 2),
            Marker(MarkerKind.TIC, "Plan for tic 299", 4),
            Marker(MarkerKind.SESSION_LESSONS, "Session Lessons (tic 300)", 8),
            Marker(TRUTH, "authoritative", 10),
        ),
        references=(Reference("../x/ledger.md", 6),),
        problems=(
            Problem(
                CautionFlag.UNCLOSED_FENCE,
                11,
                "a code fence is opened here and never closed; # lines after it are listed as possible headings",
            ),
        ),
    )


def test_features_survive_being_stored() -> None:
    features = document_features("a.md", b"# T\n[l](b.md) ADR-7 deprecated\n")

    assert FileFeatures.parse(features.canonical()) == features


@pytest.mark.parametrize(
    ("path", "data", "expected"),
    [
        ("a.md", b"\xef\xbb\xbf# T", [(1, "T", 1)]),
        ("a.md", b"\xef\xbb\xbf---\nx: 1\n---\n# T", [(1, "T", 4)]),
        ("a.md", b"# T\r\n\r\nU\r\n---\r\n", [(1, "T", 1), (2, "U", 3)]),
        ("a.md", "# T\n".encode("utf-16"), [(1, "T", 1)]),
        ("a.md", b"# caf\xe9\n", [(1, "café", 1)]),
        ("a.md", b"\x0c\x0c\n\xe2\x80\xa8x\n\n# T\n", [(1, "T", 4)]),
        ("a.rst", b"T\n=\n\nTitle\n=====\n", [(1, "Title", 4)]),
        ("README", b"Title\n=====\n", [(1, "Title", 1)]),
        ("a.adoc", b"= T\n", [(1, "T", 1)]),
    ],
)
def test_headings_of_each_notation_and_encoding(path: str, data: bytes, expected: list[object]) -> None:
    assert [tuple(one) for one in document_features(path, data).headings] == expected
    assert headings_of(path, data) == document_features(path, data).headings


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.json", b'\xef\xbb\xbf{"name": 1}'),
        ("tsconfig.json", b'// c\n{"name": 1,}'),
        ("a.jsonc", b'{"name": 1}'),
        (".ticzone", b'{"name": "x"}'),
        ("a.jsonl", b'{"name": 1}\n'),
        ("a.yaml", b"\xef\xbb\xbfname: 1\n"),
        ("a.yml", "name: 1\n".encode("utf-16")),
        ("a.toml", b"\xef\xbb\xbfname = 1\n"),
        ("Pipfile", b"name = 1\n"),
        ("a.md", b"\xef\xbb\xbf---\r\nname: 1\r\n---\r\n"),
    ],
)
def test_keys_of_each_notation_and_encoding(path: str, data: bytes) -> None:
    features = document_features(path, data)

    assert [key.name for key in features.keys] == ["name"]
    assert features.problems == ()


def test_bytes_that_are_not_utf8_are_told() -> None:
    problem = Problem(CautionFlag.ENCODING, 1, "it is not UTF-8 and was read as Latin-1, which is a guess")

    assert document_features("a.md", b"caf\xe9").problems == (problem,)


def test_a_binary_file_shows_nothing_and_says_so() -> None:
    features = document_features("a.md", b"# T\n\x00\x01")

    assert features.headings == ()
    assert features.problems == (Problem(CautionFlag.ENCODING, 1, "it holds NUL bytes and is taken for binary"),)


def test_a_large_file_is_looked_at_in_part_and_the_message_is_true() -> None:
    data = b"# T\n" + b"x" * 100 + b"\n# U\n"
    features = document_features("a.md", data, FeatureLimits(max_bytes=50))

    assert features.headings == (Heading(1, "T", 1),)
    assert features.truncated
    assert features.problems == (Problem(CautionFlag.COST_CEILING, 1, "the first 4 of 109 bytes were scanned"),)


def test_a_file_that_is_cut_within_a_character_keeps_its_encoding() -> None:
    features = document_features("a.md", "# ééééé".encode(), FeatureLimits(max_bytes=5))

    assert features.headings == (Heading(1, "é", 1),)
    assert [one.flag for one in features.problems] == [CautionFlag.COST_CEILING]


def test_a_large_honest_yaml_file_is_limited_by_its_size_alone() -> None:
    data = b"".join(b"key_%d: value\n" % n for n in range(2000)) + b"ADR-7: 1\n"
    features = document_features("a.yaml", data, FeatureLimits(max_slow_bytes=9_995))

    assert features.truncated
    assert [one.detail for one in features.problems] == [
        f"the first 9,985 of {len(data):,} bytes were scanned for keys"
    ]
    assert features.ids == (DurableId("ADR-7", 2001),)


def test_a_lock_file_has_no_keys_of_its_own() -> None:
    assert document_features("uv.lock", b"[[package]]\nname = 1\n").keys == ()
    assert document_features("package-lock.json", b'{"name": 1}').keys == ()


def test_a_notebook_shows_its_sources_with_lines_of_the_file_and_no_output() -> None:
    notebook = {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "see ADR-7 and [x](a.md)\n"]},
            {
                "cell_type": "code",
                "outputs": [{"data": {"image/png": "ADR-8 # no"}, "text": ["def no():\n"]}],
                "source": ["import os\n", "def run():\n", "    return 1"],
            },
            {"source": "## One string\n\nis canonical", "cell_type": "markdown"},
        ],
        "metadata": {"name": "x"},
    }
    data = json.dumps(notebook, indent=1).encode()
    lines = {row.strip().strip(b'",'): number for number, row in enumerate(data.split(b"\n"), 1)}
    features = document_features("a.ipynb", data)
    last = lines[rb'source": "## One string\n\nis canonical']

    assert features.headings == (Heading(1, "Title", lines[rb"# Title\n"]), Heading(2, "One string", last))
    assert features.symbols == (Symbol("run", SymbolKind.FUNCTION, lines[rb"def run():\n"]),)
    assert [one.target for one in features.references] == ["a.md", "os"]
    assert features.ids == (DurableId("ADR-7", lines[rb"see ADR-7 and [x](a.md)\n"]),)
    assert features.markers == (Marker(TRUTH, "canonical", last),)
    assert (features.keys, features.problems) == ((), ())


def test_which_names_are_documents() -> None:
    names = "a.md A.MD a.rst a.txt README a.json a.jsonl a.yaml a.yml a.toml a.ipynb a.adoc .ticzone CITATION.cff"
    others = "a.py a.png Makefile a md .gitignore a.xml"

    assert [name for name in names.split() if not is_document(name)] == []
    assert [name for name in others.split() if is_document(name)] == []


class TestIds:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("tic 12, tic-7 tic412 Tic 1299 _tic_9 TIC-3", ["tic 12", "tic-7", "tic412", "Tic 1299", "tic_9", "TIC-3"]),
            ("static 12 tactic-7 tic tic12th tic  3 attic412", []),
            ("OAVPLT-77 CogPR-12 CPR_Foo_bar INV-3", ["OAVPLT-77", "CogPR-12", "CPR_Foo_bar", "INV-3"]),
            (
                "cpr_a1_tic223 sig_inbox_x_0123456789ab ent_anna",
                ["cpr_a1_tic223", "sig_inbox_x_0123456789ab", "ent_anna"],
            ),
            ("my_cpr_abc xcpr_abc set_ent_x cpr_<name> cpr_ab", []),
            (
                "ADR-0001 RFC 2119 RFC-822 PEP8 PEP 484 CVE-2024-12345",
                ["ADR-0001", "RFC 2119", "RFC-822", "PEP8", "PEP 484", "CVE-2024-12345"],
            ),
            ("UTF-8 SHA-256 ISO-8601 x86-64 A-1 ABCDEFGHIJK-1 adr-7 ADR-7b", []),
            (r'{"text": "a\ncpr_abc\ttic 7"}', ["cpr_abc", "tic 7"]),
            ("éADR-7 ADR-7é “ADR-8”", ["ADR-8"]),
        ],
    )
    def test_ids(self, text: str, expected: list[object]) -> None:
        assert ids(text) == expected

    def test_an_id_is_listed_once_at_its_first_line(self) -> None:
        assert FINDER.find("x\nADR-7\n\nADR-7 ADR-8", LIMITS).ids == (DurableId("ADR-7", 2), DurableId("ADR-8", 4))

    def test_ids_beyond_the_limit_are_left_out_and_that_is_said(self) -> None:
        scan = FINDER.find("ADR-1 ADR-2 ADR-3", FeatureLimits(max_ids=2))

        assert ([one.id for one in scan.ids], scan.truncated) == (["ADR-1", "ADR-2"], True)

    def test_a_form_without_prefix_needs_a_joiner(self) -> None:
        with pytest.raises(ValueError, match="id form x has no prefix, so it needs a joiner of one character"):
            IdShape(name="x", body=IdBody.DIGITS)

    def test_the_forms_are_configuration(self) -> None:
        patterns = Patterns(durable_ids=(IdShape(name="case", prefix="case", joiner="#", body=IdBody.DIGITS),))

        assert [one.id for one in document_features("a.md", b"case#7 ADR-7", patterns=patterns).ids] == ["case#7"]


class TestMarkers:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("This is the source  of truth.", [(TRUTH, "source  of truth")]),
            ("Canonical, and a single source", [(TRUTH, "Canonical"), (TRUTH, "single source")]),
            ("Superseded by ADR-7", [(DEPRECATION, "Superseded by")]),
            ("**Status:** Superseded", [(DEPRECATION, "Status:** Superseded")]),
            ('{"status": "pending"}', [(DEPRECATION, 'status": "pending')]),
            ("state TERMINAL, terminal", [(DEPRECATION, "TERMINAL")]),
            ("not authoritative; isn't yet canonical; non-canonical; no longer the source of truth", []),
            ("Do not treat this file as authoritative.", []),
            ("Never cite it as canonical. It was authoritative.", []),
            ("It isn't, and never was, the source of truth.", []),
            ("The source of truth is docs/real.md, not this file.", []),
            ("The single source of truth for it lives in kiln.yaml", []),
            ("Which is the single source of truth for this?", []),
            ("Draft, do not edit. This is the source of truth.", [(TRUTH, "source of truth")]),
            ("The source of truth is this file.", [(TRUTH, "source of truth")]),
            ("Do not use this deprecated call; it was deprecated", [(DEPRECATION, "deprecated")]),
            ("canonical_url = canonical(path)  # @deprecated(x)", []),
            ("undeprecated canonically deprecatedX", []),
            ("source of\ntruth", []),
        ],
    )
    def test_markers(self, text: str, expected: list[object]) -> None:
        assert markers(text) == expected

    def test_markers_are_placed_by_line(self) -> None:
        assert [one.line for one in FINDER.find("a\nobsolete\n\ncanonical obsolete", LIMITS).markers] == [2, 4, 4]


class TestSections:
    HEADINGS = (Heading(1, "A", 1), Heading(3, "B", 3), Heading(2, "C", 5), Heading(1, "D", 9))

    def test_a_section_reaches_to_the_next_heading_of_its_level_or_above(self) -> None:
        assert sections(self.HEADINGS, 12) == (
            Section(("A",), 1, 1, 8),
            Section(("A", "B"), 3, 3, 4),
            Section(("A", "C"), 2, 5, 8),
            Section(("D",), 1, 9, 12),
        )

    def test_the_innermost_section_encloses_a_line(self) -> None:
        found = sections((Heading(1, "A", 2), *self.HEADINGS[1:]), 12)

        assert enclosing(found, 1) is None
        assert [getattr(enclosing(found, line), "path", None) for line in (2, 3, 4, 8, 9, 12)] == [
            ("A",), ("A", "B"), ("A", "B"), ("A", "C"), ("D",), ("D",),
        ]  # fmt: skip
        assert enclosing(found, 13) is None

    def test_without_headings_there_is_no_section(self) -> None:
        assert sections((), 5) == ()
        assert enclosing((), 1) is None


@pytest.mark.parametrize(
    "path", ["a.jsonl", "a.json", "a.yaml", "a.toml", "package-lock.json", "a.txt", "a.ipynb", "a.md"]
)
def test_headings_alone_are_those_of_all_features(path: str) -> None:
    for data in (b'{"# a": "# b"}\n', b"# a\n\nb\n===\n\n= c\n", b"# a\0\n"):
        assert headings_of(path, data) == document_features(path, data).headings
