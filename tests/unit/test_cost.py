import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import basket_of, cost_of, desk_of, limits_with, seed, term

sys.path.pop(0)

from rtch.models.basket import Term, TermShape
from rtch.models.plan import CostEstimate, TermHits
from rtch.models.vocab import Origin, SkipReason, Use
from rtch.stages.cost import cost

TREE: dict[str, str | bytes] = {
    "a.py": "def settle(row):\n    return settle\n",
    "b.py": "from a import settle_all\n",
    "c.md": "tides\n",
    "empty.txt": "",
}


def counted(root: Path, *terms: Term, files: dict[str, str | bytes] | None = None, **numbers: Any) -> CostEstimate:
    desk = desk_of(root, files or TREE)
    return cost(desk.workspace.listing, basket_of(*terms), limits_with(cost=numbers).cost, desk)


def counts(found: CostEstimate) -> dict[str, dict[str, int]]:
    """Return path to term to count; every path has one at least."""
    rows: dict[str, dict[str, int]] = {path: {} for path in found.paths}
    for text, hits in zip(found.terms, found.hits, strict=True):
        for i, count in zip(hits.files, hits.counts, strict=True):
            rows[found.paths[i]][text] = count
    assert all(rows.values())
    return rows


def test_every_term_is_counted_in_every_file(tmp_path: Path) -> None:
    found = counted(tmp_path, seed("settle"), term("tide"), term("absent"))
    assert counts(found) == {"a.py": {"settle": 2}, "b.py": {"settle": 1}, "c.md": {"tide": 1}}
    assert (found.paths, found.sizes) == (("a.py", "b.py", "c.md"), tuple(len(TREE[path]) for path in found.paths))
    assert found.terms == ("settle", "tide", "absent")
    assert found.hits == (TermHits((0, 1), (2, 1)), TermHits((2,), (1,)), TermHits())
    assert (found.files_searched, found.bytes_searched) == (3, sum(len(text) for text in TREE.values()))
    assert [found.files_with(text) for text in ("settle", "tide", "absent", "not asked")] == [2, 1, 0, 0]
    assert (found.hits_of("settle"), found.hits_of("not asked")) == (found.hits[0], TermHits())


def test_a_term_that_stands_twice_in_the_basket_is_counted_once(tmp_path: Path) -> None:
    assert counted(tmp_path, seed("settle"), term("settle")).terms == ("settle",)


def test_columns_are_in_order_whatever_the_order_of_terms(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"{name}.txt": "reef\nkelp\n" * n for n, name in enumerate("dbca", start=1)}
    found = counted(tmp_path, term("kelp"), seed("reef"), files=files)
    assert found.paths == ("a.txt", "b.txt", "c.txt", "d.txt")
    assert found.hits == (TermHits((0, 1, 2, 3), (4, 2, 3, 1)),) * 2


def test_neighbours_and_excluded_terms_are_not_counted(tmp_path: Path) -> None:
    neighbor = term("settle", shape=TermShape.NEIGHBOR, origin=Origin.REF_NEIGHBORHOOD, use=Use.NEIGHBOR_ONLY)
    excluded = term("tide", origin=Origin.NOISE, use=Use.EXCLUDE)
    assert counted(tmp_path, neighbor, excluded) == CostEstimate(
        terms=(), paths=(), sizes=(), hits=(), files_searched=0, bytes_searched=0
    )


def test_what_is_not_searched_is_told(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        ".env": "settle=1\n",
        "big.txt": "settle\n" * 20,
        "blob.bin": b"settle\0",
        "other.bin": b"quiet\0",
        "a.py": "settle\n",
    }
    found = counted(tmp_path, seed("settle"), files=files, max_file_bytes=100)
    assert [(one.path, one.reason) for one in found.unsearched] == [
        (".env", SkipReason.SECRET),
        ("big.txt", SkipReason.OVERSIZED),
        ("blob.bin", SkipReason.BINARY),
    ]
    assert counts(found) == {"a.py": {"settle": 1}}


def test_the_lines_of_a_large_file_with_hits_are_counted(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"big.txt": "settle\n" * 20, "quiet.txt": "x\n" * 90, "a.py": "settle\n"}
    found = counted(tmp_path, seed("settle"), files=files, count_lines_bytes=100)
    assert (found.paths, found.lines) == (("a.py", "big.txt"), ((1, 21),))


def test_counts_stop_at_their_ceiling_in_each_file(tmp_path: Path) -> None:
    found = counted(tmp_path, seed("settle"), files={"a.txt": "settle\n" * 50}, max_lines_per_file=5)
    assert (counts(found), found.timed_out) == ({"a.txt": {"settle": 5}}, False), "a floor, and the pass is whole"


def test_a_rare_seed_is_counted_behind_a_common_word(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a.txt": "part\n" * 50 + "rare_seed\n"}
    found = counted(tmp_path, seed("rare_seed"), term("part"), files=files, max_lines_per_file=5)
    assert counts(found)["a.txt"]["rare_seed"] == 1


def test_a_pass_that_ran_out_of_time_is_not_to_be_kept(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, TREE)
    found = cost(desk.workspace.listing, basket_of(seed("settle")), limits_with(cost={"timeout_s": 0.0}).cost, desk)
    assert (found.timed_out, found.paths, desk.trustworthy) == (True, (), False)


def test_an_estimate_round_trips(tmp_path: Path) -> None:
    found = counted(tmp_path, seed("settle"), files={"a.bin": b"settle\0", "b.txt": "settle\n"})
    assert CostEstimate.parse(found.canonical()) == found


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"sizes": ()}, "the columns of a cost estimate differ in length"),
        ({"hits": ()}, "the columns of a cost estimate differ in length"),
        ({"hits": (TermHits((0,), ()),)}, "a term's files and counts differ in length"),
        ({"hits": (TermHits((1,), (1,)),)}, "a term stands in a file that is not there"),
    ],
    ids=["sizes", "hits", "counts", "index"],
)
def test_columns_that_do_not_agree_are_refused(changed: dict[str, Any], why: str) -> None:
    fields = cost_of({"a.txt": {"settle": 1}}).model_dump() | changed
    with pytest.raises(ValidationError, match=why):
        CostEstimate(**fields)


def test_a_document_that_is_binary_is_told_though_no_word_hits_it(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "wide.txt": "settle\n".encode("utf-16-le"),
        "wide.bin": "settle\n".encode("utf-16-le"),
        "marked.txt": "settle\n".encode("utf-16"),
        "plain.md": "nothing\n",
    }
    found = counted(tmp_path, term("settle"), files=files)
    assert found.paths == ("marked.txt",)
    assert [(one.path, one.reason) for one in found.unsearched] == [("wide.txt", SkipReason.BINARY)]
