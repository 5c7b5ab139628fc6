import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import samples as sample

from rtch import packets
from rtch.cli import cache
from rtch.errors import IntakeError
from rtch.history import Step
from rtch.keys import KeyParts, state_rows, zone_id
from rtch.models.base import Record
from rtch.models.vocab import StageName
from rtch.store import Store, close_stores, open_store


class CacheNote(Record):
    text: str


PACKET = "rtch_packet_0123abcd"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    (tmp_path / "zone" / "src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "zone")
    yield
    close_stores()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "home" / "cache" / "store")


def call(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    cache.add_parser(parser.add_subparsers())
    args = parser.parse_args(["cache", *arguments])
    code: int = args.func(args)
    return code


def remember(store: Store, *steps: Step, packet: str = "") -> None:
    root = Path()
    store.remember_run(zone_id(root), str(root.resolve()), packet, steps)


def survey(store: Store, files: dict[str, str], *, hit: bool = False, limits: str = "", logic: str = "logic") -> Step:
    rows = state_rows(files.items())
    ref = store.put_bytes(rows)
    parts = KeyParts(stage=StageName.SURVEY, logic=logic, limits=limits, state=ref, state_ref=ref)
    return Step(parts=parts, hit=hit)


def probe(logic: str, state: str, *, hit: bool = False) -> Step:
    return Step(parts=KeyParts(stage=StageName.PROBE, logic=logic, state=state), hit=hit)


FILES = {f"src/{number}.py": "1" for number in range(652)}


def test_why_names_the_file_that_changed(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    remember(store, survey(store, FILES))
    remember(store, survey(store, FILES | {"src/7.py": "2"}))
    assert call("why", "survey") == 0
    assert capsys.readouterr() == ('survey: 1 of 652 files changed: "src/7.py"\n', "")


def test_why_is_known_below_the_root_and_from_elsewhere(
    store: Store, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(store, survey(store, {}, limits='{"window":40}'))
    remember(store, survey(store, {}, limits='{"window":60}'))
    told = "survey: limits changed: window 40 -> 60\n"
    monkeypatch.chdir(tmp_path / "zone" / "src")
    assert (call("why", "survey"), capsys.readouterr().out) == (0, told)
    monkeypatch.chdir(tmp_path)
    assert (call("why", "survey"), capsys.readouterr().out) == (1, "survey: never run here\n")
    assert (call("why", "survey", "--root", "zone"), capsys.readouterr().out) == (0, told)


def test_why_of_a_stage_with_one_key(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    remember(store, survey(store, {}))
    assert call("why", "survey") == 0
    assert call("why", "plan") == 1
    assert capsys.readouterr().out == "survey: run here under one key so far\nplan: never run here\n"


def test_why_when_the_list_of_files_is_gone(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    before = survey(store, FILES)
    remember(store, before)
    remember(store, survey(store, {}, logic="other"))
    store.forget(before.parts.state_ref)
    assert call("why", "survey") == 0
    assert capsys.readouterr().out == (
        "survey: logic of rtch changed\nsurvey: files of the zone changed (which ones is no longer stored)\n"
    )


def test_why_of_a_mapped_stage(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    remember(store, probe("one", "a"), probe("one", "b"))
    remember(store, probe("one", "a"), probe("two", "c"), probe("two", "d"))
    assert call("why", "probe") == 0
    assert capsys.readouterr().out == (
        "probe: 2 of 3 keys are new, 2 before\nprobe: logic of rtch changed\nprobe: files of the zone changed\n"
    )


def test_why_of_a_mapped_stage_that_lost_a_member(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    remember(store, probe("one", "a"), probe("one", "b"))
    remember(store, probe("one", "a"))
    assert call("why", "probe") == 0
    assert capsys.readouterr().out == "probe: 0 of 1 keys are new, 2 before\n"


def test_why_of_a_packet_tells_each_stage_of_its_run(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    plan = KeyParts(stage=StageName.PLAN, logic="logic")
    other = plan.model_copy(update={"logic": "other"})
    orient = KeyParts(stage=StageName.ORIENT, logic="logic")
    basket = KeyParts(stage=StageName.BASKET, logic="logic")
    remember(store, survey(store, FILES), Step(parts=plan, hit=False), Step(parts=orient, hit=False))
    remember(
        store,
        Step(parts=orient, hit=True),
        survey(store, FILES | {"src/7.py": "2"}),
        Step(parts=other, hit=True),
        Step(parts=basket, hit=False),
        packet=PACKET,
    )
    told = (
        "orient: from the store\n"
        "basket: never run here before\n"
        'survey: 1 of 652 files changed: "src/7.py"\n'
        "plan: from the store, under another key than the run before\n"
        "plan: logic of rtch changed\n"
    )
    assert (call("why", PACKET), capsys.readouterr().out) == (0, told)
    remember(store, Step(parts=orient, hit=False), packet="rtch_packet_2")
    assert (call("why", "rtch_packet_2"), capsys.readouterr().out) == (
        0,
        "orient: made again under the same key: refreshed, or its artifact was gone\n",
    )
    assert (call("why", PACKET), capsys.readouterr().out) == (0, told), "later runs do not change it"


@pytest.mark.parametrize("text", [f"packet_id: {PACKET}\n", f'{{"a": 1, "packet_id": "{PACKET}"}}'])
def test_a_packet_may_be_named_by_its_file(
    store: Store, capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str
) -> None:
    remember(store, survey(store, {}), packet=PACKET)
    path = tmp_path / "packet"
    path.write_text(text)
    assert (call("why", str(path)), capsys.readouterr().out) == (0, "survey: never run here before\n")


def test_a_packet_may_be_named_by_the_beginning_of_its_id(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    packet = sample.packet()
    packets.remember(packet)
    remember(store, survey(store, {}), packet=packet.packet_id)
    for subject in (packet.packet_id[:22], packet.packet_id[12:22]):
        assert (call("why", subject), capsys.readouterr().out) == (0, "survey: never run here before\n")


def test_an_unknown_packet(capsys: pytest.CaptureFixture[str]) -> None:
    assert (call("why", PACKET), capsys.readouterr().out) == (1, f"{PACKET}: no run is remembered that made it\n")


@pytest.mark.parametrize(
    ("subject", "sentence"),
    [
        ("scuot", "'scuot' is no stage, no packet id and no readable file; did you mean scout?"),
        ("xyz", f"'xyz' is no stage, no packet id and no readable file; stages are {', '.join(StageName)}"),
        ("src", f"'src' is no stage, no packet id and no readable file; stages are {', '.join(StageName)}"),
        ("empty", "empty holds no packet_id"),
    ],
)
def test_a_subject_that_is_nothing_is_an_error(subject: str, sentence: str) -> None:
    Path("empty").touch()
    with pytest.raises(IntakeError) as caught:
        call("why", subject)
    assert str(caught.value) == sentence


def test_why_as_json(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("why", "survey", "--format", "json") == 1
    assert json.loads(capsys.readouterr().out) == {"subject": "survey", "known": False, "stages": []}
    remember(store, survey(store, {}))
    assert call("why", "survey", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "subject": "survey",
        "known": True,
        "stages": [{"stage": "survey", "words": ["run here under one key so far"]}],
    }


def test_stats(store: Store, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    store.put(CacheNote(text="x" * 5000))
    assert call("stats", "--format", "json") == 0
    stats = json.loads(capsys.readouterr().out)
    assert stats["folder"] == str(tmp_path / "home" / "cache" / "store")
    assert (stats["artifacts"], stats["stages"], stats["blobs"], stats["pins"]) == (1, 0, 0, 0)
    assert call("stats") == 0
    assert "artifacts: 1\n" in (text := capsys.readouterr().out)
    assert "size_bytes: 5.0 KiB\n" in text


def test_gc_makes_room(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    store.put(CacheNote(text="x" * 50_000))
    assert call("gc") == 0
    assert capsys.readouterr().out == "removed 0 rows (0 B) and 0 strays\nleft 1 rows (48.9 KiB)\n"
    assert call("gc", "--max-bytes", "10k", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["removed"] == 1
    assert store.stats().artifacts == 0


def test_gc_by_age_spares_what_was_just_used(store: Store) -> None:
    store.put(CacheNote(text="x" * 50_000))
    call("gc", "--max-age", "1h")
    assert store.stats().artifacts == 1


def test_clear(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    store.put(CacheNote(text="x" * 50_000))
    assert call("clear") == 0
    assert capsys.readouterr().out == "removed: 1\n"
    assert store.stats().artifacts == 0


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("12", 12), ("10k", 10_240), ("500MB", 500 * 2**20), ("1 GiB", 2**30), ("2T", 2**41)]
)
def test_sizes(text: str, size: int) -> None:
    assert cache._size(text) == size


@pytest.mark.parametrize(("text", "age"), [("90s", 90), ("5m", 300), ("30d", 2_592_000), ("2w", 1_209_600)])
def test_ages(text: str, age: int) -> None:
    assert cache._age(text) == age


@pytest.mark.parametrize(
    "arguments", [["gc", "--max-bytes", "-1"], ["gc", "--max-age", "30"], ["gc", "--max-bytes", "x"], []]
)
def test_wrong_arguments_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        call(*arguments)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2**30, "1.0 GiB"), (2**41, "2048.0 GiB")]
)
def test_sizes_are_shown(size: int, text: str) -> None:
    assert cache._shown(size) == text
