"""Keys of JSON, YAML and TOML by scanners that never build a value."""

import time

import pytest

from rtch.data_keys import MAX_PROBLEMS, KeyScan, clip, join
from rtch.json_keys import json_keys, json_line_keys
from rtch.models.features import FeatureLimits, Key, Problem
from rtch.models.vocab import CautionFlag, KeyKind
from rtch.toml_keys import toml_keys
from rtch.yaml_keys import yaml_keys

LIMITS = FeatureLimits()
DUPLICATE, MALFORMED = CautionFlag.DUPLICATE_KEY, CautionFlag.MALFORMED


def paths(scan: KeyScan) -> list[tuple[str, int]]:
    return [(key.path, key.line) for key in scan.keys]


def test_a_path_part_with_dots_or_blanks_is_quoted() -> None:
    assert join("", "a") == "a"
    assert join("a", "b-c") == "a.b-c"
    assert join("a", "b.c") == 'a."b.c"'
    assert join("a[]", "") == 'a[]."".'.rstrip(".")
    assert join("", 'x "y"') == r'"x \"y\""'


def test_a_text_that_is_too_long_ends_in_an_ellipsis() -> None:
    assert clip("abcdef", 6) == "abcdef"
    assert clip("abcdef", 5) == "abcd…"


class TestJson:
    def test_keys_have_dotted_paths_and_lines(self) -> None:
        scan = json_keys(
            b'{\n "name": "x",\n "files": [\n  {"path": 1},\n  {"path": 2, "mode": {"x": 1}}\n ]\n}\n', LIMITS
        )

        assert scan.keys == (
            Key("name", "name", KeyKind.JSON, 2),
            Key("files", "files", KeyKind.JSON, 3),
            Key("path", "files[].path", KeyKind.JSON, 4),
            Key("mode", "files[].mode", KeyKind.JSON, 5),
            Key("x", "files[].mode.x", KeyKind.JSON, 5),
        )
        assert (scan.problems, scan.truncated) == ((), False)

    def test_an_array_at_the_root_begins_the_path(self) -> None:
        assert paths(json_keys(b'[{"a": 1}, [{"b": 2}]]', LIMITS)) == [("[].a", 1), ("[][].b", 1)]

    def test_comments_and_trailing_commas_are_tolerated(self) -> None:
        scan = json_keys(b'// {"no": 1}\n{"a": 1, /* "no": 2, */ "b" /* : */ : [1,2,],\n"c": "// no", }', LIMITS)

        assert (paths(scan), scan.problems) == ([("a", 2), ("b", 2), ("c", 3)], ())

    def test_a_string_value_is_no_key_and_may_hold_anything(self) -> None:
        assert paths(json_keys(rb'{"a": "\"b\": {", "c\u0064": "x"}', LIMITS)) == [("a", 1), ("cd", 1)]

    def test_duplicate_keys_are_reported_with_both_lines(self) -> None:
        scan = json_keys(b'{"a": 1,\n "b": {"a": 2},\n "\\u0061": 3}', LIMITS)

        assert paths(scan) == [("a", 1), ("b", 2), ("b.a", 2)]
        assert scan.problems == (Problem(DUPLICATE, 3, "key a is already set at line 1"),)

    def test_items_of_an_array_may_repeat_a_key(self) -> None:
        assert json_keys(b'[{"a": 1}, {"a": 2}]', LIMITS).problems == ()

    @pytest.mark.parametrize(
        "data",
        [
            b'{"a": ' + b"1" * 5_000_000 + b"}",
            b'{"a": "' + b"x" * 5_000_000 + b'"}',
            b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            b'{"a": ' + b'{"b": ' * 100_000 + b"1" + b"}" * 100_000 + b"}",
        ],
    )
    def test_huge_values_cost_no_more_than_their_bytes(self, data: bytes) -> None:
        begun = time.process_time()
        scan = json_keys(data, LIMITS)

        assert scan.keys[0].path == "a"
        assert scan.problems == ()
        assert time.process_time() - begun < 5

    def test_levels_that_are_too_deep_are_left_out_and_that_is_said(self) -> None:
        limits = FeatureLimits(max_depth=2)
        scan = json_keys(b'{"a": {"b": {"c": {"d": 1}}}, "e": 1}', limits)

        assert (paths(scan), scan.truncated, scan.problems) == ([("a", 1), ("a.b", 1), ("e", 1)], True, ())

    def test_items_of_an_array_beyond_the_limit_are_left_out_and_that_is_said(self) -> None:
        limits = FeatureLimits(max_rows=2)
        scan = json_keys(b'{"a": [{"x": "]"}, {"y": 1}, {"z": "}"}, {"z": [{}]}], "b": 1}', limits)

        assert (paths(scan), scan.truncated) == ([("a", 1), ("a[].x", 1), ("a[].y", 1), ("b", 1)], True)

    def test_keys_beyond_the_limit_are_left_out_and_that_is_said(self) -> None:
        scan = json_keys(b'{"a": 1, "b": 2, "c": 3}', FeatureLimits(max_keys=2))

        assert (paths(scan), scan.truncated) == ([("a", 1), ("b", 1)], True)

    @pytest.mark.parametrize(
        ("data", "line", "detail"),
        [
            (b'{"a": 1\n', 2, "not JSON: 1 brackets are not closed"),
            (b'{"a": 1}\n]', 2, "not JSON: unexpected ]"),
            (b'{"a": [1}', 1, "not JSON: unexpected }"),
            (b'{"a": 1,\n"b: 2}', 2, "not JSON: a string is not closed"),
        ],
    )
    def test_what_is_broken_is_told_and_what_stands_before_it_kept(self, data: bytes, line: int, detail: str) -> None:
        scan = json_keys(data, LIMITS)

        assert paths(scan)[0] == ("a", 1)
        assert scan.problems == (Problem(MALFORMED, line, detail),)

    def test_the_end_of_a_cut_text_is_no_problem(self) -> None:
        assert json_keys(b'{"a": {"b": 1,', LIMITS, complete=False).problems == ()

    def test_each_row_of_json_lines_stands_for_itself(self) -> None:
        scan = json_line_keys(b'{"id": "x", "s": {"a": 1}}\n\n{"id": "y"\n{"id": "z", "t": 2}\r\n', LIMITS)

        assert paths(scan) == [("id", 1), ("s", 1), ("s.a", 1), ("t", 4)]
        assert scan.problems == (Problem(MALFORMED, 3, "not JSON: 1 brackets are not closed"),)

    def test_rows_beyond_the_limit_are_checked_for_their_brackets_only(self) -> None:
        rows = b'{"a": 1}\n' * 2 + b'{"b": 1}\n' + b'{"c": 1\n'
        scan = json_line_keys(rows, FeatureLimits(max_rows=2))

        assert paths(scan) == [("a", 1)]
        assert scan.truncated
        assert scan.problems == (Problem(MALFORMED, 4, "not a JSON row: it does not begin and end with a bracket"),)

    def test_a_file_of_broken_rows_has_few_problems_and_says_so(self) -> None:
        scan = json_line_keys(b"oops {\n" * 1000, LIMITS)

        assert len(scan.problems) == MAX_PROBLEMS
        assert scan.truncated


class TestYaml:
    def test_keys_have_dotted_paths_and_lines(self) -> None:
        scan = yaml_keys("name: x\njobs:\n  build:\n    - run: a\n      'with it': {x: 1}\n", LIMITS)

        assert scan.keys == (
            Key("name", "name", KeyKind.YAML, 1),
            Key("jobs", "jobs", KeyKind.YAML, 2),
            Key("build", "jobs.build", KeyKind.YAML, 3),
            Key("run", "jobs.build[].run", KeyKind.YAML, 4),
            Key("with it", 'jobs.build[]."with it"', KeyKind.YAML, 5),
            Key("x", 'jobs.build[]."with it".x', KeyKind.YAML, 5),
        )
        assert (scan.problems, scan.truncated) == ((), False)

    def test_keys_are_shown_as_written_and_not_as_yaml_takes_them(self) -> None:
        scan = yaml_keys("on: push\nno: 1\n1_000: 2\n12:30: 3\n~: 4\n0x10: 5\n", LIMITS)

        assert [key.name for key in scan.keys] == ["on", "no", "1_000", "12:30", "~", "0x10"]

    def test_each_document_has_its_keys(self) -> None:
        scan = yaml_keys("kind: A\nspec: {x: 1}\n---\nkind: B\ndata: 1\n", LIMITS)

        assert paths(scan) == [("kind", 1), ("spec", 2), ("spec.x", 2), ("data", 5)]
        assert scan.problems == ()

    def test_a_tab_ends_the_keys_and_those_before_it_are_kept(self) -> None:
        scan = yaml_keys("a: 1\n---\nb: 2\nc:\n\t- x\nd: 3\n", LIMITS)

        assert paths(scan) == [("a", 1), ("b", 3), ("c", 4)]
        assert scan.problems == (
            Problem(MALFORMED, 5, "not YAML from here on: found character that cannot start any token"),
        )

    def test_duplicate_keys_are_reported_with_both_lines(self) -> None:
        scan = yaml_keys("a: 1\nb: {a: 1, c: 2, c: 3}\na: 2\n", LIMITS)

        assert scan.problems == (
            Problem(DUPLICATE, 2, "key b.c is already set at line 2"),
            Problem(DUPLICATE, 3, "key a is already set at line 1"),
        )

    def test_a_bomb_of_aliases_costs_what_its_bytes_cost(self) -> None:
        levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
        begun = time.process_time()
        scan = yaml_keys("\n".join(levels), LIMITS)

        assert len(scan.keys) == 30
        assert time.process_time() - begun < 1

    def test_an_alias_or_a_mapping_as_a_key_has_no_name(self) -> None:
        scan = yaml_keys("? &x [q]\n: {hidden: 1}\n*x : {hidden: 2}\nseen: *x\nlast: {y: 1}\n", LIMITS)

        assert paths(scan) == [("seen", 4), ("last", 5), ("last.y", 5)]

    def test_nothing_is_constructed(self) -> None:
        scan = yaml_keys("!!python/object/apply:os.system {args: ['false']}\n", LIMITS)

        assert (paths(scan), scan.problems) == ([("args", 1)], ())

    def test_lines_end_in_lf_alone(self) -> None:
        assert paths(yaml_keys("a: 'x\u2028y'\nb: 'x\x85y'\nc: 1\n", LIMITS)) == [("a", 1), ("b", 2), ("c", 3)]

    @pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000])
    def test_deep_nesting_is_a_problem_and_not_a_crash(self, text: str) -> None:
        scan = yaml_keys(text, LIMITS)

        assert [problem.flag for problem in scan.problems] == [MALFORMED]

    def test_a_template_is_told_as_one(self) -> None:
        scan = yaml_keys("a: 1\n{{- if .Values.b }}\nb: 2\n", LIMITS)

        assert paths(scan) == [("a", 1)]
        assert "the file looks like a template" in scan.problems[0].detail

    def test_levels_that_are_too_deep_are_left_out_and_that_is_said(self) -> None:
        scan = yaml_keys("a: {b: {c: {d: 1}}}\ne: 1\n", FeatureLimits(max_depth=2))

        assert (paths(scan), scan.truncated) == ([("a", 1), ("a.b", 1), ("e", 2)], True)

    def test_the_end_of_a_cut_text_is_no_problem(self) -> None:
        assert yaml_keys("a: 1\nb: [1,\n", LIMITS, complete=False).problems == ()
        assert len(yaml_keys("a: 1\nb: [1,\n", LIMITS).problems) == 1


class TestToml:
    def test_keys_have_dotted_paths_and_lines(self) -> None:
        scan = toml_keys(
            'title = "x"\na.b."c.d" = 1\n[t.u]\nx = {y = 1, z.w = 2}\n[[p]]\nn = 1\n[p.q]\nm = 2\n', LIMITS
        )

        assert paths(scan) == [
            ("title", 1), ("a", 2), ("a.b", 2), ('a.b."c.d"', 2), ("t", 3), ("t.u", 3), ("t.u.x", 4), ("t.u.x.y", 4),
            ("t.u.x.z", 4), ("t.u.x.z.w", 4), ("p", 5), ("p[].n", 6), ("p[].q", 7), ("p[].q.m", 8),
        ]  # fmt: skip
        assert scan.keys[0] == Key("title", "title", KeyKind.TOML, 1)
        assert (scan.problems, scan.truncated) == ((), False)

    def test_a_string_of_many_lines_is_not_mistaken(self) -> None:
        text = 'a = """\n[no]\nno = 1\n"no" = \\"""\n""" # c\nb = \'\'\'\n[no]\'\'\'\n'
        text += 'c = [ # "]\n  "x", \'[no]\',\n]\nd = 1\n'

        assert paths(toml_keys(text, LIMITS)) == [("a", 1), ("b", 6), ("c", 8), ("d", 11)]
        assert toml_keys(text, LIMITS).problems == ()

    def test_values_of_any_type_are_passed_over(self) -> None:
        text = "a = 1979-05-27 07:32:00Z\nb = -1_000.5e3\nc = true # x\nd = []\ne = {}\nf = inf\n"

        assert [key.name for key in toml_keys(text, LIMITS).keys] == ["a", "b", "c", "d", "e", "f"]
        assert toml_keys(text, LIMITS).problems == ()

    def test_duplicates_of_keys_and_tables_are_reported_with_both_lines(self) -> None:
        scan = toml_keys("[t]\nx = 1\nx = 2\n[u]\nx = 1\n[t]\ny = {a = 1, a = 2}\n", LIMITS)

        assert scan.problems == (
            Problem(DUPLICATE, 3, "key t.x is already set at line 2"),
            Problem(DUPLICATE, 6, "key t is already set at line 1"),
            Problem(DUPLICATE, 7, "key t.y.a is already set at line 7"),
        )

    def test_items_of_an_array_may_repeat_a_key(self) -> None:
        text = "[[p]]\nn = 1\n[p.q]\nm = 1\n[[p]]\nn = 2\n[p.q]\nm = 2\n[z]\na = [{x = 1}, {x = 2}]\n"

        assert toml_keys(text, LIMITS).problems == ()

    def test_a_broken_line_is_told_and_the_next_goes_on(self) -> None:
        scan = toml_keys("a = 1\nnot toml\nb = \n[t\nc = '2' 3\nd = 4\n", LIMITS)

        assert [key.name for key in scan.keys if key.name in {"a", "d"}] == ["a", "d"]
        assert [(one.line, one.detail) for one in scan.problems] == [
            (2, "not TOML: a key has no value"),
            (3, "not TOML: a value is expected"),
            (4, "not TOML: a table header is not closed"),
            (5, "not TOML: something follows the value"),
        ]

    @pytest.mark.parametrize(
        "text", ["a = " + "[" * 100_000, "a = " + "{a = " * 100_000, "a" + ".a" * 100_000 + " = 1"]
    )
    def test_deep_nesting_costs_no_more_than_its_bytes(self, text: str) -> None:
        begun = time.process_time()
        scan = toml_keys(text, LIMITS)

        assert scan.keys[0].path == "a"
        assert len(scan.keys) <= LIMITS.max_depth
        assert time.process_time() - begun < 5

    def test_the_end_of_a_cut_text_is_no_problem(self) -> None:
        assert toml_keys("a = 1\nb = [1,", LIMITS, complete=False).problems == ()
        assert len(toml_keys("a = 1\nb = [1,", LIMITS).problems) == 1
