"""One question of an investigation as a flow asks it: whatever is wrong with one is told as its own failure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rtch.drift.investigation import RunnerOf, Wishes, failed, investigate
from rtch.drift.questions import questions
from rtch.entry import Options, starting_folder
from rtch.errors import RtchError
from rtch.keys import zone_id
from rtch.models.drift import Investigation
from rtch.models.vocab import Engine
from rtch.workspace import find_root


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a question, and what names the question and its zone in every run."""

    investigation: Investigation
    zone: str
    """As ``keys.zone_id`` names it."""
    label: str
    """As the question's own label."""


def ask(  # noqa: PLR0913  what an investigation takes
    reference: str,
    options: Options,
    runner_of: RunnerOf,
    *,
    engine: Engine,
    flow_run: tuple[str, str],
    baseline: Path | None = None,
    wishes: Wishes | None = None,
) -> Asked:
    """Ask a saved question again; what is wrong with it, or with its zone, is told in the investigation.

    Args:
        reference: path or name of a saved intake.
        options: how it is carried out, with the zone's root.
        runner_of: the engine's runner for an open session.
        engine: what it is.
        flow_run: the flow run's id and address.
        baseline: the baseline's file, where one is named.
        wishes: what to accept or suppress, and what fails.
    """
    root = zone_of(options)
    try:
        (question,) = questions([reference], root=options.root, baseline=baseline, folder=options.cwd)
    except RtchError as error:
        made = failed(reference, root, str(error), error.exit_code)
        made = made.model_copy(update={"flow_run_id": flow_run[0], "flow_run_url": flow_run[1]})
        return Asked(made, zone_id(root), reference)
    made = investigate(question, options, runner_of, engine=engine, flow_run=flow_run, wishes=wishes or Wishes())
    return Asked(made, zone_id(root), question.label)


def zone_of(options: Options) -> Path:
    """Return the root that a run will choose, or what was named as one where there is none."""
    try:
        return find_root(starting_folder(options), options.root).root
    except RtchError:
        return options.root or options.cwd or Path("/")
