"""The files of ``tree`` whose content is known: where its answer lies, and what stands at its root."""

from __future__ import annotations

SYMBOL = "settle_parcel_route"
PLANTED_FILES = {
    "src/harbor/routing/settle.py": f'''"""How a parcel finds its way to a quay."""

from __future__ import annotations

DEFAULT_HOPS = 4


def {SYMBOL}(parcel: str, quays: list[str], hops: int = DEFAULT_HOPS) -> list[str]:
    """Return the quays that a parcel passes, nearest first.

    A parcel without a quay stays where it is.
    """
    route = [quay for quay in quays if quay != parcel]
    return sorted(route)[:hops]


def describe(route: list[str]) -> str:
    """Return the route as one line."""
    return " -> ".join(route)
''',
    "src/harbor/dispatch/planner.py": f'''"""The day's plan, made from settled routes."""

from __future__ import annotations

from harbor.routing.settle import {SYMBOL}


def plan_day(parcels: list[str], quays: list[str]) -> dict[str, list[str]]:
    """Settle the route of every parcel."""
    return {{parcel: {SYMBOL}(parcel, quays) for parcel in parcels}}
''',
    "tests/routing/test_settle.py": f"""from harbor.routing.settle import {SYMBOL}


def test_route_is_sorted():
    assert {SYMBOL}("p", ["b", "a"]) == ["a", "b"]
""",
    "docs/routing/settling.md": f"""# Settling

## How a route is settled

The function `{SYMBOL}` picks the quays.

## Hops

At most `max_route_hops` of them, see `config/routing.yaml`.
""",
    "config/routing.yaml": """version: 1
routing:
  max_route_hops: 4
  settle_with: harbor.routing.settle
""",
}
ROOT_FILES = {
    "README.md": """# Harbor

Moves parcels between quays.

## Layout

See [routing](docs/routing/settling.md).
""",
    "ARCHITECTURE.md": """# Architecture

This page is the source of truth for the layers.

## Layers

- routing knows no dispatch
- dispatch knows routing
""",
    "pyproject.toml": """[project]
name = "harbor"
version = "9.9.0"
dependencies = ["tide>=2"]
""",
    "package.json": """{
  "name": "harbor-web",
  "private": true,
  "scripts": {"build": "tsc"}
}
""",
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
    "go.mod": "module example.test/harbor\n\ngo 1.22\n",
    "Gemfile": 'source "https://example.test"\ngem "tide"\n',
    "Makefile": "all: build\n\nbuild:\n\t./scripts/build.sh\n\n.PHONY: all build\n",
    ".gitignore": "build/\n*.log\n!assets/*.log\nnode_modules/\n",
}
