"""What rungs say as surfaces: a chain in its order, and the sections that an index leads to."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from driving import corpus
from making import intake_of, settle_down

sys.path.pop(0)

from rtch.entry import Options, enter
from rtch.models.packet import Packet
from rtch.models.vocab import ConfidenceClass, TargetProfile
from rtch.session import open_session, run_direct
from rtch.stages.doctrine import INDEX, arranged
from rtch.store import close_stores

zone = corpus("zone")
large = corpus("large_zone")


@pytest.mark.parametrize(
    ("order", "cap", "of_a_path", "expected"),
    [
        ("abcdef", 6, True, "abcdef"),
        ("xbyazc", 6, True, "xaybzc"),
        ("xbyazc", 6, False, "xbyazc"),
        ("xyzwcba", 4, True, "xabcyzw"),
        ("xyzwcba", 4, False, "xcbayzw"),
        ("xbyzwc", 3, True, "xbcyzw"),
        ("cxyza", 2, True, "acxyz"),
        ("cba", 2, True, "abc"),
        ("", 3, True, ""),
        ("xyz", 2, True, "xyz"),
    ],
)
def test_a_chain_shares_its_places_and_has_them_all_below_the_cap(
    order: str,
    cap: int,
    of_a_path: bool,  # noqa: FBT001  a column of the table
    expected: str,
) -> None:
    assert "".join(arranged(list(order), ["a", "b", "c"], cap, of_a_path=of_a_path)) == expected


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("zone") / "zone"
    large.build(place)
    settle_down(place)
    return place


def asked(root: Path, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> Packet:
    monkeypatch.setenv("RTCH_HOME", str(root.parent / "home"))
    try:
        intake = intake_of(**{"target_profile": TargetProfile.DOCTRINE_CHAIN} | fields)
        return run_direct(open_session(enter(intake, Options(root=root, cached=False))))
    finally:
        close_stores()


CHAIN = [f"{zone.DOMAIN}/CLAUDE.md", zone.DOMAIN_LEDGER, f"{zone.ESTATE}/CLAUDE.md", large.ESTATE_LEDGER]
CHAIN += ["CLAUDE.md", zone.FEDERATION_LEDGER]


@pytest.mark.parametrize(
    "goal", ["What must hold before the scripts are changed", "Who may revive a proposal", "zzz nothing says this"]
)
def test_the_chain_of_a_target_is_held_in_its_order(root: Path, monkeypatch: pytest.MonkeyPatch, goal: str) -> None:
    packet = asked(root, monkeypatch, goal=goal, known_target=zone.QUEUE_COMPILER)
    paths = [one.path for one in packet.selected_surfaces]
    assert [path for path in paths if path in CHAIN] == CHAIN


def test_the_chain_of_a_target_leaves_out_rungs_beside_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packet = asked(root, monkeypatch, goal="zzz nothing says this", known_target="autonomous_kernel/kernel-spec.md")
    assert [one.path for one in packet.selected_surfaces if one.path in CHAIN] == CHAIN[4:]


def test_without_a_target_every_rung_is_held(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packet = asked(root, monkeypatch, goal="Which lamp waits for the morning sweep")
    assert set(CHAIN) <= {one.path for one in packet.selected_surfaces}


@pytest.mark.parametrize("profile", [TargetProfile.DOCTRINE_CHAIN, TargetProfile.MIXED])
@pytest.mark.parametrize(("place", "number"), [(0, 31), (1, 7), (2, 22)])
def test_a_hit_in_an_index_brings_the_section_of_its_ledger(
    root: Path, monkeypatch: pytest.MonkeyPatch, profile: TargetProfile, place: int, number: int
) -> None:
    rung = large.RUNGS[place]
    # The number of the rule stands in the index and in the heading; the anchor alone leads from one to the other.
    packet = asked(root, monkeypatch, goal="What is held to", explicit_seeds=(large.title(rung.name, number),),
                   target_profile=profile)  # fmt: skip
    text = (root / rung.ledger).read_text().split("\n")
    heading = text.index(f"## {large.title(rung.name, number)}") + 1
    leading = [
        (chunk.path, hit.line) for chunk in packet.hydrated_chunks for hit in chunk.hits if hit.probe_id == INDEX
    ]
    assert (rung.ledger, heading) in leading
    held = [one for one in packet.hydrated_chunks if one.path == rung.ledger]
    assert any(one.start_line <= heading and heading + 4 <= one.end_line for one in held)


def test_a_weak_hit_in_an_index_leads_to_nothing_stronger(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packet = asked(root, monkeypatch, goal="Find it", explicit_seeds=("state", "domain", "surface"))
    leading = [one for one in packet.hydrated_chunks if any(hit.probe_id == INDEX for hit in one.hits)]
    assert leading
    assert {one.confidence_class for one in leading} <= {ConfidenceClass.HIT, ConfidenceClass.WEAK_HIT}


def test_a_zone_below_others_names_the_documents_above_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packet = asked(root / zone.STAGE, monkeypatch, goal="What does the stage play", known_target="props.md")
    above = {one.path: one.detail for one in packet.skipped_surfaces if one.path.startswith("..")}
    assert set(above) >= {"../CLAUDE.md", "../../CLAUDE.md", "../../../CLAUDE.md", "../kiln-ledger/ledger.md"}
    assert set(above.values()) == {"above the zone root; rtch chain 'props.md' shows it"}


def test_a_changed_ledger_is_read_again(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "zone"
    zone.build(place)
    settle_down(place)
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    fields: dict[str, Any] = {"goal": "Who lights lamps", "explicit_seeds": ("Lamps are lit",)}
    intake = intake_of(target_profile=TargetProfile.CODE_PATH, **fields)

    def digest() -> str:
        packet = run_direct(open_session(enter(intake, Options(root=place))))
        return next(one.sha256 for one in packet.selected_surfaces if one.path == zone.FEDERATION_LEDGER)

    try:
        before = digest()
        with (place / zone.FEDERATION_LEDGER).open("a") as file:
            file.write("\n## More\n")
        assert digest() != before
    finally:
        close_stores()
