"""The words and the file shapes that ``tree`` builds its project from.

A shape is a text with ``%(x)s`` places, its sections parted by lines of ``~~~``: how a file of the
language begins, how it imports, then one block or more to repeat. A line ``<<body>>`` stands for a
few plain statements, so that definitions are as far apart as in real projects (one in about twenty
lines of Python). None of it was ever run.
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
    statements: tuple[str, ...] = ()

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
    <<body>>
    for index, name in enumerate(%(b)s):
        if index == %(n)s + %(a)s:
            continue
        <<body>>
        %(c)s[name] = len(name) + %(a)s  # %(s)s
    return %(c)s
~~~


class %(C)s:
    """%(S)s."""

    limit = %(n)s

    def __init__(self, %(a)s: str) -> None:
        self.%(a)s = %(a)s
        self._%(b)s: list[int] = []
        <<body>>

    def %(v)s(self, %(c)s: int) -> bool:
        """%(S2)s."""
        if %(c)s > self.limit:
            raise ValueError("%(s)s")
        <<body>>
        self._%(b)s.append(%(c)s)
        return bool(self._%(b)s)
~~~


%(K)s = %(n)s
"""%(S)s."""
''',
    tested=True,
    statements=(
        "%(a)s_total = len(%(b)s) + %(n)s",
        "# %(s)s",
        "%(b)s = [name for name in %(b)s if name != '%(v)s']",
        "logging.debug('%(s)s: %%s', %(a)s)",
        "if %(a)s_ready and not %(b)s: %(v)s(%(a)s_ready)",
        "%(c)s = %(v)s_next(%(a)s, limit=%(n)s)",
        "",
    ),
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
  <<body>>
  for (const name of %(b)s) {
    if (name.length > %(n)s) continue; // %(s)s
    <<body>>
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
    <<body>>
    return `${this.%(a)s}:${%(b)s}`;
  }
}
""",
    tested=True,
    statements=(
        "this.%(a)s = %(b)s.length + %(n)s;",
        "// %(s)s",
        "%(b)s.push(`%(v)s:${%(n)s}`);",
        "if (%(b)s.length > %(n)s) log(`%(s)s`);",
        "await %(v)s(%(a)s, %(n)s);",
        "",
    ),
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
	<<body>>
	for _, name := range %(b)s {
		if len(name) == %(n)s {
			return 0, errors.New("%(s2)s")
		}
		<<body>>
		total += len(name)
	}
	return total, nil
}
""",
    tested=True,
    statements=(
        "total += len(%(b)s) + %(n)s",
        "// %(s)s",
        'log.Printf("%(s)s: %%d", %(a)s)',
        '%(b)s = append(%(b)s, "%(v)s")',
        "defer %(v)s(%(a)s)",
        "",
    ),
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
        <<body>>
        Self { %(a)s: %(n)s }
    }
}
~~~

/// %(S)s.
pub fn %(f)s(%(a)s: u32, %(b)s: &[&str]) -> Option<u32> {
    let mut %(c)s = %(a)s;
    <<body>>
    for name in %(b)s {
        <<body>>
        if name.len() == %(n)s {
            return None; // %(s)s
        }
        %(c)s += name.len() as u32;
    }
    Some(%(c)s)
}
""",
    statements=(
        "%(c)s += %(n)s;",
        "// %(s)s",
        'trace!("%(s)s: {}", %(a)s);',
        "%(b)s.truncate(%(n)s);",
        "self.%(v)s(%(a)s)?;",
        "",
    ),
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
        <<body>>
        for (String name : %(b)s) {
            if (name.length() > %(n)s) {
                throw new IllegalStateException("%(s)s");
            }
            <<body>>
            %(c)s += name.length();
        }
        return %(c)s;
    }
~~~

    // %(S2)s.
    private static final int %(K)s = %(n)s;
""",
    tail="}\n",
    statements=(
        "%(c)s += %(b)s.size() + %(n)s;",
        "// %(s)s",
        'this.log.debug("%(s)s", %(a)s);',
        '%(b)s.add("%(v)s");',
        "if (%(c)s > %(n)s) { this.%(v)s(%(a)s); }",
        "",
    ),
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
    <<body>>
    for (size_t i = 0; i < count; i++) {
        if (%(b)s[i] == NULL)
            return -%(n)s; /* %(s)s */
        <<body>>
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
    statements=(
        "%(c)s += %(n)s;",
        "/* %(s)s */",
        '%(v)s_log("%(s)s", %(a)s);',
        "if (count > %(n)s) %(v)s(%(b)s, count);",
        "%(c)s ^= %(a)s << %(n)s;",
        "",
    ),
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
      <<body>>
      %(a)s += name.size
    end
    <<body>>
    %(a)s
  end
end
""",
    tested=True,
    statements=(
        "%(a)s += %(b)s.size + %(n)s",
        "# %(s)s",
        "logger.debug('%(s)s')",
        "%(b)s << '%(v)s'",
        "%(v)s(%(a)s) if %(a)s > %(n)s",
        "",
    ),
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
    <<body>>
    for name in $%(a)s; do
        if [ "$name" = "%(b)s" ]; then
            echo "%(s)s" >&2
            return %(n)s
        fi
    done
}
""",
    statements=(
        'echo "%(s)s" >&2',
        "# %(s)s",
        "count=$((count + %(n)s))",
        '%(v)s "$%(a)s" || true',
        "",
    ),
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
<<body>>
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
    statements=(
        "%(S)s, %(s2)s.",
        "%(S2)s; the %(a)s of the %(b)s is %(n)s and %(s)s.",
        "%(S)s.",
    ),
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
<<body>>
""",
    statements=(
        "%(S)s, %(s2)s.",
        "%(S2)s; the %(a)s of the %(b)s is %(n)s and %(s)s.",
    ),
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
