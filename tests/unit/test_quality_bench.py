"""The quality bench: its metrics and tables on data small enough to reckon by hand, its cases, and what it keeps."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(
    0, str(Path(__file__).parent.parent / "bench")
)  # tests are no package: this one lies beside its program

from quality import tables
from quality.cases import BenchError, Case, dev_cases, faults, own_cases, picked
from quality.corpora import cache_folder, fetch
from quality.scores import METRICS, Answer, Span, first_lines, mean_of, paired, ranks_of, scores_of, sign_test
from quality.systems import Asking, Reply, Result, System, baselines, kept_at, load, results_of, rtch_system, save

sys.path.pop(0)

RUN = Path(__file__).parent.parent / "bench/quality/run.py"
REMEDY = "name a bench's folder with BENCH=DIR or --bench DIR, or ask for --own"


def span(path: str, start: int, end: int) -> Span:
    return Span(path=path, start=start, end=end)


def case(id_: str = "quay-1", **more: Any) -> Case:
    fields = {
        "id": id_,
        "corpus": {"kind": "pypi", "package": "quay", "version": "1.0"},
        "profile": "code_path",
        "language": "python",
        "split": "own-tune",
        "goal": "Where is the tide read?",
        "gold_ranges": {"tide.py": [[2, 3]]},
    }
    return Case.parse(json.dumps(fields | more))


def result(of: Case, *surfaces: str, system: str = "rtch", seconds: float = 1.0, error: str = "") -> Result:
    chunks = tuple(span(path, 1, 10) for path in surfaces)
    reply = Reply(answer=Answer(surfaces=surfaces, chunks=chunks), seconds=seconds, warm_seconds=0.5, error=error)
    return Result(system=system, version="v", id=of.id, question=of.digest(), reply=reply)


class TestScores:
    def test_every_gold_file_must_be_there_and_the_first_gives_the_rank(self) -> None:
        answer = Answer(surfaces=("a.py", "b.py", "c.py", "d.py"))
        scores = scores_of(answer, {"b.py": [(1, 1)], "d.py": [(1, 1)]})
        assert {name: scores[name] for name in ("Acc@1", "Acc@3", "Acc@5", "MRR")} == {
            "Acc@1": 0, "Acc@3": 0, "Acc@5": 1, "MRR": 0.5,
        }  # fmt: skip

    def test_a_file_named_twice_or_from_the_dot_counts_once(self) -> None:
        answer = Answer(surfaces=("./a.py", "a.py", "b.py"))
        assert ranks_of(answer, ("a.py", "b.py", "c.py")) == {"a.py": 1, "b.py": 2, "c.py": None}

    def test_nothing_said_is_worth_nothing(self) -> None:
        assert set(scores_of(Answer(), {"a.py": [(1, 4)]}).values()) == {0.0}

    def test_lines_shown_again_spend_no_budget(self) -> None:
        answer = Answer(chunks=(span("a.py", 1, 3), span("./a.py", 2, 4), span("b.py", 1, 9)))
        assert first_lines(answer, 5) == [("a.py", 1), ("a.py", 2), ("a.py", 3), ("a.py", 4), ("b.py", 1)]

    def test_a_budget_ends_within_a_chunk(self) -> None:
        answer = Answer(chunks=(span("a.py", 1, 399), span("b.py", 1, 4)))
        scores = scores_of(answer, {"b.py": [(1, 2), (3, 4)]})
        assert (scores["line@400"], scores["line@2000"]) == (0.25, 1.0)

    def test_overlapping_gold_ranges_count_each_line_once(self) -> None:
        answer = Answer(chunks=(span("a.py", 1, 1),))
        assert scores_of(answer, {"a.py": [(1, 2), (1, 2)]})["line@400"] == 0.5

    def test_an_interval_is_the_same_each_time_and_holds_the_mean(self) -> None:
        first, second = mean_of([0, 1, 1, 0, 1]), mean_of([0, 1, 1, 0, 1])
        assert first == second
        assert 0 <= first.low < first.value == 0.6 < first.high <= 1

    def test_equal_values_leave_no_doubt(self) -> None:
        mean = mean_of([0.5] * 7)
        assert (mean.value, mean.low, mean.high) == (0.5, 0.5, 0.5)

    @pytest.mark.parametrize(
        ("wins", "losses", "chance"), [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (0, 5, 0.0625), (4, 4, 1.0)]
    )
    def test_the_sign_test_has_two_sides(self, wins: int, losses: int, chance: float) -> None:
        assert sign_test(wins, losses) == chance

    def test_pairs_are_counted_case_by_case(self) -> None:
        pair = paired([1.0, 0.5, 0.0, 1 / 3], [0.5, 0.5, 1.0, 1 / 3])
        assert (pair.wins, pair.losses, pair.ties) == (1, 1, 2)
        assert pair.difference.value == pytest.approx(-0.125)


class TestCases:
    def test_our_own_are_many_and_divided_by_project(self) -> None:
        cases = own_cases()
        splits = {each.package: each.split for each in cases}
        assert len(cases) >= 48
        assert len(splits) >= 12
        assert {(each.package, each.split) for each in cases} == set(splits.items())
        assert set(splits.values()) == {"own-tune", "own-check"}
        asked = Counter((each.split, each.profile.value) for each in cases)
        profiles = ("doctrine_chain", "audit_history", "manifest_registry", "vague_intent", "mixed", "code_path")
        assert {(split, profile) for split in splits.values() for profile in profiles} == set(asked)

    def test_most_goals_do_not_say_the_name_of_their_file(self) -> None:
        def told(each: Case) -> bool:
            stems = [Path(path).stem.lower() for path in each.gold_ranges]
            return any(word in each.goal.lower() for stem in stems for word in re.findall(r"[a-z]{4,}", stem))

        cases = own_cases()
        assert sum(map(told, cases)) < len(cases) / 3

    @pytest.mark.parametrize(
        ("second", "what"), [("{corpus: {kind: npm, package: quay, version: 2.0}", "project"), ("", "id")]
    )
    def test_nothing_comes_twice(self, second: str, what: str, tmp_path: Path) -> None:
        row = "{id: one, profile: mixed, language: go, goal: Why, gold_ranges: {a.go: [[1, 1]]}}"
        project = "{corpus: {kind: pypi, package: quay, version: '1.0'}, split: own-tune, cases: [%s]}"
        other = project.replace("quay", "mole") if what == "id" else project
        path = tmp_path / "cases.yaml"
        rows = (project % row, other % (row if what == "id" else row.replace("one", "two")))
        path.write_text("".join(f"- {line}\n" for line in rows), encoding="utf-8")
        with pytest.raises(BenchError, match=f"more than one {what} called {'one' if what == 'id' else 'quay'}"):
            own_cases(path)

    def test_a_case_without_gold_is_none(self, tmp_path: Path) -> None:
        path = tmp_path / "dev.jsonl"
        path.write_text(json.dumps({**case().model_dump(mode="json"), "split": "dev", "gold_ranges": {}}))
        with pytest.raises(BenchError, match="quay-1 is no case"):
            dev_cases(tmp_path)

    def test_what_else_a_row_of_a_bench_says_is_left_out(self, tmp_path: Path) -> None:
        row = {**case().model_dump(mode="json"), "split": "dev", "flags": {}, "gold_files": ["tide.py"]}
        (tmp_path / "dev.jsonl").write_text(json.dumps(row) + "\n\n")
        assert dev_cases(tmp_path) == [case(split="dev")]

    def test_conditions_are_met_together(self) -> None:
        cases = [case("a"), case("b", language="go"), case("c", language="go", profile="mixed")]
        assert [each.id for each in picked(cases, ["language=go,rust", "profile=code_path"])] == ["b"]

    @pytest.mark.parametrize(
        ("condition", "sentence"),
        [
            ("language=c", "no case meets language=c"),
            (
                "gold=1",
                "'gold=1' is no condition: write FIELD=VALUE with a field of id, split, profile, language, package",
            ),
        ],
    )
    def test_a_condition_that_picks_nothing_is_an_error(self, condition: str, sentence: str) -> None:
        with pytest.raises(BenchError) as caught:
            picked([case()], [condition])
        assert str(caught.value) == sentence

    def test_gold_is_held_against_the_tree(self, tmp_path: Path) -> None:
        (tmp_path / "tide.py").write_bytes(b"one\ntwo\nthree")
        assert list(faults(case(), tmp_path)) == []
        gold = {"tide.py": [[3, 4], [3, 2]], "moon.py": [[1, 1]]}
        assert list(faults(case(gold_ranges=gold), tmp_path)) == [
            "quay-1: tide.py has 3 lines and no range 3 to 4",
            "quay-1: tide.py has 3 lines and no range 3 to 2",
            "quay-1: pypi-quay-1.0 has no file moon.py",
        ]
        past_the_end = case(split="dev", gold_ranges={"tide.py": [[3, 4]]})
        assert list(faults(past_the_end, tmp_path)) == []

    def test_the_question_is_what_a_locator_is_told(self) -> None:
        assert case().digest() == case("other", gold_ranges={"moon.py": [[1, 1]]}).digest()
        assert case().digest() != case(seeds=["tide"]).digest()


class TestCorpora:
    def test_a_tree_that_lies_there_is_not_fetched(self, tmp_path: Path) -> None:
        place = tmp_path / "corpora/pypi-quay-1.0"
        place.mkdir(parents=True)
        assert fetch(case().corpus, tmp_path) == place

    def test_the_cache_is_where_the_environment_says(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("LOCBENCH_CACHE", raising=False)
        monkeypatch.setenv("RTCH_BENCH_CACHE", str(tmp_path / "ours"))
        assert cache_folder() == tmp_path / "ours"
        monkeypatch.setenv("LOCBENCH_CACHE", str(tmp_path / "theirs"))
        assert cache_folder() == tmp_path / "theirs"


class Asked:
    """A locator that names the gold and remembers what it was asked; it fails at the ids given."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.ids: list[str] = []

    def __call__(self, each: Case, root: Path) -> Reply:
        self.ids.append(each.id)
        failed = each.id in self.failing
        return Reply(error="no answer") if failed else Reply(answer=Answer(surfaces=tuple(each.gold_ranges)))


class TestSystems:
    def asking(self, folder: Path, said: list[str], *, again: bool = False) -> Asking:
        roots = {case().corpus.folder: folder}
        return Asking(roots, folder / "kept/answers.jsonl", 1, said.append, again=again)

    def test_a_question_is_asked_once_unless_it_failed(self, tmp_path: Path) -> None:
        said: list[str] = []
        cases = [case("a"), case("b", goal="Where is the moon read?")]
        first = Asked("b")
        results = results_of(System("s", "v", first), cases, self.asking(tmp_path, said))
        assert (first.ids, results["b"].reply.error) == (["a", "b"], "no answer")
        assert said == ["s: 2 of 2 cases to ask", "s: b counts as a miss: no answer"]
        second = Asked()
        results = results_of(System("s", "v", second), cases, self.asking(tmp_path, said))
        assert (second.ids, [each.reply.error for each in results.values()]) == (["b"], ["", ""])
        third = Asked()
        results_of(System("s", "v", third), cases, self.asking(tmp_path, said, again=True))
        assert third.ids == ["a", "b"]

    def test_versions_do_not_share_answers(self, tmp_path: Path) -> None:
        names = {kept_at(tmp_path, System("s", digit * 64, Asked())) for digit in "01"}
        assert len(names) == 2

    def test_results_survive_a_line_that_was_cut_off(self, tmp_path: Path) -> None:
        path = tmp_path / "saved.jsonl"
        save(path, [result(case("a"), "tide.py"), result(case("b"))])
        path.write_bytes(path.read_bytes()[:-5] + b"\n" + result(case("c")).canonical())
        assert load(path) == [result(case("a"), "tide.py"), result(case("c"))]

    def test_rtch_is_asked_in_new_processes_of_a_copy(self, tmp_path: Path) -> None:
        root = tmp_path / "tree"
        root.mkdir()
        (root / "tide.py").write_text("def read_tide(quay):\n    return quay.gauge\n", encoding="utf-8")
        system = rtch_system(tmp_path / "one")
        assert system.version == rtch_system(tmp_path / "two").version
        reply = system.ask(case(goal="Where is read_tide defined?", seeds=["read_tide"]), root)
        assert (reply.error, reply.answer.surfaces) == ("", ("tide.py",))
        assert reply.answer.chunks == (span("tide.py", 1, 2),)
        assert reply.warm_seconds is not None

    def test_a_locator_that_cannot_run_is_left_out_and_said_so(self, tmp_path: Path) -> None:
        (tmp_path / "baselines").mkdir()
        (tmp_path / "baselines/bm25_files.py").touch()
        said: list[str] = []
        python = tmp_path / "bare-python"
        python.write_text('#!/bin/sh\necho \'{"python": "3", "bm25s": "1"}\'\n')
        python.chmod(0o755)
        assert list(baselines(tmp_path, python, said.append)) == []
        assert said == [
            f"bm25 is left out: {python} has no numpy",
            f"reference is left out: {tmp_path}/baselines/reference_ranker.py is missing",
        ]

    @pytest.mark.parametrize(
        ("does", "error"),
        [
            ("print(json.dumps({'surfaces': [said['goal']], 'chunks': []}))", ""),
            ("print('{}')", "no answer"),
            ("sys.exit('sunk')", "exit code 1: sunk"),
        ],
    )
    def test_a_locator_answers_a_request_or_failed(self, does: str, error: str, tmp_path: Path) -> None:
        (tmp_path / "baselines").mkdir()
        script = tmp_path / "baselines/reference_ranker.py"
        script.write_text(f"import json, sys\nsaid = json.load(sys.stdin)\n{does}\n")
        (system,) = baselines(tmp_path, Path(sys.executable), lambda _: None)
        reply = system.ask(case(), tmp_path)
        assert reply.error == error
        assert reply.answer.surfaces == (() if error else (case().goal,))


class TestTables:
    def test_means_stand_by_group_and_system_and_a_failure_is_a_miss(self) -> None:
        cases = [case("a"), case("b", goal="And the moon?")]
        ours = {"a": result(cases[0], "tide.py", seconds=1), "b": result(cases[1], seconds=3, error="sunk")}
        shown = tables.means("split", tables.groups(cases, lambda each: each.split), {"rtch": ours})
        assert shown.split("\n")[2] == (
            "| own-tune | rtch | 2 | 50.0 [0-100] | 50.0 [0-100] | 50.0 [0-100] | 50.0 [0-100] | 50.0 [0-100] "
            "| 50.0 [0-100] | 50.0 [0-100] | 1 | 2.00 | 0.50 |"
        )

    def test_only_cases_of_both_are_paired(self) -> None:
        cases = [case("a"), case("b", goal="And the moon?"), case("c", goal="And the sun?")]
        ours = {each.id: result(each, "tide.py") for each in cases}
        theirs = {"a": result(cases[0], "x.py", "tide.py"), "b": result(cases[1], "tide.py")}
        rows = tables.pairs({"all": cases}, ours, theirs).split("\n")[2:]
        assert rows[0] == "| all | Acc@1 | 2 | 1 | 0 | 1 | +50.0 [+0.0, +100.0] | 1 |"
        assert [row.split(" | ")[1] for row in rows] == list(METRICS)

    def test_a_listing_shows_ranks_and_a_goal_on_one_line(self) -> None:
        asked = case(goal=f"Where\nis a|b {'x' * 80}", gold_ranges={"tide.py": [[1, 20]], "moon.py": [[1, 20]]})
        (row,) = tables.listing([asked], {asked.id: result(asked, "sun.py", "tide.py")}).split("\n")[2:]
        head, *_, goal = row.split(" | ")
        assert (head, len(goal)) == ("| quay-1", 63)
        assert "| tide.py, moon.py | 2, - | 25 | Where is a\\|b xxx" in row

    def test_moved_shows_what_stands_elsewhere(self) -> None:
        cases = [case("a"), case("b", goal="And the moon?")]
        ours = {each.id: result(each, "tide.py") for each in cases}
        theirs = {**ours, "b": result(cases[1], "moon.py", "tide.py")}
        assert tables.moved(cases, ours, theirs).split("\n")[2:] == ["| b | 2 | 1 | 100 | 100 |"]


class TestRun:
    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["--bench", ""], f"no bench was named: {REMEDY}"),
            (["--bench", "none"], f"none/dev.jsonl holds no cases: {REMEDY}"),
            (["--own", "--where", "language=latin"], "no case meets language=latin"),
        ],
    )
    def test_without_cases_it_says_so_and_leaves_with_2(
        self, arguments: list[str], sentence: str, tmp_path: Path
    ) -> None:
        ran = subprocess.run([sys.executable, str(RUN), *arguments], cwd=tmp_path, capture_output=True, check=False)
        assert (ran.returncode, ran.stdout.decode(), ran.stderr.decode()) == (2, "", f"bench-quality: {sentence}\n")

    def test_help_says_how(self) -> None:
        ran = subprocess.run([sys.executable, str(RUN), "--help"], capture_output=True, text=True, check=True)
        assert all(flag in ran.stdout for flag in ("--bench", "--own", "--where", "--compare", "--save", "--fresh"))
