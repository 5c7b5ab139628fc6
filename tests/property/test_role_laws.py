"""A file's role: the short way that most paths take ends where every rule leads."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.roles import judged, role_of


def _words(text: str) -> list[str]:
    return text.split()


WORDS = _words(
    """
readme config contributing template test tests testutils conftest spec cy e2e bats snap feature min bundle chunk js css
map pb pb2 pb2_grpc g gen d go freezed designer generated zz_generated moc ui ledger journal audit queue events v1 v2.1
changelog changes change-log authors contributors credits thanks release releases release-notes releasenotes 3.0rc1 2.x
version-history versionhistory history whats-new what's_new whatsnew news old archive requirements constraints dev
robots CMakeLists Makefile Dockerfile build manifest pom web go.sum uv yarn lock EngineTest EngineIT Spec TestCase
PKG-INFO LICENSE en de pt-BR index settle plan_route x
    """
)
ENDINGS = _words(
    """
py cpp dart pyi ts d.ts js java kt cs c h go inc in html css md rst txt adoc json yaml toml cfg xml properties arb po
ipynb csv jsonl ndjson png so 1 lock map sample unknown
    """
)
FOLDERS = _words(
    """
src src/main/java lib docs doc source developers tests testing spec examples skeleton templates chart charts vendor deep
node_modules venv/lib Pods dist build build/lib target/release coverage coverage/lcov-report x.egg-info __generated__
changelog changelog.d news releases history requirements locale l10n/fr data config bin audit-logs my-ledger static
{{cookiecutter.name}} a/b
    """
)

_cases = st.sampled_from([str, str, str.upper, str.capitalize])
_names = st.builds(
    lambda dot, words, joint, ending, case: case(dot + joint.join(words)) + ending,
    st.sampled_from(["", "", "", ".", "_"]),
    st.lists(st.sampled_from(WORDS) | st.text(max_size=2), min_size=1, max_size=3),
    st.sampled_from(["_", "-", ".", " ", ""]),
    st.sampled_from(ENDINGS).map(lambda ending: "." + ending) | st.just(""),
    _cases,
)
_paths = st.builds(
    lambda folders, name: "/".join([*folders, name]), st.lists(st.sampled_from(FOLDERS), max_size=3), _names
)


@given(st.lists(_paths, max_size=40))
def test_a_role_is_what_every_rule_says_whatever_was_asked_before(paths: list[str]) -> None:
    assert [role_of(path) for path in paths] == [judged(path) for path in paths]


@pytest.mark.parametrize("folder", ["", "src/", "docs/releases/", "changelog.d/", "templates/a/"])
def test_no_word_of_a_rule_is_passed_over(folder: str) -> None:
    shapes = ("{}", "x_{}", "{}_x", "x.{}", "{}-x", "{}2", "x{}")
    names = {shape.format(word) for shape, word in product(shapes, WORDS)}
    paths = [f"{folder}{name}.{ending}" for name, ending in product(sorted(names), ENDINGS)]

    assert [path for path in paths if role_of(path) is not judged(path)] == []
