import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import desk_of

sys.path.pop(0)

from rtch.search import SearchOutcome, find_matches
from rtch.spelling import SpellingSet
from rtch.sweep import sweep

FLOOD = "part\n" * 50 + "rare_name part\n" + "row\n"


def swept(root: Path, files: dict[str, str | bytes], *terms: str, lines: int = 5, seconds: float = 20) -> SearchOutcome:
    workspace = desk_of(root, files).workspace
    paths = workspace.listing.paths
    return sweep(workspace, paths, SpellingSet(terms), max_lines_per_file=lines, timeout_s=seconds, max_rows=1000)


def found(outcome: SearchOutcome) -> list[tuple[str, int, str]]:
    return [(match.path, match.line, match.text.decode()) for match in outcome.matches if match.text != b"part"]


def test_a_common_word_does_not_hide_a_rare_name(tmp_path: Path) -> None:
    outcome = swept(tmp_path, {"a.txt": FLOOD, "b.txt": "row\n"}, "part", "rare_name", "row")
    assert found(outcome) == [("a.txt", 51, "rare_name"), ("a.txt", 52, "row"), ("b.txt", 1, "row")]
    assert (outcome.truncated, outcome.files_searched, outcome.timed_out) == (("a.txt",), 2, False)


def test_matches_stand_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    outcome = swept(tmp_path, {"a.txt": "row\n" + FLOOD}, "part", "rare_name", "row")
    places = [(match.path, match.line, match.byte_offset) for match in outcome.matches]
    assert places == sorted(set(places))
    assert len(places) == 6


def test_terms_that_flood_one_after_the_other_are_all_found(tmp_path: Path) -> None:
    text = "".join(f"{word}\n" * 9 for word in ("alpha", "beta", "gamma", "delta", "epsilon"))
    outcome = swept(tmp_path, {"a.txt": text}, "alpha", "beta", "gamma", "delta", "epsilon")
    assert {match.text for match in outcome.matches} == {b"alpha", b"beta", b"gamma", b"delta"}


def test_where_nothing_is_flooded_there_is_one_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    swept(tmp_path, {"a.txt": "part\nrow\n"}, "part", "row", "absent")
    assert len(calls) == 1


def test_in_many_flooded_files_names_alone_are_searched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtch.sweep.FEW_FILES", 1)
    outcome = swept(tmp_path, {"a.txt": FLOOD, "b.txt": FLOOD}, "part", "rare_name", "row")
    assert {text for _, _, text in found(outcome)} == {"rare_name"}


def test_files_that_lack_the_same_terms_share_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    swept(tmp_path, {"a.txt": FLOOD, "b.txt": FLOOD, "c.txt": "rare_name\n" + FLOOD}, "part", "rare_name", "row")
    assert sorted(map(sorted, calls[1:])) == [["a.txt", "b.txt"], ["c.txt"]]


def test_the_time_limit_holds_for_all_searches_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 100.0])
    monkeypatch.setattr("rtch.sweep.time", SimpleNamespace(monotonic=lambda: next(times)))
    outcome = swept(tmp_path, {"a.txt": FLOOD}, "part", "rare_name")
    assert (outcome.timed_out, found(outcome)) == (True, [])


def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Note which files each search is given."""
    calls: list[tuple[str, ...]] = []
    search = find_matches

    def noting(ws: Any, files: Any, *rest: Any, **named: Any) -> SearchOutcome:
        calls.append(tuple(files))
        return search(ws, files, *rest, **named)

    monkeypatch.setattr("rtch.sweep.find_matches", noting)
    return calls


@pytest.mark.parametrize("before", [250, 6000, 300_000])
@pytest.mark.parametrize("term", ["harpoon", "rare_name", "rareName"])
def test_a_term_deep_in_a_word_of_any_length_is_found_at_its_place(tmp_path: Path, before: int, term: str) -> None:
    data = b"a\n" + b"ab1z" * (before // 4) + b"_" + term.encode() + b"_" + b"Q" * 9000 + b"\n"
    outcome = swept(tmp_path, {"a.txt": data, "b.txt": term + "\n"}, term)
    (deep, plain) = outcome.matches
    assert (deep.path, deep.line, plain.path) == ("a.txt", 2, "b.txt")
    assert SpellingSet([term]).terms_in(deep.text) == (0,)
    assert 0 <= data.index(term.encode()) - deep.byte_offset <= 70
    assert outcome.truncated == ()
