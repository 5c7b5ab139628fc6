"""What a person sees of a run in the Prefect UI, in a real browser without a screen."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from driving import Ask, Packet, Rtch, plant

if TYPE_CHECKING:
    from rtch.server import Server

pytestmark = pytest.mark.services

QUIET = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-extensions",
    "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--virtual-time-budget=20000", "--window-size=1500,1600",
)  # fmt: skip
HOSTILE = """# ![look]({lure}) harpoon <img src="{lure}">
def harpoon():
    return '</code></pre><img src="{lure}">'
"""


def browser() -> str:
    """Return Chromium's path; one that is not installed is a failure, not a skip."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert found, "chromium is missing: run tests/services/install.sh"
    return found


def page(url: str, profile: Path) -> str:
    """Return a page's document as it stands after its scripts have run."""
    argv = [browser(), *QUIET, f"--user-data-dir={profile}", "--dump-dom", url]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(profile), "LC_ALL": "C.UTF-8"}
    ran = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr.decode()[-2000:]
    return ran.stdout.decode()


def post(api_url: str, path: str, body: object) -> Any:
    request = urllib.request.Request(
        f"{api_url}{path}", json.dumps(body).encode(), {"content-type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


class Lure(HTTPServer):
    """A server that a page must not be made to visit; it remembers who came."""

    def __init__(self) -> None:
        visits: list[str] = []

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                visits.append(self.path)
                self.send_error(404)

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        super().__init__(("127.0.0.1", 0), Answer)
        self.visits = visits
        self.url = f"http://127.0.0.1:{self.server_address[1]}/lure.png"


@pytest.fixture(scope="module")
def lure() -> Iterator[Lure]:
    with Lure() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def shown(prefect_server: Server, lure: Lure, tmp_path_factory: pytest.TempPathFactory) -> Packet:
    """A packet that was made as a flow, of a tree that would like to be markup."""
    folder = tmp_path_factory.mktemp("pages")
    root = plant(folder / "zone", {"bait.py": HOSTILE.format(lure=lure.url), "b.py": "from bait import harpoon\n"})
    rtch = Rtch(plant(folder / "home", {}), {"PREFECT_API_URL": prefect_server.api_url})
    return rtch.hydrate(root, Ask("Where is harpoon defined", ["harpoon"]), "--engine", "prefect")


def test_the_page_of_a_flow_run_names_it_and_its_state(shown: Packet, prefect_server: Server, tmp_path: Path) -> None:
    url = shown["run"]["flow_run_url"]
    assert url == f"{prefect_server.ui_url}/runs/flow-run/{shown['run']['flow_run_id']}"
    (run,) = post(
        prefect_server.api_url, "/flow_runs/filter", {"flow_runs": {"id": {"any_": [shown["run"]["flow_run_id"]]}}}
    )
    document = page(url, tmp_path)
    assert run["name"] in document
    assert "Completed" in document


def test_the_page_of_an_artifact_shows_the_evidence_and_no_markup_of_the_tree(
    shown: Packet, prefect_server: Server, lure: Lure, tmp_path: Path
) -> None:
    wanted = {"artifacts": {"flow_run_id": {"any_": [shown["run"]["flow_run_id"]]}}}
    artifacts = post(prefect_server.api_url, "/artifacts/filter", wanted)
    assert {"markdown", "table"} <= {artifact["type"] for artifact in artifacts}
    for artifact in artifacts:
        document = page(f"{prefect_server.ui_url}/artifacts/artifact/{artifact['id']}", tmp_path)
        assert "bait.py" in document
    assert lure.visits == [], "a page fetched an address that the tree chose"
    visited = page(lure.url, tmp_path)
    assert lure.visits, f"the browser does not reach the lure, so nothing was tested: {visited}"
