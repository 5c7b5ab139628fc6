"""Whose a path is, by a table of rules, and what hostile rules cost."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from making import plant

from rtch import owners as module
from rtch.owners import MAX_BYTES, Owners

CASES = [
    # rules, paths that are of @a, paths that are not
    ("* @a", ["x", "d/x", ".hidden/y"], []),
    ("*.js @a", ["x.js", "d/e/x.js"], ["x.jsx", "js"]),
    ("/x.js @a", ["x.js"], ["d/x.js"]),
    ("docs/* @a", ["docs/x", "docs/.y"], ["docs/d/x", "d/docs/x", "docs"]),
    ("/docs/ @a", ["docs/x", "docs/d/x"], ["d/docs/x", "docs"]),
    ("docs/ @a", ["docs/x", "d/docs/e/x"], ["docs", "docs2/x"]),
    ("docs @a", ["docs", "docs/x", "d/docs/x"], ["mydocs"]),
    ("/build/logs/ @a", ["build/logs/x/y"], ["a/build/logs/x"]),
    ("build/logs @a", ["build/logs", "build/logs/x"], ["a/build/logs"]),
    ("**/logs @a", ["logs", "logs/x", "a/b/logs/c"], ["a/blogs"]),
    ("/src/** @a", ["src/x", "src/d/x"], ["src", "d/src/x"]),
    ("/src/**/*.py @a", ["src/x.py", "src/d/e/x.py"], ["x.py", "src/x.pyc"]),
    ("a/**/b @a", ["a/b", "a/x/b", "a/x/y/b", "a/b/c"], ["b", "x/a/b"]),
    ("/** @a", ["x", "d/x"], []),
    ("a?c @a", ["abc", "d/abc/e"], ["ac", "a/c"]),
    ("a*c/d @a", ["ac/d", "axxc/d/e"], ["a/c/d"]),
    (r"\#x @a", ["#x"], ["x"]),
    (r"with\ space/x @a", ["with space/x"], ["with", "with/x"]),
    (r"a\*b @a", ["a*b"], ["axb"]),
    ("x @a # of y @b", ["x"], ["y"]),
    ("x @a #@b", ["x"], []),
    ("# x @a\n\n  \n", [], ["x"]),
    ("* @a\n/gone/", ["x"], ["gone/x"]),
    ("* @a\nx @b", ["y"], ["x"]),
    ("x @b\n* @a", ["x", "y"], []),
    ("* @a\n!x @b", ["x", "y"], []),
    ("* @a\n[ab].py @b", ["a.py"], []),
    ("* @a\nx nobody", ["x"], []),
    ("\ufeff* @a\r\nx @b\r\n", ["y"], ["x"]),
    ("/ @b\nx @a", ["x"], ["y"]),
]


@pytest.mark.parametrize(("rules", "owned", "others"), CASES, ids=[repr(case[0]) for case in CASES])
def test_which_paths_a_rule_is_of(rules: str, owned: list[str], others: list[str]) -> None:
    owners = Owners(rules, "CODEOWNERS")
    assert {path: owners.of_path(path) for path in owned} == dict.fromkeys(owned, ("@a",))
    assert not [path for path in others if "@a" in owners.of_path(path)]


def test_names_teams_and_addresses_in_the_order_of_the_rule() -> None:
    owners = Owners("* @org/team a.b@example.org @ada @ada @@maintainer", "CODEOWNERS")
    assert owners.of_path("x") == ("@org/team", "a.b@example.org", "@ada", "@@maintainer")
    assert owners.problems == ()


def test_each_section_has_its_own_last_match_and_its_default() -> None:
    text = "* @all\n[Docs][2] @writers\n*.md\ndocs/ @docs # more\n^[Optional]\n*.md @readers\n[docs]\nREADME.md @ada\n"
    owners = Owners(text, "CODEOWNERS")
    assert owners.of_path("x.py") == ("@all",)
    assert owners.of_path("x.md") == ("@all", "@writers", "@readers")
    assert owners.of_path("docs/x.py") == ("@all", "@docs")
    assert owners.of_path("README.md") == ("@all", "@ada", "@readers")
    assert owners.problems == ()


def test_lines_that_are_not_understood_are_told() -> None:
    owners = Owners("* @a\n!x @b\ny nobody @b\nz nobody\n", "CODEOWNERS")
    assert [(one.what, one.why) for one in owners.problems] == [
        ("CODEOWNERS:L2", "a pattern cannot be taken back"),
        ("CODEOWNERS:L3", "no owner: nobody"),
        ("CODEOWNERS:L4", "no owner: nobody"),
    ]
    assert owners.of_path("y") == ("@b",)


def test_the_first_place_counts_and_none_is_no_error(tmp_path: Path) -> None:
    assert Owners.of(tmp_path, None).of_path("x") == ()
    assert Owners.of(tmp_path, None).place == ""
    for place in (".gitlab/CODEOWNERS", "docs/CODEOWNERS", "CODEOWNERS", ".github/CODEOWNERS"):
        plant(tmp_path, {place: f"* @{place[0].strip('.') or 'dot'}\n"})
        assert Owners.of(tmp_path, None).place == place


def test_a_zone_below_the_top_is_owned_by_the_file_at_the_top(tmp_path: Path) -> None:
    plant(tmp_path, {"CODEOWNERS": "/sub/a.py @a\n/b.py @b\n*.md @c\n", "sub/a.py": ""})
    owners = Owners.of(tmp_path / "sub", tmp_path)
    assert [owners.of_path(path) for path in ("a.py", "b.py", "d/x.md")] == [("@a",), (), ("@c",)]
    plant(tmp_path, {"sub/CODEOWNERS": "* @own\n"})
    assert Owners.of(tmp_path / "sub", tmp_path).of_path("a.py") == ("@own",)


def test_links_pipes_and_large_files_are_told_and_not_read(tmp_path: Path) -> None:
    plant(tmp_path, {"outside": "* @evil\n"})
    (tmp_path / "zone").mkdir()
    place = tmp_path / "zone/CODEOWNERS"
    place.symlink_to(tmp_path / "outside")
    owners = Owners.of(tmp_path / "zone", None)
    assert (owners.of_path("x"), len(owners.problems), owners.place) == ((), 1, "CODEOWNERS")
    place.unlink()
    os.mkfifo(place)
    assert len(Owners.of(tmp_path / "zone", None).problems) == 1
    place.unlink()
    place.write_text("* @a\n" + "#" * MAX_BYTES)
    assert len(Owners.of(tmp_path / "zone", None).problems) == 1


@pytest.mark.parametrize(
    "pattern",
    ["*a" * 245 + "b", "*a" * 9000, "**/" * 60 + "b", "/a" * 60 + "/b", "**/a/" * 30 + "b", "**/*a*/" * 30 + "b"],
)
def test_hostile_patterns_take_no_time(pattern: str) -> None:
    begun = time.monotonic()
    owners = Owners(f"{pattern} @a\n" * 20, "CODEOWNERS")
    assert owners.of_path("a" * 255) == ()
    assert owners.of_path("a/" * 500 + "c") == ()
    assert time.monotonic() - begun < 5


def test_a_file_full_of_nonsense_is_bounded() -> None:
    owners = Owners("! @a\n" * 100_000, "CODEOWNERS")
    assert len(owners.problems) == 51
    begun = time.monotonic()
    owners = Owners("/a/b/*x*.py @a\n" * 100_000, "CODEOWNERS")
    assert owners.of_path("a/b/yxz.py") == ("@a",)
    owners.of_path("a/b/y.py")
    assert time.monotonic() - begun < 5


def test_rules_that_take_too_long_name_nobody_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ALL_S", 0.2)
    begun = time.monotonic()
    owners = Owners(("**/*a*/" * 30 + "b @a\n") * 10_000, "CODEOWNERS")
    made = time.monotonic()
    assert [owners.of_path(f"{n}/" + "a/" * 500 + "c") for n in range(9)] == [()] * 9
    assert time.monotonic() - made < 2
    assert made - begun < 5
    assert [one.why for one in owners.problems] == ["its rules took more than 0.2 s"]
