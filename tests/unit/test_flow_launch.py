"""A client of a Prefect server: its settings, and its working folder."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from rtch import home
from rtch.flows import launch
from rtch.server import Server, foreign

OURS = Server(
    pid=7,
    started="1",
    port=4201,
    api_url="http://127.0.0.1:4201/api",
    ui_url="http://127.0.0.1:4201",
    home="/data/server",
)


def test_a_client_of_our_server_keeps_no_setting_for_another() -> None:
    inherited = {"PATH": "/bin", "PREFECT_API_KEY": "k", "PREFECT_PROFILE": "work", "PREFECT_LOGGING_LEVEL": "DEBUG"}
    assert launch.client_settings(inherited, OURS, Path("/data/client")) == {
        "PATH": "/bin",
        "PREFECT_LOGGING_LEVEL": "DEBUG",
        "PREFECT_HOME": "/data/client",
        "PREFECT_API_SSL_CERT_FILE": "/data/client/one-certificate.pem",
        "PREFECT_CLIENT_CSRF_SUPPORT_ENABLED": "false",
        "PREFECT_API_URL": "http://127.0.0.1:4201/api",
        "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "WARNING",
        "DO_NOT_TRACK": "1",
        "PYTHONSAFEPATH": "1",
    }


def test_a_client_of_a_configured_server_keeps_what_leads_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_UI_URL", raising=False)
    inherited = {"PREFECT_API_KEY": "k", "PREFECT_HOME": "/home/u/.prefect"}
    made = launch.client_settings(inherited, foreign("http://host/api"), Path("/data/client"))
    assert made.items() >= inherited.items()
    assert made["PREFECT_API_URL"] == "http://host/api"


def test_the_one_certificate_can_be_loaded(tmp_path: Path) -> None:
    place = tmp_path / launch.CERTIFICATE
    launch._leave_certificate(place)
    launch._leave_certificate(place)
    assert len(ssl.create_default_context(cafile=place).get_ca_certs()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [launch.CERTIFICATE]


def test_the_environment_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_KEY", "k")
    before = dict(os.environ)
    with launch._environment({"ONLY": "this"}):
        assert dict(os.environ) == {"ONLY": "this"}
    assert dict(os.environ) == before


def test_the_working_folder_is_given_back(tmp_path: Path) -> None:
    before = Path.cwd()
    with launch._inside(tmp_path):
        assert Path.cwd() == tmp_path
    assert Path.cwd() == before


def test_a_working_folder_that_is_gone_is_no_obstacle(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, sys; from rtch.flows import launch\n"
        "gone = sys.argv[1] + '/gone'; os.mkdir(gone); os.chdir(gone); os.rmdir(gone)\n"
        "with launch._inside(pathlib.Path(sys.argv[1])): print(os.getcwd())\n"
    )
    ran = subprocess.run([sys.executable, "-P", "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert ran.stdout == f"{tmp_path}\n"


def test_the_module_itself_does_not_load_prefect() -> None:
    code = "import rtch.flows.launch, rtch.flows.pages, sys; print('prefect' in sys.modules)"
    ran = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_a_relative_home_is_meant_from_the_folder_that_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", "home")
    monkeypatch.chdir(tmp_path)
    wanted = home.locations()
    for for_children in (False, True):
        with launch.client_of(foreign("http://127.0.0.1:9/api"), for_children=for_children):
            assert home.locations() == wanted
            assert ("PREFECT_API_URL" in os.environ) == for_children
        assert os.environ["RTCH_HOME"] == "home"
