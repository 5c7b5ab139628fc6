"""Laws of verification: a place that is told is proven, whatever was done to the file."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent))

from citing import bytes_at, cited, citing, span_of

sys.path.pop(0)

from rtch import verify
from rtch.models.packet import Packet
from rtch.models.verification import JudgedChunk
from rtch.models.vocab import ChunkVerdict
from rtch.reanchoring import reanchored

PROVEN = {ChunkVerdict.UNCHANGED, ChunkVerdict.MOVED, ChunkVerdict.RENAMED}
LINES = st.sampled_from(
    ["def settle(route):", "    total = 1", "    return total", "", "}", "x", "\u00e9t\u00e9 = 'a'"]
)
ENDS = st.sampled_from(["\n", "\r\n"])
CODECS = st.sampled_from(["utf-8", "utf-16-le", "latin-1"])
EDITS = st.lists(
    st.tuples(st.sampled_from(["insert", "remove", "replace", "swap"]), st.integers(0, 40), LINES), max_size=4
)
SLOW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def written(lines: Sequence[str], end: str, codec: str, *, last: bool) -> bytes:
    text = end.join(lines) + (end if last and lines else "")
    return ("\ufeff" + text if codec.startswith("utf-16") else text).encode(codec)


def edited(lines: Sequence[str], edits: Sequence[tuple[str, int, str]]) -> list[str]:
    now = list(lines)
    for kind, place, line in edits:
        at = place % (len(now) + 1)
        if kind == "insert":
            now.insert(at, line)
        elif at < len(now):
            now[at : at + 1] = [] if kind == "remove" else [line] if kind == "replace" else now[at : at + 1]
            if kind == "swap":
                now[at:], now[:at] = now[:at], now[at:]
    return now


@SLOW
@given(st.lists(LINES, min_size=1, max_size=14), st.data(), EDITS, st.tuples(ENDS, ENDS), CODECS)
def test_a_place_that_is_told_has_the_captured_bytes(
    lines: list[str], data: st.DataObject, edits: list[tuple[str, int, str]], ends: tuple[str, str], codec: str
) -> None:
    last, moves = data.draw(st.booleans()), data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "a.py").write_bytes(written(lines, ends[0], codec, last=last))
        # A last line that is empty is none.
        count = len(lines) - (not last and not lines[-1] and len(lines) > 1)
        if not (root / "a.py").read_bytes():
            return
        starts = data.draw(st.lists(st.integers(1, count), min_size=1, max_size=3))
        spans = [(start, data.draw(st.integers(start, count))) for start in starts]
        packet = citing(root, *(cited(root, "a.py", *span, number=n) for n, span in enumerate(spans, 1)))
        (root / "a.py").write_bytes(written(edited(lines, edits), ends[1], codec, last=last))
        if moves:
            (root / "a.py").rename(root / "b.py")
        found = verify(packet)
        for chunk, judged in zip(packet.hydrated_chunks, found.chunks, strict=True):
            hold_to_the_law(root, chunk.text_sha256, judged)
        assert verify(packet) == found
        assert sum(found.counts.model_dump().values()) == len(found.chunks) == len(spans)
        hold_the_new_packet(root, packet, reanchored(packet, found, root))


def hold_to_the_law(root: Path, captured: str, judged: JudgedChunk) -> None:
    if judged.verdict in PROVEN:
        assert judged.now is not None
        assert hashlib.sha256(span_of(root, judged.now)).hexdigest() == captured
        same = (judged.now.path, judged.now.start_line) == (judged.path, judged.start_line)
        assert same is (judged.verdict is ChunkVerdict.UNCHANGED)
    elif judged.verdict is ChunkVerdict.EDITED:
        assert judged.now is None or hashlib.sha256(span_of(root, judged.now)).hexdigest() != captured
    else:
        assert judged.now is None


def hold_the_new_packet(root: Path, old: Packet, new: Packet) -> None:
    assert new.parent_packet_id == old.packet_id != new.packet_id
    assert Packet.parse(new.canonical()) == new
    again = verify(new)
    assert {one.verdict for one in again.chunks} <= {ChunkVerdict.UNCHANGED}
    assert len(new.hydrated_chunks) + len(new.skipped_surfaces) == len(old.hydrated_chunks) + len(old.skipped_surfaces)
    for chunk in new.hydrated_chunks:
        data = bytes_at(root, chunk.path)
        assert hashlib.sha256(data).hexdigest() == chunk.file_sha256
        assert hashlib.sha256(data[chunk.byte_start : chunk.byte_end]).hexdigest() == chunk.text_sha256
        assert all(chunk.start_line <= hit.line <= chunk.end_line for hit in chunk.hits)
