"""Drive the installed ``rtch`` as its users do, and hold every packet to the laws that hold for all.

Exit code, stdout and stderr are looked at together. Nothing here knows how rtch is made.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

A = TypeVar("A")
B = TypeVar("B")
Packet = dict[str, Any]

RTCH = str(Path(sys.executable).with_name("rtch"))
CORPORA = Path(__file__).resolve().parent / "corpora"
HALTING = {
    "enough_evidence_definition_satisfied",
    "budget_exhausted",
    "no_signal_at_conservative",
    "no_signal_at_normal",
    "no_signal_at_wide",
}
CHUNK_LINES = 45
"""Forty, and five more to end on structure."""
WHOLE_FILE_LINES = 200
NOT_IN_THE_ID = ("packet_id", "run", "generated_at", "generated_at_tic")


def corpus(name: str) -> ModuleType:
    """Load a maker of trees by its place, for tests are no package."""
    spec = importlib.util.spec_from_file_location(f"corpora_{name}", CORPORA / f"{name}.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def plant(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below ``root``, made if need be, and return it."""
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    root.mkdir(parents=True, exist_ok=True)
    return root


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run of rtch gave."""

    code: int
    out: str
    err: str

    @property
    def packet(self) -> Packet:
        found: Packet = json.loads(self.out)
        return found


@dataclass(frozen=True, slots=True)
class Rtch:
    """The installed rtch with a home of its own and an environment made from nothing."""

    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = (RTCH,)

    def env(self) -> dict[str, str]:
        base = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "RTCH_HOME": str(self.home / "rtch"),
        }
        return base | {"LC_ALL": "C.UTF-8"} | dict(self.environment)

    def run(self, *arguments: str | bytes, cwd: Path | None = None, stdin: str = "", timeout: float = 60) -> Ran:
        """Run one command; a traceback on stderr is never an answer."""
        ran = subprocess.run(
            [*self.command, *arguments], cwd=cwd or self.home, env=self.env(), input=stdin.encode(),
            capture_output=True, check=False, timeout=timeout,
        )  # fmt: skip
        done = Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())
        assert "Traceback" not in done.err, done.err
        return done

    def hydrate(
        self, root: Path | None, asked: Ask, *more: str, cwd: Path | None = None, codes: Iterable[int] = (0,)
    ) -> Packet:
        """Return the packet of one request, held to the laws; ``codes`` are the exit codes that may come."""
        where = () if root is None else ("--root", str(root))
        ran = self.run("hydrate", *where, *asked.flags(), "--format", "json", *more, cwd=cwd)
        assert ran.code in set(codes), (ran.code, ran.err, ran.out[:2000])
        packet = ran.packet
        hold_to_the_laws(packet, root or Path(packet["run"]["zone_root"]))
        return packet

    def with_environment(self, **more: str) -> Rtch:
        return replace(self, environment=dict(self.environment) | more)


@dataclass(frozen=True, slots=True)
class Ask:
    """A request by its flags."""

    goal: str
    seeds: Sequence[str] = ()
    profile: str = "code_path"
    fanout: str = "normal"
    risk: str = "read_only"
    kind: str = "hydration_packet"
    enough: str = "at least 1 surface"
    target: str | None = None

    def flags(self) -> list[str]:
        flags = ["--goal", self.goal, "--profile", self.profile, "--fanout", self.fanout, "--risk", self.risk]
        flags += ["--output-kind", self.kind, "--enough", self.enough, *(f"--seed={seed}" for seed in self.seeds)]
        return flags if self.target is None else [*flags, f"--known-target={self.target}"]

    def but(self, **changed: Any) -> Ask:
        return replace(self, **changed)


def together(call: Callable[[A], B], given: Iterable[A]) -> list[B]:
    """Call on each of some values, two at a time: a run is a process, and the machine has two cores."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(call, given))


def canonical(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def same_part(packet: Packet) -> bytes:
    """Return the bytes of what is a function of tree, intake and configuration."""
    return canonical({name: value for name, value in packet.items() if name not in NOT_IN_THE_ID})


def disk_path(root: Path, record: Mapping[str, Any]) -> bytes:
    path: str = record["path"]
    raw = unquote_to_bytes(path) if record.get("path_encoded") else os.fsencode(path)
    return os.path.join(os.fsencode(root), raw)  # noqa: PTH118  bytes, which a Path does not hold


def lines_of(data: bytes) -> list[bytes]:
    """Split after each LF and nowhere else."""
    return re.findall(rb"[^\n]*\n|[^\n]+\Z", data)


def spellings(packet: Packet) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for outcome in packet["probe_plan"]["probes"]:
        for term in outcome["probe"]["terms"]:
            found.setdefault(term["term"], set()).update({term["term"], *term["spellings"]})
    for term in packet["candidate_basket"]["terms"]:
        # A row says ``"birth_tic": 206``, and has none of the numbers of a range.
        if term["shape"] == "moment" or re.fullmatch(r"(?i)tic[ _-]?\d+", term["term"]):
            one = re.fullmatch(r"\D*?(\d+)", term["term"])
            found.setdefault(term["term"], set()).update([one.group(1)] if one else "0123456789")
        found.setdefault(term["term"], set()).update({term["term"], *term["variants"]})
    return found


def hold_to_the_laws(packet: Packet, root: Path) -> None:
    """Check what must be true of any packet of an unchanged tree."""
    digest = hashlib.sha256(same_part(packet)).hexdigest()
    assert packet["packet_id"] == f"rtch_packet_{digest}"
    assert packet["halting_reason"] in HALTING
    assert packet["unresolved_questions"]
    assert packet["ttl_tics"] == 30
    _plan_is_kept(packet)
    known = spellings(packet)
    for chunk in packet["hydrated_chunks"]:
        _chunk_is_true(chunk, root, known, packet["intake"]["known_target"])
    _budget_is_kept(packet)
    _surfaces_fit(packet)


def _plan_is_kept(packet: Packet) -> None:
    plan = packet["probe_plan"]
    limit = {"conservative": 5, "normal": 12, "wide": 25}[plan["fanout_level"]]
    assert len(plan["probes"]) <= limit
    assert plan["max_probes"] <= limit
    assert plan["remaining_probes"] == plan["max_probes"] - sum(outcome["ran"] for outcome in plan["probes"])


def _chunk_is_true(chunk: Packet, root: Path, known: Mapping[str, set[str]], target: str | None) -> None:
    path = disk_path(root, chunk)
    assert os.path.realpath(path).startswith(os.path.realpath(os.fsencode(root)) + b"/")
    with open(path, "rb") as stream:  # noqa: PTH123  the path is bytes
        data = stream.read()
    start, end = chunk["start_line"], chunk["end_line"]
    lines = lines_of(data)
    assert chunk["line_range"] == f"L{start}-L{end}"
    assert 1 <= start <= end <= len(lines)
    whole = len(lines) <= WHOLE_FILE_LINES or chunk["path"] == target
    assert whole or end - start + 1 <= CHUNK_LINES, (chunk["path"], chunk["line_range"])
    span = b"".join(lines[start - 1 : end])
    assert data[chunk["byte_start"] : chunk["byte_end"]] == span
    assert chunk["text_sha256"] == hashlib.sha256(span).hexdigest()
    assert chunk["file_sha256"] == hashlib.sha256(data).hexdigest()
    assert chunk["blob_id"] == hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    if not chunk["masked"] and not chunk["clipped"]:
        assert chunk["text"] == decoded(span, chunk["encoding"], bom=chunk["bom"] and start == 1)
    for hit in chunk["hits"]:
        assert start <= hit["line"] <= end
        line = decoded(lines[hit["line"] - 1], chunk["encoding"]).casefold()
        spelled = {each.casefold() for each in known.get(hit["term"], {hit["term"]})}
        by_path = hit["origin"] in {"file_path", "ref_neighborhood"}
        named = by_path and any(each in chunk["path"].casefold() for each in spelled)
        assert named or any(each in line for each in spelled), (hit, line)
    assert chunk["hits"], chunk["path"]
    command = shlex.split(chunk["next_re_entry_command"])
    assert command[:2] == ["rtch", "read"]
    assert command[-1].endswith(f":L{start}-L{end}")
    assert "\n" not in chunk["next_re_entry_command"]
    assert chunk["why_included"]
    assert chunk["limitation"]
    assert chunk["term_or_shape"]


def decoded(span: bytes, encoding: str, *, bom: bool = False) -> str:
    """Decode as the chunk says it was decoded; a BOM is no text."""
    text = span.decode(encoding.removesuffix("-sig") if encoding.startswith("utf-8") else encoding)
    return text.removeprefix("\ufeff") if bom else text


def _budget_is_kept(packet: Packet) -> None:
    budget = packet["read_budget"]
    lines = {
        (chunk["path"], line)
        for chunk in packet["hydrated_chunks"]
        for line in range(chunk["start_line"], chunk["end_line"] + 1)
    }
    shown = sum(chunk["end_line"] - chunk["start_line"] + 1 for chunk in packet["hydrated_chunks"])
    assert shown == len(lines), "a line is shown twice"
    assert budget["consumed"] == len(lines)
    assert budget["consumed"] <= budget["total"]
    assert budget["remaining"] == budget["total"] - budget["consumed"]


def _surfaces_fit(packet: Packet) -> None:
    chunks = {chunk["chunk_id"]: chunk for chunk in packet["hydrated_chunks"]}
    surfaces = packet["selected_surfaces"]
    assert [surface["rank"] for surface in surfaces] == list(range(1, len(surfaces) + 1))
    named = [name for surface in surfaces for name in surface["chunks"]]
    assert sorted(named) == sorted(chunks)
    hydrated = {row["path"]: row["sha256"] for row in packet["fingerprint"]["hydrated"]}
    for surface in surfaces:
        assert {chunks[name]["path"] for name in surface["chunks"]} <= {surface["path"]}
        assert surface["why"]
        assert surface["score_parts"]
        assert hydrated[surface["path"]] == surface["sha256"]
        assert shlex.split(surface["re_entry_command"])[:2] == ["rtch", "read"]
    for row in packet["skipped_surfaces"]:
        assert row["reason"]
        assert row["count"] >= 1


def paths_of(packet: Packet) -> list[str]:
    """Return the selected paths in rank order."""
    return [surface["path"] for surface in packet["selected_surfaces"]]


def skipped(packet: Packet) -> dict[str, str]:
    """Return why each path was skipped."""
    return {row["path"]: row["reason"] for row in packet["skipped_surfaces"]}


def flags_of(packet: Packet, path: str = "") -> set[str]:
    """Return the caution flags, of one path if it is given."""
    return {row["flag"] for row in packet["caution_map"] if not path or row["path"] == path}


def text_of(packet: Packet) -> str:
    return "".join(chunk["text"] for chunk in packet["hydrated_chunks"])


def tree_state(root: Path) -> dict[str, tuple[int, int, str]]:
    """Return mode, modification time and digest of everything below ``root``, to see that nothing was written."""
    found = {}
    for base, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = Path(base, name)
            stat = path.lstat()
            regular = path.is_file() and not path.is_symlink()
            digest = hashlib.sha256(path.read_bytes()).hexdigest() if regular else ""
            found[str(path.relative_to(root))] = (stat.st_mode, stat.st_mtime_ns, digest)
    return found
