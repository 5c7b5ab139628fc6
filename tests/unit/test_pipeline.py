import pickle
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import (
    basket_of,
    hit_of,
    intake_of,
    limits_with,
    plan_of,
    plant,
    probe_of,
    probe_term,
    result_of,
    seed,
    settle_down,
)

sys.path.pop(0)

from rtch import jobs, trees
from rtch.entry import Options, Refresh, enter, refresh_of
from rtch.errors import BudgetError, Dangling, IntakeError, ZoneError
from rtch.jobs import DirectRunner, Group, Job, Outcome, load, settle
from rtch.models.intake import EnoughEvidence, Intake
from rtch.models.packet import Packet
from rtch.models.plan import ProbePlan, ProbeResult, WaveVerdict
from rtch.models.vocab import ClaimAuthority, FanoutLevel, HaltingReason, Origin, Scope, SkipReason, StageName, Use
from rtch.pipeline import CHECKS, STAGES, paths_read
from rtch.refs import Ref
from rtch.session import Session, findings_of, open_session, run_direct
from rtch.session import plan_of as declared_by
from rtch.stages.intake import intake as accept
from rtch.stages.judge import judge
from rtch.store import MemoryStore, close_stores
from rtch.trees import tree_ref, workspace_of
from rtch.workspace import open_workspace

TREE: dict[str, str | bytes] = {
    "src/settle.py": "def settle(row):\n    return row\n",
    "src/user.py": "from src.settle import settle\n\n\ndef use():\n    settle(1)\n",
    "docs/a.md": "# How to settle\n\nTides and settle.\n",
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    yield
    close_stores()


def opened(root: Path, files: dict[str, str | bytes] | None = None, **fields: Any) -> Session:
    options = {name: fields.pop(name) for name in ("cwd", "refresh", "parents") if name in fields}
    intake = fields.pop("intake", None) or intake_of(**fields)
    plant(root, TREE if files is None else files)
    return open_session(enter(intake, Options(root=root, cached=False, **options)))


# Waves


def outcomes(packet: Packet) -> dict[str, bool]:
    return {outcome.probe.family.value: outcome.ran for outcome in packet.probe_plan.probes}


def test_a_wave_that_suffices_is_the_last(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"goal": "settle tides", "explicit_seeds": ("settle",)}
    enough = opened(tmp_path / "z", **asked, enough_evidence=EnoughEvidence(min_surfaces=2))
    more = opened(tmp_path / "z", **asked, enough_evidence=EnoughEvidence(min_surfaces=9))
    assert set(outcomes(run_direct(enough)).values()) == {True, False}
    assert set(outcomes(run_direct(more)).values()) == {True}


def test_evidence_of_a_wave_is_kept_whole_whatever_suffices(tmp_path: Path) -> None:
    block = EnoughEvidence(min_surfaces=1)
    packet = run_direct(opened(tmp_path / "z", explicit_seeds=("settle",), enough_evidence=block))
    assert len(packet.selected_surfaces) == 3


def test_a_plan_goes_on_where_what_was_read_holds_less_than_its_hits_promised(tmp_path: Path) -> None:
    twice = "def settle(row):\n    return row\n"
    session = opened(
        tmp_path / "z",
        {"a.py": twice, "b.py": twice, "docs/a.md": "# Harbor tides\n\nThe tides go.\n"},
        goal="settle tides",
        explicit_seeds=("settle",),
        enough_evidence=EnoughEvidence(min_surfaces=2),
    )
    packet = run_direct(session)
    assert [one.path for one in packet.selected_surfaces] == ["a.py", "docs/a.md"]
    assert packet.halting_reason is HaltingReason.SATISFIED


def test_only_a_plan_that_is_spent_is_called_exhausted(tmp_path: Path) -> None:
    twice = "def settle(row):\n    return row\n"
    session = opened(
        tmp_path / "z",
        {"a.py": twice, "b.py": twice, "docs/a.md": "Nothing but tides.\n"},
        goal="settle tides",
        explicit_seeds=("settle",),
        enough_evidence=EnoughEvidence(min_surfaces=2, min_claim_supporting=2),
    )
    packet = run_direct(session)
    assert packet.halting_reason is HaltingReason.BUDGET_EXHAUSTED
    assert set(outcomes(packet).values()) == {True}
    declared = len(packet.probe_plan.probes)
    assert f"{declared} of {declared} declared probes have run" in packet.halting_detail


def test_every_stage_is_noted_in_the_order_it_ran(tmp_path: Path) -> None:
    session = opened(
        tmp_path / "z", goal="settle tides", explicit_seeds=("settle",), enough_evidence=EnoughEvidence(min_surfaces=9)
    )
    stages = [timing.stage for timing in run_direct(session).run.stages]
    order = list(dict.fromkeys(stages))
    assert order[:7] == [
        StageName.INTAKE,
        StageName.ORIENT,
        StageName.SCOUT,
        StageName.BASKET,
        StageName.COST,
        StageName.SURVEY,
        StageName.PLAN,
    ]
    assert order[-2:] == [StageName.HYDRATE, StageName.PACKET]
    assert stages.index(StageName.JUDGE) > stages.index(StageName.PROBE)
    assert set(order) == set(STAGES) - {check.name for check in CHECKS}


def test_plan_only_declares_and_searches_nothing(tmp_path: Path) -> None:
    made = declared_by(opened(tmp_path / "z", explicit_seeds=("settle",)))
    assert made.probes
    assert paths_read(made) == tuple(sorted(TREE))


# Judging between waves


def verdict(block: EnoughEvidence, *results: ProbeResult, plan: ProbePlan | None = None, **intake: Any) -> WaveVerdict:
    declared = plan or plan_of(probes=(probe_of("a.py", "b.py"),), basket=basket_of(seed("settle")))
    asked = accept(intake_of(enough_evidence=block, explicit_seeds=("settle",), **intake))
    nothing: Any = None  # a judge touches no tree
    return judge(asked, declared, results, limits_with().judge, nothing)


@pytest.mark.parametrize(
    ("block", "satisfied"),
    [
        (EnoughEvidence(min_surfaces=2), True),
        (EnoughEvidence(min_surfaces=3), False),
        (EnoughEvidence(min_claim_supporting=1), False),
        (EnoughEvidence(required_terms=("settle",)), True),
        (EnoughEvidence(required_terms=("tide",)), False),
        (EnoughEvidence(required_paths=("a.py",)), True),
        (EnoughEvidence(per_seed_coverage=True), True),
    ],
)
def test_hits_are_judged_as_what_would_be_read(block: EnoughEvidence, satisfied: bool) -> None:  # noqa: FBT001
    found = verdict(block, result_of(hit_of("a.py", 1), hit_of("b.py", 2)))
    assert (found.wave, found.satisfied) == (1, satisfied)


def test_prose_is_never_satisfied_by_hits() -> None:
    found = verdict(EnoughEvidence(), result_of(hit_of("a.py", 1)))
    assert (found.satisfied, found.because) == (False, "nothing of the definition is machine-checked")


@pytest.mark.parametrize(
    "fields",
    [
        {"origin": Origin.EXPLORATORY, "use": Use.EXPLORATORY},
        {"origin": Origin.CAUTION, "use": Use.CAUTION},
        {"generic": True},
    ],
)
def test_weak_hits_are_no_surfaces(fields: dict[str, Any]) -> None:
    plan = plan_of(probes=(probe_of("a.py", terms=(probe_term(**fields),), claim_authority=ClaimAuthority.WEAK),))
    assert not verdict(EnoughEvidence(min_surfaces=1), result_of(hit_of("a.py", 1)), plan=plan).satisfied


@pytest.mark.parametrize(("path", "satisfied"), [("a.py", True), ("a.md", False)])
def test_a_heading_is_no_definition(path: str, satisfied: bool) -> None:  # noqa: FBT001  a table's column
    asked = accept(intake_of(enough_evidence_definition="the definition of settle", explicit_seeds=("settle",)))
    assert [one.kind for one in asked.halting.compiled] == ["definition"]
    plan, nothing = plan_of(probes=(probe_of(path),)), None
    found = judge(
        asked, plan, (result_of(hit_of(path, 1, structural=True)),), limits_with().judge, cast("Any", nothing)
    )
    assert found.satisfied is satisfied


def test_hits_on_a_neighbour_are_no_surfaces() -> None:
    found = verdict(EnoughEvidence(min_surfaces=1), result_of(hit_of("a.py", 1)), known_neighbor_surfaces=("a.py",))
    assert not found.satisfied


# References and runners


def test_a_group_is_named_by_its_members_in_order() -> None:
    one, two = Ref[Any]("A", "1" * 64), Ref[Any]("B", "2" * 64)
    group = Group([one, two])
    assert group == Group([one, two]) != Group([two, one])
    assert pickle.loads(pickle.dumps(group)).members == (one, two)
    with pytest.raises(AttributeError):
        group.members = ()


def test_a_group_loads_as_a_tuple() -> None:
    store = MemoryStore()
    records = [intake_of(goal=goal) for goal in ("one", "two")]
    assert load(store, Group([store.put(record) for record in records])) == tuple(records)


@pytest.mark.parametrize(("count", "workers"), [(0, 4), (1, 4), (3, 1), (5, 2)])
def test_many_jobs_come_back_in_their_order(count: int, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [Outcome(Ref("A", str(i)), cached=False, wall_ms=0.0) for i in range(count)]
    waiting: Sequence[Any] = list(range(count))
    monkeypatch.setattr(jobs, "perform", lambda job: made[job])
    assert DirectRunner(workers).many(waiting) == made


def test_settling_forgets_what_is_damaged_and_makes_it_again() -> None:
    store = MemoryStore()
    lost = store.put_bytes(b"lost")
    asked = intake_of(goal="kept")
    tries: list[int] = []

    def make() -> Ref[Intake]:
        tries.append(1)
        if len(tries) == 1:
            raise Dangling(lost)
        return store.put(asked)

    assert settle(make, store)[1] == asked
    assert (len(tries), store.has(lost)) == (2, False)


def test_what_is_damaged_right_after_it_was_made_is_an_error() -> None:
    def make() -> Ref[Intake]:
        raise Dangling("1" * 64)

    with pytest.raises(Dangling):
        settle(make, MemoryStore())


def test_nothing_that_follows_from_a_file_that_was_read_and_had_changed_is_kept(tmp_path: Path) -> None:
    session = opened(tmp_path / "z", explicit_seeds=("settle",))
    (tmp_path / "z/docs/a.md").write_text("# Changed meanwhile, settle\n")
    run_direct(session)
    run = session.run_with(DirectRunner(1))
    findings_of(session, run)
    # The counts lie under a key of time stamps, which no later tree can have.
    assert {step.parts.stage for step in run.steps if step.hit} == {
        StageName.INTAKE,
        StageName.ORIENT,
        StageName.SCOUT,
        StageName.BASKET,
        StageName.COST,
    }


# Trees


def test_the_last_trees_are_kept_open(tmp_path: Path) -> None:
    workspace = open_workspace(settled(tmp_path / "first"))
    ref = tree_ref(workspace)
    assert workspace_of(ref) is workspace
    for i in range(trees._KEPT):
        tree_ref(open_workspace(settled(tmp_path / f"other{i}")))
    again = workspace_of(ref)
    assert (again is workspace, again.listing) == (False, workspace.listing)


def settled(root: Path) -> Path:
    plant(root, {"a": "1"})
    settle_down(root)
    return root


def test_a_tree_that_changed_meanwhile_is_told(tmp_path: Path) -> None:
    ref = tree_ref(open_workspace(settled(tmp_path / "z")))
    trees._open.clear()
    plant(tmp_path / "z", {"b": "2"})
    with pytest.raises(ZoneError, match=r"changed while the run was under way; run it again$"):
        workspace_of(ref)


# Sessions


def test_where_no_probe_is_left_the_level_is_told(tmp_path: Path) -> None:
    long: dict[str, str | bytes] = {"a.txt": "settle\n" * 400_000}
    session = opened(tmp_path / "z", long, explicit_seeds=("settle",))
    with pytest.raises(BudgetError, match=r"^no probe is left at normal: "):
        run_direct(session)


def test_a_request_that_nothing_answers_is_no_error(tmp_path: Path) -> None:
    packet = run_direct(opened(tmp_path / "z", goal="unheard of", explicit_seeds=("absent",)))
    assert (packet.halting_reason, packet.hydrated_chunks) == ("no_signal_at_normal", ())


def test_an_empty_folder_is_no_error(tmp_path: Path) -> None:
    packet = run_direct(opened(tmp_path / "z", {}, explicit_seeds=("settle",)))
    assert packet.halting_reason == "no_signal_at_normal"


@pytest.mark.parametrize(
    ("target", "path"), [("settle.py", "src/settle.py"), ("src/settle.py", "src/settle.py"), ("x.py", "x.py")]
)
def test_a_target_is_found_from_the_root_and_from_where_the_caller_stands(
    tmp_path: Path, target: str, path: str
) -> None:
    session = opened(tmp_path / "z", known_target=target, cwd=tmp_path / "z/src")
    assert session.intake.known_target == path


def test_a_zone_tightens_its_own_limits(tmp_path: Path) -> None:
    files = TREE | {".rtch.yaml": "limits: {hydrate: {window_lines: 7}}\ngeneric: [settle]\n"}
    session = opened(tmp_path / "z", files, explicit_seeds=("settle",))
    assert session.limits.hydrate.window_lines == 7
    assert [one.term for one in run_direct(session).generic_alone_warnings] == ["settle"]


@pytest.mark.parametrize(
    "content", ["limits: [", "- 1\n", "limits: {hydrate: {window_lines: 900}}", b"\xff\xfe\0x", "a: &a [*a]\n"]
)
def test_a_wrong_zone_configuration_is_an_error_of_the_request(tmp_path: Path, content: str | bytes) -> None:
    plant(tmp_path / "z", TREE | {".rtch.yaml": content})
    with pytest.raises(IntakeError, match=r"^\.rtch\.yaml"):
        opened(tmp_path / "z", {})


def test_scope_shuts_out_what_it_says_and_tells_of_it(tmp_path: Path) -> None:
    session = opened(tmp_path / "z", explicit_seeds=("src/settle.py", "settle"), scope=Scope.NARROW)
    packet = run_direct(session)
    assert [surface.path for surface in packet.selected_surfaces] == ["src/settle.py"]
    assert {(row.path, row.reason) for row in packet.skipped_surfaces} == {
        ("docs/a.md", SkipReason.OUT_OF_SCOPE),
        ("src/user.py", SkipReason.OUT_OF_SCOPE),
    }


def test_conservative_tells_what_it_did_not_look_for(tmp_path: Path) -> None:
    session = opened(
        tmp_path / "z",
        goal="settle unheard",
        fanout_level=FanoutLevel.CONSERVATIVE,
        explicit_seeds=("settle",),
        forbidden_assumptions=("Tides",),
        known_neighbor_surfaces=("docs",),
    )
    packet = run_direct(session)
    assert {text for one in packet.probe_plan.dropped for text in one.input_terms} >= {"Tides", "docs"}


def test_refresh_values_name_stages() -> None:
    assert refresh_of([]) == Refresh()
    assert refresh_of([""]) == Refresh(everything=True)
    assert refresh_of(["scout", "plan"]) == Refresh(stages=frozenset({StageName.SCOUT, StageName.PLAN}))
    assert refresh_of(["scout"]).covers(StageName.SCOUT)
    with pytest.raises(
        IntakeError, match=r"^--refresh=scouts names no stage; known are basket, contradictions, copies, cost, "
    ):
        refresh_of(["scouts"])


def test_a_job_is_a_plain_class() -> None:
    assert not hasattr(Job, "__dataclass_fields__")
    assert not hasattr(Job, "model_fields")
