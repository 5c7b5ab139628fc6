"""Saved questions: what an investigation is asked to run again, and where."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rtch import home
from rtch.baseline_files import ENDING
from rtch.intake_files import SavedIntake, find_saved, read_source
from rtch.intake_io import build_intake
from rtch.keys import zone_id
from rtch.models.intake import Intake
from rtch.plain_data import read_plain


@dataclass(frozen=True, slots=True)
class Question:
    """A saved intake with the zone that it is asked of."""

    saved: str
    """The intake's name."""
    intake: Intake
    source: Path
    """Where the intake lies, absolute."""
    root: Path | None = None
    """The zone root; None is found from the working folder."""
    baseline: Path | None = None
    """The baseline's file, where the user names one."""

    def baseline_place(self, root: Path) -> Path:
        """Return where the baseline of this question lies for a zone.

        It is the file that was named; else the one beside the intake, where there is one: people put it there, and
        commit it. Else it lies in rtch's data folder, for an intake may be asked of many zones, and may lie in a
        tree that nothing is written to.
        """
        if self.baseline is not None:
            return self.baseline
        beside = self.beside
        return beside if beside.exists() else home.drift_dir(zone_id(root)) / f"{self.label}{ENDING}"

    @property
    def beside(self) -> Path:
        """The place beside the intake, whether or not a baseline lies there."""
        return self.source.with_name(f"{self.saved}{ENDING}")

    @property
    def label(self) -> str:
        """A name that no other intake has: files of one name in two folders are two questions."""
        if any(self.source.parent == folder for folder in _named_folders()):
            return self.saved
        return f"{self.saved}-{hashlib.sha256(str(self.source).encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def questions(
    references: Sequence[str], *, root: Path | None = None, baseline: Path | None = None, folder: Path | None = None
) -> tuple[Question, ...]:
    """Return the saved questions that some references name, in their order.

    Args:
        references: paths or names of saved intakes.
        root: the zone root for all of them.
        baseline: the file of the baseline, for one question alone.
        folder: what relative paths are relative to; the working folder where it is None.

    Raises:
        IntakeError: a reference leads nowhere, or its intake is wrong.
    """
    return tuple(_question(find_saved(_placed(one, folder)), root, baseline) for one in references)


def _question(saved: SavedIntake, root: Path | None, baseline: Path | None) -> Question:
    name = str(saved.path)
    intake = build_intake(read_plain(read_source(saved.path), name=name), name=name)
    return Question(saved.name, intake, saved.path.absolute(), root, baseline)


def _placed(reference: str, folder: Path | None) -> str:
    """Return a reference to a file of a folder as its path, and any other as it is."""
    if folder is None or not (folder / reference).is_file():
        return reference
    return str(folder / reference)


def _named_folders() -> tuple[Path, ...]:
    """Return the folders in which an intake's name is all there is to it."""
    own = home.locations().data
    packaged = Path(__file__).parents[1] / "config" / "intakes"
    return (packaged,) if own is None else (packaged, own / "intakes")
