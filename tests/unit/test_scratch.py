"""Temporary folders: whose they are, and what is left of those of killed processes."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rtch.scratch import held_folder

PREFIX = "rtch-git-"
HOLDER = (
    "import sys, time; from rtch.scratch import held_folder\n"
    "with held_folder('rtch-git-', sys.argv[1]) as folder:\n"
    "    (folder / 'index').write_text('x'); (folder / 'objects').mkdir()\n"
    "    (folder / 'objects' / 'away').symlink_to(sys.argv[2]); (folder / 'away').symlink_to(sys.argv[2])\n"
    "    print(folder, flush=True); time.sleep(60)\n"
)


def names(folder: Path) -> list[str]:
    return sorted(place.name for place in folder.iterdir())


def holder(parent: Path, away: Path) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", HOLDER, str(parent), str(away)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(str(parent))
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_folder_is_private_and_removed(tmp_path: Path) -> None:
    with held_folder(PREFIX, str(tmp_path)) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert folder.parent == tmp_path
        (folder / "a").write_text("x")
    assert names(tmp_path) == []


def test_folder_of_a_killed_process_is_removed_and_what_its_links_lead_to_is_not(tmp_path: Path) -> None:
    parent, away = tmp_path / "tmp", tmp_path / "away"
    parent.mkdir()
    away.mkdir()
    (away / "precious").write_text("x")
    process = holder(parent, away)
    end(process)
    assert len(names(parent)) == 1
    with held_folder(PREFIX, str(parent)) as folder:
        assert names(parent) == [folder.name]
    assert names(away) == ["precious"]


def test_folder_that_a_process_holds_is_left(tmp_path: Path) -> None:
    process = holder(tmp_path, tmp_path)
    try:
        with held_folder(PREFIX, str(tmp_path)), held_folder(PREFIX, str(tmp_path)):
            assert len(names(tmp_path)) == 3
        assert len(names(tmp_path)) == 1
        assert (tmp_path / names(tmp_path)[0] / "index").read_text() == "x"
    finally:
        end(process)


def test_links_files_and_other_names_are_left(tmp_path: Path) -> None:
    parent, away = tmp_path / "tmp", tmp_path / "away"
    for folder in (parent / "rtch-other", away):
        folder.mkdir(parents=True)
        (folder / "precious").write_text("x")
    (parent / "rtch-git-link").symlink_to(away)
    (parent / "rtch-git-file").write_text("x")
    with held_folder(PREFIX, str(parent)):
        pass
    assert names(parent) == ["rtch-git-file", "rtch-git-link", "rtch-other"]
    assert names(away) == names(parent / "rtch-other") == ["precious"]


def test_folder_of_another_user_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rtch-git-x").mkdir()
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    with held_folder(PREFIX, str(tmp_path)):
        pass
    assert names(tmp_path) == ["rtch-git-x"]


def test_folder_that_was_swept_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def flock(descriptor: int, how: int) -> None:
        tried.append(how)
        if len(tried) == 1:
            for name in names(tmp_path):
                (tmp_path / name).rmdir()
        if len(tried) == 2:
            raise BlockingIOError

    monkeypatch.setattr(fcntl, "flock", flock)
    with held_folder("fresh-", str(tmp_path)) as folder:
        assert folder.is_dir()
        assert len(tried) == 3


def test_folders_are_made_where_none_can_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rtch-git-x").mkdir()

    def flock(descriptor: int, how: int) -> None:
        raise OSError(38, "not implemented")

    monkeypatch.setattr(fcntl, "flock", flock)
    with held_folder(PREFIX, str(tmp_path)) as folder:
        assert folder.is_dir()
    assert names(tmp_path) == ["rtch-git-x"]
