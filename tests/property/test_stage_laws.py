"""Laws that hold between and within the stages, whatever is asked of whatever tree."""

import hashlib
import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import drift_samples
import pytest
import zone_samples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import (
    basket_of,
    candidate,
    cost_of,
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
    surroundings_of,
    survey_of,
    term,
    zone_of,
)

sys.path.pop(0)

import rtch.models
from rtch.entry import Options, enter
from rtch.evidence import classify
from rtch.models.base import Record
from rtch.models.baseline import Baseline, BaselineHead
from rtch.models.basket import FrameRef, GenericWarning, TermShape
from rtch.models.chunk import Clipped, Hydration, Masked, SkippedSurface
from rtch.models.dump import Dump
from rtch.models.features import FileFeatures
from rtch.models.intake import EnoughEvidence, Intake
from rtch.models.inventory import FileFacts, FileProblem, UnreadFile
from rtch.models.ledgers import EffectiveRecord, Hold, HoldReason
from rtch.models.packet import (
    ClaimEvidenceResult,
    Omitted,
    Packet,
    ShownPacket,
    SingleChunkResult,
    TargetReason,
    TargetSetResult,
)
from rtch.models.packet_diff import ChangedChunk, ChangedValue, MovedPath, PacketDiff, PlacedChunk, RankedPath
from rtch.models.patterns import IdBody, IdShape, Patterns, PhraseSet
from rtch.models.plan import DroppedProbe, PlanCaution, Probe
from rtch.models.run import HandoffRecord
from rtch.models.tree import Listing, TreeNote
from rtch.models.verification import JudgedChunk, LinesNow, VerdictCounts, Verification
from rtch.models.vocab import (
    CautionFlag,
    ChunkVerdict,
    ClaimAuthority,
    ConfidenceClass,
    EntryKind,
    FanoutLevel,
    FileRole,
    MarkerKind,
    Origin,
    ProbeFamily,
    SkipReason,
    TargetProfile,
    Use,
)
from rtch.models.zone import OddEntry, ZoneCaution
from rtch.path_words import PathWords
from rtch.pipeline import CHECKS, STAGES
from rtch.rank import shortlist
from rtch.session import open_session, run_direct
from rtch.stages.desk import Desk
from rtch.stages.hydrate import hydrate
from rtch.stages.intake import intake as accept
from rtch.stages.plan import plan
from rtch.stages.skipping import folded
from rtch.store import MemoryStore, close_stores
from rtch.workspace import open_workspace

SIZES = {"a.txt": 1, "b.txt": 17, "c.txt": 120, "d.md": 260, "sub/e.py": 90, "twin.txt": 17}
GENERIC = ("state", "domain", "handlers")
WORDS = ("settle", "ebb_flow", "tide", "harbour", "berth", "unheard", "CPR-17", *GENERIC)
ZONE: dict[str, str | bytes] = {
    ".site-root": "Harbour\n",
    "README.md": "# Harbour\n\nThe source of truth for settle, state, domain and handlers of the tide.\n" * 3,
    "docs/tides.md": "# Tides\n\nHow settle and ebb_flow meet the state of CPR-17.\n\n## Domain\n\nberth\n",
    "src/settle.py": "from src.flow import ebb_flow\n\n\ndef settle(state):\n    return ebb_flow(state)\n",
    "src/flow.py": "def ebb_flow(domain):\n    return domain.tide\n\n\nclass Handlers:\n    pass\n",
    "registry.json": '{"berth": {"state": 1}, "settle": 2, "settle": 3}\n',
    "copy/registry.json": '{"berth": {"state": 1}, "settle": 2, "settle": 3}\n',
    ".env": "settle=1\n",
    "blob.bin": b"settle\0\1",
}
QUICK = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def text_of(path: str) -> str:
    name = "b.txt" if path == "twin.txt" else path
    return "".join(f"line {i} of {name}\n" for i in range(1, SIZES[path] + 1))


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Files of some lines each, two of them alike."""
    root = plant(tmp_path_factory.mktemp("lines"), {path: text_of(path) for path in SIZES})
    return Desk(open_workspace(root), MemoryStore())


class Asking:
    """Asks one tree in this process, with one store for all questions."""

    def __init__(self, folder: Path) -> None:
        self.root = plant(folder / "zone", ZONE)
        self.home = folder / "home"
        settle_down(self.root)

    def __call__(self, **intake: Any) -> Packet:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RTCH_HOME", str(self.home))
            return run_direct(open_session(enter(intake_of(**intake), Options(root=self.root))))


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    yield Asking(tmp_path_factory.mktemp("asking"))
    close_stores()


# Chunks and budgets

hits = st.lists(
    st.sampled_from(sorted(SIZES)).flatmap(
        lambda path: st.builds(hit_of, st.just(path), st.integers(1, SIZES[path]), structural=st.booleans())
    ),
    max_size=25,
    unique_by=lambda hit: (hit.path, hit.line),
)
numbers = st.fixed_dictionaries(
    {
        "window_lines": st.integers(1, 45),
        "stretch_lines": st.integers(1, 12),
        "chunks_per_file": st.integers(1, 6),
        "max_skipped_rows": st.integers(1, 4),
        "parse_budget_bytes": st.sampled_from([1, 600_000]),
    }
)


@settings(max_examples=60, deadline=None)
@given(
    found=hits,
    budget=st.integers(1, 300),
    cap=st.integers(1, 6),
    limits=numbers,
    target=st.sampled_from([None, *SIZES]),
)
def test_chunks_lie_in_their_files_and_budgets_are_kept_and_add_up(  # noqa: PLR0917  drawn
    lines: Desk, found: list[Any], budget: int, cap: int, limits: dict[str, int], target: str | None
) -> None:
    made = hydrated(lines, found, budget, cap, limits, target)
    shown: set[tuple[str, int]] = set()
    for chunk in made.chunks:
        assert 1 <= chunk.start_line <= chunk.end_line <= SIZES[chunk.path]
        span = {(chunk.path, line) for line in range(chunk.start_line, chunk.end_line + 1)}
        assert not span & shown
        shown |= span
        whole = chunk.path == target and len(span) == SIZES[chunk.path]
        short = len(span) == SIZES[chunk.path] <= limits_with().hydrate.whole_file_lines
        assert len(span) <= limits["window_lines"] or short or whole or chunk.path == target
        assert {(ref.line) for ref in chunk.hits} <= {line for _, line in span}
        assert chunk.hits
        assert chunk.text == "".join(
            text_of(chunk.path).splitlines(keepends=True)[chunk.start_line - 1 : chunk.end_line]
        )
    assert made.lines_consumed == len(shown) <= budget
    assert len(made.surfaces) <= cap
    assert made.budget_spent is (len(shown) == budget and bool(found))


@settings(max_examples=60, deadline=None)
@given(found=hits, budget=st.integers(1, 300), cap=st.integers(1, 6), limits=numbers)
def test_every_file_with_a_hit_is_shown_a_twin_or_told_as_skipped(
    lines: Desk, found: list[Any], budget: int, cap: int, limits: dict[str, int]
) -> None:
    made = hydrated(lines, found, budget, cap, limits, None)
    shown = {surface.path for surface in made.surfaces} | {twin for one in made.surfaces for twin in one.twins}
    assert len(shown) + sum(row.count for row in made.skipped) == len({hit.path for hit in found})


@settings(max_examples=30, deadline=None)
@given(found=hits, limits=numbers, data=st.data())
def test_the_order_of_hits_and_targets_does_not_matter(
    lines: Desk, found: list[Any], limits: dict[str, int], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(found))
    one, other = (hydrated(lines, order, 200, 4, limits, None) for order in (found, shuffled))
    assert one.canonical() == other.canonical()


def hydrated(  # noqa: PLR0917  the columns of one case
    desk: Desk, found: list[Any], budget: int, cap: int, limits: dict[str, int], target: str | None
) -> Hydration:
    paths = sorted({hit.path for hit in found})
    planned = plan_of(
        probes=(probe_of(*paths),),
        candidates=tuple(candidate(path, 1 + SIZES[path] / 1000) for path in paths[::2]),
        read_budget_lines=budget,
        surface_cap=cap,
    )
    result = result_of(*found)
    asked = accept(intake_of(known_target=target if target in paths else None))
    return hydrate(asked, zone_of(), planned, (result,), limits_with(hydrate=limits).hydrate, desk)


# Plans


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 9000), min_size=1, max_size=12),
    words=st.lists(st.tuples(st.sampled_from(list(Origin)), st.integers(1, 12)), max_size=14),
    level=st.sampled_from([FanoutLevel.CONSERVATIVE, FanoutLevel.NORMAL]),
    numbers=st.fixed_dictionaries({"target_files": st.integers(1, 8), "target_lines": st.integers(1, 400)}),
)
def test_no_probe_is_larger_than_the_cost_rule_and_what_was_cut_is_counted(
    lines: Desk,
    sizes: list[int],
    words: list[tuple[Origin, int]],
    level: FanoutLevel,
    numbers: dict[str, int],
) -> None:
    paths = [f"f{i:02}.py" for i in range(len(sizes))]
    listing = Listing(paths=tuple(paths), kinds=(EntryKind.FILE,) * len(paths), sizes=tuple(sizes))
    terms = [term(f"w{i}", origin=origin, use=Use.LOCATE) for i, (origin, _) in enumerate(words)]
    counts: dict[str, dict[str, int]] = {path: {} for path in paths}
    for i, (_, files) in enumerate(words):
        for path in paths[:files]:
            counts[path][f"w{i}"] = 1
    basket = basket_of(seed("w0"), *terms)
    cost = cost_of({path: found for path, found in counts.items() if found}, terms=[one.term for one in basket.terms])
    limits = limits_with(plan=numbers).plan
    asked = accept(intake_of(fanout_level=level))
    survey = survey_of(basket, files=tuple(FileFacts(path) for path in cost.paths[::2]), files_beyond=len(paths) // 2)
    made = plan(asked, listing, zone_of(), survey, cost, limits, lines)
    assert len(made.probes) + made.remaining_probes == made.max_probes == limits.fanout[level].max_probes
    for probe in made.probes:
        assert 0 < len(probe.target_set) <= numbers["target_files"]
        assert probe.predicted_lines <= numbers["target_lines"]
        assert probe.targets_cut == len(targets_of(probe, counts)) - len(probe.target_set)
    numbered = [probe.probe_id for probe in (*made.probes, *made.next_legal_probes)]
    assert len(numbered) == len(set(numbered))
    families = [probe.family for probe in made.probes]
    assert all(families.count(family) <= limits.fanout[level].quotas[family] for family in families)


def targets_of(probe: Probe, counts: dict[str, dict[str, int]]) -> set[str]:
    """Return every file that a probe's terms hit."""
    return {path for path, found in counts.items() if set(probe.input_terms) & set(found)}


# The shortlist


@given(
    counts=st.dictionaries(
        st.sampled_from(["a.py", "tide/b.py", "c.md", "tests/test_tide.py", "uv.lock", "ebb.py"]),
        st.dictionaries(st.sampled_from(["tide", "ebb"]), st.integers(1, 9), min_size=1),
    ),
    most=st.integers(1, 7),
    profile=st.sampled_from(list(TargetProfile)),
)
def test_a_longer_shortlist_holds_the_shorter_one_and_what_is_left_out_is_counted(
    counts: dict[str, dict[str, int]], most: int, profile: TargetProfile
) -> None:
    basket = basket_of(seed("tide"), term("ebb"), term("tests", shape=TermShape.TARGET, weight=0.0))
    words = PathWords(tuple(sorted({*counts, "tide/z.py", "tests/x.py", "y.py"})))
    cost = cost_of(counts, terms=["tide", "ebb"])
    priors = limits_with().survey.priors[profile]
    short, longer, whole = (shortlist(words, basket, cost, priors, number) for number in (most, most + 1, 99))
    assert set(short.paths) <= set(longer.paths) <= set(whole.paths)
    assert len(short.paths) + short.beyond == len(whole.paths)
    assert len(short.paths) <= most
    assert set(whole.paths) == {*counts, "tide/z.py", "tests/x.py"}
    assert set(short.paths) & {"tests/x.py", "tests/test_tide.py"}


# Evidence

probe_terms = st.builds(
    probe_term,
    st.sampled_from(WORDS),
    origin=st.sampled_from(list(Origin)),
    use=st.sampled_from(list(Use)),
    generic=st.just(True),  # noqa: FBT003  a strategy's value
    pairs_with=st.lists(st.sampled_from(WORDS), max_size=3).map(tuple),
)


@given(
    probe_terms,
    st.sampled_from(list(ClaimAuthority)),
    st.sets(st.sampled_from(WORDS)),
    st.tuples(st.booleans(), st.booleans()),
)
def test_a_generic_term_never_supports_a_claim_and_alone_supports_nothing(
    one: Any, authority: ClaimAuthority, hitting: set[str], how: tuple[bool, bool]
) -> None:
    found = classify(one, authority, hitting, read=how[0], truth=how[1])
    assert found is not ConfidenceClass.CLAIM_SUPPORTING
    if not set(one.pairs_with) & hitting:
        assert found in {ConfidenceClass.WEAK_HIT, ConfidenceClass.CAUTION_ONLY, ConfidenceClass.NEIGHBOR_ONLY}


@QUICK
@given(seeds=st.lists(st.sampled_from(GENERIC), min_size=1, max_size=3, unique=True), word=st.sampled_from(GENERIC))
def test_generic_words_alone_support_no_claim_whatever_files_say(ask: Asking, seeds: list[str], word: str) -> None:
    packet = ask(goal=f"the {word}", explicit_seeds=tuple(seeds))
    classes = {chunk.confidence_class for chunk in packet.hydrated_chunks}
    assert classes <= {ConfidenceClass.WEAK_HIT}
    assert {one.term for one in packet.generic_alone_warnings} >= set(seeds)


@QUICK
@given(seeds=st.lists(st.sampled_from(WORDS), min_size=2, max_size=5, unique=True), data=st.data())
def test_the_order_of_seeds_does_not_change_which_surfaces_are_selected(
    ask: Asking, seeds: list[str], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(seeds))
    one, other = (ask(goal="how do they meet", explicit_seeds=tuple(order)) for order in (seeds, shuffled))
    assert [surface.path for surface in one.selected_surfaces] == [surface.path for surface in other.selected_surfaces]
    assert {(chunk.path, chunk.line_range) for chunk in one.hydrated_chunks} == {
        (chunk.path, chunk.line_range) for chunk in other.hydrated_chunks
    }


# Sums and bytes

skipped = st.lists(
    st.builds(
        SkippedSurface,
        path=st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join),
        reason=st.sampled_from([SkipReason.BINARY, SkipReason.SURFACE_CAP]),
        count=st.integers(1, 3),
    ),
    max_size=40,
)


@given(skipped, st.integers(1, 6))
def test_folding_what_was_skipped_adds_up_and_is_bounded(rows: list[SkippedSurface], most: int) -> None:
    unique = {(row.reason, row.path): row for row in reversed(rows)}.values()
    made = folded(rows, most)
    for reason in SkipReason:
        mine = [row for row in made if row.reason is reason]
        assert sum(row.count for row in mine) == sum(row.count for row in unique if row.reason is reason)
        assert len(mine) <= most


def test_the_same_inputs_give_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    root = plant(tmp_path / "zone", ZONE)
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        f"sys.path.insert(0, {str(Path(__file__).parent.parent)!r})\n"
        "from making import intake_of\n"
        "from rtch import hydrate\n"
        "goal = 'How do settle, ebb_flow and the tides of the harbour meet'\n"
        "intake = intake_of(goal=goal, explicit_seeds=('settle', 'berth'))\n"
        f"print(hydrate(intake, root={str(root)!r}, cached=False).packet_id)\n"
    )
    found = set()
    for hash_seed in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": hash_seed, "RTCH_HOME": str(tmp_path / "home")}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True, cwd=tmp_path)
        found.add(done.stdout)
    assert len(found) == 1
    assert found.pop().startswith(b"rtch_packet_")


# Models


def records(value: object) -> Iterator[Record]:
    """Yield a record and all that it holds."""
    if isinstance(value, Record):
        yield value
        for name in type(value).model_fields:
            yield from records(getattr(value, name))
    elif isinstance(value, tuple):
        for one in value:
            yield from records(one)


def models() -> set[type[Record]]:
    for module in pkgutil.iter_modules(rtch.models.__path__, "rtch.models."):
        importlib.import_module(module.name)
    waiting, found = [Record], set()
    while waiting:
        for model in waiting.pop().__subclasses__():
            waiting.append(model)
            if model.__module__.startswith("rtch.models."):
                found.add(model)
    return found


MADE_BY_HAND: tuple[Record, ...] = (
    Listing(
        paths=("a%FF", "b"),
        kinds=(EntryKind.FILE, EntryKind.FIFO),
        sizes=(3, 0),
        encoded=(0,),
        notes=(TreeNote(flag=CautionFlag.SEARCH_INCOMPLETE, path="b", detail="\u2028"),),
    ),
    FrameRef(path="a", line=None, depth=1),
    Masked(line=1, kind="token"),
    Clipped(line=1, byte_start=0, byte_end=2),
    DroppedProbe(family=ProbeFamily.CAUTION, input_terms=("a",), why="x"),
    PlanCaution(flag=CautionFlag.TIMEOUT, path=".", note=""),
    Omitted(max_chars=1, what=("1 chunk",), whole="rtch show x"),
    ZoneCaution(flag=CautionFlag.MALFORMED, path="\ud7ff", note='"\\'),
    OddEntry(path="l", kind=EntryKind.SYMLINK, target="t"),
    UnreadFile(path="a", reason=SkipReason.BINARY),
    FileProblem(path="a", flag=CautionFlag.DUPLICATE_KEY, line=1, detail=""),
    TargetSetResult(targets=(TargetReason(path="a", reason="b"),)),
    SingleChunkResult(chunk_id=None, note=""),
    ClaimEvidenceResult(chunk_ids=("rtch_chunk_1",), note=""),
    GenericWarning(term="state", warning="alone"),
    surroundings_of(),
    Dump(packet_id="rtch_packet_0", nonce="0123456789abcdef", files=1, lines=2, text="x\n"),
    HandoffRecord(dump_path="/tmp/x", argv=("a", ""), exit_code=None),
    Patterns(
        durable_ids=(IdShape(name="x", prefix="X", body=IdBody.HEX),),
        markers=(PhraseSet(kind=MarkerKind.TIC, phrases=("tic one",)),),
    ),
    EnoughEvidence(min_surfaces=1, required_terms=("x",)),
    FileFeatures(path="a", role=FileRole.CODE),
    Verification(
        packet_id="rtch_packet_0",
        chunks=(
            JudgedChunk(
                chunk_id="rtch_chunk_1",
                verdict=ChunkVerdict.MOVED,
                path="a",
                start_line=1,
                end_line=2,
                now=LinesNow(path="a", start_line=3, end_line=4),
            ),
        ),
        counts=VerdictCounts(moved=1),
    ),
    PacketDiff(
        before="rtch_packet_0",
        after="rtch_packet_1",
        surfaces_entered=(RankedPath(path="a", path_encoded=False, rank=1),),
        surfaces_left=(),
        surfaces_moved=(MovedPath(path="b", path_encoded=False, rank_before=1, rank_after=2),),
        chunks_added=(PlacedChunk(path="a", path_encoded=False, start_line=1, end_line=2, text_sha256="0" * 64),),
        chunks_removed=(),
        chunks_changed=(
            ChangedChunk(
                path="b",
                path_encoded=False,
                start_line=1,
                end_line=2,
                text_sha256_before="0" * 64,
                text_sha256_after="1" * 64,
            ),
        ),
        criteria=(ChangedValue(name="min_surfaces 3", before=None, after="met"),),
        halting=(),
        state=(),
        fields=("selected_surfaces",),
    ),
    EffectiveRecord(
        record_id="cpr_a",
        surface="a.jsonl",
        line=2,
        correction_ids=("rc_a",),
        withheld_lines=(1,),
        re_entry_command="r",
    ),
    Hold(surface="a.jsonl", reason=HoldReason.ORPHAN, withheld=True, detail="none", line=1, re_entry_command="r"),
)


def test_every_model_is_read_back_from_its_canonical_bytes(ask: Asking) -> None:
    packet = ask(
        goal='How does settle use state\nFile "src/settle.py", line 4',
        explicit_seeds=("settle", "CPR-17"),
        enough_evidence=EnoughEvidence(min_surfaces=90),
        known_neighbor_surfaces=("docs",),
        forbidden_assumptions=("tide",),
        known_target=".env",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RTCH_HOME", str(ask.home))
        store = enter(packet.intake, Options(root=ask.root)).store
    artifacts = [store.get_stage(timing.key) for timing in packet.run.stages]
    loaded = [store.read(ref) for ref in artifacts if ref is not None]
    baseline = Baseline(saved="q", zone_root="/z", taken_at="", taken_by="", reason="", packet=packet)
    head = BaselineHead(**{name: getattr(baseline, name) for name in BaselineHead.model_fields})
    by_hand = (drift_samples.report(), *drift_samples.others(), *zone_samples.records(), baseline, head)
    seen: dict[type[Record], Record] = {}
    for one in (packet, ShownPacket.parse(packet.canonical()), *loaded, *MADE_BY_HAND, *by_hand, limits_with()):
        for record in records(one):
            seen.setdefault(type(record), record)
            assert type(record).parse(record.canonical()) == record
    missing = sorted({model.__name__ for model in models()} - {model.__name__ for model in seen})
    assert missing == []
    assert set(STAGES) - {check.name for check in CHECKS} <= {timing.stage for timing in packet.run.stages}


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30).filter(
    lambda found: bool(found.strip())
)


@given(goal=text, seeds=st.lists(text, max_size=4), budget=st.none() | st.integers(1, 1_000_000))
def test_an_intake_is_read_back_whatever_it_says(goal: str, seeds: list[str], budget: int | None) -> None:
    one = intake_of(goal=goal, explicit_seeds=tuple(seeds), read_budget=budget)
    again = Intake.parse(one.canonical())
    assert again == one
    assert hashlib.sha256(again.canonical()).digest() == hashlib.sha256(one.canonical()).digest()
