"""What the bench says of its figures: limits by size, verdicts, growth, and what a command loads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from driving import plant

sys.path.insert(0, str(Path(__file__).parent.parent / "bench"))  # tests are no package: these lie beside their program

import ceilings
import tables
from asking import Packet, packet_of
from ceilings import Ceilings
from importtime import parsed
from measure import Run, Sample, run_once, run_summed, sample
from tables import Report
from verdicts import NO_LIMIT, Limit, Row, tally, timed

sys.path.pop(0)

TIDE = Limit("2 tides", 2.0)
HASHING = Path(__file__).parent.parent / "bench/hashing.py"


class TestVerdicts:
    @pytest.mark.parametrize(
        ("row", "verdict"),
        [
            (Row("x"), "not built"),
            (Row("x", (9.0,)), ""),
            (Row("x", (1.0, 2.0, 9.0), limit=TIDE), "met"),
            (Row("x", (2.5,), limit=TIDE), "MISSED by 0.500 s (x1.25)"),
            (Row("x", (3.0,), "MiB", TIDE), "MISSED by 1 MiB (x1.50)"),
            (Row("x", (1.0,), limit=TIDE, codes=(0, 70), complaint="a bug"), "FAILED: a bug"),
        ],
    )
    def test_a_row_is_judged_by_its_median(self, row: Row, verdict: str) -> None:
        assert row.verdict == verdict

    def test_verdicts_are_counted(self) -> None:
        rows = [Row("a"), Row("b", (1.0,)), Row("c", (1.0,), limit=TIDE), Row("d", (3.0,), limit=TIDE)]
        rows.append(Row("e", (1.0,), codes=(1,)))
        assert tally(rows) == {"met": 1, "MISSED": 1, "FAILED": 1, "not built": 1, "no limit": 1}


class TestCeilings:
    def test_small_trees_have_seconds_and_large_ones_ratios(self) -> None:
        small, large = Ceilings(650), Ceilings(40_000)
        assert (small.cold(9).ceiling, small.new(9).ceiling, small.again(9, 9).ceiling) == (0.5, 0.3, 0.3)
        assert (large.cold(0.5).ceiling, large.wide(0.5).ceiling, large.new(0.5).ceiling) == (1.0, 2.0, 0.75)
        assert large.again(0.1, 0.05).words == "1.5 status + start = 0.200 s"
        assert (small.memory().ceiling, large.memory().ceiling) == (100, 200)

    def test_between_and_beyond_nothing_is_judged_but_the_words_are_told(self) -> None:
        assert Ceilings(10_000).cold(0.25) == Limit("(2 rg = 0.500 s if large)")
        assert Ceilings(10_000).memory().ceiling == 200
        assert Ceilings(150_000).memory().ceiling is None
        assert Ceilings(150_000).cold(0.5).ceiling == 1.0

    def test_outside_git_there_is_no_status_to_hold_it_against(self) -> None:
        assert Ceilings(40_000).again(None, 0.1) == NO_LIMIT
        assert Ceilings(650).again(None, 0.1).ceiling == 0.3

    def test_what_holds_at_every_size(self) -> None:
        assert ceilings.edited(0.2).ceiling == pytest.approx(0.35)
        assert ceilings.verify(0.01, 0.1).ceiling == pytest.approx(0.12)


class TestTables:
    @pytest.fixture
    def reports(self) -> list[Report]:
        small = Report("small", 100, 1_000_000, [Row("cold", (1.0,)), Row("new", (1.0,), codes=(70,)), Row("verify")])
        large = Report("large", 400, 8_000_000, [Row("cold", (2.0,)), Row("new", (1.0,)), Row("again", (1.0,))])
        return [large, small]

    def test_growth_is_from_size_to_size_of_what_ran_on_both(self, reports: list[Report]) -> None:
        (grown,) = tables.growth(reports)
        assert (grown.row, grown.times, grown.files_times) == ("cold", 2.0, 4.0)
        assert tables.growth_table(reports, [grown]).split("\n")[1:] == [
            "what  100 to 400: files x4.0, bytes x8.0",
            "cold                        x2.00 = 0.50",
        ]

    def test_a_table_is_aligned(self) -> None:
        slow = timed("slow", Sample((Run(2.5, 2048, 0), Run(1.5, 1024, 0))), TIDE, ratios={"rg": 4.0})
        assert tables.table(Report("x", 1_000, 3_000_000, [slow, Row("verify")])).split("\n") == [
            "# x: 1,000 files, 3 MB",
            "what    median    min    max     x rg  x status  x hash  MiB  runs  exit  limit    verdict",
            "slow     2.000  1.500  2.500  s   4.0                      2     2     0  2 tides  met",
            "verify                                                                             not built",
        ]

    def test_all_of_it_is_json(self, reports: list[Report]) -> None:
        told = json.loads(json.dumps([report.as_json() for report in reports]))
        assert [row["verdict"] for row in told[1]["rows"]] == ["", "FAILED: ", "not built"]
        assert told[0]["rows"][0]["median"] == 2.0


class TestMeasuring:
    def python(self, code: str, folder: Path) -> Run:
        return run_once([sys.executable, "-c", code], cwd=folder, env={})

    def test_a_run_that_fails_says_why(self, tmp_path: Path) -> None:
        failed = self.python("import sys; print('out'); print('a\\nb', file=sys.stderr); sys.exit(3)", tmp_path)
        assert (failed.code, failed.out, failed.complaint) == (3, b"out\n", "b")
        assert self.python("import sys; print('a', file=sys.stderr)", tmp_path).complaint == ""

    def test_repeats_end_with_the_budget(self) -> None:
        assert len(sample(9, lambda _: Run(1.0, 1, 0), budget_s=2.5).runs) == 3
        assert len(sample(2, lambda _: Run(1.0, 1, 0), budget_s=99).runs) == 2
        assert len(sample(2, lambda _: Run(9.0, 1, 0), budget_s=1).runs) == 1

    @pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="only Linux tells")
    def test_memory_is_summed_over_all_processes(self, tmp_path: Path) -> None:
        hold = "import time; held = bytearray(b'x') * 40_000_000; time.sleep(0.4)"
        both = (
            f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {hold!r}]); {hold}; child.wait()"
        )
        all_ = run_summed([sys.executable, "-c", both], cwd=tmp_path, env={})
        assert all_ is not None
        assert all_.rss_kib > 75_000, "each of the two holds 40 MB"

    def test_hashing_reads_every_regular_file_once(self, tmp_path: Path) -> None:
        plant(tmp_path, {"a": "12", "b/c": "345", "list": b"a\0b/c\0gone\0link\0"})
        (tmp_path / "link").symlink_to("a")
        argv = [sys.executable, "-I", "-S", str(HASHING), "list"]
        told = json.loads(subprocess.run(argv, cwd=tmp_path, capture_output=True, check=True).stdout)
        assert (told["files"], told["bytes"]) == (2, 5)


def test_a_run_that_printed_no_packet_names_nothing() -> None:
    assert packet_of(Run(1.0, 1, 70, b"")) == Packet("none", (), ())


def test_imports_are_summed_by_package() -> None:
    told = b"import time: self [us] | cumulative | imported package\n"
    told += b"import time:       100 |        100 |   rtch.home\nimport time:       250 |        350 | rtch\n"
    told += b"import time:      1000 |       1000 | enum\nrtch: something else\n"
    found = parsed("rtch x", told)
    assert found.heaviest == [("enum", 1.0, 1), ("rtch", 0.35, 2)]
    assert found.total_ms == pytest.approx(1.35)
