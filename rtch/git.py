"""The only caller of git, and never with the repository's own configuration.

Git reads a private git dir made for one call sequence: copies of the index and the ignore rules,
a config of ours, nothing else. Hooks, filters, drivers, fsmonitor and promisor remotes of the
repository are thus never seen, and nothing in it can be rewritten. The only calls that see its
config are the ``rev-parse`` probes, which start no program.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rtch.errors import ToolError
from rtch.models.vocab import CautionFlag
from rtch.process import Doubt, Finished, clean_env, find_program, run
from rtch.repository import (
    HeadInfo,
    IgnoreSettings,
    Repository,
    RepositoryRefused,
    Tracked,
    alternate_list,
    check_absence,
    config_text,
    printable,
    regular_bytes,
)
from rtch.rule_files import check_rules
from rtch.scratch import held_folder

PROBE_TIMEOUT_S = 5.0
LIST_TIMEOUT_S = 30.0
SILENT_S = 1.0
"""After so long a silence it is looked whether git waits for a file of rules that never ends."""
MAX_LIST_BYTES = 1 << 30
MAX_RULES_BYTES = 4 << 20
MAX_INDEX_BYTES = 1 << 30

T = TypeVar("T")

_FIXED_ENV = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
}
_PROBE = (
    *("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "safe.bareRepository=explicit", "rev-parse"),
)
_ASK = ("--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir", "--show-object-format")
_BRANCH = re.compile(rb"ref: refs/heads/([^\n]+)\n?\Z")


def git_program() -> str:
    """Return git's absolute path.

    Raises:
        ToolError: it is not on PATH.
    """
    found = find_program("git")
    if found is None:
        raise ToolError("git was not found on PATH", argv=("git",), hint="install git")
    return found


def git_version() -> str:
    """Return git's version number.

    Raises:
        ToolError: git is missing or fails.
    """
    done = run(
        [git_program(), "--version"], cwd=b"/", env=clean_env(), timeout_s=PROBE_TIMEOUT_S, max_output_bytes=4096
    )
    match = re.search(rb"\d+(\.\d+)+", done.stdout)
    if match is None:
        raise ToolError("git does not tell its version", argv=("git", "--version"))
    return match.group().decode()


def blob_id(data: bytes, object_format: str = "sha1") -> str:
    """Return the id that git gives these bytes; computed, so filters play no part."""
    hasher = hashlib.new(object_format, usedforsecurity=False)
    hasher.update(b"blob %d\0" % len(data))
    hasher.update(data)
    return hasher.hexdigest()


def _user_env() -> dict[str, str]:
    """Return where git finds the user's own ignore file and safe.directory."""
    home = os.environ.get("HOME") or str(Path("~").expanduser())
    more = {"HOME": home}
    if config_home := os.environ.get("XDG_CONFIG_HOME"):
        more["XDG_CONFIG_HOME"] = config_home
    return clean_env(**_FIXED_ENV, **more)


def _probe(start: Path, *words: str, ceiling: Path | None = None) -> Finished:
    env = _user_env()
    if ceiling is not None:
        env["GIT_CEILING_DIRECTORIES"] = str(ceiling)
    argv = [git_program(), *_PROBE, *words]
    return run(argv, cwd=start, env=env, timeout_s=PROBE_TIMEOUT_S, max_output_bytes=1 << 20)


def find_repository(start: Path, *, ceiling: Path | None = None) -> Repository | None:
    """Return the repository whose work tree holds a folder, or None.

    Args:
        start: a folder.
        ceiling: a folder above which no repository is looked for.

    Raises:
        RepositoryRefused: git refuses it (another owner, a broken config), or its work tree is
            declared to be elsewhere.
        ToolError: git is missing or out of time.
    """
    done = _probe(start, *_ASK, ceiling=ceiling)
    if done.returncode != 0:
        check_absence(done.stderr_tail)
        return None
    lines = done.stdout.removesuffix(b"\n").split(b"\n")
    if len(lines) != 4:
        raise RepositoryRefused(CautionFlag.TOOL_FAILED, "git's answer about the repository is not understood")
    top, git_dir, common_dir = (Path(os.fsdecode(line)) for line in lines[:3])
    if not start.resolve().is_relative_to(top.resolve()):
        raise RepositoryRefused(
            CautionFlag.REPOSITORY_REFUSED, "core.worktree names a folder that does not contain this one"
        )
    return Repository(top, git_dir, common_dir, lines[3].decode())


def find_toplevel(start: Path) -> Path | None:
    """Return the top of the work tree that holds a folder; None where git has no answer, for whatever reason."""
    try:
        repository = find_repository(start)
    except (RepositoryRefused, ToolError):
        return None
    return None if repository is None else repository.top


def head_of(repository: Repository) -> HeadInfo:
    """Return the commit and branch that are checked out.

    Raises:
        ToolError: git is missing or out of time.
    """
    done = _probe(repository.top, "--verify", "-q", "HEAD")
    commit = done.stdout.strip().decode("ascii", "replace") if done.returncode == 0 else ""
    match = _BRANCH.match(regular_bytes(repository.git_dir / "HEAD", 4096) or b"")
    return HeadInfo(commit or None, printable(match.group(1).decode("utf-8", "replace")) if match else None)


class PrivateGit:
    """Git over a private git dir; made by ``private_git``."""

    def __init__(self, folder: Path, repository: Repository | None, work_tree: Path, timeout_s: float) -> None:
        self._folder = folder
        self._repository = repository
        self._work_tree = work_tree
        self._timeout_s = timeout_s
        self._program = git_program()
        self._env = _user_env() | {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_DIR": str(folder),
            "GIT_INDEX_FILE": str(folder / "index"),
            "GIT_OBJECT_DIRECTORY": str(folder / "objects"),
            "GIT_WORK_TREE": str(repository.top if repository else work_tree),
        }
        if repository is not None:
            self._env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = alternate_list(repository.common_dir / "objects")

    def tracked(self, names: Sequence[bytes] = ()) -> Tracked:
        """Return the index below the listed folder, or of some paths alone.

        Raises:
            ToolError: git failed, or complained: its list is then incomplete.
        """
        id_chars = 64 if self._repository and self._repository.object_format == "sha256" else 40
        if not (self._folder / "index").exists():
            return Tracked(b"", id_chars)
        done = self._ask("ls-files", "-s", "-z", "--", *names)
        if done.returncode != 0 or done.stderr_tail.strip():
            raise self._failed("list the index", done)
        return Tracked(done.stdout, id_chars)

    def untracked(self) -> tuple[list[bytes], list[str]]:
        """Return what is neither tracked nor ignored, and git's complaints.

        A name ending with a slash is a nested repository. A complaint names a folder that could
        not be opened; the rest of the list is good.

        Raises:
            ToolError: git failed or ran out of time.
        """
        done = self._ask(*self._rules(), "ls-files", "-o", "--exclude-standard", "-z")
        if done.returncode != 0:
            raise self._failed("list untracked files", done)
        return done.stdout.split(b"\0")[:-1], done.stderr_tail.splitlines()

    def hidden_by(self, rules_name: str) -> tuple[list[bytes], list[str]]:
        """Return every path that per-folder rules files of this name hide, tracked or not, and git's complaints.

        Raises:
            ToolError: git failed or ran out of time.
        """
        env = self._env | {"GIT_INDEX_FILE": str(self._folder / "no-index"), "GIT_WORK_TREE": str(self._work_tree)}
        words = ("ls-files", "-o", "-i", f"--exclude-per-directory={rules_name}", "-z")
        done = self._ask(*words, env=env, rules_name=rules_name)
        if done.returncode != 0:
            raise self._failed(f"apply {rules_name}", done)
        return done.stdout.split(b"\0")[:-1], done.stderr_tail.splitlines()

    def ignored(self, names: Sequence[bytes], below: Path | None = None) -> set[bytes]:
        """Return which of some existing paths the rules hide.

        No name ends with a slash: git would ask a folder's own rules about the folder.

        Args:
            names: paths relative to the listed folder.
            below: the folder that they are relative to, where it is another one.

        Raises:
            ToolError: git failed or ran out of time.
        """
        # check-ignore refuses to run with literal pathspecs; its standard input is literal anyway.
        env = {name: value for name, value in self._env.items() if name != "GIT_LITERAL_PATHSPECS"}
        words = (*self._rules(), "check-ignore", "--no-index", "-z", "--stdin")
        done = self._ask(*words, env=env, cwd=below, data=b"".join(name + b"\0" for name in names))
        if done.returncode not in (0, 1):
            raise self._failed("apply the ignore rules", done)
        return set(done.stdout.split(b"\0")[:-1])

    def ignores_itself(self) -> bool:
        """Tell whether the repository's rules hide the listed folder."""
        top = Path(self._env["GIT_WORK_TREE"])
        name = os.fsencode(self._work_tree.relative_to(top))
        return name in self.ignored([name], top)

    def cat_file(self, mode: str, names: Sequence[str]) -> bytes:
        """Return what ``cat-file`` says of some objects, in a mode of batches; ToolError where it fails."""
        done = self._ask("cat-file", mode, data=b"".join(os.fsencode(name) + b"\n" for name in names))
        if done.returncode != 0:
            raise self._failed("read objects", done)
        return done.stdout

    def _rules(self) -> tuple[str, ...]:
        path = self._folder / "user-excludes"
        return ("-c", f"core.excludesFile={path}") if path.exists() else ()

    def _ask(
        self,
        *words: str | bytes,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        data: bytes | None = None,
        rules_name: str = ".gitignore",
    ) -> Finished:
        env = env or self._env
        top = Path(env["GIT_WORK_TREE"])
        return run(
            [self._program, "--no-pager", *words],
            cwd=cwd or self._work_tree,
            env=env,
            timeout_s=self._timeout_s,
            input=data,
            max_output_bytes=MAX_LIST_BYTES,
            doubt=Doubt(SILENT_S, lambda: check_rules(top, self._work_tree, rules_name)),
        )

    def _failed(self, what: str, done: Finished) -> ToolError:
        # The private folder has another name in each run, and a packet does not.
        told = done.stderr_tail.replace(str(self._folder), "the private git dir")
        complaint = printable(told.strip().partition("\n")[0])
        return ToolError(f"git could not {what}: {complaint or done.returncode}", argv=("git",), stderr=complaint)


@contextmanager
def private_git(
    repository: Repository | None,
    work_tree: Path,
    *,
    timeout_s: float = LIST_TIMEOUT_S,
    settings: IgnoreSettings | None = None,
) -> Iterator[PrivateGit]:
    """Make a private git dir for a folder, and remove it at the end.

    Args:
        repository: whose index and rules are copied; None lists the folder with an empty index.
        work_tree: the folder that names are relative to, inside the repository's work tree.
        timeout_s: seconds for each call.
        settings: the repository's, where they are known.

    Raises:
        ToolError: git is missing.
    """
    with held_folder("rtch-git-", _scratch(work_tree)) as folder:
        git = PrivateGit(folder, repository, work_tree, timeout_s)
        _fill(folder, repository, settings or ignore_settings(repository))
        yield git


def _scratch(work_tree: Path) -> str | None:
    """Return a folder for temporary files that does not lie in the tree being read."""
    for candidate in (tempfile.gettempdir(), "/dev/shm", "/var/tmp", os.environ.get("HOME", "")):  # noqa: S108
        if candidate and os.access(candidate, os.W_OK) and not Path(candidate).resolve().is_relative_to(work_tree):
            return candidate
    return None


def _fill(folder: Path, repository: Repository | None, settings: IgnoreSettings) -> None:
    for name in ("refs", "objects", "info"):
        (folder / name).mkdir()
    (folder / "HEAD").write_bytes(b"ref: refs/heads/none\n")
    if repository is not None:
        _copy(repository.git_dir, folder, "index", MAX_INDEX_BYTES)
        if os.path.lexists(repository.git_dir / "index") and not (folder / "index").exists():
            raise ToolError("the repository's index cannot be read", argv=("git",))
        for shared in repository.git_dir.glob("sharedindex.*"):
            _copy(repository.git_dir, folder, shared.name, MAX_INDEX_BYTES)
        _copy(repository.common_dir, folder, "info/exclude", MAX_RULES_BYTES)
        _copy(repository.common_dir, folder, "shallow", MAX_RULES_BYTES)
    (folder / "config").write_bytes(config_text(repository, settings).encode())
    rules = settings.rules_file(folder if repository is None else repository.top)
    if rules is not None:
        (folder / "user-excludes").write_bytes(regular_bytes(rules, MAX_RULES_BYTES, follow=True) or b"")


def _local_config(repository: Repository) -> dict[str, str]:
    """Return the two settings of the repository's config that decide what its tree is."""
    argv = [
        *(git_program(), "config", "--file", str(repository.common_dir / "config"), "--no-includes", "-z"),
        *("--get-regexp", r"^core\.(excludesfile|ignorecase)$"),
    ]
    env = _user_env() | {"GIT_DIR": os.devnull}
    done = run(argv, cwd=b"/", env=env, timeout_s=PROBE_TIMEOUT_S, max_output_bytes=1 << 20)
    pairs = (os.fsdecode(item).partition("\n") for item in done.stdout.split(b"\0") if item)
    return {key: value or "true" for key, _, value in pairs}


def _user_excludes() -> str | None:
    """Return the user's core.excludesFile, from the global and system config alone; None where it is not set."""
    env = _user_env() | {"GIT_DIR": os.devnull}
    argv = [git_program(), "config", "--type=path", "-z", "--get", "core.excludesFile"]
    done = run(argv, cwd=b"/", env=env, timeout_s=PROBE_TIMEOUT_S, max_output_bytes=1 << 20)
    return os.fsdecode(done.stdout.split(b"\0")[0]) if done.returncode == 0 else None


def ignore_settings(repository: Repository | None) -> IgnoreSettings:
    """Return the settings that decide, besides the rules in files, what is ignored.

    Raises:
        ToolError: git is missing or out of time.
    """
    if repository is None:
        return IgnoreSettings({}, _user_excludes())
    return IgnoreSettings(*_both(lambda: _local_config(repository), _user_excludes))


def _copy(source: Path, target: Path, name: str, max_bytes: int) -> None:
    content = regular_bytes(source / name, max_bytes)
    if content is not None:
        (target / name).write_bytes(content)


def _both(first: Callable[[], dict[str, str]], second: Callable[[], T]) -> tuple[dict[str, str], T]:
    """Run two calls at once: each waits for a program."""
    held: list[dict[str, str]] = []
    errors: list[ToolError] = []

    def work() -> None:
        try:
            held.append(first())
        except ToolError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        other = second()
    finally:
        thread.join()
    if errors:
        raise errors[0]
    return held[0], other
