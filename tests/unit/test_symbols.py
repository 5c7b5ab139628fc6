"""Definitions and imports by line patterns: one small file a language."""

import codecs
import time

import pytest

from rtch.models.features import FeatureLimits, FileFeatures, Reference, Symbol
from rtch.models.vocab import FileRole, SymbolKind
from rtch.symbols import LINE_BYTES, code_features, from_bytes, from_lines, is_code

# path: source, definitions as "line kind name [container]", import targets
SOURCES: dict[str, tuple[str, str, list[str]]] = {
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
        (
            "8 constant LIMIT, 9 constant app, 10 type Pair, 15 class Engine, 19 method start Engine, "
            "20 function inner, 22 class Inner Engine, 23 method deep Inner, 26 function main, 27 function größe"
        ),
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
        "2 class Buf, 3 method area Buf, 5 function helper",
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
        (
            "8 constant fs, 9 constant LIMIT, 10 function load, 11 class Engine, 15 method start Engine, "
            "21 method handler Engine, 24 type Options, 25 method stop Options, 27 type Name, 28 type Color, "
            "29 module Geo, 30 function gen, 31 function fetchAll, 32 function handle, 33 method reset Engine, "
            "34 constant shared"
        ),
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
        "1 function Button, 4 function render, 5 constant lazy",
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
        "3 function save, 7 method load",
        ["./X.vue"],
    ),
    "cmd/main.go": (
        """\
package main

import "fmt"
import (
	"os"
	pb "example.org/api/v1"
)

const (
	MaxSize int = 3
)

var global = 1

type Server struct {
	Name string
}

func (s *Server) Start(ctx context.Context) error {
func (Set[T]) Add(v T) {
func New[T any](x T) *Server {
""",
        (
            "10 constant MaxSize, 13 constant global, 15 type Server, 19 method Start Server, 20 method Add Set, "
            "21 function New"
        ),
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
        (
            "5 module parser, 6 module inline, 7 constant LIMIT inline, 10 class Store, 11 class Mode, "
            "12 type Run, 13 method go Run, 16 method go Store, 19 method fmt Mode, 21 type Alias, "
            "22 constant COUNT, 23 macro hello, 24 function free"
        ),
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
        (
            "6 class Engine, 7 constant LIMIT Engine, 10 method Engine Engine, 15 method start Engine, "
            "20 method packagePrivate Engine, 26 method stop Engine, 27 type Visitor Engine, "
            "28 class Point Engine, 29 type Color Engine"
        ),
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
        (
            "2 class Point, 3 type Shape, 4 class Registry, 5 method load Registry, 6 constant LIMIT Registry, "
            "8 method shout String, 9 function main, 10 constant answer, 11 type Name"
        ),
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
        (
            "3 macro MAX_SIZE, 4 macro min, 5 type size_type, 8 type Point, 9 class node, 12 type color, "
            "15 function helper, 22 function main, 24 function make_node"
        ),
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
        (
            "2 module geo::flat, 3 class Grid, 5 method Grid Grid, 6 method area Grid, 7 method cells Grid, "
            "11 class Shape, 14 type Mode, 15 type Name, 16 method fill Grid, 17 method ~Grid Grid"
        ),
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
        (
            "3 module Acme.Core, 4 class Engine, 6 constant Limit Engine, 7 method Name Engine, "
            "8 method Engine Engine, 9 method RunAsync Engine, 10 method Stop Engine, 14 type IShape, "
            "15 class Point, 16 type Handler, 17 type Color"
        ),
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
        (
            "3 module Acme, 4 class Engine Acme, 5 constant LIMIT Engine, 6 method build Engine, "
            "7 method ready? Engine, 8 method == Engine, 9 method secret= Engine"
        ),
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
        (
            "2 module Acme\\Core, 5 class Engine, 6 constant LIMIT Engine, 7 method build Engine, 9 type Shape, "
            "10 type Loud, 11 function helper, 12 constant VERSION"
        ),
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
        (
            "2 class Engine, 3 method shared Engine, 4 method run Engine, 6 class Point, 7 type Shape, "
            "9 method norm Point, 11 constant answer"
        ),
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
        "4 constant LIMIT, 5 constant home_dir, 6 function build, 7 function main, 8 function clean-up",
        ["lib/common.sh", "./env"],
    ),
    "Makefile": (
        "include rules.mk\nCC := gcc\n.PHONY: all\nall: build test\n	gcc -o x\nbuild/%.o: %.c\nx = 1\n",
        "2 constant CC, 4 function all, 6 function build/%.o, 7 constant x",
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
        "2 class Point, 3 class Main, 4 method run Main, 5 constant Limit Main, 7 type Shape",
        ["acme.core.Base"],
    ),
    "init.lua": (
        "local json = require('json')\nfunction Engine.start(x)\nlocal function helper()\n",
        "1 constant json, 2 method start Engine, 3 function helper",
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
        "1 module Acme.Engine, 3 method run Acme.Engine, 4 method hide? Acme.Engine, 5 macro twice Acme.Engine",
        ["Acme.Base"],
    ),
    "Engine.pm": (
        "package Acme::Engine;\nuse Acme::Base;\nsub run {\n",
        "1 module Acme::Engine, 3 function run",
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
        "2 type Point, 3 type Inner Point, 5 type Geo, 6 method Locate Geo",
        ["base.proto"],
    ),
    "schema.graphql": (
        "extend type Query {\n  a: Int\n}\nscalar Date\n",
        "1 type Query, 4 type Date",
        [],
    ),
    "schema.sql": (
        """\
CREATE TABLE IF NOT EXISTS "app"."users" (
);
create or replace function public.now_utc() returns x
""",
        "1 type users, 3 function now_utc",
        [],
    ),
}


def expected(path: str) -> list[Symbol]:
    """Read the definitions written in ``SOURCES``."""
    rows = [one.split() for one in SOURCES[path][1].split(", ")]
    return [Symbol(row[2], SymbolKind(row[1]), int(row[0]), "".join(row[3:])) for row in rows]


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_of_each_language(path: str) -> None:
    assert list(from_bytes(path, SOURCES[path][0].encode())[0]) == expected(path)


@pytest.mark.parametrize("path", SOURCES)
def test_imports_of_each_language(path: str) -> None:
    source, _, targets = SOURCES[path]

    assert [one.target for one in from_bytes(path, source.encode())[1]] == targets


def test_an_import_is_listed_once_at_its_first_line() -> None:
    assert from_bytes("a.py", b"import os\nx = 1\nimport os\n")[1] == (Reference("os", 1),)


def test_lines_end_in_lf_alone() -> None:
    data = "x = '\u2028\x0c'\rdef no(): ...\ndef yes(): ...\r\n".encode()

    assert [(one.name, one.line) for one in from_bytes("a.py", data)[0]] == [("x", 1), ("yes", 2)]


def test_a_byte_order_mark_does_not_hide_the_first_line() -> None:
    assert from_bytes("a.py", b"\xef\xbb\xbfdef first(): ...\n")[0] == (Symbol("first", SymbolKind.FUNCTION, 1),)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_code_in_a_wide_encoding_shows_what_it_shows_in_utf_8(codec: str) -> None:
    source, _, _ = SOURCES["pkg/engine.py"]
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE, "utf-32-le": codecs.BOM_UTF32_LE}
    data = mark.get(codec, codecs.BOM_UTF32_BE) + source.encode(codec)
    assert from_bytes("a.py", data) == from_bytes("a.py", source.encode())


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF16_LE + "def first(): ...\n".encode("utf-16-le") + b"x",
        codecs.BOM_UTF16_LE + b"\x00\xd8\n\0" + "def first(): ...\n".encode("utf-16-le"),
        b"# caf\xe9\ndef first(): ...\n",
        b"def first(): ...\r\n\xff\xfe\0\0def",
        b"def first(): ...",
    ],
    ids=["half a character", "a lone surrogate", "Latin-1", "bytes of nothing", "no last line end"],
)
def test_damaged_code_shows_what_is_whole(data: bytes) -> None:
    assert [one.name for one in from_bytes("a.py", data)[0]] == ["first"]


def test_a_code_file_shows_definitions_and_imports() -> None:
    assert code_features("src/a.py", b"import os\nclass A:\n    def run(self): ...\n") == FileFeatures(
        path="src/a.py",
        role=FileRole.CODE,
        symbols=(Symbol("A", SymbolKind.CLASS, 2), Symbol("run", SymbolKind.METHOD, 3, "A")),
        references=(Reference("os", 1),),
    )


def test_what_a_code_file_shows_is_bounded_and_a_cut_is_marked() -> None:
    data = b"import os\nimport re\nA = 1\nB = 2\nC = 3\n"
    shown = []
    for symbols, references in ((3, 2), (2, 2), (3, 1)):
        found = code_features("a.py", data, FeatureLimits(max_symbols=symbols, max_references=references))
        shown.append((len(found.symbols), len(found.references), found.truncated))
    assert shown == [(3, 2, False), (2, 2, True), (3, 1, True)]


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
