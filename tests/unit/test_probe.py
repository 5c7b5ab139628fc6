import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import desk_of, limits_with, probe_of, probe_term

sys.path.pop(0)

from rtch.models.plan import ProbeResult
from rtch.models.vocab import ProbeFamily, ProbeType
from rtch.stages.probe import probe

TREE: dict[str, str | bytes] = {
    "a.py": "def settle(row):\n    # settle it, then settle it again\n    return row\n",
    "b.py": "from a import settle\n",
    "c.md": "nothing here\n",
}


def probed(root: Path, *targets: str, files: dict[str, str | bytes] | None = None, **fields: Any) -> ProbeResult:
    numbers = fields.pop("numbers", {})
    return probe(probe_of(*targets, **fields), limits_with(probe=numbers).probe, desk_of(root, files or TREE))


def places(found: ProbeResult) -> list[tuple[str, int, str]]:
    return [(hit.path, hit.line, hit.term) for hit in found.hits]


def test_a_term_hits_a_line_once_and_hits_stand_by_path_and_line(tmp_path: Path) -> None:
    found = probed(tmp_path, "b.py", "c.md", "a.py", terms=(probe_term("settle"), probe_term("row")))
    assert places(found) == [
        ("a.py", 1, "row"),
        ("a.py", 1, "settle"),
        ("a.py", 2, "settle"),
        ("a.py", 3, "row"),
        ("b.py", 1, "settle"),
    ]
    assert (found.hit_count, found.files_searched, found.truncated, found.errors) == (5, 3, False, ())
    assert found.bytes_searched == sum(len(text) for text in TREE.values())


def test_only_targets_are_searched(tmp_path: Path) -> None:
    assert places(probed(tmp_path, "b.py")) == [("b.py", 1, "settle")]


def test_a_hit_says_where_it_matched_and_whether_the_line_defines_it(tmp_path: Path) -> None:
    found = probed(tmp_path, "a.py", terms=(probe_term("settle", places=(("a.py", 1), ("b.py", 2))),))
    assert [(hit.byte_offset, hit.matched, hit.structural) for hit in found.hits] == [
        (4, "settle", True),
        (23, "settle", False),
    ]


def test_what_matched_is_masked_and_short(tmp_path: Path) -> None:
    token = "ghp_aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gH3jK5"
    found = probed(tmp_path, "x.txt", files={"x.txt": f"{token}\n{'ghp' * 200}\n"}, terms=(probe_term("ghp"),))
    assert all(token not in hit.matched and len(hit.matched) <= 200 for hit in found.hits)


def test_what_cannot_be_searched_is_an_error_of_the_probe(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"blob.bin": b"settle\0", "a.py": "settle\n"}
    found = probed(tmp_path, "a.py", "blob.bin", "gone.py", files=files)
    assert found.errors == ("blob.bin: binary a NUL in the first 8192 bytes", "gone.py: not_found absent")
    assert places(found) == [("a.py", 1, "settle")]


def test_hits_past_the_limit_are_cut_from_each_file_alike_and_counted(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"{name}.txt": "settle\n" * 10 for name in "abc"}
    files["z.txt"] = "settle\n"
    terms = (probe_term("settle", places=(("b.txt", 9),)),)
    found = probed(tmp_path, *files, files=files, terms=terms, numbers={"max_hits": 10})
    assert [(path, line) for path, line, _ in places(found)] == [
        *(("a.txt", line) for line in (1, 2, 3)),
        *(("b.txt", line) for line in (1, 2, 9)),
        *(("c.txt", line) for line in (1, 2, 3)),
        ("z.txt", 1),
    ]
    assert (found.hit_count, found.truncated) == (31, True)


def test_more_files_than_hits_keep_the_first(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"{name}.txt": "settle\n" for name in "abc"}
    assert len(probed(tmp_path, *files, files=files, numbers={"max_hits": 2}).hits) == 2


def test_a_search_that_was_cut_is_marked(tmp_path: Path) -> None:
    found = probed(tmp_path, "a.txt", files={"a.txt": "settle\n" * 10}, numbers={"max_lines_per_file": 4})
    assert (len(found.hits), found.truncated, found.timed_out) == (4, True, False)


def test_a_search_that_ran_out_of_time_is_not_to_be_kept(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, TREE)
    found = probe(probe_of("a.py"), limits_with(probe={"timeout_s": 0.0}).probe, desk)
    assert (found.timed_out, found.hits, desk.trustworthy) == (True, (), False)


# Inventory


def named(*places: tuple[str, int], term: str = "a.py") -> dict[str, Any]:
    shape = {"family": ProbeFamily.FILE_INVENTORY, "type": ProbeType.GLOB}
    return shape | {"terms": (probe_term(term, places=places),)}


def test_a_path_is_its_own_hit(tmp_path: Path) -> None:
    found = probed(tmp_path, "a.py", "gone.py", **named(("a.py", 1), ("gone.py", 1)))
    assert [(hit.path, hit.line, hit.matched, hit.structural) for hit in found.hits] == [("a.py", 1, "a.py", True)]
    assert (found.hit_count, found.files_searched, found.bytes_searched) == (1, 2, 0)


def test_a_path_is_hit_at_the_line_that_was_named_with_it(tmp_path: Path) -> None:
    assert places(probed(tmp_path, "a.py", **named(("a.py", 3)))) == [("a.py", 3, "a.py")]


def test_a_target_that_no_term_names_is_hit_at_its_first_line(tmp_path: Path) -> None:
    assert places(probed(tmp_path, "a.py", "b.py", **named(("a.py", 2)))) == [("a.py", 2, "a.py"), ("b.py", 1, "a.py")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be sure that nothing else stops it")
def test_nothing_is_opened_for_an_inventory(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, {"a.py": "x"})
    (tmp_path / "a.py").unlink()
    shape: dict[str, Any] = named(("a.py", 1))
    assert len(probe(probe_of("a.py", **shape), limits_with().probe, desk).hits) == 1
