"""Every error that rtch raises on purpose.

    RtchError
    |-- IntakeError      2   the request or a flag is wrong
    |-- ZoneError        3   no root, unreadable, outside the permitted root
    |-- BudgetError      4   no probe is left after the cost rule
    |-- ToolError        5   rg or git missing, failed or timed out
    |-- ArtifactError    6   store or packet cannot be read or written, or a schema is unknown
    |   `-- Dangling     -   an artifact is gone or torn: forgotten and made again, never shown
    `-- JudgementError   7   verify, drift or rehydrate could not judge

A message is one sentence: what, where, the value. ``hint`` is the remedy.
"""

from __future__ import annotations

from collections.abc import Sequence


class RtchError(Exception):
    """The root: an exit code, a sentence, and what to do about it."""

    exit_code = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}; {self.hint}" if self.hint else text


class IntakeError(RtchError):
    """The request is incomplete, contradictory or of the wrong type."""

    exit_code = 2


class ZoneError(RtchError):
    """There is no readable zone, or a path leads out of it."""

    exit_code = 3


class BudgetError(RtchError):
    """The cost rule left no probe to run."""

    exit_code = 4


class ToolError(RtchError):
    """A program that a stage needs is missing, failed or ran out of time.

    Attributes:
        argv: what was run.
        stderr: the last line that it wrote.
        timed_out: whether the time limit ended it.
    """

    exit_code = 5

    def __init__(
        self, message: str, *, argv: Sequence[str] = (), stderr: str = "", timed_out: bool = False, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.argv = tuple(argv)
        self.stderr = stderr
        self.timed_out = timed_out


class ArtifactError(RtchError):
    """A stored artifact or packet cannot be read or written."""

    exit_code = 6


class Dangling(ArtifactError):  # noqa: N818  a signal between store and pipeline, not an error of the user's
    """A reference leads to a row that is missing or does not have its digest."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"artifact {digest[:12]} is missing or damaged in the store")
        self.digest = digest

    def __reduce__(self) -> tuple[type[Dangling], tuple[str]]:
        """Travel between processes by the digest, of which the message is made."""
        return Dangling, (self.digest,)


class JudgementError(RtchError):
    """A comparison could not be carried out, which is not the same as finding nothing."""

    exit_code = 7
