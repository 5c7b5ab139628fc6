"""Which goals decide what becomes of an artifact, and which only use the same words."""

from __future__ import annotations

import pytest
from making import intake_of

from rtch.decisions import is_disposition
from rtch.models.vocab import Investigation

DECISIONS = (
    "Decide whether to keep or sunset the old importer",
    "Should we merge the two loaders?",
    "keep, merge or sunset legacy_store",
    "Keep/merge decision for the cache",
    "What should we build next for the planner",
    "What to build next",
    "disposition of the legacy adapter",
    "Is the shim worth keeping",
    "whether the adapter should be repositioned",
    "Reposition the onboarding guide",
    "Retire the queue compiler",
    "retire the old queue_state_compile.py",
    "Should we keep the lantern adapter",
    "Should we still keep z",
    "Archive the session lessons ledger",
    "Deprecate the v1 importer",
    "Deprecate tools/old_sync.py",
    "Merge tools/wick_cutter.py into tools/lamp_trimmer.py",
    "merge the wick cutter script into the lamp trimmer tool",
    "Sunset the legacy_store service in favour of the new one",
    "Fold the sync package into the runtime package",
    "Please retire rtch/old.py.",
    "Decommission the nightly runner",
    "Should the shim be archived",
    "We want to retire the signals lane",
)
OTHERS = (
    "merge two dicts in the settings loader",
    "Where is the Content-Disposition header written",
    "find out how packets keep their order",
    "compute sunset times",
    "build the next migration",
    "content-disposition of attachments",
    "Deprecate the max_retries parameter",
    "Deprecate passing None as a module",
    "Deprecate the module option of the loader",
    "Deprecate tool argument in favour of tools",
    "Deprecate service accounts",
    "Retire connections after an error",
    "retire idle workers before shutdown",
    "Retire script tags from templates",
    "Archive logs older than 30 days",
    "Archive the log file when it rotates",
    "archive command fails on empty store",
    "Archive service returns 500",
    "Fix the archive command to keep symlinks",
    "Add archive support to the registry",
    "Merge defaults into options",
    "Merge user settings into the config module's defaults",
    "Merge extra_headers into default_headers",
    "Merge the config file into the environment",
    "Reposition the tooltip when the window is resized",
    "Fix reposition of the menu after a scroll",
    "Consolidate duplicate imports",
    "Fold long lines in headers",
    "Where does the retire command mark entries",
    "Should the loader raise on a missing file",
    "Decide which loader reads the file",
    "keep-alive connections are not reused",
    "Fix merge or rebase of branches",
    "Find out whether merged cells keep their style",
    "We should keep the order of the keys",
    "Settings should be merged recursively and keep their comments",
    "The migration should write a typedef per prop and keep its comments",
    # A report of an error is no decision, whatever is said in it.
    "Should we keep it? " + "The loader fails on every line of the file. " * 9,
)


@pytest.mark.parametrize("goal", DECISIONS)
def test_a_decision_about_an_artifact_is_a_disposition(goal: str) -> None:
    assert is_disposition(intake_of(goal=goal))


@pytest.mark.parametrize("goal", OTHERS)
def test_the_same_verbs_alone_are_none(goal: str) -> None:
    assert not is_disposition(intake_of(goal=goal))


def test_the_investigation_has_the_last_word() -> None:
    assert is_disposition(intake_of(goal="x", investigation=Investigation.DISPOSITION))
    assert not is_disposition(intake_of(goal="Should we merge a and b", investigation=Investigation.DRIFT))


def test_a_goal_of_any_length_and_kind_is_judged_at_once() -> None:
    texts = ("a" * 400, "retire " + "the " * 90, "merge " + "a/" * 190, "keep or " * 49, "should we " * 39)
    assert [is_disposition(intake_of(goal=text)) for text in texts] == [False, False, False, True, False]
