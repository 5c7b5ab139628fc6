import os
import stat
import tempfile
from pathlib import Path

import pytest

from rtch import home
from rtch.errors import ArtifactError

HINT = "; set RTCH_HOME to a folder of your own"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("RTCH_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No home, and a temporary folder of the test's own."""

    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path / f"rtch-{os.getuid()}"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_without_a_word_the_folders_are_those_of_xdg(tmp_path: Path) -> None:
    assert home.cache_dir() == tmp_path / ".cache" / "rtch"
    assert home.data_dir() == tmp_path / ".local" / "share" / "rtch"
    assert [mode(path) for path in (home.cache_dir(), home.data_dir())] == [0o700, 0o700]


def test_xdg_variables_count_when_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert home.locations() == (tmp_path / "c" / "rtch", tmp_path / ".local" / "share" / "rtch")


@pytest.mark.parametrize("named", ["{}/own", "~/own", "own", "x/../own"])
def test_rtch_home_overrides_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("RTCH_HOME", named.format(tmp_path))
    assert home.locations() == (tmp_path / "own" / "cache", tmp_path / "own")
    assert home.cache_dir() == tmp_path / "own" / "cache"
    assert home.data_dir() == tmp_path / "own"


def test_the_store_makes_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "own"))
    assert home.store_dir() == tmp_path / "own" / "cache" / "store"
    assert not home.store_dir().exists()


def test_an_empty_rtch_home_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", "")
    assert home.data_dir() == tmp_path / ".local" / "share" / "rtch"


def test_asking_where_makes_nothing(tmp_path: Path) -> None:
    home.locations()
    assert list(tmp_path.iterdir()) == []


def test_each_kind_of_data_has_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "own"))
    folders = [home.packets_dir(), home.intakes_dir(), home.drift_dir("zone"), home.server_dir()]
    names = [path.relative_to(tmp_path / "own").as_posix() for path in folders]
    assert names == ["packets", "intakes", "drift/zone", "server"]
    assert all(path.is_dir() and mode(path) == 0o700 for path in folders)
    assert home.server_file() == tmp_path / "own" / "server.json"
    assert not home.server_file().exists()


def test_our_folders_are_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / ".cache" / "rtch").mkdir(parents=True, mode=0o755)
    assert mode(home.cache_dir()) == 0o700
    assert mode(tmp_path / ".cache") != 0o700, "a folder that is shared with other programs is not"


def test_a_chosen_home_may_be_read_by_others_but_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("RTCH_HOME", str(own))
    for given, kept in ((0o755, 0o755), (0o777, 0o755), (0o770, 0o750)):
        own.chmod(given)
        assert mode(home.data_dir()) == kept
    assert mode(home.cache_dir()) == 0o700


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = home.data_dir()
    monkeypatch.setattr(os, "getuid", lambda: os.stat(place).st_uid + 1)  # noqa: PTH116  Path.stat may call getuid one day
    with pytest.raises(ArtifactError) as caught:
        home.data_dir()
    assert str(caught.value) == f"{place} belongs to user {place.stat().st_uid}{HINT}"


def test_a_file_in_the_way_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "file"))
    with pytest.raises(ArtifactError) as caught:
        home.data_dir()
    assert str(caught.value) == f"{tmp_path / 'file'} is not a folder{HINT}"
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "file" / "below"))
    with pytest.raises(ArtifactError) as caught:
        home.data_dir()
    assert str(caught.value) == f"{tmp_path / 'file' / 'below'} cannot be used: Not a directory{HINT}"


def test_a_link_to_a_folder_of_ones_own_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "own").symlink_to(tmp_path / "real")
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "own"))
    home.packets_dir()
    assert (tmp_path / "real" / "packets").is_dir()


def test_without_a_home_the_cache_is_temporary(homeless: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert home.locations() == (None, None)
    assert home.cache_dir() == homeless
    assert mode(homeless) == 0o700
    assert [record.getMessage() for record in caplog.records] == [
        f"there is no home folder to keep the cache in{HINT}: the cache lies in {homeless} for this run"
    ]


def test_without_a_home_nothing_is_kept_for_good(homeless: Path) -> None:
    with pytest.raises(ArtifactError) as caught:
        home.data_dir()
    assert str(caught.value) == f"there is no home folder to keep the data in{HINT}"
    assert caught.value.exit_code == 6


def test_a_link_in_the_temporary_folder_is_no_cache(homeless: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir(mode=0o755)
    homeless.symlink_to(tmp_path / "precious")
    with pytest.raises(ArtifactError) as caught:
        home.cache_dir()
    assert str(caught.value) == f"{homeless} is a link{HINT}"
    assert mode(tmp_path / "precious") == 0o755


def test_an_unusable_home_leaves_a_temporary_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    assert home.cache_dir() == tmp_path / f"rtch-{os.getuid()}"
    assert len(caplog.records) == 1
