"""Running a flow from the command line: the server, its client's settings, and what came of it.

Prefect is imported by the functions here and not by the module, for its settings are read when it
is loaded: from the environment, and from files in the working folder.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from rtch import home, server
from rtch.drift.investigation import Wishes
from rtch.entry import Options, starting_folder
from rtch.errors import RtchError, ToolError
from rtch.fleets import read_fleet
from rtch.flows.asking import zone_of
from rtch.flows.parameters import DriftWishes, RunOptions, drift_tags, intake_values, run_tags
from rtch.flows.watching import is_gone, no_patience_without
from rtch.models.drift import DriftReport
from rtch.models.intake import Intake
from rtch.models.packet import Packet
from rtch.runner_names import asked_runner, runner_named
from rtch.workspace import find_root

CERTIFICATE = "one-certificate.pem"
TASK_LOGGER = "prefect.task_runs"
RUN_LOGGERS = ("prefect.flow_runs", TASK_LOGGER)

CLIENT_SETTINGS = {
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "WARNING",
    "DO_NOT_TRACK": "1",
}


class Launched(NamedTuple):
    """What a flow returned, and where its run can be looked at."""

    value: Any
    flow_run_id: str
    url: str


def run_flow(
    module: str,
    parameters: Mapping[str, Any],
    *,
    tags: Sequence[str] = (),
    runner: str = "",
    say: Callable[[str], None] = lambda _text: None,
) -> Launched:
    """Run the flow that bears its module's last name, on the server that is up, configured or started for it.

    The working folder of this process is rtch's own meanwhile, so paths among the parameters have
    to be absolute.

    Args:
        module: such as ``rtch.flows.hydrate``.
        parameters: the flow's parameters, shown in the UI.
        tags: of the flow run.
        runner: what was asked to carry its tasks; the flow itself is told by its parameters.
        say: is told in words where the run goes.

    Raises:
        RtchError: whatever the flow itself raised.
        ToolError: the server cannot be started or reached.
    """
    # A wrong name is told before a server is started.
    in_this_process = runner_named(asked_runner(runner)).name == "threads"
    found, started = server.ensure()
    if started:
        say(f"started a Prefect server, which rtch down stops: {found.ui_url}")
    with client_of(found, for_children=not in_this_process):
        flow = getattr(importlib.import_module(module), module.rpartition(".")[2])

        def tell(_flow: Any, flow_run: Any, _state: Any) -> None:
            say(f"flow run {_address(found, flow_run.id)}")

        return _call(flow.with_options(on_running=[tell]), found, parameters, tags)


def hydrate_as_flow(intake: Intake, options: Options, *, say: Callable[[str], None] = lambda _text: None) -> Packet:
    """Run the hydrate flow from the working folder, and say where the run can be looked at.

    Raises:
        RtchError: whatever a direct run raises, and a ToolError where Prefect cannot carry it.
    """
    folder = starting_folder(options)
    tags = run_tags(intake, find_root(folder, options.root).root)
    parameters = {"intake": intake_values(intake), "options": RunOptions.of(options, folder)}
    packet: Packet = run_flow("rtch.flows.hydrate", parameters, tags=tags, runner=options.runner, say=say).value
    return packet


def drift_as_flow(  # noqa: PLR0913  what an investigation takes
    saved: Sequence[str],
    options: Options,
    wishes: Wishes,
    *,
    root: Path | None = None,
    baseline: Path | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> DriftReport:
    """Run the drift flow from the working folder, and say where the run can be looked at.

    Args:
        saved: paths or names of saved intakes.
        options: how it is carried out.
        wishes: what to accept or suppress, and what counts.
        root: the zone root; None is found from the working folder.
        baseline: the baseline's file, for one question alone.
        say: is told in words where the run goes.

    Raises:
        ToolError: Prefect cannot carry it.
    """
    folder = starting_folder(options)
    chosen = zone_of(replace(options, root=root or options.root, cwd=folder))
    parameters = {
        "saved": list(saved),
        "baseline": None if baseline is None else folder / baseline,
        "options": RunOptions.of(replace(options, root=chosen), folder),
        "wishes": DriftWishes.of(wishes),
    }
    return _reported("rtch.flows.drift", parameters, drift_tags(saved, chosen), options.runner, say)


def fleet_as_flow(path: Path, *, say: Callable[[str], None] = lambda _text: None) -> DriftReport:
    """Run the fleet flow on a fleet's file, and say where the run can be looked at.

    Raises:
        IntakeError: the file is no fleet.
        ToolError: Prefect cannot carry it.
    """
    parameters = {"path": path.absolute()}
    return _reported("rtch.flows.fleet", parameters, ["rtch", "drift", "fleet"], read_fleet(path).runner, say)


def _reported(
    module: str, parameters: Mapping[str, Any], tags: Sequence[str], runner: str, say: Callable[[str], None]
) -> DriftReport:
    """Return the report of a flow, also where it ended as one that is not clean."""
    try:
        report: DriftReport = run_flow(module, parameters, tags=tags, runner=runner, say=say).value
    except RtchError as error:
        # Its class is in a module that brings Prefect along, which this one must not.
        kept = getattr(error, "report", None)
        if not isinstance(kept, DriftReport):
            raise
        report = kept
    return report


def _call(flow: Any, found: server.Server, parameters: Mapping[str, Any], tags: Sequence[str]) -> Launched:
    import httpx  # noqa: PLC0415  comes with Prefect
    from prefect import tags as tagged  # noqa: PLC0415  read with its settings in place
    from prefect.exceptions import PrefectException  # noqa: PLC0415
    from prefect.utilities.annotations import quote  # noqa: PLC0415

    with _settings_of_run(found.api_url), no_patience_without(found), tagged(*tags):
        try:
            state = flow(**parameters, return_state=True)
        except (httpx.HTTPError, PrefectException, RuntimeError, AssertionError) as error:
            # What goes wrong in the flow itself is in the state, so this is Prefect's own.
            raise _not_carried(found, error) from error
        try:
            value = state.result()
        except (httpx.HTTPError, AssertionError) as error:
            # A client that has lost its patience in the middle of a request holds that this cannot be.
            if isinstance(error, AssertionError) and not is_gone(found):
                raise
            raise _not_carried(found, error) from error
    run_id = state.state_details.flow_run_id
    return Launched(value.unquote() if isinstance(value, quote) else value, str(run_id), _address(found, run_id))


def _not_carried(found: server.Server, error: Exception) -> ToolError:
    return ToolError(
        f"the Prefect API at {found.api_url} could not carry the run: {error}",
        hint="see rtch status, or use rtch hydrate, which needs no server",
    )


def _settings_of_run(api_url: str) -> contextlib.AbstractContextManager[Any]:
    """Send a run to an API, without a heartbeat.

    The heartbeat's thread sleeps in whole seconds and a run waits for it; it is for runs that nobody
    watches. The environment cannot say None. Where the address is right already the settings are
    copied: ``temporary_settings`` builds all of them anew, which costs as much as six tasks.
    """
    from prefect.context import SettingsContext, get_settings_context  # noqa: PLC0415
    from prefect.settings import (  # noqa: PLC0415
        PREFECT_API_URL,
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
        temporary_settings,
    )

    context = get_settings_context()
    if context.settings.api.url != api_url:
        return temporary_settings({PREFECT_API_URL: api_url, PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None})
    flows = context.settings.flows.model_copy(update={"heartbeat_frequency": None})
    # A copy as well, for this run may have to lose its patience.
    settings = context.settings.model_copy(update={"flows": flows, "client": context.settings.client.model_copy()})
    return SettingsContext(profile=context.profile, settings=settings)


def _address(found: server.Server, run_id: UUID) -> str:
    return f"{found.ui_url}/runs/flow-run/{run_id}"


@contextlib.contextmanager
def client_of(found: server.Server, *, for_children: bool = False) -> Iterator[None]:
    """Make this process a client of a server, and keep settings of others' folders out.

    A ``.env`` or ``prefect.toml`` in the working folder can name a logging configuration, and that
    can name anything to be called; the working folder may be somebody else's tree.

    Args:
        found: the server.
        for_children: keep the environment as a client's meanwhile, for processes that are started to run flows.
    """
    client = home.private_dir(home.data_dir() / "prefect-client")
    if found.ours:
        _leave_certificate(client / CERTIFICATE)
    # A relative home is meant from the folder that is left now.
    homed = dict(os.environ) | ({"RTCH_HOME": str(home.data_dir())} if os.environ.get("RTCH_HOME") else {})
    wanted = client_settings(homed, found, client)
    with _inside(client), _environment(homed), contextlib.ExitStack() as kept:
        # A program that has loaded Prefect already keeps its own settings, but for the address.
        if for_children or "prefect" not in sys.modules:
            kept.enter_context(_environment(wanted))
        import prefect.main  # noqa: F401, PLC0415  the settings are read by this import

        if not for_children:
            kept.close()
        log_to_the_server_alone()
        # That a task ended is its state already; a record of each costs as much as the task.
        logging.getLogger(TASK_LOGGER).setLevel(logging.WARNING)
        yield


def log_to_the_server_alone() -> None:
    """Keep the logs of runs off the terminal, which has the result and the error, and no trace of each."""
    for name in RUN_LOGGERS:
        logging.getLogger(name).propagate = False


def _leave_certificate(path: Path) -> None:
    """Leave one certificate where a client of the loopback server finds all that it trusts.

    Prefect reads the whole bundle for each of its clients, five in a run, also where the API is plain
    HTTP: 24 ms each against half of one.
    """
    if path.exists():
        return
    import certifi  # noqa: PLC0415  comes with Prefect

    end = "-----END CERTIFICATE-----\n"
    first = Path(certifi.where()).read_text(encoding="utf-8").partition(end)[0]
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(first[first.index("-----BEGIN") :] + end, encoding="ascii")
    temporary.replace(path)


def client_settings(inherited: Mapping[str, str], found: server.Server, client: Path) -> dict[str, str]:
    """Return the environment that a client of a server reads its settings from."""
    kept = dict(inherited)
    if found.ours:
        # Keys and profiles are for other servers than this one.
        kept = {
            name: value
            for name, value in inherited.items()
            if not name.startswith("PREFECT_") or name.startswith("PREFECT_LOGGING_")
        }
        # Not the server's home: two programs on one database block each other.
        kept["PREFECT_HOME"] = str(client)
        kept["PREFECT_API_SSL_CERT_FILE"] = str(client / CERTIFICATE)
        # Our server gives no such token, and each client would ask for one first.
        kept["PREFECT_CLIENT_CSRF_SUPPORT_ENABLED"] = "false"
    # Prefect starts processes of its own; they must not import from their working folder.
    return CLIENT_SETTINGS | kept | {"PREFECT_API_URL": found.api_url, "PYTHONSAFEPATH": "1"}


@contextlib.contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    _replace_environment(wanted)
    try:
        yield
    finally:
        _replace_environment(before)


def _replace_environment(wanted: Mapping[str, str]) -> None:
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    os.environ.update(wanted)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    try:
        before = Path.cwd()
    except FileNotFoundError:
        before = None
    os.chdir(folder)
    try:
        yield
    finally:
        if before is not None:
            os.chdir(before)
