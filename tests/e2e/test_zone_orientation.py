"""Orientation in a governance zone by the installed command: roots, rungs, names, what lies outside, the chain."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from driving import Ask, Packet, Rtch, corpus, flags_of, paths_of, plant, tree_state

zone = corpus("zone")
large = corpus("large_zone")

DOCTRINE = Ask("What must hold before the queue is compiled", profile="doctrine_chain", enough="at least 2 surfaces")


@pytest.fixture(scope="module")
def rtch(tmp_path_factory: pytest.TempPathFactory) -> Rtch:
    return Rtch(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("zone") / "zone"
    large.build(place, git=True)
    return place


def chained(rtch: Rtch, *arguments: str, cwd: Path | None = None) -> dict[str, Any]:
    ran = rtch.run("chain", *arguments, "--format", "json", cwd=cwd)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def rungs_in(packet: Packet) -> list[tuple[str, str]]:
    return [(one["kind"], one["path"]) for one in packet["zone_descriptor"]["rungs"]]


def test_the_generated_zone_is_as_large_as_those_that_people_keep() -> None:
    files = large.contents(audit_mib=2)
    ledgers = [text for path, text in files.items() if path.endswith("ledger/ledger.md")]
    assert (large.RULES, large.ENTRIES, len(large.RUNGS)) == (80, 400, 3)
    assert sum(text.count("\n## ") for text in ledgers) >= 400
    assert sum(files[one.document].count("*Ledger: ") for one in large.RUNGS) >= 80
    assert sum("manifest" in path or "registry" in path for path in files if path.endswith(("json", "yaml"))) >= 6
    assert files["MEMORY.md"].count("\n## Session Lessons") == 3
    assert sum(len(text) for path, text in files.items() if path.startswith("audit-logs/")) > 2 << 20


def test_the_root_is_found_by_walking_up_and_the_result_does_not_depend_on_where(rtch: Rtch, root: Path) -> None:
    there = rtch.hydrate(None, DOCTRINE, cwd=root / zone.DOMAIN / "cgg-runtime")
    assert there["run"]["zone_root"] == str(root)
    assert there["packet_id"] == rtch.hydrate(root, DOCTRINE)["packet_id"]
    assert rungs_in(there) == [
        ("site", zone.STAGE),
        ("domain", zone.DOMAIN),
        ("estate", zone.ESTATE),
        ("federation", "."),
    ]
    ledgers = {path for one in there["zone_descriptor"]["rungs"] for path in one["ledgers"]}
    assert ledgers == {zone.DOMAIN_LEDGER, zone.FEDERATION_LEDGER, large.ESTATE_LEDGER}


def test_a_nested_zone_sees_every_rung_above_it(rtch: Rtch, root: Path) -> None:
    asked = DOCTRINE.but(goal="What does the stage play", target="props.md")
    packet = rtch.hydrate(None, asked, cwd=root / zone.STAGE)
    assert rungs_in(packet) == [("site", "."), ("domain", ".."), ("estate", "../.."), ("federation", "../../..")]
    above = {one["path"] for one in packet["skipped_surfaces"] if one["reason"] == "outside_zone"}
    assert {"../CLAUDE.md", "../../CLAUDE.md", "../../../CLAUDE.md"} <= above
    alone = rtch.hydrate(None, asked, "--no-parents", cwd=root / zone.STAGE)
    assert rungs_in(alone) == [("site", ".")]


def test_manifests_are_found_by_their_shape(rtch: Rtch, root: Path) -> None:
    found = {one["path"] for one in rtch.hydrate(root, DOCTRINE)["zone_descriptor"]["registries"]}
    named = {f"{zone.ESTATE}/tool-manifest.json", f"{zone.DOMAIN}/install-manifest.yaml", zone.SYNC_MANIFEST}
    assert found >= named | {zone.ACTOR_REGISTRY, zone.EFFECTIVE_STATE, "autonomous_kernel/sub_telos.yaml"}


# The chain


def test_the_chain_is_told_lowest_rung_first_and_every_command_reads_again(rtch: Rtch, root: Path) -> None:
    before = tree_state(root)
    found = chained(rtch, zone.QUEUE_COMPILER, "--max-chars-per-rung", "3000", cwd=root)
    assert [(one["rung"], one["path"], one["dehydrated"]) for one in found["rungs"]] == [
        ("domain", zone.DOMAIN, True),
        ("estate", zone.ESTATE, True),
        ("federation", ".", True),
    ]
    assert found["current_rung"] == zone.DOMAIN
    for rung in found["rungs"]:
        for one in (*rung["documents"], *rung["ledgers"]):
            text = (root / one["path"]).read_text()
            assert len(one["head"]) + len(one["tail"]) <= 3000
            assert text.startswith(one["head"])
            assert text.endswith(one["tail"])
            ran = rtch.run(*shlex.split(one["re_entry_command"])[1:], cwd=root)
            assert (ran.code, ran.out) == (0, text)
            cut = one["elided"]
            if cut is not None:
                middle = rtch.run(*shlex.split(cut["re_entry_command"])[1:], cwd=root).out
                assert one["head"] + middle + one["tail"] == text
                assert cut["characters"] == len(middle)
    assert tree_state(root) == before


def test_the_chain_above_a_nested_zone_is_read_from_there(rtch: Rtch, root: Path) -> None:
    found = chained(rtch, "props.md", cwd=root / zone.STAGE)
    assert [one["path"] for one in found["rungs"]] == [".", "..", "../..", "../../.."]
    for rung in found["rungs"]:
        for one in (*rung["documents"], *rung["ledgers"]):
            ran = rtch.run(*shlex.split(one["re_entry_command"])[1:], cwd=root / zone.STAGE)
            assert (ran.code, ran.out) == (0, (root / zone.STAGE / one["path"]).read_text())


def test_the_page_has_a_section_for_each_document(rtch: Rtch, root: Path) -> None:
    ran = rtch.run("chain", str(root / zone.DOMAIN), "--root", str(root), "--max-chars-per-rung", "500")
    assert ran.code == 0
    titles = [
        line for line in ran.out.split("\n") if line.startswith(("## domain", "## estate", "## fed", "## Ledger"))
    ]
    assert [title.rpartition(": ")[2].strip("`") for title in titles] == [
        f"{zone.DOMAIN}/CLAUDE.md",
        zone.DOMAIN_LEDGER,
        f"{zone.ESTATE}/CLAUDE.md",
        large.ESTATE_LEDGER,
        "CLAUDE.md",
        zone.FEDERATION_LEDGER,
    ]
    assert ran.out.count("Left out here: ") == 6


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("no/such",), 3), ((".", "--root", "no/such"), 3), ((".", "--max-chars-per-rung", "-1"), 2), ((), 2)],
)
def test_what_cannot_be_chained_is_said_in_a_sentence(
    rtch: Rtch, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    ran = rtch.run("chain", *arguments, cwd=tmp_path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)


def test_a_folder_without_rungs_has_no_chain(rtch: Rtch, tmp_path: Path) -> None:
    ran = rtch.run("chain", ".", "--no-parents", cwd=plant(tmp_path, {"a.py": ""}))
    assert ran.code == 1
    assert "no rung" in ran.err


def test_an_intake_about_a_path_holds_its_chain(rtch: Rtch, root: Path) -> None:
    packet = rtch.hydrate(root, DOCTRINE.but(target=zone.QUEUE_COMPILER))
    chain = chained(rtch, zone.QUEUE_COMPILER, cwd=root)
    said = [one["path"] for rung in chain["rungs"] for one in (*rung["documents"], *rung["ledgers"])]
    assert [path for path in paths_of(packet) if path in said] == said


# Another organisation


def test_another_organisations_layout_is_one_file(tmp_path: Path) -> None:
    other = Rtch(tmp_path / "home")
    names = {
        "root_marker": ".hall.json",
        "markers": {".hall.json": "site", "GUILD": "federation", ".shop": "domain"},
        "documents": ["CHARTER.md"],
        "ledgers": ["books/*.md"],
        "audit_folders": ["minutes"],
        "ignore_files": [".closed"],
    }
    plant(other.home / "rtch", {"layout.json": json.dumps(names)})
    hall = plant(
        tmp_path / "hall",
        {
            ".hall.json": '{"name": "Hall"}',
            "GUILD": "Masons",
            "CHARTER.md": "# Charter\n\n- **Stones are squared.** Always.\n  - [book](books/one.md#stones)\n",
            "CLAUDE.md": "# Of no rung here\n",
            "books/one.md": "# Book\n\n## Stones\n\nEvery stone is squared before it is laid.\n",
            "minutes/2024.jsonl": '{"id": "m_1", "said": "stones"}\n',
            "shop/.shop": "",
            "shop/CHARTER.md": "# Shop\n",
            "shop/saw.py": "def saw():\n    return 'stones'\n",
            "shop/.ticzone": "{}",
            "attic/old.md": "# stones\n",
            ".closed": "attic/\n",
        },
    )
    packet = other.hydrate(None, DOCTRINE.but(goal="Are stones squared", target="saw.py"), cwd=hall / "shop")
    descriptor = packet["zone_descriptor"]
    assert packet["run"]["zone_root"] == str(hall)
    assert (descriptor["zone_name"], descriptor["root_marker"], descriptor["audit_logs"]) == (
        "Masons",
        ".hall.json",
        "minutes",
    )
    assert rungs_in(packet) == [("domain", "shop"), ("federation", ".")]
    said = ["shop/CHARTER.md", "CHARTER.md", "books/one.md"]
    assert [path for path in paths_of(packet) if path in said] == said
    assert "attic/old.md" not in json.dumps(packet)
    found = chained(other, "shop/saw.py", cwd=hall)
    assert [(one["rung"], one["dehydrated"]) for one in found["rungs"]] == [("domain", False), ("federation", True)]
    plant(other.home / "rtch", {"layout.json": json.dumps({"ignore_files": []})})
    again = other.hydrate(hall, Ask("Where are stones", ["stones"], profile="mixed"))
    assert "attic/old.md" in paths_of(again)
    assert again["zone_descriptor"]["rungs"][0]["marker"] == "shop/.ticzone"


def test_a_wrong_layout_is_refused_in_a_sentence(tmp_path: Path) -> None:
    other = Rtch(tmp_path / "home").with_environment(RTCH_LAYOUT=str(tmp_path / "layout.yaml"))
    plant(tmp_path, {"layout.yaml": "marker: {}\n", "z/a.py": "", "home/x": ""})
    for command in (("hydrate", "--root", str(tmp_path / "z"), *DOCTRINE.flags()), ("chain", str(tmp_path / "z"))):
        ran = other.run(*command)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.endswith("has the unknown key marker; did you mean markers?\n")


# What lies outside


def test_an_audit_folder_outside_is_used_only_where_the_user_permits_it(rtch: Rtch, tmp_path: Path) -> None:
    logs = plant(tmp_path / "logs", {"x.md": "kept\n"})
    place = plant(tmp_path / "z", {".ticzone": json.dumps({"audit_logs_path": str(logs)}), "a.py": "harpoon = 1\n"})
    asked = Ask("Where is harpoon defined", ["harpoon"])
    refused = rtch.hydrate(place, asked, "--persist")
    assert (refused["zone_descriptor"]["audit_logs"], flags_of(refused)) == ("", {"malformed"})
    assert [one.name for one in logs.iterdir()] == ["x.md"]
    allowed = rtch.hydrate(place, asked, "--persist", "--allow-root", str(logs))
    assert (allowed["zone_descriptor"]["audit_logs"], flags_of(allowed)) == (str(logs), {"outside_zone"})
    assert allowed["run"]["persisted_at"].startswith(f"{logs}/rtch/packets/")
    inside = plant(place, {"own/x.md": "", ".ticzone": json.dumps({"audit_logs_path": str(place / "own")})})
    found = rtch.hydrate(inside, asked)
    assert (found["zone_descriptor"]["audit_logs"], flags_of(found)) == ("own", set())


def test_the_users_memory_is_told_of_only_where_it_is_asked_for(rtch: Rtch, root: Path) -> None:
    slug = "".join(one if one.isascii() and one.isalnum() else "-" for one in str(root))
    text = (root / "MEMORY.md").read_text().replace("Read the queue", "Never guess the queue")
    place = plant(rtch.home / ".claude/projects" / slug / "memory", {"MEMORY.md": text})
    plain, asked = rtch.hydrate(root, DOCTRINE), rtch.hydrate(root, DOCTRINE, "--with-memory")
    assert str(place) not in json.dumps(plain)
    assert "outside" not in plain["zone_descriptor"]
    [told] = asked["zone_descriptor"]["outside"]
    assert told["path"] == str(place / "MEMORY.md")
    assert "outside_zone" in flags_of(asked)
    section = next(one for one in told["sections"] if "tic 225" in one["title"])
    read = rtch.run(*shlex.split(section["re_entry_command"])[1:], cwd=root)
    assert read.out == "".join(text.splitlines(keepends=True)[section["start_line"] - 1 : section["end_line"]])
    bearing = rtch.hydrate(
        root, DOCTRINE.but(goal="What was learnt in tic 225", profile="audit_history"), "--with-memory"
    )
    (row,) = [one for one in bearing["skipped_surfaces"] if one["path"] == told["path"]]
    assert row["reason"] == "outside_zone"
    assert section["re_entry_command"] in row["detail"]
    assert all("tic 225" in one for one in row["detail"].split(": ", 1)[1].split("; "))
    assert told["path"] not in {one["path"] for one in bearing["hydrated_chunks"]}
    assert chained(rtch, ".", cwd=root)["outside"] == []
    [shown] = chained(rtch, ".", "--with-memory", cwd=root)["outside"]
    assert "Never guess the queue" in shown["head"] + shown["tail"]
    assert "outside of the zone" in rtch.run("chain", ".", "--with-memory", cwd=root).out
