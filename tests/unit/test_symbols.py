"""Definitions and imports by line patterns: one small file a language."""

import subprocess
import time
from pathlib import Path

import pytest

from rtch.models.features import Reference, Symbol
from rtch.models.vocab import SymbolKind
from rtch.search import rg_program
from rtch.symbols import LINE_BYTES, code_scans, from_bytes, from_lines, is_code

Rows = dict[str, list[tuple[int, bytes]]]

CLASS, FUNCTION, METHOD = SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD
TYPE, CONSTANT, MODULE, MACRO = SymbolKind.TYPE, SymbolKind.CONSTANT, SymbolKind.MODULE, SymbolKind.MACRO

# path: source, definitions as (name, kind, line, container), import targets
SOURCES: dict[str, tuple[str, list[tuple[str, SymbolKind, int, str]], list[str]]] = {
    "pkg/engine.py": (
        """\
import os, json as j
from .core import (
    run,
)
from ..util import walk, stat as st
from . import helpers
from typing import *
LIMIT = 3
app: Flask = Flask()
type Pair[T] = tuple[T, T]
if LIMIT == 3:
    pass


class Engine(Base):
    size = 1

    @property
    async def start(self):
        def inner(): ...

    class Inner:
        def deep(self): ...


def main() -> None: ...
async def größe(): ...
undefined(call)
""",
        [
            ("LIMIT", CONSTANT, 8, ""),
            ("app", CONSTANT, 9, ""),
            ("Pair", TYPE, 10, ""),
            ("Engine", CLASS, 15, ""),
            ("start", METHOD, 19, "Engine"),
            ("inner", FUNCTION, 20, ""),
            ("Inner", CLASS, 22, "Engine"),
            ("deep", METHOD, 23, "Inner"),
            ("main", FUNCTION, 26, ""),
            ("größe", FUNCTION, 27, ""),
        ],
        ["os", "json", ".core", "..util.walk", "..util.stat", ".helpers", "typing"],
    ),
    "fast.pyx": (
        """\
cimport numpy as np
cdef class Buf:
    cpdef double area(self, int r):
        pass
cdef int helper(int x):
""",
        [("Buf", CLASS, 2, ""), ("area", METHOD, 3, "Buf"), ("helper", FUNCTION, 5, "")],
        ["numpy"],
    ),
    "src/app.ts": (
        """\
import { a, b } from './util';
import type { T } from "../types";
import '@scope/side-effect';
export * from './all';
import {
  long,
} from './long';
const fs = require('fs');
export const LIMIT = 3;
export const load = async (path: string): Promise<void> => {
export default class Engine<T> extends Base {
  private static count = 0;
  constructor(private x: number) {
  }
  public async start(opts: { a: number } = {}): Promise<void> {
    if (x) {
    for (const y of z) {
    describe('it', () => {
    return run(a);
  }
  handler = (e: Event) => {
  };
}
export interface Options {
  stop(now: boolean): void;
}
export type Name = string;
export enum Color { Red }
declare namespace Geo { }
function* gen() {}
export async function fetchAll() {}
let handle = function () {}
Engine.prototype.reset = function () {
module.exports.shared = 1;
""",
        [
            ("fs", CONSTANT, 8, ""),
            ("LIMIT", CONSTANT, 9, ""),
            ("load", FUNCTION, 10, ""),
            ("Engine", CLASS, 11, ""),
            ("start", METHOD, 15, "Engine"),
            ("handler", METHOD, 21, "Engine"),
            ("Options", TYPE, 24, ""),
            ("stop", METHOD, 25, "Options"),
            ("Name", TYPE, 27, ""),
            ("Color", TYPE, 28, ""),
            ("Geo", MODULE, 29, ""),
            ("gen", FUNCTION, 30, ""),
            ("fetchAll", FUNCTION, 31, ""),
            ("handle", FUNCTION, 32, ""),
            ("reset", METHOD, 33, "Engine"),
            ("shared", CONSTANT, 34, ""),
        ],
        ["./util", "../types", "@scope/side-effect", "./all", "./long", "fs"],
    ),
    "ui/Button.jsx": (
        """\
export default function Button({ label }) {
  const onClick = useCallback(() => {
  });
  const render = () => null;
const lazy = import('./Lazy');
""",
        [("Button", FUNCTION, 1, ""), ("render", FUNCTION, 4, ""), ("lazy", CONSTANT, 5, "")],
        ["./Lazy"],
    ),
    "ui/App.vue": (
        """\
<script setup>
import X from './X.vue'
function save() {
}
export default {
  methods: {
    load(id) {
""",
        [("save", FUNCTION, 3, ""), ("load", METHOD, 7, "")],
        ["./X.vue"],
    ),
    "cmd/main.go": (
        """\
package main

import "fmt"
import (
\t"os"
\tpb "example.org/api/v1"
)

const (
\tMaxSize int = 3
)

var global = 1

type Server struct {
\tName string
}

func (s *Server) Start(ctx context.Context) error {
func (Set[T]) Add(v T) {
func New[T any](x T) *Server {
""",
        [
            ("MaxSize", CONSTANT, 10, ""),
            ("global", CONSTANT, 13, ""),
            ("Server", TYPE, 15, ""),
            ("Start", METHOD, 19, "Server"),
            ("Add", METHOD, 20, "Set"),
            ("New", FUNCTION, 21, ""),
        ],
        ["fmt", "os", "example.org/api/v1"],
    ),
    "src/lib.rs": (
        """\
use std::io::{self, Read, Write as W};
pub use crate::engine::Engine;
use super::*;
extern crate serde;
mod parser;
pub(crate) mod inline {
    pub const LIMIT: usize = 3;
}
#[derive(Debug)]
pub struct Store<T> {
pub enum Mode { A }
pub trait Run {
    fn go(&self);
}
impl<T: Clone> Run for Store<T> {
    pub async unsafe fn go(&self) {}
}
impl fmt::Display for crate::mode::Mode {
    fn fmt(&self) {}
}
type Alias = u8;
static mut COUNT: u8 = 0;
macro_rules! hello {
pub const fn free() {}
""",
        [
            ("parser", MODULE, 5, ""),
            ("inline", MODULE, 6, ""),
            ("LIMIT", CONSTANT, 7, "inline"),
            ("Store", CLASS, 10, ""),
            ("Mode", CLASS, 11, ""),
            ("Run", TYPE, 12, ""),
            ("go", METHOD, 13, "Run"),
            ("go", METHOD, 16, "Store"),
            ("fmt", METHOD, 19, "Mode"),
            ("Alias", TYPE, 21, ""),
            ("COUNT", CONSTANT, 22, ""),
            ("hello", MACRO, 23, ""),
            ("free", FUNCTION, 24, ""),
        ],
        ["std::io", "std::io::Read", "std::io::Write", "crate::engine::Engine", "super", "serde", "self::parser"],
    ),
    "src/main/java/org/x/Engine.java": (
        """\
package org.x;
import java.util.List;
import static org.x.Util.*;

@Deprecated
public final class Engine<T> extends Base {
    private static final int LIMIT = 3;
    private List<String> names = new ArrayList<>();

    public Engine(int size) {
        this.size = run(size);
    }

    @Override
    public <R> Map<String, R> start(
            int x) {
        return compute(x);
    }

    List<T> packagePrivate(int x) throws IOException {
        if (x > 0) {
            helper(x);
        }
    }

    abstract void stop();
    interface Visitor {
    record Point(int x, int y) {}
    enum Color { RED }
}
""",
        [
            ("Engine", CLASS, 6, ""),
            ("LIMIT", CONSTANT, 7, "Engine"),
            ("Engine", METHOD, 10, "Engine"),
            ("start", METHOD, 15, "Engine"),
            ("packagePrivate", METHOD, 20, "Engine"),
            ("stop", METHOD, 26, "Engine"),
            ("Visitor", TYPE, 27, "Engine"),
            ("Point", CLASS, 28, "Engine"),
            ("Color", TYPE, 29, "Engine"),
        ],
        ["java.util.List", "org.x.Util.*"],
    ),
    "Engine.kt": (
        """\
import org.x.Base
data class Point(val x: Int)
sealed interface Shape
object Registry {
    override suspend fun <T> load(id: Int): T {
    const val LIMIT = 3
}
fun String.shout() = uppercase()
inline fun main(args: Array<String>) {
val answer = 42
typealias Name = String
""",
        [
            ("Point", CLASS, 2, ""),
            ("Shape", TYPE, 3, ""),
            ("Registry", CLASS, 4, ""),
            ("load", METHOD, 5, "Registry"),
            ("LIMIT", CONSTANT, 6, "Registry"),
            ("shout", METHOD, 8, "String"),
            ("main", FUNCTION, 9, ""),
            ("answer", CONSTANT, 10, ""),
            ("Name", TYPE, 11, ""),
        ],
        ["org.x.Base"],
    ),
    "src/core.c": (
        """\
#include <stdio.h>
#include "core.h"
#define MAX_SIZE 10
#  define min(a, b) ((a) < (b) ? (a) : (b))
typedef unsigned long size_type;
typedef struct {
    int x;
} Point;
struct node {
    struct node *next;
};
enum color { RED };
static struct node *head;
static inline int
helper(struct node *n,
       int depth)
{
    return compute(n, depth);
    if (x) {
    run(x);
}
int main(int argc, char **argv)
{
struct node *make_node(int value) {
int declared(int x);
""",
        [
            ("MAX_SIZE", MACRO, 3, ""),
            ("min", MACRO, 4, ""),
            ("size_type", TYPE, 5, ""),
            ("Point", TYPE, 8, ""),
            ("node", CLASS, 9, ""),
            ("color", TYPE, 12, ""),
            ("helper", FUNCTION, 15, ""),
            ("main", FUNCTION, 22, ""),
            ("make_node", FUNCTION, 24, ""),
        ],
        ["stdio.h", "core.h"],
    ),
    "src/core.hpp": (
        """\
#include <vector>
namespace geo::flat {
template <typename T> class Grid : public Base {
 public:
  explicit Grid(int size);
  virtual int area() const = 0;
  std::vector<T> cells(int x) {
    return run(x);
  }
};
class API_EXPORT Shape final {
};
class Forward;
enum class Mode : int { A };
using Name = std::string;
void Grid<int>::fill(int x) {
geo::flat::Grid::~Grid() {
}
""",
        [
            ("geo::flat", MODULE, 2, ""),
            ("Grid", CLASS, 3, ""),
            ("Grid", METHOD, 5, "Grid"),
            ("area", METHOD, 6, "Grid"),
            ("cells", METHOD, 7, "Grid"),
            ("Shape", CLASS, 11, ""),
            ("Mode", TYPE, 14, ""),
            ("Name", TYPE, 15, ""),
            ("fill", METHOD, 16, "Grid"),
            ("~Grid", METHOD, 17, "Grid"),
        ],
        ["vector"],
    ),
    "Engine.cs": (
        """\
using System.Text;
using static System.Math;
namespace Acme.Core;
public sealed partial class Engine : Base
{
    private const int Limit = 3;
    public string Name { get; set; }
    public Engine(int size) : base(size)
    protected override async Task<int> RunAsync<T>(T x)
    internal static void Stop() => Halt();
    if (x)
    return Run(x);
}
public interface IShape { }
public readonly record struct Point(int X);
public delegate void Handler(object o);
public enum Color { Red }
""",
        [
            ("Acme.Core", MODULE, 3, ""),
            ("Engine", CLASS, 4, ""),
            ("Limit", CONSTANT, 6, "Engine"),
            ("Name", METHOD, 7, "Engine"),
            ("Engine", METHOD, 8, "Engine"),
            ("RunAsync", METHOD, 9, "Engine"),
            ("Stop", METHOD, 10, "Engine"),
            ("IShape", TYPE, 14, ""),
            ("Point", CLASS, 15, ""),
            ("Handler", TYPE, 16, ""),
            ("Color", TYPE, 17, ""),
        ],
        ["System.Text", "System.Math"],
    ),
    "lib/engine.rb": (
        """\
require 'json'
require_relative 'engine/base'
module Acme
  class Core::Engine < Base
    LIMIT = 3
    def self.build(x)
    def ready?
    def ==(other)
    private def secret=(x)
  end
end
""",
        [
            ("Acme", MODULE, 3, ""),
            ("Engine", CLASS, 4, "Acme"),
            ("LIMIT", CONSTANT, 5, "Engine"),
            ("build", METHOD, 6, "Engine"),
            ("ready?", METHOD, 7, "Engine"),
            ("==", METHOD, 8, "Engine"),
            ("secret=", METHOD, 9, "Engine"),
        ],
        ["json", "./engine/base"],
    ),
    "src/Engine.php": (
        """\
<?php
namespace Acme\\Core;
use Acme\\Base;
require_once __DIR__ . '/lib/a.php';
final class Engine extends Base {
    public const LIMIT = 3;
    protected static function build(int $x): self {
}
interface Shape {}
trait Loud {}
function helper() {}
define('VERSION', '1');
""",
        [
            ("Acme\\Core", MODULE, 2, ""),
            ("Engine", CLASS, 5, ""),
            ("LIMIT", CONSTANT, 6, "Engine"),
            ("build", METHOD, 7, "Engine"),
            ("Shape", TYPE, 9, ""),
            ("Loud", TYPE, 10, ""),
            ("helper", FUNCTION, 11, ""),
            ("VERSION", CONSTANT, 12, ""),
        ],
        ["Acme\\Base", "lib/a.php"],
    ),
    "Engine.swift": (
        """\
import Foundation
public final class Engine: Base {
    class func shared() -> Engine {
    @discardableResult private mutating func run(_ x: Int) -> Int {
}
struct Point {}
protocol Shape {}
extension Point {
    func norm() -> Double {
}
let answer = 42
""",
        [
            ("Engine", CLASS, 2, ""),
            ("shared", METHOD, 3, "Engine"),
            ("run", METHOD, 4, "Engine"),
            ("Point", CLASS, 6, ""),
            ("Shape", TYPE, 7, ""),
            ("norm", METHOD, 9, "Point"),
            ("answer", CONSTANT, 11, ""),
        ],
        ["Foundation"],
    ),
    "bin/run.sh": (
        """\
#!/bin/bash
source lib/common.sh
. ./env
export LIMIT=3
home_dir=/x
function build {
main() {
  clean-up () {
  echo x=1
""",
        [
            ("LIMIT", CONSTANT, 4, ""),
            ("home_dir", CONSTANT, 5, ""),
            ("build", FUNCTION, 6, ""),
            ("main", FUNCTION, 7, ""),
            ("clean-up", FUNCTION, 8, ""),
        ],
        ["lib/common.sh", "./env"],
    ),
    "Makefile": (
        "include rules.mk\nCC := gcc\n.PHONY: all\nall: build test\n\tgcc -o x\nbuild/%.o: %.c\nx = 1\n",
        [("CC", CONSTANT, 2, ""), ("all", FUNCTION, 4, ""), ("build/%.o", FUNCTION, 6, ""), ("x", CONSTANT, 7, "")],
        ["rules.mk"],
    ),
    "Main.scala": (
        """\
import acme.core.Base
final case class Point(x: Int)
object Main extends App {
  private def run[T](x: T) = 1
  val Limit = 3
}
trait Shape
""",
        [
            ("Point", CLASS, 2, ""),
            ("Main", CLASS, 3, ""),
            ("run", METHOD, 4, "Main"),
            ("Limit", CONSTANT, 5, "Main"),
            ("Shape", TYPE, 7, ""),
        ],
        ["acme.core.Base"],
    ),
    "init.lua": (
        "local json = require('json')\nfunction Engine.start(x)\nlocal function helper()\n",
        [("json", CONSTANT, 1, ""), ("start", METHOD, 2, "Engine"), ("helper", FUNCTION, 3, "")],
        ["json"],
    ),
    "lib/engine.ex": (
        """\
defmodule Acme.Engine do
  alias Acme.Base
  def run(x), do: x
  defp hide?(x), do: x
  defmacro twice(x)
end
""",
        [
            ("Acme.Engine", MODULE, 1, ""),
            ("run", METHOD, 3, "Acme.Engine"),
            ("hide?", METHOD, 4, "Acme.Engine"),
            ("twice", MACRO, 5, "Acme.Engine"),
        ],
        ["Acme.Base"],
    ),
    "Engine.pm": (
        "package Acme::Engine;\nuse Acme::Base;\nsub run {\n",
        [("Acme::Engine", MODULE, 1, ""), ("run", FUNCTION, 3, "")],
        ["Acme::Base"],
    ),
    "api.proto": (
        """\
import "base.proto";
message Point {
  message Inner {}
}
service Geo {
  rpc Locate(Point) returns (Point);
""",
        [("Point", TYPE, 2, ""), ("Inner", TYPE, 3, "Point"), ("Geo", TYPE, 5, ""), ("Locate", METHOD, 6, "Geo")],
        ["base.proto"],
    ),
    "schema.graphql": (
        "extend type Query {\n  a: Int\n}\nscalar Date\n",
        [("Query", TYPE, 1, ""), ("Date", TYPE, 4, "")],
        [],
    ),
    "schema.sql": (
        """\
CREATE TABLE IF NOT EXISTS "app"."users" (
);
create or replace function public.now_utc() returns x
""",
        [("users", TYPE, 1, ""), ("now_utc", FUNCTION, 3, "")],
        [],
    ),
}


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_of_each_language(path: str) -> None:
    source, symbols, _ = SOURCES[path]

    assert list(from_bytes(path, source.encode())[0]) == [Symbol(*one) for one in symbols]


@pytest.mark.parametrize("path", SOURCES)
def test_imports_of_each_language(path: str) -> None:
    source, _, targets = SOURCES[path]

    assert [one.target for one in from_bytes(path, source.encode())[1]] == targets


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The rows that rg finds in each source, by its path: one search a language."""
    root = tmp_path_factory.mktemp("sources")
    for path, (source, _, _) in SOURCES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
    rows: Rows = {path: [] for path in SOURCES}
    for scan in code_scans(SOURCES):
        for path, number, text in _search(root, scan.pattern, scan.paths):
            rows[path].append((number, text))
    return rows


def _search(root: Path, pattern: str, paths: tuple[str, ...]) -> list[tuple[str, int, bytes]]:
    done = subprocess.run(
        [rg_program(), "--no-config", "-n", "-o", "-H", "--null", "--text", "-j1", "-e", pattern, "--", *paths],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        cwd=root,
    )
    assert done.returncode == 0, done.stderr.decode()
    rows = [line.partition(b"\0") for line in done.stdout.split(b"\n") if line]
    split = [(path.decode(), *rest.partition(b":")) for path, _, rest in rows]
    return [(path, int(number), text) for path, number, _, text in split]


@pytest.mark.parametrize("path", SOURCES)
def test_the_search_finds_every_line_that_defines_or_imports(path: str, searched: Rows) -> None:
    assert from_lines(path, searched[path]) == from_bytes(path, SOURCES[path][0].encode())


def test_there_is_one_search_a_language() -> None:
    scans = code_scans(["b.py", "a.py", "a.ts", "a.js", "notes.md"])

    assert [(one.language, one.paths) for one in scans] == [
        ("javascript", ("a.ts", "a.js")),
        ("python", ("b.py", "a.py")),
    ]


def test_an_import_is_listed_once_at_its_first_line() -> None:
    assert from_bytes("a.py", b"import os\nx = 1\nimport os\n")[1] == (Reference("os", 1),)


def test_lines_end_in_lf_alone() -> None:
    data = "x = '\u2028\x0c'\rdef no(): ...\ndef yes(): ...\r\n".encode()

    assert [(one.name, one.line) for one in from_bytes("a.py", data)[0]] == [("x", 1), ("yes", 2)]


def test_a_byte_order_mark_does_not_hide_the_first_line() -> None:
    assert from_bytes("a.py", b"\xef\xbb\xbfdef first(): ...\n")[0] == (Symbol("first", FUNCTION, 1),)


def test_an_unknown_language_defines_nothing() -> None:
    assert from_bytes("notes.md", b"def x(): ...\nimport os\n") == ((), ())
    assert not is_code("notes.md")
    assert not is_code("README")
    assert is_code("a/b.PY")
    assert is_code("Makefile")


def test_a_line_of_five_megabytes_costs_what_any_line_costs() -> None:
    data = b"function a() {" + b"x" * 5_000_000 + b"}\nfunction b() {\n"

    assert [one.name for one in from_bytes("x.min.js", data)[0]] == ["a", "b"]


@pytest.mark.parametrize(
    "unit",
    ["a<a> ", "*", "<", "a::", "@a(", "const ", "[ ", "impl< ", "a *", "template <", "\t", "(a=", "a.", "{a", "<a "],
)
@pytest.mark.parametrize("start", ["", "\t", "cdef ", "impl<a> ", "template <", "public ", "let a = "])
def test_no_line_keeps_a_pattern_busy(start: str, unit: str) -> None:
    line = (start + unit * LINE_BYTES).encode()
    begun = time.process_time()
    for path in SOURCES:
        from_lines(path, [(1, line)])

    assert time.process_time() - begun < 1
