import hashlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import limits_with

sys.path.pop(0)

from rtch.evidence import SUPPORTS
from rtch.models.chunk import GRAMMAR_GIVEN_UP, Chunk, Clipped, Masked, ProbeHitRef, QuoteAnchor
from rtch.models.vocab import ConfidenceClass, NewlineStyle, Origin
from rtch.stages.chunks import Held, SourceFile, make_chunk

TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gH3jK5"
CODE = b"import os\n\n\nclass Tide:\n    def ebb(self):\n        return 1\n\n\ndef flow():\n    return Tide()\n"


def source(data: bytes, path: str = "a.txt", *, encoded: bool = False, **numbers: int) -> SourceFile:
    limits = limits_with(hydrate=numbers).hydrate
    digest = hashlib.sha256(data).hexdigest()
    return SourceFile(path, encoded, data, digest, limits, "sha1", may_parse=False)


def held(line: int, term: str = "tide", **fields: object) -> Held:
    plain: dict[str, object] = {
        "probe_id": "rtch_probe_1",
        "origin": Origin.EXPLICIT_SEED,
        "byte_offset": 0,
        "confidence": ConfidenceClass.HYDRATED_EVIDENCE,
    }
    return Held(term=term, line=line, **plain | fields)  # type: ignore[arg-type]


def chunk(file: SourceFile, start: int, end: int, *found: Held) -> Chunk:
    return make_chunk(file, start, end, found or (held(start),), number=1)


# What a chunk says of its lines


def test_a_chunk_is_the_bytes_of_its_lines() -> None:
    made = chunk(source(b"one\ntwo\nthree\nfour"), 2, 3)
    assert (made.text, made.line_range, made.start_line, made.end_line) == ("two\nthree\n", "L2-L3", 2, 3)
    assert (made.byte_start, made.byte_end) == (4, 14)
    assert made.text_sha256 == hashlib.sha256(b"two\nthree\n").hexdigest()
    assert made.file_sha256 == hashlib.sha256(b"one\ntwo\nthree\nfour").hexdigest()
    assert made.blob_id == hashlib.sha1(b"blob 18\0one\ntwo\nthree\nfour").hexdigest()
    assert made.next_re_entry_command == "rtch read 'a.txt:L2-L3'"
    assert (made.chunk_id, made.encoding, made.bom, made.newline) == ("rtch_chunk_1", "utf-8", False, NewlineStyle.LF)


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        ("\ufeffeins\nzwei\n".encode(), "utf-8", "eins\n"),
        ("eins\u2028\x0cx\nzwei\n".encode(), "utf-8", "eins\u2028\x0cx\n"),
        ("f\u00fcnf\n".encode("latin-1"), "latin-1", "f\u00fcnf\n"),
        ("\ufeffeins\nzwei\n".encode("utf-16-le"), "utf-16-le", "eins\n"),
        ("\ufeffeins\nzwei\n".encode("utf-16-be"), "utf-16-be", "eins\n"),
        (b"a\r\nb\r\n", "utf-8", "a\r\n"),
    ],
)
def test_text_is_decoded_by_the_encoding_of_the_file(data: bytes, encoding: str, text: str) -> None:
    made = chunk(source(data), 1, 1)
    assert (made.encoding, made.text) == (encoding, text)


def test_a_file_on_which_its_grammar_was_given_up_is_known_by_pattern_and_that_is_said() -> None:
    data = b"def settle():\n    return 1\n" + b"x=1\n" * 40_000
    file = replace(source(data, "a.py"), may_parse=True)
    made = chunk(file, 1, 2)
    assert made.tags == (GRAMMAR_GIVEN_UP,)
    assert made.defines == ("settle",)
    assert file.edges[0][0] == 1
    assert chunk(replace(source(CODE, "a.py"), may_parse=True), 1, 2).tags == ()


def test_the_strongest_and_first_hit_gives_a_chunk_its_class() -> None:
    made = chunk(
        source(b"one\ntwo\nthree\n"),
        1,
        3,
        held(1, "weak", confidence=ConfidenceClass.WEAK_HIT),
        held(2, "first"),
        held(3, "second"),
    )
    assert (made.confidence_class, made.term_or_shape) == (ConfidenceClass.HYDRATED_EVIDENCE, "first")
    assert made.limitation == SUPPORTS[ConfidenceClass.HYDRATED_EVIDENCE]


def test_a_chunk_says_which_probes_and_terms_lead_to_it() -> None:
    made = chunk(source(b"x\n" * 9), 1, 9, held(1), held(2), held(3), held(4, "ebb", probe_id="rtch_probe_2"))
    assert made.why_included == (
        "rtch_probe_1 found tide (explicit_seed) at L1 and 2 more lines; rtch_probe_2 found ebb (explicit_seed) at L4"
    )
    assert made.hits[3] == ProbeHitRef(probe_id="rtch_probe_2", term="ebb", origin=Origin.EXPLICIT_SEED, line=4)


def test_many_reasons_are_counted() -> None:
    found = [held(1, f"t{i}") for i in range(9)]
    assert chunk(source(b"x\n"), 1, 1, *found).why_included.endswith("t5 (explicit_seed) at L1; and 3 more")


@pytest.mark.parametrize(
    ("origins", "tags"),
    [
        ([Origin.EXPLORATORY, Origin.EXPLORATORY], ("exploratory_evidence",)),
        ([Origin.EXPLORATORY, Origin.HEADING], ()),
        ([Origin.HEADING], ()),
    ],
)
def test_a_chunk_of_exploratory_hits_alone_is_tagged(origins: list[Origin], tags: tuple[str, ...]) -> None:
    assert chunk(source(b"x\n"), 1, 1, *[held(1, origin=origin) for origin in origins]).tags == tags


def test_a_path_that_is_no_utf8_stays_encoded() -> None:
    made = chunk(source(b"x\n", "a%FF.txt", encoded=True), 1, 1)
    assert (made.path, made.path_encoded) == ("a%FF.txt", True)
    assert made.next_re_entry_command == "rtch read --encoded 'a%FF.txt:L1-L1'"


# Structure


def test_code_tells_its_definitions_by_pattern_where_it_is_not_parsed() -> None:
    file = source(CODE, "src/tide.py")
    assert file.edges == ([4, 5, 9], [3, 4, 8])
    assert chunk(file, 4, 6, held(4), held(6)).defines == ("Tide",)
    assert (chunk(file, 4, 10, held(5), held(9)).defines, file.symbol_at(5)) == (("Tide.ebb", "flow"), "")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("may_parse", [True, False], ids=["by grammar", "by pattern"])
def test_code_in_wide_characters_tells_its_definitions(encoding: str, *, may_parse: bool) -> None:
    # U+0A0A is no line end, though its bytes are those of two.
    plain = CODE.replace(b"import os", "import os  # \u0a0a".encode())
    narrow = replace(source(plain, "src/tide.py"), may_parse=may_parse)
    wide = replace(source(("\ufeff" + plain.decode()).encode(encoding), "src/tide.py"), may_parse=may_parse)
    assert wide.edges == narrow.edges
    assert list(wide.defined_in(1, 10)) == list(narrow.defined_in(1, 10)) == [(4, "Tide"), (5, "Tide.ebb"), (9, "flow")]
    assert wide.symbol_at(6) == narrow.symbol_at(6)


def test_a_name_that_is_not_utf8_is_told_as_it_is_shown() -> None:
    assert list(source("def gr\u00f6sse(): pass\n".encode("latin-1"), "a.py").defined_in(1, 1)) == [(1, "gr\u00f6sse")]


def test_documents_tell_their_sections() -> None:
    file = source(b"# Top\n\ntext\n\n## Inner\n\nmore\n\n# Next\n", "a.md")
    assert file.edges == ([1, 5, 9], [8, 9])
    assert chunk(file, 6, 7, held(7)).heading_path == ("Top", "Inner")
    assert chunk(source(b"text\n", "a.md"), 1, 1).heading_path == ()


def test_other_files_have_no_structure() -> None:
    file = source(b"class Tide:\n", "a.unknown")
    assert (file.edges, list(file.defined_in(1, 1)), file.headings_at(1)) == (([], []), [], ())


# Secrets


def test_a_secret_is_masked_and_listed() -> None:
    made = chunk(source(f"one\nkey = {TOKEN}\nthree\n".encode()), 1, 3)
    assert TOKEN not in made.canonical().decode()
    assert [one.line for one in made.masked] == [2]
    assert made.text.count("\n") == 3


def pem() -> list[str]:
    body = [hashlib.sha512(bytes([i])).hexdigest()[:64] for i in range(20)]
    return ["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----"]


@pytest.mark.parametrize(("start", "end"), [(1, 24), (1, 10), (5, 15), (10, 24)])
def test_no_line_of_a_key_is_shown_wherever_the_chunk_begins(start: int, end: int) -> None:
    block = pem()
    made = chunk(source("\n".join(["top", *block, "bottom", ""]).encode()), start, end)
    shown = made.canonical().decode()
    assert [line for line in block[1:-1] if line in shown] == []


def test_a_key_beside_a_long_line_is_masked_as_a_whole() -> None:
    block = pem()
    made = chunk(source("\n".join(["x " * 2000, *block, ""]).encode()), 1, 23)
    assert [line for line in block[1:-1] if line in made.text] == []
    assert made.clipped
    assert made.masked


def test_a_secret_at_the_edge_of_a_clipped_line_is_not_cut_in_two() -> None:
    for shift in range(40, 140):
        line = "a " * 50 + "tide " + "b" * shift + " " + TOKEN + " " + "c " * 300
        made = chunk(source(line.encode(), max_line_bytes=200), 1, 1, held(1, byte_offset=100))
        assert all(TOKEN[:size] not in made.text for size in (8, 12, len(TOKEN)))


# Long lines


def test_a_long_line_is_clipped_around_its_hit_with_offsets() -> None:
    data = b"first\n" + b"x " * 500 + b"tide" + b" y" * 500 + b"\nlast\n"
    made = chunk(source(data, max_line_bytes=100), 1, 3, held(2, byte_offset=1006))
    assert made.clipped == (
        Clipped(line=2, byte_start=6, byte_end=981),
        Clipped(line=2, byte_start=1081, byte_end=2011),
    )
    assert made.text == f"first\n[clipped 975 bytes]{data[981:1081].decode()}[clipped 930 bytes]\nlast\n"


def test_a_long_line_without_a_hit_is_clipped_at_its_end() -> None:
    made = chunk(source(b"x " * 100 + b"\nlast\n", max_line_bytes=50), 1, 2, held(2))
    assert (made.text, len(made.clipped)) == ("x " * 25 + "[clipped 151 bytes]\nlast\n", 1)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16-le", "utf-16-be"])
def test_a_clipped_line_is_decoded_by_the_encoding_of_the_file(encoding: str) -> None:
    line = "\u00e4\u00f6 " * 300 + "tide " + "\u00fc\u00df " * 300
    bom = "\ufeff" if encoding.startswith("utf-16") else ""
    data = f"{bom}one\n{line}\n".encode(encoding)
    made = chunk(source(data, max_line_bytes=101), 1, 2, held(2, byte_offset=data.index("tide".encode(encoding))))
    shown = made.text.split("\n")[1]
    assert "tide " in shown
    assert set(shown.rsplit("]", 1)[0].split("]", 1)[1].rsplit("[", 1)[0]) <= set("\u00e4\u00f6\u00fc\u00df tide")
    assert made.text.endswith("bytes]\n")


def test_the_end_of_a_line_is_shown_where_the_hit_is_there() -> None:
    data = b"x " * 200 + b"tide\n"
    made = chunk(source(data, max_line_bytes=60), 1, 1, held(1, byte_offset=400))
    assert made.text.endswith("x x tide\n")
    assert [cut.byte_end for cut in made.clipped] == [len(data) - 60]


# Quotes


def test_a_quote_holds_the_edges_and_what_surrounds_them() -> None:
    made = chunk(source(b"one\r\ntwo\r\nthree\r\nfour\r\n", quote_chars=3), 2, 3)
    assert made.quote == QuoteAnchor(prefix="one", first_line="two", last_line="thr", suffix="fou")
    whole = chunk(source(b"one\ntwo"), 1, 2)
    assert whole.quote == QuoteAnchor(prefix="", first_line="one", last_line="two", suffix="")


def test_a_quote_is_masked() -> None:
    made = chunk(source(f"key = {TOKEN}\ntwo\nkey = {TOKEN}\n".encode()), 2, 2)
    assert TOKEN not in made.canonical().decode()


# Laws

texts = st.text(st.sampled_from("ab \t\r\u00e4\u2028\x0c\U0001f600"), max_size=90)


@given(
    st.lists(texts, min_size=1, max_size=6), st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "latin-1"]), st.data()
)
def test_a_chunk_gives_its_bytes_back(lines: list[str], encoding: str, data: st.DataObject) -> None:
    text = "".join(
        line.replace("\U0001f600", "").replace("\u2028", "") if encoding == "latin-1" else line + "\n" for line in lines
    )
    raw = (("\ufeff" if encoding.startswith("utf-16") else "") + text).encode(encoding)
    file = source(raw, max_line_bytes=40)
    if not len(file.lines):
        return
    start = data.draw(st.integers(1, len(file.lines)))
    end = data.draw(st.integers(start, len(file.lines)))
    made = chunk(file, start, end)
    span = raw[made.byte_start : made.byte_end]
    assert made.text_sha256 == hashlib.sha256(span).hexdigest()
    assert Chunk.parse(made.canonical()) == made
    if not made.clipped and not made.masked:
        assert made.text.encode(file.decoded.encoding) == span[2 * (made.bom and start == 1) :]
    for cut in made.clipped:
        assert made.byte_start <= cut.byte_start < cut.byte_end <= made.byte_end
    assert "\ufffd" not in made.text


ENCODINGS = ("utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "latin-1")
written = st.text(st.sampled_from("ab1_ \t\r\n\0\u00e4\u0a0a\u2028\x0c\ufeff\U0001f600"), max_size=60)


def as_file(text: str, encoding: str) -> bytes:
    if encoding == "latin-1":
        return text.encode(encoding, "replace") + b"\xe4"  # which makes it no UTF-8
    return ("\ufeff" if encoding[4:6] in {"16", "32"} else "").encode(encoding) + text.encode(encoding)


@given(written, st.sampled_from(ENCODINGS), st.binary(max_size=3))
def test_a_place_in_a_line_is_its_place_in_the_bytes(text: str, encoding: str, tail: bytes) -> None:
    file = source(as_file(text, encoding) + tail)  # a tail may be damage
    code = file.decoded.encoding
    for number in range(1, len(file.lines) + 1):
        line = file.line(number)
        assert "\n" not in line
        for column, character in enumerate(line):
            place = file.offset(number, column)
            assert file.lines.line_of(place) == number
            if file.decoded.exact:
                assert file.data[place:].startswith(character.encode(code))


@given(st.binary(max_size=40), st.sampled_from(["", *ENCODINGS[2:6]]))
def test_lines_keep_their_numbers_in_utf8_whatever_the_bytes(data: bytes, encoding: str) -> None:
    file = source(("\ufeff".encode(encoding) if encoding else b"") + data)
    text = file.utf8.decode()
    count = len(file.lines)
    assert text.count("\n") in {count, count - 1}
    assert [file.line(n) for n in range(1, count + 1)] == file.decoded.text.split("\n")[:count]


@given(st.integers(0, 60), st.integers(20, 60))
def test_what_is_cut_and_what_is_shown_add_up_to_the_line(before: int, most: int) -> None:
    data = b"ab " * before + b"tide" + b" cd" * 40
    made = chunk(source(data, max_line_bytes=most), 1, 1, held(1, byte_offset=3 * before))
    assert "tide" in made.text
    shown = len(data) - sum(cut.byte_end - cut.byte_start for cut in made.clipped)
    assert 0 < shown <= max(most, len(data) if not made.clipped else 0)
    assert Masked not in map(type, made.masked)
