import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.named_paths import module_match, path_match, same_file


@pytest.mark.parametrize(
    ("path", "named", "sure"),
    [
        ("src/tide/ebb.py", "src/tide/ebb.py", 1.0),
        ("src/tide/ebb.py", "tide/ebb.py", 1.0),
        ("src/tide/ebb.py", "ebb.py", 0.7),
        ("ebb.py", "ebb.py", 0.7),
        ("src/tide/ebb.py", "/home/me/harbor/tide/ebb.py", 0.6),
        ("src/tide/ebb.py", "lib/site/tide/ebb.py", 0.6),
        ("src/tide/ebb.py", "flow/ebb.py", 0.0),
        ("src/tide/ebb.py", "bb.py", 0.0),
        ("src/tide/ebb.py", "src/tide", 0.0),
        ("src/tide/ebb.py", "ebb", 0.0),
    ],
    ids=[
        "whole",
        "its end",
        "its name",
        "its name at the root",
        "from another machine",
        "below another folder",
        "another folder",
        "the end of its name",
        "its folder",
        "without its ending",
    ],
)
def test_how_surely_a_path_is_the_one_that_was_written(path: str, named: str, sure: float) -> None:
    assert path_match(path, named) == sure


@pytest.mark.parametrize(
    ("path", "named", "same"),
    [
        ("src/tide/ebb.py", "/usr/lib/python3/tide/ebb.py", True),
        ("src/tide/ebb.py", "tide/ebb.py", True),
        ("src/tide/ebb.py", "ebb.py", True),
        ("ebb.py", "/srv/app/ebb.py", True),
        ("src/tide/ebb.py", "/srv/flow/ebb.py", False),
        ("src/tide/ebb.py", "tide/flow.py", False),
        ("src/ebb.py", "src/web.py", False),
    ],
)
def test_a_frame_means_a_file_where_both_end_alike(path: str, named: str, *, same: bool) -> None:
    assert same_file(path, named) is same
    assert same_file(named, path) is same


@pytest.mark.parametrize(
    ("module", "names", "sure"),
    [
        ("src harbor tide", "harbor tide", 1.0),
        ("src harbor tide", "harbor tide ebb", 0.5 + 0.5 * 2 / 3),
        ("src harbor tide", "harbor tide Ebb flow", 0.75),
        ("src harbor tide", "tide", 0.0),
        ("src harbor tide", "Tide ebb", 0.8),
        ("src harbor tide", "other ebb", 0.0),
        ("tide", "harbor tide", 0.0),
    ],
    ids=["whole", "and a name in it", "and two", "one word is no module", "a type in its file", "another", "a package"],
)
def test_the_more_parts_of_a_dotted_name_the_surer(module: str, names: str, sure: float) -> None:
    assert module_match(module.split(), names.split()) == pytest.approx(sure)


paths = st.lists(st.sampled_from(["a", "b", "c.py", "d.py"]), min_size=1, max_size=5).map("/".join)


@given(paths, paths)
def test_certainty_is_a_share_and_a_path_always_is_itself(one: str, other: str) -> None:
    assert 0.0 <= path_match(one, other) <= path_match(one, one)
    assert same_file(one, one)
    assert same_file(one, other) == same_file(other, one)
    assert 0.0 <= module_match(one.split("/"), other.split("/")) <= 1.0
