import hashlib
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import (
    basket_of,
    desk_of,
    hit_of,
    intake_of,
    inventory_of,
    limits_with,
    plan_of,
    probe_of,
    probe_term,
    result_of,
    seed,
    survey_of,
    term,
    zone_of,
)

sys.path.pop(0)

from rtch.models.chunk import (
    GRAMMAR_GIVEN_UP,
    Caution,
    Chunk,
    Hydration,
    ProbeHitRef,
    QuoteAnchor,
    SkippedSurface,
    Surface,
)
from rtch.models.intake import EnoughEvidence
from rtch.models.inventory import DirectoryShape, FileProblem, MarkedFile, Scan, UnreadFile
from rtch.models.packet import (
    ClaimEvidenceResult,
    FileDigest,
    Findings,
    PacketResult,
    Question,
    SingleChunkResult,
    TargetReason,
    TargetSetResult,
)
from rtch.models.plan import PlanCaution, ProbePlan, ProbeResult
from rtch.models.vocab import (
    CautionFlag,
    ConfidenceClass,
    ExpectedOutput,
    FanoutLevel,
    FileRole,
    HaltingReason,
    MarkerKind,
    MutationRisk,
    NewlineStyle,
    Origin,
    QuestionTie,
    SkipReason,
    Verdict,
)
from rtch.models.zone import ZoneCaution, ZoneDescriptor
from rtch.stages.intake import intake as accept
from rtch.stages.packet import packet

SHA = "0" * 64
CLAIM = ConfidenceClass.CLAIM_SUPPORTING
TWO = EnoughEvidence(min_surfaces=2)


def chunk_of(
    number: int, path: str, confidence: ConfidenceClass = ConfidenceClass.HYDRATED_EVIDENCE, **fields: Any
) -> Chunk:
    plain: dict[str, Any] = {
        "line_range": "L1-L1",
        "start_line": 1,
        "end_line": 1,
        "byte_start": 0,
        "byte_end": 1,
        "text": "x\n",
        "text_sha256": SHA,
        "file_sha256": SHA,
        "blob_id": "0" * 40,
        "encoding": "utf-8",
        "newline": NewlineStyle.LF,
        "quote": QuoteAnchor(prefix="", first_line="x", last_line="x", suffix=""),
        "why_included": "rtch_probe_1 found settle",
        "term_or_shape": "settle",
        "hits": (ProbeHitRef(probe_id="rtch_probe_1", term="settle", origin=Origin.EXPLICIT_SEED, line=1),),
        "limitation": "these lines alone",
        "next_re_entry_command": "rtch read",
    }
    return Chunk(chunk_id=f"rtch_chunk_{number}", path=path, confidence_class=confidence, **plain | fields)


def evidence_of(*chunks: Chunk, **fields: Any) -> Hydration:
    """Return the evidence of these chunks, one surface a path."""
    by_path: dict[str, list[Chunk]] = {}
    for one in chunks:
        by_path.setdefault(one.path, []).append(one)
    surfaces = tuple(
        Surface(
            path=path,
            rank=rank,
            role=FileRole.CODE,
            why="named",
            line_range="L1-L1",
            re_entry_command="rtch read",
            score=1.0,
            score_parts=(),
            confidence_class=found[0].confidence_class,
            chunks=tuple(one.chunk_id for one in found),
            sha256=SHA,
        )
        for rank, (path, found) in enumerate(by_path.items(), start=1)
    )
    plain: dict[str, Any] = {"skipped": (), "cautions": (), "lines_consumed": len(chunks)}
    return Hydration(chunks=chunks, surfaces=surfaces, **plain | fields)


class Packer:
    """Packs literal evidence."""

    def __init__(self, root: Path) -> None:
        self.desk = desk_of(root)

    def __call__(
        self,
        evidence: Hydration,
        *results: ProbeResult,
        plan: ProbePlan | None = None,
        zone: ZoneDescriptor | None = None,
        inventory: dict[str, Any] | None = None,
        survey: dict[str, Any] | None = None,
        **intake: Any,
    ) -> Findings:
        return packet(
            accept(intake_of(**intake)),
            zone or zone_of(),
            inventory_of(**inventory or {}),
            survey_of(**survey or {}),
            plan or plan_of(),
            results,
            evidence,
            limits_with().packet,
            self.desk,
        )


@pytest.fixture
def pack(tmp_path: Path) -> Packer:
    return Packer(tmp_path)


def questions(found: Findings, tie: QuestionTie) -> list[str]:
    return [one.reference for one in found.unresolved_questions if one.tied_to is tie]


# Halting


@pytest.mark.parametrize(
    ("level", "reason"),
    [
        (FanoutLevel.CONSERVATIVE, HaltingReason.NO_SIGNAL_CONSERVATIVE),
        (FanoutLevel.NORMAL, HaltingReason.NO_SIGNAL_NORMAL),
    ],
)
def test_nothing_read_is_no_signal_at_the_level(pack: Packer, level: FanoutLevel, reason: HaltingReason) -> None:
    found = pack(evidence_of(), fanout_level=level)
    assert (found.halting_reason, found.halting_detail) == (reason, "no probe led to a chunk")


def test_no_signal_says_which_probes_did_not_come_to_their_end(pack: Packer) -> None:
    plan = plan_of(
        probes=(probe_of("a"), probe_of("b", probe_id="rtch_probe_2"), probe_of("c", probe_id="rtch_probe_3"))
    )
    results = (
        result_of(timed_out=True),
        result_of(probe_id="rtch_probe_2", errors=("b: unreadable",)),
        result_of(probe_id="rtch_probe_3"),
    )
    found = pack(evidence_of(), *results, plan=plan)
    assert found.halting_detail == "no probe led to a chunk; incomplete: rtch_probe_1, rtch_probe_2"


def test_met_criteria_are_satisfied_and_say_what_did_not_have_to_run(pack: Packer) -> None:
    plan = plan_of(probes=(probe_of("a.py"), probe_of("b.py", probe_id="rtch_probe_2")))
    found = pack(evidence_of(chunk_of(1, "a.py"), chunk_of(2, "b.py")), result_of(), plan=plan, enough_evidence=TWO)
    assert found.halting_reason is HaltingReason.SATISFIED
    assert found.halting_detail == "every compiled criterion is met; 1 declared probes did not have to run"
    assert [outcome.ran for outcome in found.probe_plan.probes] == [True, False]
    assert (found.probe_plan.remaining_probes, [one.probe_id for one in found.next_legal_probes]) == (
        11,
        ["rtch_probe_2"],
    )


def test_unmet_criteria_are_partial_evidence_and_a_question(pack: Packer) -> None:
    plan = plan_of(probes=(probe_of("a.py"),))
    found = pack(evidence_of(chunk_of(1, "a.py")), result_of(), plan=plan, enough_evidence=TWO)
    assert found.halting_reason is HaltingReason.BUDGET_EXHAUSTED
    assert found.halting_detail == (
        "partial_evidence: unmet: at least 2 surfaces; 1 of 1 declared probes have run, 1 of 2000 lines are read"
    )
    assert [one.verdict for one in found.criteria.compiled] == [Verdict.UNMET]
    assert questions(found, QuestionTie.CRITERION)[0] == "min_surfaces"


def test_prose_alone_is_never_satisfied(pack: Packer) -> None:
    found = pack(evidence_of(chunk_of(1, "a.py", CLAIM)), enough_evidence_definition="when it is clear")
    assert found.halting_reason is HaltingReason.BUDGET_EXHAUSTED
    assert found.halting_detail == (
        "partial_evidence: nothing of the definition can be checked by machine; "
        "0 of 0 declared probes have run, 1 of 2000 lines are read"
    )
    assert questions(found, QuestionTie.CRITERION) == ["sentence"]


@pytest.mark.parametrize(
    "confidence", [ConfidenceClass.WEAK_HIT, ConfidenceClass.NEIGHBOR_ONLY, ConfidenceClass.CAUTION_ONLY]
)
def test_weak_surfaces_do_not_count(pack: Packer, confidence: ConfidenceClass) -> None:
    chunks = (chunk_of(1, "a.py", confidence), chunk_of(2, "b.py", confidence))
    assert pack(evidence_of(*chunks), enough_evidence=TWO).criteria.compiled[0].observed == "0 surfaces"


def test_terms_seeds_and_definitions_are_looked_for_in_what_was_read(pack: Packer) -> None:
    block = EnoughEvidence(required_terms=("HARBOUR", "absent"), per_seed_coverage=True)
    chunk = chunk_of(1, "a.py", text="the harbour\n", defines=("Tide.settle",))
    plan = plan_of(basket=basket_of(seed("settle"), seed("unheard")))
    found = pack(evidence_of(chunk), plan=plan, enough_evidence=block, explicit_seeds=("settle", "unheard"))
    assert [one.verdict for one in found.criteria.compiled] == [
        Verdict.MET,
        Verdict.UNMET,
        Verdict.MET,
        Verdict.UNMET,
    ]


# The result


def test_the_result_is_what_was_expected(pack: Packer) -> None:
    evidence = evidence_of(chunk_of(1, "a.py"), chunk_of(2, "b.py", CLAIM), chunk_of(3, "a.py", CLAIM))
    conservative: dict[str, Any] = {"fanout_level": FanoutLevel.CONSERVATIVE}
    found = {kind: pack(evidence, expected_output=kind, **conservative).result for kind in ExpectedOutput}
    assert found == {
        ExpectedOutput.HYDRATION_PACKET: PacketResult(surfaces=2, chunks=3),
        ExpectedOutput.TARGET_SET: TargetSetResult(
            targets=(TargetReason(path="a.py", reason="named"), TargetReason(path="b.py", reason="named"))
        ),
        ExpectedOutput.SINGLE_CHUNK: SingleChunkResult(
            chunk_id="rtch_chunk_1", note="the best chunk of the best surface"
        ),
        ExpectedOutput.CLAIM_EVIDENCE: ClaimEvidenceResult(
            chunk_ids=("rtch_chunk_2", "rtch_chunk_3"), note="2 of 3 chunks may support a claim"
        ),
    }


def test_an_empty_result_says_so(pack: Packer) -> None:
    conservative: dict[str, Any] = {"fanout_level": FanoutLevel.CONSERVATIVE}
    found = {kind: pack(evidence_of(), expected_output=kind, **conservative).result for kind in ExpectedOutput}
    assert found == {
        ExpectedOutput.HYDRATION_PACKET: PacketResult(surfaces=0, chunks=0),
        ExpectedOutput.TARGET_SET: TargetSetResult(targets=()),
        ExpectedOutput.SINGLE_CHUNK: SingleChunkResult(chunk_id=None, note="none: no chunk was hydrated"),
        ExpectedOutput.CLAIM_EVIDENCE: ClaimEvidenceResult(chunk_ids=(), note="none: no chunk may support a claim"),
    }


# Questions


def test_there_is_always_a_question(pack: Packer) -> None:
    found = pack(
        evidence_of(chunk_of(1, "a.py"), chunk_of(2, "b.py")),
        enough_evidence=TWO,
        enough_evidence_definition="2 surfaces",
    )
    assert [(one.tied_to, one.reference) for one in found.unresolved_questions] == [(QuestionTie.LIMIT, "goal")]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "is it named otherwise here"),
        ({"timed_out": True}, "it did not come to its end"),
        ({"errors": ("a: x",)}, "it did not come to its end"),
    ],
)
def test_a_probe_without_hits_is_a_question(pack: Packer, fields: dict[str, Any], why: str) -> None:
    plan = plan_of(
        probes=(probe_of("a.py", terms=(probe_term("s1"), probe_term("s2"))), probe_of("b.py", probe_id="rtch_probe_2"))
    )
    found = pack(evidence_of(chunk_of(1, "a.py")), result_of(**fields), plan=plan)
    assert (
        Question(
            question=f"explicit_seed found nothing for s1, s2: {why}?",
            tied_to=QuestionTie.ZERO_HIT_PROBE,
            reference="rtch_probe_1",
        )
        in found.unresolved_questions
    )
    assert questions(found, QuestionTie.ZERO_HIT_PROBE) == ["rtch_probe_1"]


def test_words_the_tree_does_not_know_and_seeds_in_no_chunk_are_questions(pack: Packer) -> None:
    plan = plan_of(basket=basket_of(term("settle"), term("unheard"), seed("lost"), seed("settle")))
    found = pack(evidence_of(chunk_of(1, "a.py")), plan=plan)
    assert questions(found, QuestionTie.EXPLORATORY_HIT) == ["settle"]
    assert questions(found, QuestionTie.ZERO_HIT_PROBE) == ["lost"]


def test_skipped_surfaces_that_could_change_the_answer_are_questions(pack: Packer) -> None:
    rows = (
        *(SkippedSurface(path=f"big{i}", reason=SkipReason.OVERSIZED, detail="9 bytes") for i in range(20)),
        SkippedSurface(path="link", reason=SkipReason.SYMLINK),
        SkippedSurface(path="more/** (7)", reason=SkipReason.SURFACE_CAP, count=7),
        SkippedSurface(path="late", reason=SkipReason.READ_BUDGET),
        SkippedSurface(path="far", reason=SkipReason.OUT_OF_SCOPE),
    )
    found = pack(evidence_of(chunk_of(1, "a.py"), skipped=rows))
    assert questions(found, QuestionTie.SKIPPED_SURFACE) == [f"big{i}" for i in range(12)]
    assert [one.question for one in found.unresolved_questions if one.tied_to is QuestionTie.LIMIT] == [
        "7 surfaces with hits were not read because of the surface cap: do the first ones suffice?",
        "1 surface with hits was not read because of the read budget: do the first ones suffice?",
        "1 surface with hits was not read because of the scope: do the first ones suffice?",
    ]


def test_questions_are_bounded(pack: Packer) -> None:
    basket = basket_of(*[seed(f"lost{i}") for i in range(90)])
    assert len(pack(evidence_of(), plan=plan_of(basket=basket)).unresolved_questions) == 40


# Cautions


def test_a_grammar_that_was_given_up_is_one_caution_a_file(pack: Packer) -> None:
    chunks = [chunk_of(n, path, tags=(GRAMMAR_GIVEN_UP,)) for n, path in ((1, "a.js"), (2, "a.js"), (3, "b.js"))]
    found = pack(evidence_of(*chunks, chunk_of(4, "c.js")))
    assert [(one.path, one.flag) for one in found.caution_map] == [
        ("a.js", CautionFlag.COST_CEILING),
        ("b.js", CautionFlag.COST_CEILING),
    ]


def test_cautions_are_gathered_each_once(pack: Packer) -> None:
    problem = FileProblem(path="a.py", flag=CautionFlag.DUPLICATE_KEY, line=3, detail="key twice")
    marked = MarkedFile(path="a.py", kind=MarkerKind.DEPRECATION, lines=(4, 9))
    own = Caution(path="a.py", flag=CautionFlag.ENCODING, note="latin-1")
    twice = ZoneCaution(flag=CautionFlag.MALFORMED, path=".ticzone", note="no JSON")
    found = pack(
        evidence_of(chunk_of(1, "a.py"), cautions=(own,)),
        plan=plan_of(cautions=(PlanCaution(flag=CautionFlag.TIMEOUT, path=".", note="slow"),)),
        zone=zone_of(cautions=(twice, twice)),
        survey={
            "problems": (problem, problem.model_copy(update={"path": "unread.py"})),
            "marked": (
                marked,
                marked.model_copy(update={"path": "unread.py"}),
                marked.model_copy(update={"kind": MarkerKind.SOURCE_OF_TRUTH}),
            ),
        },
        mutation_risk=MutationRisk.LOW_MUTATION,
    )
    assert [(one.path, one.flag, one.line) for one in found.caution_map] == [
        ("a.py", CautionFlag.MUTATION_RISK, None),
        (".ticzone", CautionFlag.MALFORMED, None),
        (".", CautionFlag.TIMEOUT, None),
        ("a.py", CautionFlag.DUPLICATE_KEY, 3),
        ("a.py", CautionFlag.DEPRECATED, 4),
        ("a.py", CautionFlag.ENCODING, None),
    ]


def test_the_constraint_stack_comes_first(pack: Packer) -> None:
    found = pack(evidence_of(), fanout_level=FanoutLevel.CONSERVATIVE, mutation_risk=MutationRisk.HIGH_MUTATION)
    assert found.constraint_stack
    assert [one.flag for one in found.caution_map] == [CautionFlag.CONSTRAINT_STACK] * len(found.constraint_stack)


@pytest.mark.parametrize(
    ("fields", "flag"),
    [
        ({"timed_out": True, "errors": ("a: x",)}, CautionFlag.TIMEOUT),
        ({"errors": ("a: x",), "truncated": True}, CautionFlag.SEARCH_INCOMPLETE),
        ({"truncated": True}, CautionFlag.COST_CEILING),
    ],
)
def test_a_probe_that_did_not_see_all_is_a_caution(pack: Packer, fields: dict[str, Any], flag: CautionFlag) -> None:
    found = pack(evidence_of(), result_of(hit_of("a.py", 1), **fields), plan=plan_of(probes=(probe_of("a.py"),)))
    assert [one.flag for one in found.caution_map] == [flag]


def test_generic_terms_that_stand_alone_are_warned_of(pack: Packer) -> None:
    plan = plan_of(basket=basket_of(term("state", generic=True, why_generic="listed as generic")))
    assert [one.term for one in pack(evidence_of(), plan=plan).generic_alone_warnings] == ["state"]


# Sums


def test_outcomes_count_hits_and_paths(pack: Packer) -> None:
    hits = (hit_of("a.py", 1), hit_of("a.py", 2), hit_of("b.py", 1))
    found = pack(evidence_of(), result_of(*hits, bytes_searched=9), plan=plan_of(probes=(probe_of("a.py", "b.py"),)))
    (outcome,) = found.probe_plan.probes
    assert (outcome.hit_count, outcome.paths_hit, outcome.files_searched, outcome.bytes_searched) == (3, 2, 2, 9)


def test_the_budget_adds_up_and_the_fingerprint_names_what_was_read(pack: Packer) -> None:
    found = pack(evidence_of(chunk_of(1, "a.py"), lines_consumed=30), plan=plan_of(read_budget_lines=100))
    assert (found.read_budget.total, found.read_budget.consumed, found.read_budget.remaining) == (100, 30, 70)
    assert found.fingerprint.hydrated == (FileDigest(path="a.py", sha256=SHA),)
    assert found.fingerprint.listing == zone_of().listing_fingerprint


def test_the_inventory_is_shown_in_short_with_its_digest(pack: Packer) -> None:
    folders = tuple(DirectoryShape(path=f"d{i:03}", files=1, files_below=1, size_bytes=1) for i in range(60))
    shown = pack(evidence_of(), inventory={"directories": folders, "directories_cut": 5}).shape_inventory
    assert (len(shown.directories), shown.directories_cut) == (50, 15)
    whole = inventory_of(directories=folders, directories_cut=5)
    assert shown.reference == hashlib.sha256(whole.canonical()).hexdigest()


def test_what_was_looked_into_is_shown_beside_the_inventory(pack: Packer) -> None:
    by_name, looked = (
        Scan(name=name, pattern="p", files_touched=1, bytes_read=1, hits=1) for name in ("roles", "keys")
    )
    unread = tuple(UnreadFile(path=path, reason=SkipReason.OVERSIZED) for path in ("a.json", "b.json"))
    found = pack(evidence_of(), inventory={"scans": (by_name,)}, survey={"scans": (looked,), "unread": unread})
    assert (found.shape_inventory.scans, found.shape_inventory.files_unread) == ((by_name, looked), 2)


def test_next_legal_probes_are_bounded(pack: Packer) -> None:
    more = tuple(probe_of("x", probe_id=f"rtch_probe_{i}") for i in range(2, 20))
    found = pack(evidence_of(), plan=plan_of(probes=(probe_of("a.py"),), next_legal_probes=more))
    assert [one.probe_id for one in found.next_legal_probes] == [f"rtch_probe_{i}" for i in range(1, 13)]
    assert len(found.next_legal_probes) + found.next_legal_probes_cut == 1 + len(more)


def test_findings_round_trip(pack: Packer) -> None:
    found = pack(evidence_of(chunk_of(1, "a.py")), result_of(), plan=plan_of(probes=(probe_of("a.py"),)))
    assert Findings.parse(found.canonical()) == found
