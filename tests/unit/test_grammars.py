"""Exact definitions by tree-sitter: one small, well-formed file a language."""

import contextlib
import subprocess
import sys
import time

import pytest

from rtch.grammars import Definition, Definitions, GivenUpError, available, definitions
from rtch.models.vocab import SymbolKind
from rtch.symbols import from_bytes

CLASS, FUNCTION, METHOD = SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD
TYPE, CONSTANT, MODULE, MACRO = SymbolKind.TYPE, SymbolKind.CONSTANT, SymbolKind.MODULE, SymbolKind.MACRO

# path: source, definitions as (name, kind, line, start, end, container)
SOURCES: dict[str, tuple[str, list[tuple[str, SymbolKind, int, int, int, tuple[str, ...]]]]] = {
    "pkg/engine.py": (
        """\
# about nothing

# The limit.
LIMIT = 3
type Pair[T] = tuple[T, T]


# An engine.
@dataclass
class Engine(Base):
    size = 1

    # Starts it.
    @property
    async def start(self):
        def inner():
            return 1
        return inner


def main(): ...
""",
        [
            ("LIMIT", CONSTANT, 4, 3, 4, ()),
            ("Pair", TYPE, 5, 5, 5, ()),
            ("Engine", CLASS, 10, 8, 18, ()),
            ("start", METHOD, 15, 13, 18, ("Engine",)),
            ("inner", FUNCTION, 16, 16, 17, ("Engine", "start")),
            ("main", FUNCTION, 21, 21, 21, ()),
        ],
    ),
    "src/app.js": (
        """\
/**
 * Adds.
 */
export function add(a, b) {
  return a + b;
}
export const load = async () => {
  await 1;
};
const LIMIT = 3;
class Engine {
  handler = () => 1;
  start() {}
}
Engine.prototype.reset = function () {};
const table = { run: () => 1 };
""",
        [
            ("add", FUNCTION, 4, 1, 6, ()),
            ("load", FUNCTION, 7, 7, 9, ()),
            ("LIMIT", CONSTANT, 10, 10, 10, ()),
            ("Engine", CLASS, 11, 11, 14, ()),
            ("handler", METHOD, 12, 12, 12, ("Engine",)),
            ("start", METHOD, 13, 13, 13, ("Engine",)),
            ("reset", FUNCTION, 15, 15, 15, ()),
            ("table", CONSTANT, 16, 16, 16, ()),
            ("run", FUNCTION, 16, 16, 16, ("table",)),
        ],
    ),
    "src/app.ts": (
        """\
export interface Options {
  stop(now: boolean): void;
}
export type Name = string;
export enum Color { Red }
namespace Geo { export function area(): number { return 1; } }
export abstract class Engine<T> extends Base {
  abstract run(): void;
  private start(x: T): void {}
}
""",
        [
            ("Options", TYPE, 1, 1, 3, ()),
            ("stop", METHOD, 2, 2, 2, ("Options",)),
            ("Name", TYPE, 4, 4, 4, ()),
            ("Color", TYPE, 5, 5, 5, ()),
            ("Geo", MODULE, 6, 6, 6, ()),
            ("area", METHOD, 6, 6, 6, ("Geo",)),
            ("Engine", CLASS, 7, 7, 10, ()),
            ("run", METHOD, 8, 8, 8, ("Engine",)),
            ("start", METHOD, 9, 9, 9, ("Engine",)),
        ],
    ),
    "ui/Button.tsx": (
        "export default function Button(): JSX.Element {\n  const render = () => <b>x</b>;\n  return render();\n}\n",
        [("Button", FUNCTION, 1, 1, 4, ()), ("render", FUNCTION, 2, 2, 2, ("Button",))],
    ),
    "cmd/main.go": (
        """\
package main

const MaxSize int = 3

// Server serves.
type Server struct {
\tName string
}

// Start starts.
func (s *Server) Start(n int) error {
\treturn nil
}

func (s Set[T]) Add(v T) {}
func New[T any](x T) *Server { return nil }
""",
        [
            ("MaxSize", CONSTANT, 3, 3, 3, ()),
            ("Server", TYPE, 6, 5, 8, ()),
            ("Start", METHOD, 11, 10, 13, ("Server",)),
            ("Add", METHOD, 15, 15, 15, ("Set",)),
            ("New", FUNCTION, 16, 16, 16, ()),
        ],
    ),
    "src/lib.rs": (
        """\
pub mod inline {
    pub const LIMIT: usize = 3;
}
/// Stores.
#[derive(Debug)]
pub struct Store<T> {
    x: T,
}
pub trait Run {
    fn go(&self);
}
impl<T: Clone> Run for Store<T> {
    fn go(&self) {}
}
macro_rules! hello {
    () => {};
}
""",
        [
            ("inline", MODULE, 1, 1, 3, ()),
            ("LIMIT", CONSTANT, 2, 2, 2, ("inline",)),
            ("Store", CLASS, 6, 4, 8, ()),
            ("Run", TYPE, 9, 9, 11, ()),
            ("go", METHOD, 10, 10, 10, ("Run",)),
            ("go", METHOD, 13, 13, 13, ("Store",)),
            ("hello", MACRO, 15, 15, 17, ()),
        ],
    ),
    "Engine.java": (
        """\
/** An engine. */
@Deprecated
public class Engine {
    public Engine() {}

    @Override
    public int start(
            int x) {
        return x;
    }
    interface Visitor {}
    record Point(int x) {}
}
""",
        [
            ("Engine", CLASS, 3, 1, 13, ()),
            ("Engine", METHOD, 4, 4, 4, ("Engine",)),
            ("start", METHOD, 7, 6, 10, ("Engine",)),
            ("Visitor", TYPE, 11, 11, 11, ("Engine",)),
            ("Point", CLASS, 12, 12, 12, ("Engine",)),
        ],
    ),
    "src/core.c": (
        """\
#include <stdio.h>
#define MAX_SIZE 10
typedef struct {
    int x;
} Point;
struct node {
    struct node *next;
};
/* Makes
   one. */
static struct node *
make_node(int value)
{
    return 0;
}
int declared(int x);
""",
        [
            ("MAX_SIZE", MACRO, 2, 2, 2, ()),
            ("Point", TYPE, 5, 3, 5, ()),
            ("node", CLASS, 6, 6, 8, ()),
            ("make_node", FUNCTION, 12, 9, 15, ()),
        ],
    ),
    "src/core.cpp": (
        """\
namespace geo::flat {
template <typename T>
class Grid : public Base {
 public:
  virtual int area() const = 0;
  std::vector<T> &cells(int x) { return v; }
};
}
using Name = std::string;
void Grid<int>::fill(int x) {}
Grid::~Grid() {}
""",
        [
            ("geo::flat", MODULE, 1, 1, 8, ()),
            ("Grid", CLASS, 3, 2, 7, ("geo::flat",)),
            ("area", METHOD, 5, 5, 5, ("geo::flat", "Grid")),
            ("cells", METHOD, 6, 6, 6, ("geo::flat", "Grid")),
            ("Name", TYPE, 9, 9, 9, ()),
            ("fill", METHOD, 10, 10, 10, ("Grid",)),
            ("~Grid", METHOD, 11, 11, 11, ("Grid",)),
        ],
    ),
    "lib/engine.rb": (
        """\
module Acme
  # An engine.
  class Engine < Base
    LIMIT = 3
    def self.build(x)
      x
    end

    def ready?
      true
    end
  end
end
""",
        [
            ("Acme", MODULE, 1, 1, 13, ()),
            ("Engine", CLASS, 3, 2, 12, ("Acme",)),
            ("LIMIT", CONSTANT, 4, 4, 4, ("Acme", "Engine")),
            ("build", METHOD, 5, 5, 7, ("Acme", "Engine")),
            ("ready?", METHOD, 9, 9, 11, ("Acme", "Engine")),
        ],
    ),
    "bin/run.sh": (
        "#!/bin/bash\nexport LIMIT=3\nhome=/x\n# Builds.\nbuild() {\n  echo\n}\n",
        [("LIMIT", CONSTANT, 2, 2, 2, ()), ("home", CONSTANT, 3, 3, 3, ()), ("build", FUNCTION, 5, 4, 7, ())],
    ),
}


def parsed(path: str, data: bytes) -> Definitions:
    found = definitions(path, data, cpu_s=20)
    assert found is not None
    return found


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_of_each_grammar(path: str) -> None:
    source, expected = SOURCES[path]

    assert list(parsed(path, source.encode()).items) == [Definition(*one) for one in expected]


@pytest.mark.parametrize("path", SOURCES)
def test_line_patterns_and_grammars_agree_on_where_a_name_is_defined(path: str) -> None:
    data = SOURCES[path][0].encode()
    exact = {(one.name, one.line) for one in parsed(path, data).items}
    by_lines = {(one.name, one.line) for one in from_bytes(path, data)[0]}

    # A line pattern sees one definition a line, and no name that its line does not begin with.
    assert by_lines <= exact | {("declared", 16)}
    assert {line for _, line in exact - by_lines} <= {line for _, line in by_lines}


def test_the_innermost_definition_encloses_a_line() -> None:
    found = parsed("pkg/engine.py", SOURCES["pkg/engine.py"][0].encode())

    names = {line: getattr(found.enclosing(line), "name", None) for line in (1, 3, 9, 11, 14, 17, 18, 19, 21)}

    assert names == {
        1: None, 3: "LIMIT", 9: "Engine", 11: "Engine", 14: "start", 17: "inner", 18: "start", 19: None, 21: "main",
    }  # fmt: skip


def test_a_name_is_confirmed_at_its_own_line_only() -> None:
    found = parsed("a.py", b"# def ghost(): pass\n'''\ndef quoted(): pass\n'''\ndef real(): pass\n")

    assert found.confirm("real", 5)
    assert not found.confirm("real", 4)
    assert not found.confirm("quoted", 3)
    assert not found.confirm("ghost", 1)


def test_lines_are_those_of_lf_alone() -> None:
    found = parsed("a.py", "x = '\u2028\x0c\x85'\ndef real():\r\n    pass\r\n".encode())

    assert [(one.name, one.start_line, one.end_line) for one in found.items] == [("x", 1, 1), ("real", 2, 3)]


def test_a_byte_order_mark_is_no_part_of_the_first_name() -> None:
    assert [one.name for one in parsed("a.py", b"\xef\xbb\xbfdef first(): ...\n").items] == ["first"]


def test_what_cannot_be_parsed_is_none_and_not_empty() -> None:
    assert definitions("notes.md", b"# x") is None
    assert definitions("a.py", b"def x(): ...", max_bytes=5) is None
    assert parsed("a.py", b"").items == ()


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", b"x=1\n" * 75_000),
        ("a.js", b"const a = 1" + b",a=1" * 60_000),
        ("a.rb", b"A=1\n" * 75_000),
        ("a.go", b"package a\n" + b"var a=1\n" * 37_500),
        ("a.py", b"(" * 5_000),
        ("a.py", b"def f(): pass\n" * 5_001),
    ],
)
def test_what_a_grammar_would_take_too_long_on_is_given_up_before_it_is_looked_through(
    path: str, source: bytes
) -> None:
    with pytest.raises(GivenUpError):
        definitions(path, source, cpu_s=20)


def test_time_that_is_up_is_told() -> None:
    with pytest.raises(GivenUpError):
        definitions("a.py", b"x = 1\n" * 20_000, cpu_s=0.0)


def test_a_chain_of_any_length_is_looked_through_in_time() -> None:
    """The time of a query grows with the square of the depth: 4 s for this one without a bound."""
    source = b"function first() {}\n" + b"a.b=" * 24_000 + b"1;\nfunction last() {}\n"
    begin = time.thread_time()
    found = parsed("a.js", source)
    assert [item.name for item in found.items] == ["first", "last"]
    assert time.thread_time() - begin < 1


def test_definitions_are_found_as_deep_as_anybody_nests_them() -> None:
    depth = 60
    source = "".join(f"{' ' * n}def f{n}():\n" for n in range(depth)) + " " * depth + "pass\n"
    assert len(parsed("a.py", source.encode()).items) == depth


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", b"x = " + b"(" * 100_000),
        ("a.py", b"".join(b" " * depth + b"def f():\n" for depth in range(800))),
        ("a.js", b"function f() {" * 20_000),
        ("a.ts", b"let x: " + b"Array<" * 50_000),
        ("a.rs", b"mod m {" * 20_000),
        ("a.java", b"class C {" * 20_000),
        ("a.cpp", b"namespace n {" * 20_000),
        ("a.c", b"int " + b"*" * 50_000 + b"f() {}"),
        ("a.rb", b"module M\n" * 20_000),
        ("a.sh", b"$(" * 50_000),
    ],
)
def test_deep_nesting_ends_in_time_and_without_a_crash(path: str, source: bytes) -> None:
    begin = time.thread_time()
    with contextlib.suppress(GivenUpError):
        found = definitions(path, source, cpu_s=2)
        assert found is not None
        assert len(found.items) <= 5_000
    assert time.thread_time() - begin < 10


def test_the_list_of_grammars_imports_none() -> None:
    code = (
        "import sys, rtch.grammars as g; names = g.available();"
        "print(*names); print([m for m in sys.modules if m.startswith('tree_sitter')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split("\n")[:2] == [" ".join(available()), "[]"]
    assert {"python", "typescript", "tsx", "go", "rust"} <= set(available())
