"""Which truth files contradict each other, and which only look as if they did."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

import samples as sample
from making import desk_of, limits_with, plant, surroundings_of

sys.path.pop(0)

from rtch.data_values import Unreadable, Value, plain, scalars
from rtch.limits import Limits, load_limits
from rtch.models.drift import Anchor, Certainty, Checked
from rtch.prose_values import stated
from rtch.stages.contradictions import contradictions
from rtch.stages.orient import orient


def checked(root: Path, files: Mapping[str, str | bytes], limits: Limits | None = None) -> Checked:
    """Plant files, find the truth files among them, and look."""
    limits = limits or load_limits()
    desk = desk_of(plant(root, files))
    listing = desk.workspace.listing
    zone = orient(listing, surroundings_of(), limits.orient, desk)
    packet = sample.packet(zone_descriptor=zone)
    return contradictions(packet, packet, listing, limits.drift, desk)


def told(found: Checked) -> list[str]:
    return [one.message for one in found.findings]


YAML = "limits:\n  window: 40\n  depth: 3\n"
TOML = "# sizes\n[limits]\nwindow = 60\ndepth = 3\n"


def test_two_registries_of_one_place(tmp_path: Path) -> None:
    found = checked(tmp_path, {"registry.yaml": YAML, "catalog.toml": TOML})
    (one,) = found.findings
    assert one.message == "limits.window is 60 in catalog.toml:L3 and 40 in registry.yaml:L2"
    assert one.certainty is Certainty.LIKELY
    assert one.at == Anchor(path="catalog.toml", start_line=3, end_line=3)
    assert one.related == (Anchor(path="registry.yaml", start_line=2, end_line=2),)
    assert (one.found, one.next_command) == ("limits.window: 60", "rtch read 'catalog.toml:L3-L3'")
    assert (found.counts.truth_files, found.counts.keys, found.not_judged) == (2, 2, ())


def test_every_notation_states(tmp_path: Path) -> None:
    found = checked(
        tmp_path,
        {
            "registry.yaml": YAML,
            "catalog.json": '{\n  // sizes\n  "limits": {\n    "window": 50,\n  },\n}\n',
            "README.md": "---\nlimits:\n  window: 50\n---\n# Top\n",
        },
    )
    assert told(found) == ["limits.window is 50 in README.md:L3, 50 in catalog.json:L4 and 40 in registry.yaml:L2"]


def test_three_files_that_say_three_things_have_a_field_each(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "registry.yaml": YAML,
        "catalog.toml": TOML,
        "inventory.yaml": YAML.replace("40", "50"),
    }
    assert told(checked(tmp_path, files)) == []


def test_front_matter_of_two_documents(tmp_path: Path) -> None:
    front = "---\nlimits:\n  window: {}\n---\n# Top\n"
    for values, count in ((("40", "60"), 1), (("true", "false"), 1), (("wide", "narrow"), 0)):
        files: dict[str, str | bytes] = dict(zip(("CLAUDE.md", "README.md"), map(front.format, values), strict=True))
        assert len(checked(tmp_path / values[0], files).findings) == count


def test_an_id_follows_from_key_and_paths_and_a_state_from_values(tmp_path: Path) -> None:
    (one,) = checked(tmp_path / "a", {"registry.yaml": YAML, "catalog.toml": TOML}).findings
    (moved,) = checked(tmp_path / "b", {"registry.yaml": "\n\n" + YAML, "catalog.toml": TOML}).findings
    (other,) = checked(tmp_path / "c", {"registry.yaml": YAML.replace("40", "41"), "catalog.toml": TOML}).findings
    assert (one.finding_id, one.state) == (moved.finding_id, moved.state)
    assert one.finding_id == other.finding_id
    assert one.state != other.state


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.0", "'1.0'"),
        ("1.0", "1"),
        ("true", "True"),
        ("yes", "true"),
        ("'a'", "a"),
        ("v1.2", "1.2"),
        ("1_000", "1000"),
        ("null", "3"),
        ("''", "3"),
        ("${WINDOW}", "3"),
        ("'{{ window }}'", "3"),
        ("a text of more than four words", "3"),
        ("|\n    3\n", "4"),
        ("[3]", "4"),
        ("*ref", "4"),
    ],
)
def test_the_same_value_or_none_is_no_contradiction(tmp_path: Path, one: str, other: str) -> None:
    files = {"registry.yaml": f"a: &ref 9\nlimits:\n  window: {one}\n", "catalog.yml": f"limits:\n  window: {other}\n"}
    assert told(checked(tmp_path, files)) == []


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"a/registry.yaml": "{}", "b/catalog.yaml": "{}"}, "siblings"),
        ({"registry.yaml": "{}", "sub/registry.yaml": "{}"}, "of one name"),
        ({"a-registry.yaml": "{}", "b-registry.yaml": "{}"}, "of one kind"),
        ({"pump-registry.yaml": "{}", "pump-catalog.yaml": "{}"}, "of names that share a word"),
        ({"registry.yaml": "{}", "sub/catalog.yaml": "{}", "sub/package.json": "{}"}, "of two packages"),
        ({"registry.yaml": "{}", "tests/catalog.yaml": "{}"}, "a fixture"),
        ({"registry.yaml": "{}", "stuff/other.yaml": "{}"}, "no truth file"),
    ],
)
def test_files_about_different_things(tmp_path: Path, files: dict[str, str], why: str) -> None:
    texts = ["limits:\n  window: 40\n", "limits:\n  window: 60\n", '{"name": "sub"}\n']
    assert told(checked(tmp_path, dict(zip(files, texts, strict=False)))) == [], why


def test_manifests_are_not_held_against_each_other_or_registries(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "package.json": '{"name": "a", "version": "1", "limits": {"window": 1}}',
        "pyproject.toml": '[project]\nname = "b"\nversion = "2"\n[limits]\nwindow = 2\n',
        "registry.yaml": YAML,
    }
    assert told(checked(tmp_path, files)) == []


def test_instances_of_one_form_are_about_different_things(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "registry.yaml": "pump:\n  power: 1\n  height: 2\n  weight_kg: 3\n  colour: red\n",
        "catalog.yaml": "pump:\n  power: 2\n  height: 3\n  weight_kg: 4\n  colour: blue\n",
    }
    assert told(checked(tmp_path, files)) == []


@pytest.mark.parametrize(
    "key", ["window", "max_window_lines", "limits.name", "limits.updated_at", "metadata.window", "properties.a.window"]
)
def test_keys_that_do_not_tell(tmp_path: Path, key: str) -> None:
    *parents, leaf = key.split(".")
    head = "".join(f"{'  ' * depth}{part}:\n" for depth, part in enumerate(parents))
    files: dict[str, str | bytes] = {
        name: f"{head}{'  ' * len(parents)}{leaf}: {value}\n"
        for name, value in {"registry.yaml": "40", "catalog.yaml": "60"}.items()
    }
    assert told(checked(tmp_path, files)) == []


def test_a_key_that_is_given_twice_states_nothing(tmp_path: Path) -> None:
    twice = '{"limits": {"window": 1, "window": 2}}'
    assert told(checked(tmp_path, {"registry.yaml": YAML, "catalog.json": twice})) == []
    assert told(checked(tmp_path, {"registry.yaml": YAML + "  window: 7\n", "catalog.json": twice})) == []


def test_decision_records_do_not_contradict_each_other(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"docs/decisions/{n}.md": f"---\nlimits:\n  window: {n}\n---\n# One\n\n- **Window size**: {n}\n" for n in (1, 2)
    }
    assert told(checked(tmp_path, files)) == []


# Prose.


TABLE = "# Top\n\n| Setting | Default | Meaning |\n|---|---|---|\n| `limits.window` | 50 | lines |\n"


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (TABLE, 5),
        ("# Top\n\nA chunk has `limits.window = 50` lines.\n", 3),
        ("# Top\n\nThe size (`limits.window: 50`) holds.\n", 3),
        ("---\ntitle: a\n---\n# Top\n\nIt has `limits.window = 50`.\n", 6),
    ],
)
def test_a_document_against_a_structured_file(tmp_path: Path, document: str, line: int) -> None:
    (one,) = checked(tmp_path, {"README.md": document, "registry.yaml": YAML}).findings
    assert one.message == f"limits.window is 50 in README.md:L{line} and 40 in registry.yaml:L2"
    assert one.certainty is Certainty.POSSIBLE


def test_a_document_against_a_manifest(tmp_path: Path) -> None:
    manifest = '[project]\nname = "a"\n[tool.lamp]\nline-length = 120\n'
    document = "# Top\n\nLines are wide: `tool.lamp.line-length = 100`.\n"
    assert told(checked(tmp_path, {"README.md": document, "pyproject.toml": manifest})) == [
        "tool.lamp.line-length is 100 in README.md:L3 and 120 in pyproject.toml:L4"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Set `limits.window = 50` to see more.",
        "For example `limits.window = 50`.",
        "With `limits.window: int` the size is given.",
        "With `limits.window = <n>` the size is given.",
        "It was `limits.window = 50`.",
        "`window = 50` it is.",
        "```yaml\n`limits.window = 50`\n```",
        "It has `limits.window = 50`; later it has `limits.window = 60`.",
        "It has `limits.window = 40`.",
    ],
)
def test_prose_that_does_not_state(tmp_path: Path, line: str) -> None:
    assert told(checked(tmp_path, {"README.md": f"# Top\n\n{line}\n", "registry.yaml": YAML})) == []


def test_two_documents_on_a_bold_key(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "README.md": "# Top\n\n## Server\n\n- **Default port**: 8080\n- **Last updated**: 2024-01-01\n",
        "CLAUDE.md": "# Other\n\n## Server\n\n**Default port:** `9090`\n**Last updated:** 2025-01-01\n",
    }
    (one,) = checked(tmp_path, files).findings
    assert one.message == "default port is 9090 in CLAUDE.md:L5 and 8080 in README.md:L5"
    assert one.certainty is Certainty.POSSIBLE


def test_two_documents_on_a_bold_key_of_different_sections(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "README.md": "# Top\n\n## Server\n\n- **Default port**: 8080\n",
        "CLAUDE.md": "# Other\n\n## Client\n\n- **Default port**: 9090\n",
    }
    assert told(checked(tmp_path, files)) == []


# Hostile and unreadable.


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("registry.json", "{", "its keys: not JSON: "),
        ("registry.toml", "a = ", "its keys: not TOML: "),
        ("registry.yaml", "a: [", "its keys: not YAML: "),
        ("registry.yaml", "a: 1\n---\na: 2\n", "its keys: it holds several documents"),
        ("registry.json", "[" * 100_000, "its keys: not JSON: "),
        ("registry.toml", "a = " + "[" * 100_000, "its keys: not TOML: "),
        ("registry.json", "{" + " " * 300_000 + "}", "its keys: 300002 bytes, limit 262144"),
        ("registry.json", '{"a": "\0"}', "its keys: a NUL in the first 8192 bytes"),
        ("registry.yaml", "".join(f"k{n}: 1\n" for n in range(6000)), "its keys: it has more than 5,000 values"),
    ],
)
def test_what_cannot_be_read_is_not_judged(tmp_path: Path, path: str, text: str, why: str) -> None:
    found = checked(tmp_path, {path: text, "catalog.toml": TOML})
    assert found.findings == ()
    assert [(row.what, row.why.startswith(why)) for row in found.not_judged] == [(path, True)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.yaml", "a: &a [1]\n" + "".join(f"{n}: &{n} [*{p}, *{p}]\n" for p, n in ("ab", "bc", "cd", "de", "ef"))),
        ("a.json", "/*" * 130_000),
        ("a.json", '\\"' * 130_000),
        ("a.json", '{"a": ' + "9" * 200_000 + "}"),
        ("a.toml", "a = " + "9" * 200_000),
        ("a.toml", "a." * 100_000 + "a = 1"),
        ("a.yaml", "{a: " * 5_000),
        ("a.yaml", "!!python/object/apply:os.system ['true']"),
    ],
)
def test_hostile_files_cost_little_and_are_not_executed(path: str, text: str) -> None:
    start = time.perf_counter()
    with contextlib.suppress(Unreadable):
        scalars(path, text)
    assert time.perf_counter() - start < 3


def test_values_of_keys_named_as_secrets_are_not_shown(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "registry.yaml": "service:\n  apiToken: harbour-seven\n",
        "catalog.yaml": "service:\n  apiToken: harbour-eight\n",
    }
    (one,) = checked(tmp_path, files).findings
    assert one.message == "service.apiToken has different values in catalog.yaml:L2 and registry.yaml:L2"
    assert "harbour" not in one.model_dump_json()


def test_findings_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"registry.yaml": YAML, "catalog.toml": TOML.replace("3\n", "4\n")}
    found = checked(tmp_path, files, limits_with(drift={"max_findings": 1}))
    assert len(found.findings) == 1
    assert [row.why for row in found.not_judged] == ["1 more keys are contradicted than are kept"]


# The parts.


def test_the_lines_of_values() -> None:
    assert scalars("a.yaml", "a:\n  b: 1\n  'c d': x\nl:\n  - e: 2\n") == {
        "a.b": Value("1", 2),
        'a."c d"': Value("x", 3),
    }
    assert scalars("a.toml", "x = true\n\n[a]\nb.c = 1.50\n") == {"x": Value("true", 1), "a.b.c": Value("1.50", 4)}
    assert scalars("a.json", '{"a":\n {"b":\n 1e3}}') == {"a.b": Value("1e3", 2)}
    assert scalars("a.txt", "a: 1") == {}


@pytest.mark.parametrize(
    ("text", "means"),
    [("0040", "40"), ("+4.50", "4.5"), ("-0.0", "-0"), ("1.10", "1.1"), ("Off", "false"), (" A  b ", "a b"), ("~", "")],
)
def test_what_a_value_means(text: str, means: str) -> None:
    assert plain(text) == means


def test_a_table_of_something_else_states_nothing() -> None:
    rows = ["| Name | Meaning |", "|---|---|", "| `limits.window` | lines |", "", "| `limits.depth` | 3 |"]
    assert stated(rows) == ()


@pytest.mark.parametrize("place", ["settings.yaml", "config/server.yaml", "conf/app.toml"])
def test_a_configuration_file_speaks_for_what_a_document_says_of_it(tmp_path: Path, place: str) -> None:
    text = '[server]\nlisten_port = "8080"\n' if place.endswith("toml") else "server:\n  listen_port: 8080\n"
    readme = "# Server\n\n| setting | value |\n| --- | --- |\n| `server.listen_port` | 9090 |\n"
    (said,) = told(checked(tmp_path, {place: text, "README.md": readme}))
    assert said.startswith("server.listen_port is ")
    assert "9090" in said
    assert "8080" in said
