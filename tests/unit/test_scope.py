import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import place, seed, term

sys.path.pop(0)

from rtch.models.basket import Term, TermShape
from rtch.models.inventory import FileFacts
from rtch.models.vocab import Origin, Scope
from rtch.scope import family_of, paths_in_scope

TREE = (
    "docs/store.md",
    "src/store.py",
    "src/store.pyi",
    "src/tests/test_store.py",
    "src/other.py",
    "src/deep/store.py",
    "lib/user.py",
    "lib/used.py",
    "lib/apart.py",
)


def kept(scope: Scope, terms: list[Term], files: tuple[FileFacts, ...] = ()) -> set[str]:
    found = paths_in_scope(scope, TREE, terms, files)
    assert found is not None
    return set(found)


def facts(**references: str) -> tuple[FileFacts, ...]:
    """Return the facts of files: path with ``__`` for a slash, and what the file imports."""
    return tuple(
        FileFacts(path.replace("__", "/") + ".py", references=(target,)) for path, target in references.items()
    )


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("src/store.py", ("src", "store")),
        ("src/Store.pyi", ("src", "store")),
        ("src/test_store.py", ("src", "store")),
        ("src/store_test.go", ("src", "store")),
        ("src/tests/test_store.py", ("src", "store")),
        ("src/__tests__/store.test.ts", ("src", "store")),
        ("src/store.spec.ts", ("src", "store")),
        ("src/store.d.ts", ("src", "store")),
        ("src/store.min.js", ("src", "store")),
        ("tests/test_store.py", ("", "store")),
        ("Makefile", ("", "makefile")),
        (".env", ("", ".env")),
        (".eslintrc.json", ("", ".eslintrc")),
        ("test.py", ("", "test")),
        ("src/latest.py", ("src", "latest")),
    ],
)
def test_a_family_is_one_folder_and_one_stem_less_affixes(path: str, family: tuple[str, str]) -> None:
    assert family_of(path) == family


@pytest.mark.parametrize("scope", [None, Scope.BROAD])
def test_no_scope_and_broad_admit_everything(scope: Scope | None) -> None:
    assert paths_in_scope(scope, TREE, [seed("src/store.py")], ()) is None


@pytest.mark.parametrize(
    "terms",
    [
        [],
        [seed("nowhere")],
        [term("store", places=(place("src/store.py", Origin.CODE_SYMBOL),))],
        [seed("x", places=(place("gone.py", Origin.CODE_SYMBOL, name="x"), place("src/store.py", Origin.JSON_KEY)))],
        [seed("x", places=(place("docs/store.md", Origin.HEADING, name="About x"),))],
    ],
    ids=["no seed", "no place", "no anchor's shape", "no defining file", "a heading that mentions it"],
)
def test_a_scope_without_an_anchor_admits_everything(terms: list[Term]) -> None:
    assert paths_in_scope(Scope.NARROW, TREE, terms, ()) is None


@pytest.mark.parametrize(
    "anchor",
    [
        seed("src/store.py"),
        term("./src/store.py", shape=TermShape.PATH),
        term("src/store.py", shape=TermShape.TARGET),
        seed("Store", places=(place("src/store.py", Origin.CODE_SYMBOL, name="Store"),)),
        seed("app.store", places=(place("src/store.py", Origin.CODE_SYMBOL, name="store"),)),
    ],
    ids=["seed", "path", "target", "definition", "dotted name"],
)
def test_narrow_keeps_the_families_of_what_is_named(anchor: Term) -> None:
    family = {"src/store.py", "src/store.pyi", "src/tests/test_store.py"}
    assert kept(Scope.NARROW, [anchor]) == family


def test_a_name_in_many_folders_keeps_each_family() -> None:
    assert kept(Scope.NARROW, [seed("store.py")]) == {
        "src/store.py",
        "src/store.pyi",
        "src/tests/test_store.py",
        "src/deep/store.py",
    }


def test_adjacent_adds_the_folders_the_imports_and_the_importers() -> None:
    edges = facts(src__store="lib.used", lib__user="src.store", lib__apart="lib.used")
    narrow = {"src/store.py", "src/store.pyi", "src/tests/test_store.py"}
    assert kept(Scope.ADJACENT, [seed("src/store.py")], edges) == narrow | {
        "src/other.py",
        "lib/used.py",
        "lib/user.py",
    }


def test_adjacent_knows_no_imports_of_files_that_were_not_looked_into() -> None:
    narrow = {"src/store.py", "src/store.pyi", "src/tests/test_store.py"}
    assert kept(Scope.ADJACENT, [seed("src/store.py")]) == narrow | {"src/other.py"}
