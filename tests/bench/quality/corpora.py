"""Fetching the trees, each once, through pip and npm.

A tree lies in ``CACHE/corpora/KIND-PACKAGE-VERSION`` and its archive in ``CACHE/dl``, where the harness
of a bench elsewhere puts them too: what the one has fetched, the other finds.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from quality.cases import BenchError, Corpus

Fetch = Callable[[Corpus], Path]
HARNESS = "locbench/corpus.py"


def cache_folder() -> Path:
    """Return where trees and answers are kept: as the environment says, else ``~/.cache/rtch-bench``."""
    named = os.environ.get("LOCBENCH_CACHE") or os.environ.get("RTCH_BENCH_CACHE") or "~/.cache/rtch-bench"
    return Path(named).expanduser().resolve()


def fetcher(bench: Path | None, cache: Path) -> Fetch:
    """Return what fetches a tree: the bench's own harness where there is one, else pip and npm by our hand."""
    if bench is None or not (bench / HARNESS).is_file():
        return lambda corpus: fetch(corpus, cache)
    os.environ["LOCBENCH_CACHE"] = str(cache)
    spec = importlib.util.spec_from_file_location("locbench_corpus", bench / HARNESS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda corpus: Path(module.prepare({"corpus": corpus.model_dump()}))


def fetched(corpus: Corpus, fetch_one: Fetch) -> Path:
    """Return the folder of a tree, fetched where it is missing.

    Raises:
        BenchError: it could not be had.
    """
    try:
        return fetch_one(corpus)
    except (OSError, subprocess.CalledProcessError, tarfile.TarError) as error:
        said = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().rpartition("\n")[2]
        raise BenchError(f"{corpus.folder} could not be fetched: {said or error}") from error


def place_of(corpus: Corpus, cache: Path) -> Path:
    """Return where a tree lies, or would."""
    return cache / "corpora" / corpus.folder


def fetch(corpus: Corpus, cache: Path) -> Path:
    """Return the folder of a tree, downloaded and unpacked where it is missing."""
    place = place_of(corpus, cache)
    if place.is_dir():
        return place
    archive = _archive(corpus, cache / "dl") or _download(corpus, cache / "dl")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        inner = list(Path(scratch).iterdir())
        made = inner[0] if len(inner) == 1 else Path(shutil.copytree(scratch, f"{scratch}/{corpus.folder}"))
        made.rename(place)
    return place


def _archive(corpus: Corpus, folder: Path) -> Path | None:
    names = {
        f"{name}-{corpus.version}{end}"
        for name in (corpus.package, corpus.package.replace("-", "_"))
        for end in (".tar.gz", ".tgz")
    }
    return next((path for path in folder.glob("*") if path.name.lower() in names), None)


def _download(corpus: Corpus, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if corpus.kind == "pypi":
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", corpus.package]
        argv = [*pip, "-d", str(folder), f"{corpus.package}=={corpus.version}"]
    else:
        argv = ["npm", "pack", "--silent", f"{corpus.package}@{corpus.version}"]
    subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    found = _archive(corpus, folder)
    if found is None:
        raise FileNotFoundError(f"{argv[0]} left no source archive of {corpus.package} {corpus.version}")
    return found
