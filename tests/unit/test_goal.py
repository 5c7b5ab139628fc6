import pytest

from rtch.goal import CODE_WEIGHT, JOIN_WEIGHT, PROSE_WEIGHT, TITLE_WEIGHT, decompose
from rtch.models.basket import FrameRef, TermShape

STOP = frozenset(["the", "a", "of", "in", "to", "is", "fix", "when"])


def pieces(goal: str, shape: TermShape) -> list[str]:
    return [piece.text for piece in decompose(goal, STOP).pieces if piece.shape is shape]


def weights(goal: str) -> dict[str, float]:
    return {piece.text: piece.weight for piece in decompose(goal, STOP).pieces}


@pytest.mark.parametrize(
    ("goal", "paths"),
    [
        ("read src/app/main.py now", ["src/app/main.py"]),
        ("read ./docs/a-b.md, then setup.cfg.", ["./docs/a-b.md", "setup.cfg"]),
        ("the file package.json", ["package.json"]),
        ("and/or", ["and/or"]),
        ("version 1.2.3 of v2", []),
        ("see ../up/x.toml", ["../up/x.toml"]),
    ],
)
def test_paths(goal: str, paths: list[str]) -> None:
    assert pieces(goal, TermShape.PATH) == paths


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        ("HarmonyEngine calls queue_state_compile", ["HarmonyEngine", "queue_state_compile"]),
        ("asyncio.run and std::io::Read", ["asyncio.run", "std::io::Read"]),
        ("e.g. foo.py, i.e. Node.js", []),
        ("utf8 of sha256", ["utf8", "sha256"]),
    ],
)
def test_identifiers(goal: str, names: list[str]) -> None:
    assert pieces(goal, TermShape.IDENTIFIER) == names


def test_quotes_of_more_than_a_name_are_kept_word_for_word() -> None:
    goal = 'it says "no such table" and `--dry-run x` but not "name" or \'a b\''
    assert pieces(goal, TermShape.QUOTE) == ["no such table", "--dry-run x"]


def test_moments() -> None:
    assert pieces("at tic 412 or Tic-9, on 2024-05-06", TermShape.MOMENT) == ["tic 412", "Tic-9", "2024-05-06"]


def test_neighbours_that_may_be_written_as_one() -> None:
    assert pieces("work tree of the list, in-place", TermShape.JOINED) == ["work tree"]


def test_stop_words_are_told_and_never_pieces() -> None:
    found = decompose("Fix the order of the Fix", STOP)
    assert (found.stopped, [piece.text for piece in found.pieces]) == (("fix", "the", "of"), ["order"])


def test_a_piece_is_kept_once_with_the_sum_of_its_weights() -> None:
    found = weights("order\norder is ORDER\n```\norder\n```\n")
    assert found == {"order": TITLE_WEIGHT + 2 * PROSE_WEIGHT + CODE_WEIGHT}


@pytest.mark.parametrize("line", [">>> order()", "    order()", "\torder()", "$ order", "Traceback order", "^^^ order"])
def test_code_below_the_title_weighs_least(line: str) -> None:
    expected = PROSE_WEIGHT if line.startswith("^^^") else CODE_WEIGHT
    assert weights(f"title\n{line}")["order"] == expected


def test_an_unclosed_fence_is_code_to_the_end() -> None:
    assert weights("title\n~~~\norder\n\nhouse")["house"] == CODE_WEIGHT


def test_joined_words_weigh_a_share_of_their_part() -> None:
    assert weights("work tree")["work tree"] == TITLE_WEIGHT * JOIN_WEIGHT


@pytest.mark.parametrize(
    ("trace", "frames"),
    [
        (
            'Traceback\n  File "/app/a.py", line 3, in f\n  File "C:\\app\\b.py", line 7, in g\n',
            [("C:/app/b.py", 7, 1), ("/app/a.py", 3, 2)],
        ),
        (
            "    at inner (/srv/lib/x.js:10:5)\n    at file:///srv/lib/y.js:20:1\n",
            [("/srv/lib/x.js", 10, 1), ("/srv/lib/y.js", 20, 2)],
        ),
        ("goroutine 1 [running]:\n\t/go/main.go:12 +0x1d\n", [("/go/main.go", 12, 1)]),
        ("error[E0308]\n  --> src/lib.rs:4:9\n", [("src/lib.rs", 4, 1)]),
        ("thread 'main' panicked at 'boom', src/main.rs:5:2", [("src/main.rs", 5, 1)]),
        ("\tat com.x.App.run(App.java:33)", [("App.java", 33, 1)]),
        ("lib/a.rb:8:in `call'\n  from lib/b.rb:9:in `run'", [("lib/a.rb", 8, 1), ("lib/b.rb", 9, 2)]),
        ("no trace at all: 5", []),
    ],
    ids=["python", "node", "go", "rustc", "rust", "jvm", "ruby", "none"],
)
def test_frames_count_from_the_innermost(trace: str, frames: list[tuple[str, int, int]]) -> None:
    expected = tuple(FrameRef(path=path, line=line, depth=depth) for path, line, depth in frames)
    assert decompose(f"it fails\n{trace}", STOP).frames == expected


def test_frames_are_bounded() -> None:
    trace = "\n".join(f'File "a{i}.py", line {i}' for i in range(200))
    assert len(decompose(trace, STOP).frames) == 60


@pytest.mark.parametrize("goal", ["", "\n\n", "the", "....", "``` ```", "🙂 ünï", "\x00"])
def test_any_text_can_be_taken_apart(goal: str) -> None:
    assert all(piece.text and piece.weight > 0 for piece in decompose(goal, STOP).pieces)
