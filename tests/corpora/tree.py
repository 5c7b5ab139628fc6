"""An ordinary project tree of any size, the same bytes on every run.

    python tests/corpora/tree.py DIR [--files 650] [--median 8500] [--git | --history] [--with-giants]

Sizes are log-normal as in real projects (median about 8 kB, mean about twice that), modules import each
other, and one function, ``tree_planted.SYMBOL``, is defined once and used, tested, documented and
configured in known places.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # tests are no package: a sibling is found beside this file

import tree_history as history
import tree_planted as planted
import tree_text as text

sys.path.pop(0)

MEBIBYTE = 1024 * 1024
GIANT_BYTES = 200 * MEBIBYTE
LONG_LINE_BYTES = 5 * MEBIBYTE
GIANT_LOG = "assets/giant.log"
LONG_LINE = "assets/one-line.json"

MEDIAN_BYTES = 8_500
BODY = "<<body>>\n"

SYMBOL = planted.SYMBOL
DEFINITION = "src/harbor/routing/settle.py"
CALLER = "src/harbor/dispatch/planner.py"
DOCUMENT = "docs/routing/settling.md"


@dataclass(slots=True)
class Forge:
    """Makes files one by one and remembers what the later ones may import."""

    rng: random.Random
    median: int = MEDIAN_BYTES
    exported: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    statements: dict[str, tuple[str, ...]] = field(default_factory=dict)
    serial: int = 0

    def pick(self, words: tuple[str, ...]) -> str:
        return words[int(self.rng.random() * len(words))]

    def sentence(self) -> str:
        kinds = (text.PLAIN, text.NOUNS, text.PLAIN, text.VERBS, text.PLAIN, text.NOUNS)
        return " ".join([self.pick(words) for words in kinds])

    def words(self) -> dict[str, str]:
        """Return one filling of every place that a block may have."""
        verb, a, b, c = self.pick(text.VERBS), self.pick(text.NOUNS), self.pick(text.NOUNS), self.pick(text.NOUNS)
        name = f"{verb}_{a}_{b}"
        camel = f"{verb.capitalize()}{a.capitalize()}{b.capitalize()}"
        first, second = self.sentence(), self.sentence()
        self.serial += 1
        return {
            "v": verb, "a": a, "b": f"{b}s", "c": f"{c}_{a}", "A": a.capitalize(), "B": b.capitalize() + "Count",
            "f": name, "m": verb + camel[len(verb) :], "M": camel, "C": camel, "K": name.upper(),
            "n": str(2 + int(self.rng.random() * 97)), "i": str(self.serial),
            "s": first, "s2": second, "S": first.capitalize(), "S2": second.capitalize(),
        }  # fmt: skip

    def size(self) -> int:
        """Return a log-normal size; twelve uniforms make the normal, so that every platform agrees."""
        normal = sum(self.rng.random() for _ in range(12)) - 6.0
        return min(400_000, max(150, int(self.median * math.exp(1.15 * normal))))

    def body(self, language: text.Language, indent: str) -> str:
        """Return a few plain statements, taken from a pool that is made once a language."""
        if language.suffix not in self.statements:
            self.statements[language.suffix] = tuple(self.pick(language.statements) % self.words() for _ in range(300))
        lines = [self.pick(self.statements[language.suffix]) for _ in range(3 + int(self.rng.random() * 12))]
        return "".join(f"{indent}{line}\n" if line else "\n" for line in lines)

    def block(self, language: text.Language, shape: str, words: dict[str, str]) -> str:
        """Return a block with its places filled and its bodies written."""
        first, *rest = (shape % words).split(BODY)
        for part in rest:
            indent = first[first.rfind("\n") + 1 :]
            first = first.removesuffix(indent) + self.body(language, indent) + part
        return first

    def source(self, language: text.Language, size: int) -> tuple[str, str]:
        """Return a file's text and the name that it defines first."""
        head, imports, *blocks = language.sections
        words = self.words()
        symbol = words["C"] if language is text.JAVA else words["f"]
        parts = [head % words]
        known = self.exported.get(language.suffix, [])
        for number in range(min(len(known), int(self.rng.random() * 5))):
            module, name = known[int(self.rng.random() * len(known))]
            parts.append(imports % {"module": module, "symbol": name, "i": number})
        length = sum(map(len, parts))
        shapes = tuple(blocks)
        while length < size:
            parts.append(self.block(language, self.pick(shapes), words))
            length += len(parts[-1])
            words = self.words()
        return "".join(parts) + language.tail, symbol


def _folder_name(number: int) -> str:
    """Return a noun, and past the last one two: another folder each time."""
    turn, place = divmod(number, len(text.NOUNS))
    return f"{text.NOUNS[place]}_{text.NOUNS[turn % len(text.NOUNS)]}" if turn else text.NOUNS[place]


def _path(language: text.Language, symbol: str, number: int) -> tuple[str, bool]:
    """Return a file's path and whether it is a test: about twelve files share a folder, one in eight is a test."""
    pkg, sub = _folder_name(number // 60), _folder_name(number // 12 + 7)
    folder = language.folder % {"pkg": pkg, "sub": sub}
    stem = f"{symbol.lower()}_{number}"
    if not (language.tested and number % 8 == 5):
        return f"{folder}/{stem}.{language.suffix}", False
    named = {
        "py": f"tests/{pkg}/{sub}/test_{stem}.py",
        "ts": f"{folder}/{stem}.test.ts",
        "go": f"{folder}/{stem}_test.go",
        "rb": f"spec/{stem}_spec.rb",
    }
    return named[language.suffix], True


def _module_name(language: text.Language, path: str) -> str:
    stem = path.rsplit(".", 1)[0]
    if language is text.PYTHON:
        return stem.removeprefix("src/").replace("/", ".")
    return stem if language in {text.TYPESCRIPT, text.GO} else stem.rsplit("/", 1)[-1]


def _ordinary(forge: Forge, count: int) -> Iterator[tuple[str, str]]:
    """Yield ``count`` files, languages in proportion."""
    total, before = sum(language.share for language in text.LANGUAGES), 0
    for language in text.LANGUAGES:
        wanted = count * (before + language.share) // total - count * before // total
        before += language.share
        for number in range(wanted):
            body, symbol = forge.source(language, forge.size())
            path, is_test = _path(language, symbol, number)
            if not is_test:
                forge.exported.setdefault(language.suffix, []).append((_module_name(language, path), symbol))
            yield path, body


def _lists(forge: Forge) -> dict[str, str]:
    """Return what projects keep in long lists: two lock files and a changelog."""
    names = [f"{forge.pick(text.NOUNS)}-{forge.pick(text.VERBS)}-{i}" for i in range(700)]
    packages = [f'[[package]]\nname = "{name}"\nversion = "{i % 9}.{i % 7}.0"\n' for i, name in enumerate(names)]
    modules = [f'    "node_modules/{name}": {{"version": "{i % 9}.0.{i % 5}"}}' for i, name in enumerate(names)]
    changes = [f"## {9 - i // 10}.{9 - i % 10}.0\n\n- {forge.sentence().capitalize()}.\n" for i in range(90)]
    return {
        "uv.lock": "version = 1\n\n" + "\n".join(packages),
        "package-lock.json": '{\n  "lockfileVersion": 3,\n  "packages": {\n' + ",\n".join(modules) + "\n  }\n}\n",
        "CHANGELOG.md": f"# Changelog\n\n## Unreleased\n\n- `{SYMBOL}` sorts its answer.\n\n" + "\n".join(changes),
    }


def build(
    root: Path,
    *,
    files: int = 650,
    median: int = MEDIAN_BYTES,
    git: bool = False,
    past: bool = False,
    giants: bool = False,
    seed: int = 11,
) -> int:
    """Write the tree below ``root`` (made if need be) and return how many files it has, giants apart.

    ``git`` makes it a repository of one commit, ``past`` one with a history and a second branch.
    """
    forge = Forge(random.Random(seed), median)
    fixed = planted.ROOT_FILES | planted.PLANTED_FILES | _lists(forge)
    made: set[str] = set()
    root.mkdir(parents=True, exist_ok=True)
    with _remembered(root) if past else contextlib.nullcontext() as record:
        for path, text_ in itertools.chain(sorted(fixed.items()), _ordinary(forge, max(0, files - len(fixed)))):
            folder = path.rpartition("/")[0]
            if folder not in made:
                (root / folder).mkdir(parents=True, exist_ok=True)
                made.add(folder)
            body = text_.encode()
            (root / path).write_bytes(body)
            if record:
                record.add(path, body)
    if git:
        commit_all(root)
    if giants:
        write_giants(root)
    return max(files, len(fixed))


def write_giants(root: Path) -> None:
    """Add a 200 MB log and a 5 MB line; the planted name stands once in the middle of each."""
    (root / "assets").mkdir(parents=True, exist_ok=True)
    row = b"12:00:00 tally of the day: nothing to report from the yard, the tide is low\n"
    block = row * (MEBIBYTE // len(row))
    half = GIANT_BYTES // len(block) // 2
    with (root / GIANT_LOG).open("wb") as stream:
        for _ in range(half):
            stream.write(block)
        stream.write(b"12:00:01 " + SYMBOL.encode() + b" took the long way round\n")
        for _ in range(half):
            stream.write(block)
    filler = b'"quay",' * (LONG_LINE_BYTES // 14)
    (root / LONG_LINE).write_bytes(b"[" + filler + b'"' + SYMBOL.encode() + b'",' + filler + b'"end"]\n')


GIT_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Harbor",
    "GIT_AUTHOR_EMAIL": "harbor@example.test",
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "Harbor",
    "GIT_COMMITTER_EMAIL": "harbor@example.test",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    "HOME": os.devnull,
}


def git_environment() -> dict[str, str]:
    """Return nobody's configuration and a fixed clock."""
    return {"PATH": os.environ.get("PATH", os.defpath), **GIT_ENVIRONMENT}


def git_command(*arguments: str) -> list[str]:
    """Return an argument list of git that writes fast, and nothing loose."""
    settings = ("gc.auto=0", "core.looseCompression=0", "pack.compression=1", "fastimport.unpackLimit=1")
    return ["git", *(part for setting in settings for part in ("-c", setting)), *arguments]


def run_git(root: Path, *arguments: str) -> bytes:
    """Run git in a tree; return what it printed."""
    done = subprocess.run(
        git_command(*arguments), cwd=root, env=git_environment(), stdin=subprocess.DEVNULL, check=True,
        capture_output=True,
    )  # fmt: skip
    return done.stdout


def commit_all(root: Path, message: str = "Lay the keel") -> None:
    """Make the tree a repository with one commit of everything in it."""
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "--no-verify", "-m", message)


@contextlib.contextmanager
def _remembered(root: Path) -> Iterator[history.History]:
    """Make the tree a repository that has seen every file that is told, by the time that the block ends."""
    run_git(root, "init", "-q", "-b", "main")
    with subprocess.Popen(
        git_command(*history.FAST_IMPORT), cwd=root, env=git_environment(), stdin=subprocess.PIPE
    ) as importer:
        if importer.stdin is None:
            raise BrokenPipeError
        record = history.History(importer.stdin, lambda rng: Forge(rng).sentence().capitalize())
        yield record
        record.finish()
    if importer.returncode:
        raise subprocess.CalledProcessError(importer.returncode, importer.args)
    run_git(root, "reset", "-q")
    run_git(root, "update-index", "-q", "--refresh")


def main() -> None:
    """Write a tree as the command line says, and print where its known answer lies."""
    parser = argparse.ArgumentParser(description="Write an ordinary project tree.")
    parser.add_argument("root", type=Path)
    parser.add_argument("--files", type=int, default=650)
    parser.add_argument("--median", type=int, default=MEDIAN_BYTES, help="half of the files are smaller, in bytes")
    parser.add_argument("--git", action="store_true", help="a repository of one commit")
    parser.add_argument("--history", action="store_true", help="a repository with a past, and a branch beside main")
    parser.add_argument("--with-giants", action="store_true")
    chosen = parser.parse_args()
    count = build(
        chosen.root, files=chosen.files, median=chosen.median, git=chosen.git, past=chosen.history,
        giants=chosen.with_giants,
    )  # fmt: skip
    print(json.dumps({"files": count, "symbol": SYMBOL, "definition": DEFINITION, "branch": history.BRANCH}))


if __name__ == "__main__":
    main()
