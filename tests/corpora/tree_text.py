"""The words and the file shapes that ``tree`` builds its project from.

A shape is a text with ``%(x)s`` places, its sections parted by lines of ``~~~``: how a file of the
language begins, how it imports, then one block or more to repeat. None of it was ever run.
"""

from __future__ import annotations

from dataclasses import dataclass


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NOUNS = _words(
    """
    anchor bale barge beacon berth buoy cabin cargo chart convoy crane crate crew customs deck dock draft ferry fleet
    fuel gangway gate hatch haul hold hull jetty keel lading lantern ledge lighter lock manifest mooring parcel pier
    pilot port quay ramp rigging route rudder seal shed sluice spar stern stow tally tide tow tug vessel wake warehouse
    weigh wharf winch yard
    """
)
VERBS = _words(
    """
    admit assign balance bind clear collect compare count defer derive detect drain estimate expand fetch fold gather
    grade hoist index inspect join limit list load mark measure merge move narrow observe open order pack park plan
    pledge prune query rank record release repair resolve scan settle shift sort split stage store sum sweep tally test
    trace track trim unload verify weigh
    """
)
PLAIN = _words(
    """
    the a each every some this that one first last next empty late early known spare heavy light when where after before
    until unless because while and or but is was stays moves waits counts keeps loses holds carries night morning week
    north south slow quick between under over
    """
)


@dataclass(frozen=True, slots=True)
class Language:
    """How files of one language look; ``share`` is out of the sum of all shares."""

    suffix: str
    share: int
    folder: str
    shape: str
    tail: str = ""
    tested: bool = False

    @property
    def sections(self) -> tuple[str, ...]:
        return tuple(self.shape.removeprefix("\n").split("~~~\n"))


PYTHON = Language(
    "py",
    30,
    "src/%(pkg)s/%(sub)s",
    '''
"""%(S)s."""

from __future__ import annotations

import logging
~~~
from %(module)s import %(symbol)s
~~~


def %(f)s(%(a)s: int, %(b)s: list[str]) -> dict[str, int]:
    """%(S)s.

    %(S2)s.
    """
    %(c)s = {}
    for index, name in enumerate(%(b)s):
        if index == %(n)s + %(a)s:
            continue
        %(c)s[name] = len(name) + %(a)s  # %(s)s
    return %(c)s
~~~


class %(C)s:
    """%(S)s."""

    limit = %(n)s

    def __init__(self, %(a)s: str) -> None:
        self.%(a)s = %(a)s
        self._%(b)s: list[int] = []

    def %(v)s(self, %(c)s: int) -> bool:
        """%(S2)s."""
        if %(c)s > self.limit:
            raise ValueError("%(s)s")
        self._%(b)s.append(%(c)s)
        return bool(self._%(b)s)
~~~


%(K)s = %(n)s
"""%(S)s."""
''',
    tested=True,
)
TYPESCRIPT = Language(
    "ts",
    14,
    "web/src/%(sub)s",
    """
// %(S)s.
~~~
import { %(symbol)s } from "%(module)s";
~~~

/** %(S)s. */
export function %(m)s(%(a)s: number, %(b)s: string[]): Map<string, number> {
  const %(c)s = new Map<string, number>();
  for (const name of %(b)s) {
    if (name.length > %(n)s) continue; // %(s)s
    %(c)s.set(name, name.length + %(a)s);
  }
  return %(c)s;
}
~~~

export interface %(C)s {
  %(a)s: string;
  %(b)s?: number;
  readonly %(c)s: boolean; // %(s)s
}
~~~

export class %(C)sStore {
  private %(a)s = %(n)s;

  %(v)s(%(b)s: string): string {
    // %(S2)s.
    return `${this.%(a)s}:${%(b)s}`;
  }
}
""",
    tested=True,
)
GO = Language(
    "go",
    9,
    "services/%(pkg)s/%(sub)s",
    """
// Package %(a)s: %(s)s.
package %(a)s
~~~

import %(symbol)s "example.test/%(module)s"
~~~

// %(C)s: %(s)s.
type %(C)s struct {
	%(A)s string
	%(B)s int // %(s2)s
}
~~~

// %(M)s: %(s)s.
func %(M)s(%(a)s int, %(b)s []string) (int, error) {
	total := %(a)s
	for _, name := range %(b)s {
		if len(name) == %(n)s {
			return 0, errors.New("%(s2)s")
		}
		total += len(name)
	}
	return total, nil
}
""",
    tested=True,
)
RUST = Language(
    "rs",
    9,
    "crates/%(pkg)s/src",
    """
//! %(S)s.
~~~
use crate::%(module)s::%(symbol)s;
~~~

/// %(S)s.
#[derive(Debug, Clone)]
pub struct %(C)s {
    pub %(a)s: String,
    %(b)s: u32, // %(s)s
}
~~~

impl Default for %(C)sGuard {
    fn default() -> Self {
        // %(S2)s.
        Self { %(a)s: %(n)s }
    }
}
~~~

/// %(S)s.
pub fn %(f)s(%(a)s: u32, %(b)s: &[&str]) -> Option<u32> {
    let mut %(c)s = %(a)s;
    for name in %(b)s {
        if name.len() == %(n)s {
            return None; // %(s)s
        }
        %(c)s += name.len() as u32;
    }
    Some(%(c)s)
}
""",
)
JAVA = Language(
    "java",
    7,
    "java/src/main/java/test/example/%(sub)s",
    """
package test.example.%(a)s;

/** %(S)s. */
public final class %(C)s {
~~~
    // uses test.example.%(module)s.%(symbol)s
~~~

    /** %(S)s. */
    public int %(m)s(int %(a)s, java.util.List<String> %(b)s) {
        int %(c)s = %(a)s;
        for (String name : %(b)s) {
            if (name.length() > %(n)s) {
                throw new IllegalStateException("%(s)s");
            }
            %(c)s += name.length();
        }
        return %(c)s;
    }
~~~

    // %(S2)s.
    private static final int %(K)s = %(n)s;
""",
    tail="}\n",
)
C = Language(
    "c",
    8,
    "native/%(pkg)s",
    """
/* %(S)s. */
#include <stddef.h>
~~~
#include "%(module)s.h" /* %(symbol)s */
~~~

/* %(S)s. */
static int
%(f)s(int %(a)s, const char **%(b)s, size_t count)
{
    int %(c)s = %(a)s;
    for (size_t i = 0; i < count; i++) {
        if (%(b)s[i] == NULL)
            return -%(n)s; /* %(s)s */
        %(c)s += (int)%(b)s[i][0];
    }
    return %(c)s;
}
~~~

#define %(K)s %(n)s /* %(s)s */
~~~

struct %(f)s_row {
    const char *%(a)s;
    unsigned %(b)s; /* %(s)s */
};
""",
)
RUBY = Language(
    "rb",
    5,
    "lib/%(pkg)s/%(sub)s",
    """
# frozen_string_literal: true

# %(S)s.
~~~
require_relative "%(module)s"
~~~

class %(C)s
  # %(S)s.
  def %(f)s(%(a)s, %(b)s)
    %(b)s.each do |name|
      return nil if name.size > %(n)s # %(s)s
      %(a)s += name.size
    end
    %(a)s
  end
end
""",
    tested=True,
)
SHELL = Language(
    "sh",
    3,
    "scripts/%(sub)s",
    """
#!/bin/sh
# %(S)s.
set -eu
~~~
. ./%(module)s.sh # %(symbol)s
~~~

# %(S)s.
%(f)s() {
    %(a)s="$1"
    for name in $%(a)s; do
        if [ "$name" = "%(b)s" ]; then
            echo "%(s)s" >&2
            return %(n)s
        fi
    done
}
""",
)
MARKDOWN = Language(
    "md",
    9,
    "docs/%(sub)s",
    """
# %(S)s
~~~

See [%(symbol)s](%(module)s.md).
~~~

## %(S)s

%(S2)s, %(s)s. The call `%(f)s(%(n)s)` returns the %(a)s of the %(b)s.
%(S)s; %(s2)s.
~~~

### %(C)s

- %(s)s
- %(s2)s
- `%(K)s` is %(n)s
~~~

```python
# %(s)s
%(c)s = %(f)s(%(n)s, [])
```
""",
)
RST = Language(
    "rst",
    3,
    "docs/reference/%(sub)s",
    """
Reference
=========
~~~

See :doc:`%(module)s` for %(symbol)s.
~~~

%(f)s
------------------------------------

%(S)s.

.. code-block:: python

    %(f)s(%(n)s)

%(S2)s.
""",
)
YAML = Language(
    "yaml",
    4,
    "config/%(sub)s",
    """
# %(S)s.
version: 1
~~~
# with %(module)s: %(symbol)s
~~~
%(f)s_%(n)s_%(i)s:
  %(a)s: %(n)s
  %(b)s:
    - %(v)s
    - %(c)s
  note: %(s)s  # %(s2)s
""",
)
TOML = Language(
    "toml",
    2,
    "config/%(sub)s",
    """
# %(S)s.
version = 1
~~~
# with %(module)s: %(symbol)s
~~~

[%(f)s_%(n)s_%(i)s]
%(a)s = %(n)s
%(b)s_name = "%(v)s"
note = "%(s)s"
""",
)
JSON = Language(
    "json",
    4,
    "data/%(sub)s",
    """
{
  "title": "%(S)s",
~~~
  "uses_%(symbol)s_%(i)s": "%(module)s",
~~~
  "%(f)s_%(n)s_%(i)s": {"%(a)s": %(n)s, "%(b)s": ["%(v)s", "%(c)s"], "note": "%(s)s"},
""",
    tail='  "end": true\n}\n',
)
LANGUAGES = (PYTHON, TYPESCRIPT, GO, RUST, JAVA, C, RUBY, SHELL, MARKDOWN, RST, YAML, TOML, JSON)

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
