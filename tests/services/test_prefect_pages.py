"""What a person sees of a run in the Prefect UI, in a real browser without a screen."""

from __future__ import annotations

import json
import re
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
ASKED = """\
goal: Where is harpoon defined
target_profile: code_path
fanout_level: normal
mutation_risk: read_only
expected_output: hydration_packet
enough_evidence_definition: at least 1 surface
explicit_seeds: [harpoon]
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


@pytest.fixture(scope="module")
def drifted(prefect_server: Server, lure: Lure, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """An investigation as a flow in which something drifted, of a tree that would like to be markup."""
    folder = tmp_path_factory.mktemp("drifted")
    root = plant(folder / "harbor", {"bait.py": HOSTILE.format(lure=lure.url), "b.py": "from bait import harpoon\n"})
    plant(folder, {"hunting.yaml": ASKED})
    rtch = Rtch(plant(folder / "home", {}), {"PREFECT_API_URL": prefect_server.api_url})
    asked = ("drift", str(folder / "hunting.yaml"), "--root", str(root), "--format", "json")
    assert rtch.run(*asked, timeout=300).code == 7
    (root / "bait.py").write_text(HOSTILE.format(lure=lure.url).replace("return", f"# ![look]({lure.url})\n    return"))
    ran = rtch.run(*asked, timeout=300)
    assert ran.code == 1, ran.err
    (found,) = json.loads(ran.out)["investigations"]
    assert isinstance(found, dict)
    return found


def test_the_page_of_an_investigation_says_that_it_drifted_and_draws_every_stage(
    drifted: dict[str, Any], prefect_server: Server, tmp_path: Path
) -> None:
    assert [one["kind"] for one in drifted["findings"] if one["level"] != "note"] == ["edited"]
    document = page(drifted["flow_run_url"], tmp_path)
    assert "harbor: drift of hunting" in document
    assert ">Drift<" in re.sub(r"\s*([<>])\s*", r"\1", document)
    with urllib.request.urlopen(
        f"{prefect_server.api_url}/flow_runs/{drifted['flow_run_id']}/graph-v2", timeout=30
    ) as got:
        nodes = json.load(got)["nodes"]
    labels = {node["label"] for _, node in nodes}
    assert {"intake", "orient", "scout", "survey", "plan", "hydrate", "packet"} <= labels
    assert {"copies", "notices", "references", "contradictions"} <= labels
    assert any(label.startswith("probe_") for label in labels)
    assert sum(len(node["parents"]) for _, node in nodes) >= len(nodes) - 3, "the edges are not drawn"


def test_the_artifacts_of_an_investigation_show_its_findings_and_no_markup_of_the_tree(
    drifted: dict[str, Any], prefect_server: Server, lure: Lure, tmp_path: Path
) -> None:
    lure.visits.clear()
    wanted = {"artifacts": {"flow_run_id": {"any_": [drifted["flow_run_id"]]}}}
    artifacts = post(prefect_server.api_url, "/artifacts/filter", wanted)
    assert {"markdown", "table", "progress"} <= {artifact["type"] for artifact in artifacts}
    shown = {artifact["type"]: "" for artifact in artifacts}
    for artifact in artifacts:
        document = page(f"{prefect_server.ui_url}/artifacts/artifact/{artifact['id']}", tmp_path)
        shown[artifact["type"]] += document
    assert "bait.py" in shown["markdown"]
    assert "edited" in shown["table"]
    assert lure.visits == [], "a page fetched an address that the tree chose"


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
