import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rtch
from rtch.errors import ArtifactError
from rtch.keys import (
    KeyParts,
    NamedDigest,
    StateDiff,
    diff_states,
    explain,
    key_parts,
    logic_digest,
    sources_digest,
    stage_key,
    state_rows,
    zone_id,
)
from rtch.models.base import Record
from rtch.models.vocab import StageName

PACKAGE = Path(rtch.__file__).parent


class Window(Record):
    window: int = 40
    words: tuple[str, ...] = ("a", "b")


class Nested(Record):
    window: Window = Window()
    depth: int | None = None


ZONE = NamedDigest(name="zone", digest="1" * 64)
PLAN = NamedDigest(name="plan", digest="2" * 64)
BASE = KeyParts(stage=StageName.SCOUT, logic="logic", inputs=(ZONE, PLAN), limits='{"window":40}', state="state")


# A digest here that changes makes every store of every user miss once: it is a decision, never a detail.
def test_keys_are_pinned() -> None:
    assert stage_key(StageName.ORIENT, "logic", [], None) == (
        "378e893c17199d4680d43e0f0c7fda4bd75806a300dc2cf94b6a0c1479181cb5"
    )
    assert stage_key(StageName.SCOUT, "logic", ["1" * 64, "2" * 64], Window(), "state") == (
        "e6c44545e33de85bf103ef1d059fa79affb3f9927e6d6166726507e70c5570e6"
    )


def test_a_key_is_that_of_its_parts_whatever_the_inputs_are_called() -> None:
    limits = Window(window=1)
    key = stage_key(StageName.PLAN, "logic", [ZONE.digest, PLAN.digest], limits, "state")
    assert key_parts(StageName.PLAN, "logic", [ZONE, PLAN], limits, "state").key == key


def test_state_ref_is_for_words_alone() -> None:
    assert BASE.model_copy(update={"state_ref": "3" * 64}).key == BASE.key


def test_key_parts_round_trip() -> None:
    assert KeyParts.parse(BASE.canonical()) == BASE


# Logic


def test_checkout_and_installed_package_have_one_logic(tmp_path: Path) -> None:
    checkout, installed = tmp_path / "checkout", tmp_path / "site-packages"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, checkout / "rtch", symlinks=True, ignore=ignored)
    for name in ("tasks", "flows", "config"):
        assert (checkout / "rtch" / name).is_symlink()
        shutil.copytree(PACKAGE / name, checkout / name, ignore=ignored)
    shutil.copytree(checkout / "rtch", installed / "rtch", symlinks=False)
    assert not any(path.is_symlink() for path in (installed / "rtch").iterdir())
    assert sources_digest(installed / "rtch") == sources_digest(checkout / "rtch") == logic_in(installed)


def logic_in(folder: Path) -> str:
    """Return the logic digest as a process sees it that imports rtch from the folder."""
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); from rtch.keys import logic_digest; print(logic_digest())"
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return run.stdout.strip()


def test_logic_is_read_once_a_process() -> None:
    assert logic_digest() is logic_digest()


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name, text in (("a.py", "A = 1\n"), ("stages/b.py", "B = 2\n"), ("stages/notes.txt", "no source\n")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize("folder", ["tasks", "flows", "cli", "mcp", "render", "config", "tests", "stages/__pycache__"])
def test_what_cannot_change_a_result_is_no_logic(sources: Path, folder: Path) -> None:
    before = sources_digest(sources)
    path = sources / folder / "more.py"
    path.parent.mkdir()
    path.write_text("C = 3\n")
    (sources / "stages" / "notes.txt").write_text("other\n")
    assert sources_digest(sources) == before


def test_a_folder_with_such_a_name_further_down_is_logic(sources: Path) -> None:
    before = sources_digest(sources)
    path = sources / "stages" / "config" / "more.py"
    path.parent.mkdir()
    path.write_text("C = 3\n")
    assert sources_digest(sources) != before


def test_content_name_and_place_of_a_source_count(sources: Path) -> None:
    seen = {sources_digest(sources)}
    (sources / "a.py").write_text("A = 2\n")
    seen.add(sources_digest(sources))
    (sources / "a.py").rename(sources / "c.py")
    seen.add(sources_digest(sources))
    (sources / "c.py").rename(sources / "stages" / "c.py")
    seen.add(sources_digest(sources))
    assert len(seen) == 4


def test_linked_folders_are_followed(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "d.py").write_text("D = 4\n")
    before = sources_digest(sources)
    (sources / "linked").symlink_to(elsewhere)
    assert sources_digest(sources) != before


def test_bytecode_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pyc").write_bytes(b"")
    with pytest.raises(ArtifactError) as caught:
        sources_digest(tmp_path)
    assert str(caught.value) == f"{tmp_path} holds no Python source to tell this version by"


# Zone and state


def test_a_zone_is_named_by_its_real_path(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    assert zone_id(tmp_path / "link") == zone_id(real) != zone_id(tmp_path)
    assert len(zone_id(real)) == 16


def test_states_are_compared_by_path() -> None:
    before = state_rows([("b", "2"), ("a", "1"), ("gone", "x")])
    after = state_rows([("a", "9"), ("b", "2"), ("new", "x")])
    assert before.startswith(b"a\x001\nb\x002\n")
    assert diff_states(before, after) == StateDiff(("a",), ("new",), ("gone",), 3)


def test_paths_with_line_breaks_and_stray_bytes_are_kept() -> None:
    odd = ["line\nbreak", os.fsdecode(b"stray\xff")]
    after = state_rows([(path, "2") for path in odd])
    assert diff_states(state_rows([(path, "1") for path in odd]), after).changed == tuple(sorted(odd))


def test_a_torn_state_is_compared_as_far_as_it_goes() -> None:
    rows = state_rows([("a", "1"), ("b", "2")])
    assert diff_states(rows[:-1], rows).added == ("b",)


# Words


def changed(**parts: object) -> KeyParts:
    return BASE.model_copy(update=parts)


def test_equal_keys_need_no_words() -> None:
    assert explain(BASE, BASE) == ()


def test_a_stage_without_a_key_before() -> None:
    assert explain(None, BASE) == ("never run here before",)


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (changed(logic="other"), ["logic of rtch changed"]),
        (
            changed(inputs=(ZONE, NamedDigest(name="plan", digest="3" * 64))),
            ["input plan changed: 222222222222 -> 333333333333"],
        ),
        (
            changed(inputs=(ZONE, NamedDigest(name="", digest="3" * 64))),
            ["input 2 changed: 222222222222 -> 333333333333"],
        ),
        (changed(inputs=(ZONE,)), ["number of inputs changed: 2 -> 1"]),
        (changed(limits='{"window":60}'), ["limits changed: window 40 -> 60"]),
        (changed(limits='{"depth":1,"window":40}'), ["limits changed: depth unset -> 1"]),
        (changed(limits=""), ["limits changed: window 40 -> unset"]),
        (changed(state="other"), ["files of the zone changed"]),
        (
            changed(state="other", logic="other"),
            ["logic of rtch changed", "files of the zone changed"],
        ),
    ],
)
def test_each_part_has_its_words(after: KeyParts, words: list[str]) -> None:
    assert list(explain(BASE, after)) == words


def limits_words(before: Record, after: Record) -> list[str]:
    texts = [record.canonical().decode() for record in (before, after)]
    return list(explain(changed(limits=texts[0]), changed(limits=texts[1])))


def test_nested_limits_are_named_with_dots() -> None:
    after = Nested(window=Window(window=60), depth=2)
    assert limits_words(Nested(), after) == [
        "limits changed: depth unset -> 2",
        "limits changed: window.window 40 -> 60",
    ]


def test_lists_say_what_came_and_went() -> None:
    assert limits_words(Window(), Window(words=("b", "c"))) == ['limits changed: words -"a" +"c"']
    assert limits_words(Window(), Window(words=("b", "a"))) == ["limits changed: words in another order"]
    many = tuple("abcdefghi")
    assert limits_words(Window(), Window(words=many)) == ['limits changed: words +"c" +"d" +"e" +"f" +"g" and 2 more']


def test_long_values_are_cut() -> None:
    (words,) = limits_words(Window(), Window(words=("a", "b", "x" * 100)))
    assert words == f'limits changed: words +"{"x" * 56}...'


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (StateDiff(("a.py",), (), (), 652), '1 of 652 files changed: "a.py"'),
        (StateDiff((), ("b.py",), (), 653), 'files: 1 added, 653 in all: "b.py"'),
        (
            StateDiff(("a",), ("b",), ("c",), 9),
            'files: 1 changed, 1 added, 1 removed, 9 in all: "a", "b", "c"',
        ),
        (StateDiff(tuple("abcdefg"), (), (), 9), '7 of 9 files changed: "a", "b", "c", "d", "e" and 2 more'),
        (StateDiff((), (), (), 9), "state of the zone changed, but no file of it"),
        (StateDiff(("a\x1b[31m\nb",), (), (), 1), '1 of 1 files changed: "a\\u001b[31m\\nb"'),
    ],
)
def test_files_are_counted_and_named(files: StateDiff, words: str) -> None:
    assert explain(BASE, changed(state="other"), files) == (words,)
