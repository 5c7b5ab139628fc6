"""Exact definitions by tree-sitter, where a grammar is installed.

Slow (5 to 7 MB/s to parse), so only files that are quoted from are parsed: to confirm where a name is
defined, and to end a chunk where a definition ends. Which nodes define something is told by a query a
language, run in C without recursion; what contains what is told by their ranges.

Nothing interrupts a query, so what it may cost is bounded before it runs: by the size of the tree and the depth
to which it is looked into. On 4,000 files of well-known projects, up to 300 kB, it took 33 ms at most.
"""

from __future__ import annotations

import codecs
import importlib
import re
import time
from bisect import bisect_right
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from rtch.grammar_queries import QUERIES
from rtch.languages import KINDS
from rtch.models.base import LineNumber
from rtch.models.vocab import SymbolKind

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

_MAX_DEFINITIONS = 5_000
"""More than any of them has; each costs 10 us to be told of by the query, and as much to be placed."""
_MAX_COMMENT_LINES = 40
"""Lines of comments and attributes above a definition that are taken as its own."""
_MAX_OPEN_MATCHES = 4096
_MAX_DEPTH = 4000
_MAX_NODES = 150_000
"""Of a tree that is looked through, at 0.5 to 1.4 us each; none but minified files has more than 120,000."""
_MAX_QUERY_DEPTH = 500
"""Nodes above a definition. Twice the depth takes four times as long: 75,000 assignments in a chain took 4 s."""
_MAX_WRAPPERS = 3
_MAX_DECLARATORS = 20
_MAX_NAME = 200
_READ_BYTES = 64 * 1024

_TYPES = frozenset((SymbolKind.CLASS, SymbolKind.TYPE, SymbolKind.MODULE))
_WRAPPERS = frozenset(
    {
        "ambient_declaration",
        "declaration_command",
        "decorated_definition",
        "export_statement",
        "expression_statement",
        "lexical_declaration",
        "template_declaration",
        "type_declaration",
        "variable_declaration",
    }
)
_ABOVE = re.compile(
    rb"[ \t]*(?:#(?!!|[ \t]*(?:include|if|endif|else|elif|define|pragma|import)\b)|//|/\*|\*(?:[ \t/]|$)|@\w)"
)
_BRACKET = re.compile(rb"[(\[{)\]}]")
_SPACE = re.compile(r"\s+")
_GENERICS = re.compile(r"<.*>$")
_RECEIVER = re.compile(rb"(\w+)(?:\[[^\]]*\])?[ \t]*\)$")

_ENDINGS = {
    ending: language
    for language, endings in (
        ("python", "py pyi pyw"),
        ("javascript", "js mjs cjs jsx"),
        ("typescript", "ts mts cts"),
        ("tsx", "tsx"),
        ("go", "go"),
        ("rust", "rs"),
        ("java", "java"),
        ("c", "c h"),
        ("cpp", "cc cpp cxx hh hpp hxx ipp inl"),
        ("ruby", "rb rake gemspec"),
        ("bash", "sh bash"),
    )
    for ending in endings.split()
}
_MODULES = {
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}


class Definition(NamedTuple):
    """One definition; the range takes in its decorators and the comment right above it."""

    name: str
    kind: SymbolKind
    line: LineNumber
    start_line: LineNumber
    end_line: LineNumber
    container: tuple[str, ...]


class Definitions:
    """The definitions of one file, by start line; the outer one first."""

    def __init__(self, items: tuple[Definition, ...]) -> None:
        """Take definitions in order, ranges either apart or within each other."""
        self.items = items
        self._starts = [item.start_line for item in items]

    def enclosing(self, line: int) -> Definition | None:
        """Return the innermost definition that holds a line."""
        begun = self.items[: bisect_right(self._starts, line)]
        holding = (item for item in reversed(begun) if line <= item.end_line)
        return min(holding, key=lambda item: item.end_line - item.start_line, default=None)

    def confirm(self, name: str, line: int) -> bool:
        """Tell whether ``name`` is defined at that line."""
        return any(item.name == name and item.line == line for item in self.items)


def available() -> tuple[str, ...]:
    """Return the languages whose grammar is installed, sorted, importing none of them."""
    if find_spec("tree_sitter") is None:
        return ()
    return tuple(sorted(name for name in QUERIES if find_spec(_module_of(name)[0]) is not None))


class GivenUpError(Exception):
    """A grammar would take too long on a file, and what it defines is to be known by other means."""


def definitions(path: str, data: bytes, *, max_bytes: int = 1_000_000, cpu_s: float = 0.5) -> Definitions | None:
    """Parse a file and return what it defines.

    Args:
        path: its name tells the language.
        data: the whole file, in UTF-8.
        max_bytes: a larger file is not parsed.
        cpu_s: seconds of this thread's own time, so that a busy machine changes nothing.

    Returns:
        None where no grammar is installed for it or the file is too large.

    Raises:
        GivenUpError: it is nested too deeply, has too many parts or definitions, or time ran out.
    """
    name = _ENDINGS.get(path.rpartition(".")[2].lower())
    if name is None or len(data) > max_bytes:
        return None
    grammar = _grammar(name)
    if grammar is None:
        return None
    if _too_deep(data):
        raise GivenUpError
    source = data.removeprefix(codecs.BOM_UTF8)
    return Definitions(_defined(grammar, source, _Clock(time.thread_time() + cpu_s)))


def _too_deep(data: bytes) -> bool:
    """Tell whether brackets are nested beyond what hand-written files have (2,000 to 3,000 at most).

    Recovery from brackets that are never closed takes the square of their number, 16 s for
    100,000, and no time limit interrupts it.
    """
    if data.count(b"(") + data.count(b"[") + data.count(b"{") <= _MAX_DEPTH:
        return False
    depth = 0
    for bracket in _BRACKET.findall(data):
        depth += 1 if bracket in b"([{" else -1
        if depth > _MAX_DEPTH:
            return True
    return False


class _Clock(NamedTuple):
    """A deadline in this thread's own time, in the forms that its users want."""

    deadline: float

    def is_up(self, *_: object) -> bool:
        """Tell whether to stop; whatever progress a caller reports is of no interest."""
        return time.thread_time() > self.deadline

    def check(self) -> None:
        """Stop where the deadline has passed."""
        if self.is_up():
            raise GivenUpError


class _Grammar(NamedTuple):
    """A language with its compiled query."""

    language: Language
    query: Query


@lru_cache(maxsize=16)
def _grammar(name: str) -> _Grammar | None:
    if name not in available():
        return None
    from tree_sitter import Language, Query  # noqa: PLC0415  costs 15 ms, and only hydrate parses

    module, function = _module_of(name)
    language = Language(getattr(importlib.import_module(module), function)())
    return _Grammar(language, Query(language, QUERIES[name]))


def _module_of(name: str) -> tuple[str, str]:
    return _MODULES.get(name, (f"tree_sitter_{name}", "language"))


class _Found(NamedTuple):
    """A node that defines, with its name and the type its own text says it belongs to."""

    kind: str
    node: Node
    name: str
    owner: str
    line: int


def _defined(grammar: _Grammar, source: bytes, clock: _Clock) -> tuple[Definition, ...]:
    found = sorted(_captured(grammar, source, clock), key=lambda one: (one.node.start_byte, -one.node.end_byte))
    lines = source.split(b"\n")
    items: list[Definition] = []
    open_nodes: list[tuple[int, str, bool]] = []
    for kind_name, node, name, owner, line in found:
        clock.check()
        while open_nodes and open_nodes[-1][0] <= node.start_byte:
            open_nodes.pop()
        kind = KINDS.get(kind_name)
        if kind is not None:
            container = (*(held for _, held, _ in open_nodes), *([owner] if owner else []))
            in_type = bool(owner) or (bool(open_nodes) and open_nodes[-1][2])
            if kind is SymbolKind.FUNCTION and in_type:
                kind = SymbolKind.METHOD
            items.append(_placed(Definition(name, kind, line, line, line, container), node, lines))
        open_nodes.append((node.end_byte, name, kind is None or kind in _TYPES))
    return tuple(sorted(items, key=lambda item: (item.start_line, -item.end_line)))


def _captured(grammar: _Grammar, source: bytes, clock: _Clock) -> list[_Found]:
    from tree_sitter import Parser, QueryCursor  # noqa: PLC0415  as above

    try:
        tree = Parser(grammar.language).parse(
            lambda at, _: source[at : at + _READ_BYTES], progress_callback=clock.is_up
        )
    except ValueError as error:  # what a cancelled parse raises
        raise GivenUpError from error
    if tree.root_node.descendant_count > _MAX_NODES:
        raise GivenUpError
    # Without a progress callback: given one, the binding's ``matches`` crashes the process (0.26.1).
    cursor = QueryCursor(grammar.query, match_limit=_MAX_OPEN_MATCHES)
    cursor.set_max_start_depth(_MAX_QUERY_DEPTH)
    matches = cursor.matches(tree.root_node)
    clock.check()
    if len(matches) > _MAX_DEFINITIONS:
        raise GivenUpError
    found: dict[tuple[int, int], _Found] = {}
    for _, captures in matches:
        (named,) = captures.pop("name")[:1]
        kind, (node, *_) = captures.popitem()
        if node.type == "function_definition" and named.type.endswith("declarator"):
            named = _declared(named)
        name, owner = _named(kind, node, named)
        place = (node.start_byte, node.end_byte)
        # A constant whose value is a function is the function.
        if name and (place not in found or found[place].kind == "con"):
            found[place] = _Found(kind, node, name, owner, named.start_point[0] + 1)
    return list(found.values())


def _named(kind: str, node: Node, named: Node) -> tuple[str, str]:
    """Return a definition's name, and the type that its own head says it belongs to."""
    text = _SPACE.sub("", (named.text or b"").decode("utf-8", "replace"))
    if kind == "own":
        text = _GENERICS.sub("", text).rpartition("::")[2].lstrip("&*")
    owner, name = "", text
    if kind == "fun" and "::" in text:
        owner, _, name = text.rpartition("::")
        owner = _GENERICS.sub("", owner)
    receiver = node.child_by_field_name("receiver")
    if receiver is not None:
        typed = _RECEIVER.search(receiver.text or b"")
        owner = typed[1].decode("utf-8", "replace") if typed else ""
    return name[:_MAX_NAME], owner.rpartition("::")[2][:_MAX_NAME]


def _declared(node: Node) -> Node:
    """Follow a declarator of C to the name within its stars and brackets."""
    for _ in range(_MAX_DECLARATORS):
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in {"reference_declarator", "parenthesized_declarator"}:
            inner = node.named_child(0)
        if inner is None:
            break
        node = inner
    return node


def _placed(item: Definition, node: Node, lines: list[bytes]) -> Definition:
    """Return a definition with its lines: those of the node, its wrappers, and the comment right above."""
    outer = node
    for _ in range(_MAX_WRAPPERS):
        parent = outer.parent
        if parent is None or parent.type not in _WRAPPERS:
            break
        outer = parent
    first, (last, column) = outer.start_point[0], outer.end_point
    end = last if column == 0 and last > first else last + 1
    start, highest = first, max(0, first - _MAX_COMMENT_LINES)
    while start > highest and _ABOVE.match(lines[start - 1]) is not None:
        start -= 1
    if start and lines[start - 1].rstrip().endswith(b"*/"):
        start = _comment_start(lines, start)
    return item._replace(start_line=start + 1, end_line=min(end, len(lines)))


def _comment_start(lines: list[bytes], below: int) -> int:
    """Return where the block comment that ends right above a line begins, if that is near."""
    for start in range(below - 1, max(-1, below - _MAX_COMMENT_LINES), -1):
        if lines[start].lstrip().startswith(b"/*"):
            return start
    return below
