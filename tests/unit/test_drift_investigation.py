"""A saved question investigated: what becomes of its baseline, what is found, accepted, suppressed and remembered."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from driving import plant

from rtch import packets
from rtch.drift import baselines
from rtch.drift.investigation import FIRST_LOOK, FROM_PACKET, Wishes, investigate, report_of
from rtch.drift.questions import Question, questions
from rtch.entry import Options
from rtch.errors import ArtifactError, IntakeError
from rtch.jobs import DirectRunner
from rtch.models.baseline import Suppression
from rtch.models.drift import BaselineState, DriftKind, DriftStatus, Finding, Investigation, Level
from rtch.models.vocab import ChunkVerdict
from rtch.session import Session

LEDGER = """\
class Ledger:
    def book_payment(self, payment):
        if payment.id in self.rows:
            raise ValueError("booked already")
        self.rows[payment.id] = payment
        return payment


def settle_payments(ledger, day):
    total = 0
    for row in ledger.rows.values():
        if row.day == day:
            total += row.amount
    return total
"""
FILES = {
    "billing/ledger.py": LEDGER,
    "billing/report.py": "from billing.ledger import settle_payments\n\n\ndef report(ledger, day):\n"
    "    return str(settle_payments(ledger, day))\n",
    "billing/refund.py": "def refund_payment(payment):\n    return payment.turned()\n",
    "docs/billing.md": "# Billing\n\nA payment is booked by `book_payment`.\n",
}
ASKED = """\
goal: Where is a payment booked, and how are payments settled?
target_profile: code_path
fanout_level: normal
mutation_risk: read_only
expected_output: hydration_packet
enough_evidence_definition: at least 2 surfaces
explicit_seeds: [book_payment, settle_payments]
"""
Look = Callable[..., Investigation]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return plant(tmp_path / "zone", FILES)


@pytest.fixture
def question(tmp_path: Path, root: Path) -> Question:
    plant(tmp_path, {"asked/payments.yaml": ASKED})
    return questions([str(tmp_path / "asked/payments.yaml")], root=root)[0]


def look(question: Question, **wishes: Any) -> Investigation:
    return investigate(question, Options(), runner_of, wishes=Wishes(by="ada", **wishes))


def runner_of(session: Session) -> DirectRunner:
    return DirectRunner(session.limits.probe.workers)


def edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text()
    assert text.count(old) == 1
    (root / path).write_text(text.replace(old, new))


def of_kind(made: Investigation, kind: DriftKind) -> list[Finding]:
    return [one for one in made.findings if one.kind is kind]


def test_the_first_look_compares_nothing_and_says_so(question: Question) -> None:
    first = look(question)
    assert (first.status, first.exit_code) == (DriftStatus.BASELINE_TAKEN, 7)
    assert first.baseline is not None
    assert (first.baseline.reason, first.baseline.taken_by) == (FIRST_LOOK, "ada")
    second = look(question)
    assert (second.status, second.exit_code, second.findings) == (DriftStatus.CLEAN, 0, ())
    assert second.counts.chunks > 0
    assert second.counts.surfaces > 0


def test_an_earlier_packet_of_the_question_is_the_baseline(question: Question, root: Path) -> None:
    edit(root, "billing/refund.py", "turned", "reversed")
    earlier = look(question)  # leaves a packet behind
    packets.load(earlier.packet_id)
    question.baseline_place(root).unlink()
    edit(root, "billing/ledger.py", "total = 0", "total = 10")
    made = look(question)
    assert made.baseline is not None
    assert (made.baseline.reason, made.baseline.packet_id) == (FROM_PACKET, earlier.packet_id)
    assert made.status is DriftStatus.DRIFT


def test_baselines_in_the_zone_are_evidence_for_no_question(root: Path) -> None:
    plant(root, {"ci/payments.yaml": ASKED, "ci/days.yaml": ASKED.replace("booked", "summed")})
    asked = [one for name in ("payments", "days") for one in questions([str(root / f"ci/{name}.yaml")], root=root)]
    for one in asked:
        assert look(replace(one, baseline=one.beside)).status is DriftStatus.BASELINE_TAKEN
    for one in asked:
        made = look(one)
        assert (made.status, made.findings) == (DriftStatus.CLEAN, ())
    look(asked[0], accept="as it is")
    assert look(asked[1]).findings == ()
    with pytest.raises(
        IntakeError, match=r"payments\.baseline\.yaml is no intake: it has the schema 'rtch\.baseline/1'"
    ):
        questions([str(asked[0].beside)])


def test_an_edit_is_found_with_both_texts_and_the_lines_of_now(question: Question, root: Path) -> None:
    look(question)
    edit(root, "billing/ledger.py", "total += row.amount", "total += row.amount - row.fee")
    made = look(question)
    (found,) = of_kind(made, DriftKind.EDITED)
    assert (made.status, made.exit_code, made.counts.drifted) == (DriftStatus.DRIFT, 1, 1)
    assert (found.captured, found.found) == ("total += row.amount", "total += row.amount - row.fee")
    assert found.now is not None
    assert (found.now.path, found.verdict) == ("billing/ledger.py", ChunkVerdict.EDITED)
    assert found.next_command == "rtch read 'billing/ledger.py:L1-L14'"


def test_moved_lines_are_told_and_do_not_fail(question: Question, root: Path) -> None:
    text = LEDGER + "\n# end\n" * 120
    (root / "billing/ledger.py").write_text(text)
    look(question)
    (root / "billing/ledger.py").write_text("# one more line\n" + text)
    made = look(question)
    assert of_kind(made, DriftKind.MOVED)
    assert {one.level for one in of_kind(made, DriftKind.MOVED)} == {Level.NOTE}
    assert look(question, fail_on=Level.NOTE).status is DriftStatus.DRIFT


def test_a_gone_file_is_one_finding_and_not_also_a_surface_that_left(question: Question, root: Path) -> None:
    look(question)
    (root / "billing/report.py").unlink()
    made = look(question)
    (gone,) = of_kind(made, DriftKind.DELETED)
    assert (gone.level, gone.at.path) == (Level.ERROR, "billing/report.py")
    assert of_kind(made, DriftKind.SURFACE_LEFT) == []


def test_a_file_is_gone_before_a_commit_says_so_as_after_it(question: Question, root: Path) -> None:
    committed(root, "Begin")
    look(question)
    (root / "billing/report.py").unlink()
    before = of_kind(look(question), DriftKind.DELETED)
    committed(root, "Go")
    after = of_kind(look(question), DriftKind.DELETED)
    assert [one.message for one in before] == ["billing/report.py is gone, with 1 cited chunk"]
    assert [(one.finding_id, one.state) for one in before] == [(one.finding_id, one.state) for one in after]


def test_a_renamed_file_is_one_finding(question: Question, root: Path) -> None:
    look(question)
    (root / "billing/report.py").rename(root / "billing/reporting.py")
    made = look(question)
    (renamed,) = of_kind(made, DriftKind.RENAMED)
    assert renamed.now is not None
    assert renamed.now.path == "billing/reporting.py"
    assert of_kind(made, DriftKind.SURFACE_ENTERED) == of_kind(made, DriftKind.SURFACE_LEFT) == []


def test_a_better_surface_is_found(question: Question, root: Path) -> None:
    look(question)
    (root / "billing/booking.py").write_text(
        "def book_payment(payment):\n    settle_payments(payment)\n\n\n"
        "def settle_payments(payments):\n    book_payment(1)\n"
    )
    made = look(question)
    (entered,) = of_kind(made, DriftKind.SURFACE_ENTERED)
    assert (entered.at.path, entered.level) == ("billing/booking.py", Level.WARNING)


def test_accepting_all_takes_a_new_baseline_with_the_reason(question: Question, root: Path) -> None:
    look(question)
    edit(root, "billing/ledger.py", "total = 0", "total = 10")
    drifted = look(question)
    accepted = look(question, accept="settling begins at ten")
    assert (accepted.status, accepted.exit_code) == (DriftStatus.CLEAN, 0)
    assert accepted.baseline is not None
    assert (accepted.baseline.reason, accepted.baseline.packet_id) == ("settling begins at ten", drifted.packet_id)
    assert look(question).status is DriftStatus.CLEAN


def test_accepting_one_leaves_the_others_and_a_further_change_of_it_is_new(question: Question, root: Path) -> None:
    look(question)
    edit(root, "billing/ledger.py", "total = 0", "total = 10")
    edit(root, "billing/report.py", "str(", "repr(")
    first, second = of_kind(look(question), DriftKind.EDITED)
    made = look(question, accept="as agreed", only=(first.finding_id,))
    states = {one.finding_id: (one.baseline_state, one.set_aside) for one in of_kind(made, DriftKind.EDITED)}
    assert states == {
        first.finding_id: (BaselineState.UNCHANGED, "as agreed"),
        second.finding_id: (BaselineState.NEW, ""),
    }
    assert (made.status, made.counts.drifted, made.counts.accepted) == (DriftStatus.DRIFT, 1, 1)
    edit(root, "billing/ledger.py", "total = 10", "total = 11")
    again = {one.finding_id: one.baseline_state for one in of_kind(look(question), DriftKind.EDITED)}
    assert again[first.finding_id] is BaselineState.UPDATED


def test_what_was_accepted_and_is_undone_is_told_as_absent(question: Question, root: Path) -> None:
    look(question)
    edit(root, "billing/ledger.py", "total = 0", "total = 10")
    (found,) = of_kind(look(question), DriftKind.EDITED)
    look(question, accept="for now", only=(found.finding_id,))
    edit(root, "billing/ledger.py", "total = 10", "total = 0")
    made = look(question)
    (absent,) = made.findings
    assert (absent.finding_id, absent.baseline_state, made.status) == (
        found.finding_id,
        BaselineState.ABSENT,
        DriftStatus.CLEAN,
    )


def test_an_id_that_is_no_finding_is_refused_and_accepts_nothing(question: Question, root: Path) -> None:
    look(question)
    edit(root, "billing/ledger.py", "total = 0", "total = 10")
    made = look(question, accept="so", only=("drift_0000000000000000",))
    assert (made.status, made.exit_code) == (DriftStatus.FAILED, 2)
    assert "drift_0000000000000000 is no finding of payments now" in made.failure
    assert look(question).status is DriftStatus.DRIFT


def test_a_suppression_holds_until_its_day(question: Question, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look(question)
    edit(root, "billing/ledger.py", "total = 0", "total = 10")
    row = Suppression(paths="billing/**", until="2999-01-31", reason="being rebuilt", by="ada", at="")
    made = look(question, suppress=row)
    (found,) = of_kind(made, DriftKind.EDITED)
    assert (made.status, found.set_aside, found.set_aside_until) == (DriftStatus.CLEAN, "being rebuilt", "2999-01-31")
    assert made.counts.suppressed == 1
    monkeypatch.setattr("rtch.drift.investigation.today", lambda: date(2999, 2, 1))
    assert look(question).status is DriftStatus.DRIFT


def test_a_zone_that_is_gone_is_a_failed_run_and_noted(question: Question, root: Path, tmp_path: Path) -> None:
    look(question)
    root.rename(tmp_path / "elsewhere")
    made = look(question)
    assert (made.status, made.exit_code) == (DriftStatus.FAILED, 3)
    assert str(root) in made.failure
    rows = baselines.history(question, None)
    assert [row.status for row in rows] == [DriftStatus.FAILED]


def test_another_question_is_not_compared(question: Question, root: Path, tmp_path: Path) -> None:
    look(question)
    (tmp_path / "asked/payments.yaml").write_text(ASKED.replace("settled?", "refunded?"))
    (changed,) = questions([str(tmp_path / "asked/payments.yaml")], root=root)
    made = look(changed)
    assert (made.status, made.exit_code) == (DriftStatus.FAILED, 7)
    assert "another question" in made.failure
    assert look(changed, accept="we ask for refunds now").status is DriftStatus.CLEAN


def test_a_chunk_that_cannot_be_read_is_not_judged(question: Question, root: Path, tmp_path: Path) -> None:
    look(question)
    (root / "billing/report.py").unlink()
    (root / "billing/report.py").symlink_to(tmp_path)
    made = look(question)
    assert made.not_judged
    assert made.counts.not_judged == len(made.not_judged)
    assert made.status in {DriftStatus.DRIFT, DriftStatus.NOT_JUDGED}
    assert made.exit_code in {1, 7}


def test_a_baseline_that_was_changed_by_hand_is_refused_and_kept(question: Question, root: Path) -> None:
    look(question)
    place = question.baseline_place(root)
    damaged = place.read_text().replace("booked already", "never booked")
    place.write_text(damaged)
    made = look(question)
    assert (made.status, made.exit_code) == (DriftStatus.FAILED, 6)
    assert "changed by hand" in made.failure
    assert place.read_text() == damaged


@pytest.mark.parametrize("text", ["", "[]", "schema_version: rtch.baseline/2\n", "schema_version: rtch.baseline/1\n"])
def test_what_is_no_baseline_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(ArtifactError):
        baselines.read(tmp_path / "x.yaml")


def test_a_baseline_beside_the_intake_is_used_where_it_is(question: Question, root: Path, tmp_path: Path) -> None:
    look(question)
    question.baseline_place(root).rename(tmp_path / "asked/payments.baseline.yaml")
    (again,) = questions([str(tmp_path / "asked/payments.yaml")], root=root)
    assert again.baseline_place(root) == tmp_path / "asked/payments.baseline.yaml"
    assert look(again).status is DriftStatus.CLEAN


def test_a_baseline_in_the_zone_is_no_part_of_the_tree(root: Path) -> None:
    plant(root, {"ask/payments.yaml": ASKED})
    (question,) = questions([str(root / "ask/payments.yaml")], root=root, baseline=root / "ask/base.yaml")
    first = look(question)
    assert (root / "ask/base.yaml").exists()
    assert look(question).packet_id == first.packet_id


def test_files_of_one_name_are_two_questions(tmp_path: Path, root: Path) -> None:
    plant(tmp_path, {"a/q.yaml": ASKED, "b/q.yaml": ASKED.replace("settled?", "refunded?")})
    one, other = questions([str(tmp_path / "a/q.yaml"), str(tmp_path / "b/q.yaml")], root=root)
    assert one.baseline_place(root) != other.baseline_place(root)


def test_every_run_is_in_the_history(question: Question, root: Path) -> None:
    look(question)
    edit(root, "billing/ledger.py", "total = 0", "total = 10")
    drifted = look(question)
    rows = baselines.history(question, root)
    assert [row.status for row in rows] == [DriftStatus.BASELINE_TAKEN, DriftStatus.DRIFT]
    assert rows[1].new == tuple(one.finding_id for one in drifted.findings if one.counts)
    place = question.baseline_place(root)
    torn = place.with_name(place.name.replace("baseline.yaml", "history.jsonl"))
    torn.write_bytes(torn.read_bytes() + b'{"half": ')
    assert len(baselines.history(question, root)) == 2


def test_a_history_that_cannot_be_written_loses_no_report(
    question: Question, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise ArtifactError("the disk is full")

    monkeypatch.setattr(baselines, "note", full)
    assert look(question).status is DriftStatus.BASELINE_TAKEN
    assert "the disk is full" in caplog.text


def test_two_at_once_take_one_baseline(question: Question, root: Path) -> None:
    made: list[Investigation] = []
    threads = [threading.Thread(target=lambda: made.append(look(question))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.status.value for one in made) == ["baseline_taken", "clean", "clean", "clean"]
    assert len(baselines.history(question, root)) == 4


def test_the_same_finding_has_the_same_id_on_any_copy(question: Question, root: Path, tmp_path: Path) -> None:
    other = plant(tmp_path / "copy", FILES)
    (there,) = questions([str(tmp_path / "asked/payments.yaml")], root=other)
    ids = []
    for one, place in ((question, root), (there, other)):
        look(one)
        edit(place, "billing/ledger.py", "total = 0", "total = 10")
        ids.append([(found.finding_id, found.state) for found in look(one).findings])
    assert ids[0] == ids[1]
    assert ids[0]


def ended(status: DriftStatus, code: int) -> Investigation:
    return Investigation(
        saved="q", goal="", zone_name="", zone_root="", status=status, baseline=None, exit_code=code, started_at=""
    )


@pytest.mark.parametrize(
    ("ends", "code"),
    [
        ([(DriftStatus.CLEAN, 0)], 0),
        ([(DriftStatus.CLEAN, 0), (DriftStatus.BASELINE_TAKEN, 7)], 7),
        ([(DriftStatus.FAILED, 3), (DriftStatus.NOT_JUDGED, 7)], 3),
        ([(DriftStatus.FAILED, 3), (DriftStatus.DRIFT, 1)], 1),
        ([], 0),
    ],
)
def test_a_report_ends_with_the_gravest(ends: list[tuple[DriftStatus, int]], code: int) -> None:
    assert report_of([ended(*end) for end in ends]).exit_code == code


def committed(root: Path, message: str) -> None:
    """Commit everything; the first call makes the repository."""
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    if not (root / ".git").exists():
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(root), *who, "commit", "-q", "-m", message], check=True)


BOOKING = """\
def settle_payments_of_many_days(ledger, first_day, last_day):
    total_of_all_payments = 0
    for booked_payment in ledger.rows.values():
        if first_day <= booked_payment.day <= last_day:
            total_of_all_payments += booked_payment.amount
    return total_of_all_payments
"""


def test_text_that_went_into_another_file_is_told_once_with_its_commit_and_owner(
    question: Question, root: Path
) -> None:
    plant(root, {"billing/settling.py": BOOKING, ".github/CODEOWNERS": "billing/ @payments\n"})
    committed(root, "The shop")
    look(question)
    (root / "billing/settling.py").write_text("# moved\n")
    plant(root, {"billing/days.py": "import os\n\n\n" + BOOKING})
    committed(root, "Settle days elsewhere")
    made = look(question)
    (found,) = [one for one in made.findings if one.at.path == "billing/settling.py" and one.level is not Level.NOTE]
    assert found.kind is DriftKind.RELOCATED
    assert found.now is not None
    assert (found.now.path, found.owners) == ("billing/days.py", ("@payments",))
    assert found.since is not None
    assert (found.since.summary, found.since.author) == ("Settle days elsewhere", "Ada")


def test_a_copy_that_the_baseline_commit_had_is_not_new(question: Question, root: Path) -> None:
    plant(root, {"billing/settling.py": BOOKING, "archive/old.py": "x = 1\n" + BOOKING})
    committed(root, "The shop")
    look(question)
    assert of_kind(look(question), DriftKind.DUPLICATED) == []
    plant(root, {"archive/older.py": "x = 1\n" + BOOKING})
    found = of_kind(look(question), DriftKind.DUPLICATED)
    assert {place.path for one in found for place in one.related} == {"archive/older.py"}


def test_a_gone_file_says_which_commit_took_it_away(question: Question, root: Path) -> None:
    committed(root, "The shop")
    look(question)
    (root / "billing/report.py").unlink()
    committed(root, "No more reports")
    (gone,) = of_kind(look(question), DriftKind.DELETED)
    assert gone.since is not None
    assert gone.since.summary == "No more reports"
    assert gone.next_command == f"git show {gone.since.id[:12]} -- billing/report.py"


def test_more_findings_than_are_kept_are_no_clean_run(
    question: Question, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(root, {".rtch.yaml": "limits: {drift: {max_findings: 1}}\n"})
    plant(root, {"docs/a.md": "[a](gone.md)\n", "docs/b.md": "[b](gone.md)\n"})
    assert look(question).status is DriftStatus.BASELINE_TAKEN
    plant(root, {"docs/c.md": "[c](gone.md)\n"})
    made = look(question)
    assert (made.status, made.exit_code) == (DriftStatus.NOT_JUDGED, 7)
    assert any("more than 1" in row.why for row in made.not_judged)


def test_the_question_is_no_evidence_of_its_own_answer(root: Path) -> None:
    plant(root, {"ask/payments.yaml": ASKED})
    (question,) = questions([str(root / "ask/payments.yaml")], root=root)
    first = look(question)
    packet = packets.load(first.packet_id)
    assert "ask/payments.yaml" not in {one.path for one in packet.selected_surfaces}
    (root / "ask/payments.yaml").write_text(ASKED + "# why we ask\n")
    (again,) = questions([str(root / "ask/payments.yaml")], root=root)
    assert look(again).status is DriftStatus.CLEAN


def test_other_line_ends_are_a_note(question: Question, root: Path) -> None:
    look(question)
    place = root / "billing/ledger.py"
    place.write_bytes(place.read_bytes().replace(b"\n", b"\r\n"))
    made = look(question)
    (found,) = of_kind(made, DriftKind.EDITED)
    assert (found.level, made.status) == (Level.NOTE, DriftStatus.CLEAN)


def test_a_run_that_is_broken_off_is_in_the_history(
    question: Question, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rtch.drift.investigation.verify", stop)
    with pytest.raises(KeyboardInterrupt):
        look(question)
    (row,) = baselines.history(question, root)
    assert (row.status, row.failure) == (DriftStatus.FAILED, "it was broken off by a signal")


def test_a_baseline_that_its_user_placed_can_be_read_by_others(root: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"asked/payments.yaml": ASKED})
    place = tmp_path / "asked/payments.baseline.yaml"
    (question,) = questions([str(tmp_path / "asked/payments.yaml")], root=root, baseline=place)
    look(question)
    assert place.stat().st_mode & 0o044 == 0o044 & ~_umask()
    (other,) = questions([str(tmp_path / "asked/payments.yaml")], root=root)
    place.unlink()
    look(other)
    assert other.baseline_place(root).stat().st_mode & 0o077 == 0


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_gone_file_that_is_in_the_last_commit_can_be_looked_at(question: Question, root: Path) -> None:
    committed(root, "The shop")
    look(question)
    (root / "billing/report.py").unlink()
    (gone,) = of_kind(look(question), DriftKind.DELETED)
    assert gone.next_command == "git show HEAD:./billing/report.py"
