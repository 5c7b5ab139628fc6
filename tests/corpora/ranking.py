"""A small studio of many languages among the files of ``tree``, for questions whose answer is known.

    python tests/corpora/ranking.py DIR [--files 80]

Everything that a question asks for stands in ``PLANTED``, written by hand; what ``tree`` adds is the
noise of an ordinary project. The same bytes on every run.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # tests are no package: a sibling is found beside this file

import tree

sys.path.pop(0)

WRAPPED = ("Logged", "Cached", "Threaded", "Remote", "Lazy", "Timed")
CHORDS = '''"""Which chord a handful of notes makes."""

from __future__ import annotations

from harmony.errors import ChordError

ROOTS = ("c", "d", "e", "f", "g", "a", "b")


def resolve_chord(notes: list[str], bass: str) -> str:
    """Return the chord that holds every note above the bass.

    Inversions count as the chord they invert.
    """
    fitting = [root for root in ROOTS if fits(root, notes)]
    if bass not in ROOTS:
        raise ChordError("no chord fits the bass note")
    return fitting[0] if fitting else bass


def fits(root: str, notes: list[str]) -> bool:
    """Tell whether all notes lie in the chord on a root."""
    at = ROOTS.index(root)
    return all(note in {ROOTS[at], ROOTS[(at + 2) % 7], ROOTS[(at + 4) % 7]} for note in notes)
'''

PYTHON = {
    "src/harmony/__init__.py": '''"""Harmony."""

from harmony.chords import resolve_chord
from harmony.engine import HarmonyEngine
''',
    "src/harmony/errors.py": 'class ChordError(ValueError):\n    """Notes that make no chord."""\n',
    "src/harmony/chords.py": CHORDS,
    "examples/chords_copy.py": CHORDS,
    "src/harmony/engine.py": '''"""The part that keeps all instruments in tune with each other."""

from __future__ import annotations

from harmony.chords import resolve_chord


class HarmonyEngine:
    """Tunes instruments to a common pitch."""

    def __init__(self, pitch: float = 440.0) -> None:
        self.pitch = pitch
        self.strings: list[float] = []

    def tune(self, offsets: list[float]) -> list[float]:
        """Return each string's pitch with its offset taken away."""
        self.strings = [self.pitch + offset for offset in offsets]
        return self.strings

    def accompany(self, notes: list[str], bass: str) -> str:
        """Return the chord to be played under a melody."""
        return resolve_chord(notes, bass)
''',
    "src/harmony/wrappers.py": '"""Engines around engines."""\n\nfrom harmony.engine import HarmonyEngine\n'
    + "".join(
        f'\n\nclass {name}HarmonyEngine(HarmonyEngine):\n    """A HarmonyEngine that is {name.lower()}."""\n\n'
        f"    def __init__(self, inner: HarmonyEngine) -> None:\n        self.inner = inner  # the HarmonyEngine\n"
        for name in WRAPPED
    ),
    "src/harmony/core.py": '''"""What is kept between two evenings."""


class PitchLedger:
    """Keeps the pitch that each string had."""

    def __init__(self) -> None:
        self.rows: dict[int, float] = {}

    def note(self, number: int, pitch: float) -> None:
        """Write the pitch of a string down."""
        self.rows[number] = pitch
''',
    "src/harmony/ledgers.py": '"""Ledgers around ledgers."""\n\nfrom harmony.core import PitchLedger\n'
    + "".join(
        f'\n\nclass {name}PitchLedger(PitchLedger):\n    """A PitchLedger that is {name.lower()}."""\n\n'
        f"    def __init__(self, inner: PitchLedger) -> None:\n        self.inner = inner  # the PitchLedger\n"
        for name in WRAPPED
    ),
    "src/harmony/session.py": '''"""One evening of playing."""

from harmony.engine import HarmonyEngine


def open_session(pitch: float) -> HarmonyEngine:
    """Return a tuned engine."""
    harmony_engine = HarmonyEngine(pitch)
    harmony_engine.tune([0.0, 0.1])
    return harmony_engine


def play(notes: list[str], bass: str) -> str:
    """Play along."""
    return open_session(440.0).accompany(notes, bass)
''',
    "src/harmony/plugins.py": '''"""Loads what is listed in ``config/plugins.yaml``."""

import yaml


def load_plugins(path: str) -> list[str]:
    """Return the names of the plugins that are switched on."""
    with open(path) as stream:
        return [row["name"] for row in yaml.safe_load(stream)["plugins"] if row["enabled"]]
''',
    "src/harmony/instruments.py": '''"""Instruments as they are configured."""

import json


def voices_of(instrument: str) -> int:
    """Return how many notes an instrument sounds at once."""
    with open("config/instruments.json") as stream:
        return json.load(stream)["instruments"][instrument]["max_voices"]


MARIMBA = "glass_marimba"
''',
    "tests/harmony/test_chords.py": """import pytest

from harmony.chords import resolve_chord
from harmony.errors import ChordError


def test_resolve_chord_of_a_triad():
    assert resolve_chord(["c", "e", "g"], "c") == "c"


def test_resolve_chord_without_a_bass():
    with pytest.raises(ChordError, match="no chord fits the bass note"):
        resolve_chord(["c"], "x")
""",
    "tests/harmony/test_engine.py": """from harmony.engine import HarmonyEngine


def test_tune():
    assert HarmonyEngine(440.0).tune([1.0]) == [441.0]
""",
}

WEB = {
    "web/src/player/transport.ts": """import { formatTempo } from "../lib/format";

export interface Tick {
  bar: number;
  beat: number;
}

/** Counts bars and beats while the tape runs. */
export class TransportClock {
  private bar = 1;

  constructor(private readonly tempo: number) {}

  advance(tick: Tick): string {
    if (tick.bar < this.bar) {
      throw new Error("clock drifted past the bar line");
    }
    this.bar = tick.bar;
    return formatTempo(this.tempo);
  }
}
""",
    "web/src/player/transport.test.ts": """import { TransportClock } from "./transport";

test("a TransportClock that goes back fails", () => {
  const clock = new TransportClock(120);
  clock.advance({ bar: 2, beat: 1 });
  expect(() => clock.advance({ bar: 1, beat: 1 })).toThrow("clock drifted past the bar line");
});
""",
    "web/src/player/index.ts": """export { TransportClock } from "./transport";
export { useMetronome } from "./metronome";
""",
    "web/src/player/metronome.ts": """import { TransportClock } from "./transport";

export function useMetronome(tempo: number): () => string {
  const clock = new TransportClock(tempo);
  let bar = 0;
  return () => clock.advance({ bar: ++bar, beat: 1 });
}
""",
    "web/src/lib/format.js": """// Numbers as people read them.

export function formatTempo(tempo) {
  const rounded = Math.round(tempo * 2) / 2;
  return `${rounded} bpm`;
}

export function formatBar(bar, beat) {
  return `${bar}:${beat}`;
}
""",
}

GO = {
    "services/mixer/channel/fader.go": """package channel

import "errors"

// ErrMuted is what a muted channel answers.
var ErrMuted = errors.New("channel is muted")

// zwiebackGain is the gain at which old tape crackles.
const zwiebackGain = 0.7

// Fader holds the loudness of one channel.
type Fader struct {
	gain  float64
	muted bool
}

// SetGain moves the fader; what is above unity is clamped.
func (f *Fader) SetGain(gain float64) error {
	if f.muted {
		return ErrMuted
	}
	if gain > 1 {
		gain = 1
	}
	f.gain = gain
	return nil
}
""",
    "services/mixer/channel/fader_test.go": """package channel

import "testing"

func TestSetGainClamps(t *testing.T) {
	f := Fader{}
	if err := f.SetGain(2); err != nil || f.gain != 1 {
		t.Fatal("SetGain must clamp")
	}
}
""",
    "services/mixer/desk.go": """package mixer

import "example.test/harbor/services/mixer/channel"

// Desk is a row of faders.
type Desk struct {
	faders []channel.Fader
}

// Fade brings every channel down.
func (d *Desk) Fade(steps int) error {
	for i := range d.faders {
		if err := d.faders[i].SetGain(1 / float64(steps)); err != nil {
			return err
		}
	}
	return nil
}
""",
}

RUST = {
    "crates/sampler/src/lib.rs": "pub mod looping;\npub mod ring;\npub mod takes;\n",
    "crates/sampler/src/ring.rs": """//! Frames on their way from the microphone.

/// A ring of frames; the oldest is written over.
pub struct RingBuffer {
    frames: Vec<f32>,
    head: usize,
}

impl RingBuffer {
    pub fn with_capacity(capacity: usize) -> Self {
        RingBuffer { frames: vec![0.0; capacity], head: 0 }
    }

    /// Write a frame over the oldest.
    pub fn push_frame(&mut self, frame: f32) {
        if self.head >= self.frames.len() {
            panic!("ring index beyond capacity");
        }
        self.frames[self.head] = frame;
        self.head = (self.head + 1) % self.frames.len();
    }
}
""",
    "crates/sampler/src/looping.rs": """//! Playing a stretch again and again.

use crate::ring::RingBuffer;

/// Blend the end of a loop into its beginning: the crossfade hides the seam of an overdub.
pub fn seam(ring: &mut RingBuffer, tail: &[f32]) {
    for frame in tail {
        ring.push_frame(*frame);
    }
}
""",
    "crates/sampler/src/takes.rs": """//! Takes of one overdub.

/// An overdub is a take on top of a take; each overdub keeps the overdub below it.
pub struct Take {
    pub overdub: Option<Box<Take>>,
}

/// How many times an overdub was laid over an overdub.
pub fn overdub_depth(take: &Take) -> usize {
    take.overdub.as_ref().map_or(1, |below| 1 + overdub_depth(below))
}
""",
}

JAVA = {
    "jvm/src/main/java/studio/score/ScoreParser.java": """package studio.score;

import java.util.ArrayList;
import java.util.List;

/** Reads a written score. */
public final class ScoreParser {
    private final MeasureReader reader = new MeasureReader();

    public List<String> parse(String text) {
        List<String> measures = new ArrayList<>();
        for (String part : text.split("[|]")) {
            measures.add(parseMeasure(part));
        }
        return measures;
    }

    String parseMeasure(String part) {
        if (part.isBlank()) {
            throw new IllegalStateException("a measure without notes");
        }
        return reader.read(part);
    }
}
""",
    "jvm/src/main/java/studio/score/MeasureReader.java": """package studio.score;

/** Reads the notes of a measure. */
final class MeasureReader {
    String read(String part) {
        return part.trim();
    }
}
""",
    "jvm/src/test/java/studio/score/ScoreParserTest.java": """package studio.score;

import org.junit.jupiter.api.Test;

class ScoreParserTest {
    @Test
    void parsesMeasures() {
        new ScoreParser().parse("c d e f|g a b c");
    }
}
""",
}

DATA = {
    "config/harmony-engine.yaml": """# How the engine is tuned.
harmony-engine:
  pitch: 440.0
  temperament: equal
""",
    "config/plugins.yaml": """# The registry of plugins.
plugins:
  - name: reverb
    enabled: true
  - name: tape_echo
    enabled: false
""",
    "config/instruments.json": """{
  "instruments": {
    "glass_marimba": {"max_voices": 4, "decay_ms": 900},
    "reed_organ": {"max_voices": 61, "decay_ms": 20}
  }
}
""",
}

DOCUMENTS = {
    "docs/harmony/engine.md": """# The harmony engine

## Tuning

`HarmonyEngine.tune` gives each string its pitch. The pitch is set in `config/harmony-engine.yaml`.

## Chords

The engine asks for the chord under a melody.
""",
    "docs/harmony/troubleshooting.md": """# Troubleshooting

## Messages

If you read "no chord fits the bass note", look at the bass: it may be a sharp, which is not known yet.
""",
    "docs/guide/releasing.md": """# Releasing

## Who decides

The steward of the month decides when a release is cut. Two maintainers sign the tag, of which one has not written any
of what it holds.

## How long a release is kept alive

Repairs are carried back for two seasons.
""",
    "docs/decisions/0003-tempo-map.md": """# 3. Tempos are a map of beats

**Decision.** A song keeps a tempo for each beat at which it changes, and no seconds.

**Why.** Seconds drift when a bar is cut out; beats stay where they are.
""",
    "CONTRIBUTING.md": """# Contributing

## Setting up

Install the tool chain with `make tools`, then start everything on your own machine with `make up`.

## Sending a change

One change, one branch.
""",
    "CHANGELOG.md": """# Changelog

## 4.2.0

- The metronome clicks on the second beat.

## 4.1.0

- The sampler no longer takes mono input: it is doubled into stereo before it is kept.
- `parse` of a score skips repeat signs.

## 4.0.0

- `RingBuffer` replaces the old queue.

## 3.9.0

- Faders are logarithmic.
""",
}

PLANTED = PYTHON | WEB | GO | RUST | JAVA | DATA | DOCUMENTS


def build(root: Path, *, files: int = 80) -> None:
    """Write the studio below ``root`` (made if need be) among ``files`` ordinary files."""
    tree.build(root, files=files)
    for path, body in sorted(PLANTED.items()):
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body.encode())


def main() -> None:
    """Write a studio as the command line says."""
    parser = argparse.ArgumentParser(description="Write a studio of many languages.")
    parser.add_argument("root", type=Path)
    parser.add_argument("--files", type=int, default=80)
    options = parser.parse_args()
    build(options.root, files=options.files)
    print(f"{len(PLANTED)} files of a studio below {options.root}")


if __name__ == "__main__":
    main()
