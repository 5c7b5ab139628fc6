import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import intake_of, limits_with, place, plant, settled_desk, zone_of

sys.path.pop(0)

from rtch.models.basket import TimeOrigin
from rtch.models.features import FeatureLimits
from rtch.models.inventory import FileFacts, FileProblem, MarkedFile, Scan, Survey, UnreadFile
from rtch.models.vocab import CautionFlag, FanoutLevel, FileRole, MarkerKind, Origin, SkipReason, TargetProfile
from rtch.models.zone import Registry
from rtch.stages import features
from rtch.stages.basket import basket
from rtch.stages.cost import cost
from rtch.stages.desk import Desk
from rtch.stages.intake import intake as accept
from rtch.stages.survey import survey
from rtch.store import MemoryStore, Store

FILES: dict[str, str | bytes] = {
    "README.md": "# Harbour\n\nSee [guide](docs/guide.md). How to settle: this file is authoritative.\n",
    "docs/guide.md": "---\ntitle: Guide\n---\n# How rows settle\n\nDeprecated since tic 4. CPR-17\n",
    "docs/other.md": "# Something else\n",
    "src/queue.py": "import os\nfrom lib import util\n\n\nclass Queue:\n    def settle(self):\n        pass\n",
    "src/user.py": "from queue import Queue\n\nQueue().settle()\n",
    "lib/util.py": "def clean(x):\n    return x\n",
    "registry.json": '{"settle": {"b": 1}, "settle": 2}\n',
    "table.csv": "settle,1\n",
}
ZONE = zone_of(registries=(Registry(path="registry.json", role=FileRole.CONFIG, why="by name"),))


class Surveying:
    """Surveys a folder for a question, each time as a new run with the same store."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store: Store = MemoryStore()
        self.desk: Desk
        self.after_counting: Callable[[], object] = lambda: None

    def __call__(
        self,
        files: dict[str, str | bytes] | None = None,
        goal: str = "where is settle",
        *,
        asked: Any = (),
        **numbers: Any,
    ) -> Survey:
        self.desk = settled_desk(plant(self.root, files or {}), self.store)
        limits, listing = limits_with(survey=numbers), self.desk.workspace.listing
        accepted = accept(intake_of(goal=goal, **dict(asked)))
        words = basket(accepted, TimeOrigin(), limits.basket, self.desk)
        counted = cost(listing, words, limits.cost, self.desk)
        self.after_counting()
        return survey(accepted, listing, ZONE, words, counted, limits.survey, self.desk)


@pytest.fixture
def ask(tmp_path: Path) -> Surveying:
    return Surveying(tmp_path / "zone")


@pytest.fixture
def looked_into(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the files whose features are asked for."""
    noted: list[str] = []
    look_into = features.look_into

    def noting(paths: Any, *rest: Any) -> Any:
        noted.extend(paths)
        return look_into(paths, *rest)

    monkeypatch.setattr("rtch.stages.survey.look_into", noting)
    return noted


def most(files: int) -> dict[FanoutLevel, int]:
    return dict.fromkeys(FanoutLevel, files)


def scans(found: Survey) -> dict[str, Scan]:
    return {scan.name: scan for scan in found.scans}


# Which files are looked into


def test_only_files_that_hold_or_bear_a_word_are_looked_into(ask: Surveying, looked_into: list[str]) -> None:
    found = ask(FILES | {"src/settle/empty.py": "", "settle/quiet.py": "x = 1\n"})
    held = ["README.md", "docs/guide.md", "registry.json", "settle/quiet.py", "src/queue.py", "src/user.py"]
    assert looked_into == held
    assert [fact.path for fact in found.files] == sorted([*held, "table.csv", "src/settle/empty.py"])
    assert found.unread == ()


def test_what_is_asked_decides_and_not_how_large_the_tree_is(ask: Surveying, looked_into: list[str]) -> None:
    first = ask(FILES)
    few = list(looked_into)
    looked_into.clear()
    found = ask({f"more/m{i}.md": f"# Title {i}\n" for i in range(40)})
    assert (looked_into, found.files, found.scans) == (few, first.files, first.scans)


def test_no_word_no_look(ask: Surveying, looked_into: list[str]) -> None:
    found = ask(FILES, goal="the")
    assert (looked_into, found.files, found.rarity, found.files_beyond) == ([], (), (), 0)
    assert [scan.files_touched for scan in found.scans] == [0] * 6
    assert Survey.parse(found.canonical()) == found


def test_the_known_target_is_looked_into_whatever_it_holds(ask: Surveying, looked_into: list[str]) -> None:
    ask(FILES, asked={"known_target": "lib/util.py"}, max_files=most(1))
    assert looked_into == ["lib/util.py"]


def test_of_too_many_files_the_best_are_looked_into_and_the_rest_counted(
    ask: Surveying, looked_into: list[str]
) -> None:
    files: dict[str, str | bytes] = {f"m{i}.py": "settle\n" + "x = 1\n" * 40 * i for i in range(5)}
    found = ask(files | {"settle.py": "def settle(): ...\n"}, max_files=most(2))
    assert (looked_into, found.files_beyond) == (["m0.py", "settle.py"], 4)
    assert [fact.path for fact in found.files] == looked_into
    note = "files that hold or bear a word of the request; 4 more rank behind them"
    assert {scan.note for scan in found.scans} == {note}
    found = ask(None, max_files=most(6))
    assert (len(found.files), found.files_beyond) == (6, 0)
    assert {scan.note for scan in found.scans} == {"files that hold or bear a word of the request"}


def test_the_profile_says_which_files_come_first(ask: Surveying, looked_into: list[str]) -> None:
    files: dict[str, str | bytes] = {"a.md": "settle settle\n", "b.py": "settle settle\n"}
    for profile, first in ((TargetProfile.CODE_PATH, "b.py"), (TargetProfile.AUDIT_HISTORY, "a.md")):
        looked_into.clear()
        ask(files, asked={"target_profile": profile}, max_files=most(1))
        assert looked_into == [first]


# What they show


def test_facts_are_those_that_the_words_meet(ask: Surveying) -> None:
    found = {fact.path: fact for fact in ask(FILES, asked={"explicit_seeds": ("Queue", "settle")}).files}
    assert found["src/queue.py"] == FileFacts(
        path="src/queue.py",
        definitions=(("queu", 1), ("settl", 1)),
        defined=("queue", "settle"),
        definition_count=2,
        references=("os", "lib.util"),
    )
    assert found["docs/guide.md"] == FileFacts(path="docs/guide.md", headings=(("settl", 1),), heading_count=1)
    assert found["README.md"] == FileFacts(path="README.md", heading_count=1, references=("docs/guide.md",))
    assert found["table.csv"] == FileFacts(path="table.csv")


def test_the_basket_is_grounded_in_them(ask: Surveying) -> None:
    found = ask(FILES, goal="settle rows docs unheard", asked={"explicit_seeds": ("CPR-17",)})
    terms = {term.term: term for term in found.basket.terms}
    assert {text: terms[text].origin for text in ("settle", "CPR-17", "rows", "docs", "unheard")} == {
        "settle": Origin.MANIFEST_KEY,
        "CPR-17": Origin.DURABLE_HANDLE,
        "rows": Origin.HEADING,
        "docs": Origin.FILE_PATH,
        "unheard": Origin.EXPLORATORY,
    }
    assert terms["settle"].places == (
        place("registry.json", Origin.MANIFEST_KEY, line=1, name="settle"),
        place("docs/guide.md", Origin.HEADING, line=4, name="How rows settle"),
        place("src/queue.py", Origin.CODE_SYMBOL, line=6, name="settle"),
    )
    assert {text: terms[text].places_cut for text in terms} == dict.fromkeys(terms, 0)


def test_places_are_bounded_and_the_cut_counted(ask: Surveying) -> None:
    found = ask({f"m{i}.py": "def settle(): ...\n" for i in range(5)}, max_places=2)
    (term,) = (term for term in found.basket.terms if term.term == "settle")
    assert ([one.path for one in term.places], term.places_cut) == (["m0.py", "m1.py"], 3)


def test_rarity_counts_what_is_told_by_text_path_name_and_heading(ask: Surveying) -> None:
    files: dict[str, str | bytes] = {
        "kelp/a.py": "x = 1\n",
        "b.py": "y = 'kelp'\n",
        "reef.py": "z = 1\n",
        "c.py": "x = 1\n",
        "d.py": "x = 2\n",
    }
    rarity = dict(ask(files, goal="kelp reef absent").rarity)
    assert set(rarity) == {"kelp", "reef"}
    assert 0 < rarity["kelp"] < rarity["reef"]


def test_scans_count_files_bytes_and_hits(ask: Surveying) -> None:
    found = scans(ask(FILES))
    assert list(found) == ["headings", "structured_keys", "durable_ids", "markers", "code_symbols", "references"]
    size = {path: len(text) for path, text in FILES.items()}
    documents = size["README.md"] + size["docs/guide.md"] + size["registry.json"]
    code = size["src/queue.py"] + size["src/user.py"]
    assert {name: (scan.files_touched, scan.bytes_read) for name, scan in found.items()} == {
        **dict.fromkeys(("headings", "structured_keys", "durable_ids", "markers"), (3, documents)),
        "code_symbols": (2, code),
        "references": (5, documents + code),
    }
    assert {name: scan.hits for name, scan in found.items()} == {
        "headings": 2,
        "structured_keys": 3,
        "durable_ids": 2,
        "markers": 2,
        "code_symbols": 2,
        "references": 4,
    }
    assert not any(scan.truncated for scan in found.values())


def test_a_scan_that_was_cut_is_marked(ask: Surveying) -> None:
    cut = {name for name, scan in scans(ask(FILES, features=FeatureLimits(max_symbols=1))).items() if scan.truncated}
    assert cut == {"code_symbols", "references"}
    cut = {name for name, scan in scans(ask(FILES, features=FeatureLimits(max_keys=1))).items() if scan.truncated}
    assert cut == {"headings", "structured_keys", "durable_ids", "markers", "references"}


# What is told beside


def test_problems_and_marks_are_gathered(ask: Surveying) -> None:
    found = ask(FILES)
    assert found.problems == (
        FileProblem(
            path="registry.json",
            flag=CautionFlag.DUPLICATE_KEY,
            line=1,
            detail="key settle is already set at line 1",
        ),
    )
    assert MarkedFile(path="README.md", kind=MarkerKind.SOURCE_OF_TRUTH, lines=(3,)) in found.marked
    assert MarkedFile(path="docs/guide.md", kind=MarkerKind.DEPRECATION, lines=(6,)) in found.marked


def test_problems_marks_and_unread_files_are_bounded(ask: Surveying) -> None:
    files: dict[str, str | bytes] = {f"d{i}.json": '{"settle": 1, "settle": 2, "canonical": 1}' for i in range(9)}
    files |= {f"z{i}.md": "settle " * 20 for i in range(4)} | {"m.md": "settle\n" + "deprecated\n" * 50}
    found = ask(files, max_problems=4, max_marked=3, max_unread=2, max_file_bytes=600)
    assert (len(found.problems), len(found.marked)) == (4, 3)
    found = ask(None, max_problems=4, max_marked=30, max_unread=2, max_file_bytes=100)
    assert [one.path for one in found.unread] == ["m.md", "z0.md"]
    (marked,) = (one for one in ask(None).marked if one.path == "m.md")
    assert len(marked.lines) == 20


def test_what_cannot_be_taken_in_is_listed_by_path(ask: Surveying) -> None:
    files: dict[str, str | bytes] = {
        "settle/big.md": "x" * 100,
        "settle/blob.md": b"# T\n\0",
        "settle/big.bin": b"x" * 100,
        "settle/gone.py": "x = 1\n",
        "settle/a.md": "# A\n",
        "settle/none.py": "",
    }
    ask.after_counting = (ask.root / "settle/gone.py").unlink
    found = ask(files, max_file_bytes=50)
    assert found.unread == (
        UnreadFile(path="settle/big.md", reason=SkipReason.OVERSIZED, detail="100 bytes, its structure was left out"),
        UnreadFile(path="settle/blob.md", reason=SkipReason.BINARY, detail="a NUL in the first 8192 bytes"),
        UnreadFile(path="settle/gone.py", reason=SkipReason.VANISHED, detail="No such file or directory"),
    )
    assert [fact.path for fact in found.files] == sorted(files)
    assert scans(found)["headings"].files_touched == 1


# The same answer


def test_a_survey_does_not_depend_on_notes_or_on_the_order_of_creation(ask: Surveying, tmp_path: Path) -> None:
    found = ask(FILES)
    assert ask() == found
    assert Surveying(tmp_path / "other")(dict(reversed(FILES.items()))) == found
    assert Survey.parse(found.canonical()) == found
