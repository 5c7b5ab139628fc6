"""What all drafts of one kind share: family, mechanical form, wave, purpose, signal, limitation, authority."""

from __future__ import annotations

from typing import NamedTuple

from rtch.models.vocab import ClaimAuthority, ProbeFamily, ProbeType


class ProbeShape(NamedTuple):
    """What all drafts of one family share."""

    family: ProbeFamily
    type: ProbeType
    wave: int
    purpose: str
    expected: str
    limitation: str
    authority: ClaimAuthority


SEED = ProbeShape(
    ProbeFamily.EXPLICIT_SEED,
    ProbeType.GREP,
    1,
    "find where the seeds stand",
    "the seed in one of its spellings",
    "a spelling is no proof of the same meaning",
    ClaimAuthority.CLAIM_SUPPORTING,
)
HANDLE = ProbeShape(
    ProbeFamily.DURABLE_HANDLE,
    ProbeType.GREP,
    1,
    "find the registered ids that were named",
    "the id as written",
    "an id's row may have been overtaken by a later one",
    ClaimAuthority.CLAIM_SUPPORTING,
)
INVENTORY = ProbeShape(
    ProbeFamily.FILE_INVENTORY,
    ProbeType.GLOB,
    1,
    "confirm the paths that were named",
    "the path exists in the zone",
    "a path says where to look, not what is there",
    ClaimAuthority.SOURCE_BEARING,
)
SYMBOL = ProbeShape(
    ProbeFamily.CODE_SYMBOL,
    ProbeType.GREP,
    2,
    "find definitions and uses of names the tree defines",
    "a definition line of that name",
    "found by pattern; the grammar confirms it when the file is read",
    ClaimAuthority.SOURCE_BEARING,
)
HEADING = ProbeShape(
    ProbeFamily.HEADING,
    ProbeType.GREP,
    2,
    "find sections that bear the goal's words",
    "a heading with the word",
    "a heading promises a subject, it does not prove the text",
    ClaimAuthority.SOURCE_BEARING,
)
KEY = ProbeShape(
    ProbeFamily.STRUCTURED_KEY,
    ProbeType.JSON_KEY,
    2,
    "find the files that define the keys",
    "the key in structured data",
    "a key's value may be set elsewhere",
    ClaimAuthority.CLAIM_SUPPORTING,
)
TEMPORAL = ProbeShape(
    ProbeFamily.TEMPORAL,
    ProbeType.GREP,
    1,
    "find what is dated as the goal says",
    "the tic or date",
    "a date is no subject",
    ClaimAuthority.SOURCE_BEARING,
)
DATED_NAMES = ProbeShape(
    ProbeFamily.TEMPORAL,
    ProbeType.GLOB,
    1,
    "list the files that are named after the time",
    "the path exists in the zone",
    "a date is no subject",
    ClaimAuthority.SOURCE_BEARING,
)
REFERENCE = ProbeShape(
    ProbeFamily.REFERENCE,
    ProbeType.GREP,
    2,
    "find what refers to it, outside its own file",
    "a mention elsewhere",
    "a mention supports adjacency alone",
    ClaimAuthority.WEAK,
)
NEIGHBOR = ProbeShape(
    ProbeFamily.REFERENCE,
    ProbeType.GLOB,
    2,
    "confirm the known neighbours",
    "the path exists in the zone",
    "neighbours never stand above a target",
    ClaimAuthority.WEAK,
)
RELATION = ProbeShape(
    ProbeFamily.REFERENCE,
    ProbeType.GLOB,
    1,
    "show what stands around the artifact: who names it, what it is held against, who keeps and publishes it",
    "the line that the relation was told from",
    "a relation supports adjacency, not claims about the artifact",
    ClaimAuthority.WEAK,
)
STANDING = ProbeShape(
    ProbeFamily.FILE_INVENTORY,
    ProbeType.GLOB,
    2,
    "list what the profile is about: registries, rung documents or ledgers",
    "the path exists in the zone",
    "found by name and shape; nothing of the goal need stand in it",
    ClaimAuthority.SOURCE_BEARING,
)
TRUTH = ProbeShape(
    ProbeFamily.SOURCE_OF_TRUTH,
    ProbeType.GREP,
    2,
    "find claims of authority in the files in question",
    "a source-of-truth phrase",
    "a file's claim about itself is not checked",
    ClaimAuthority.WEAK,
)
NAMES = ProbeShape(
    ProbeFamily.FILE_INVENTORY,
    ProbeType.GREP,
    2,
    "find the text of files whose path bears the goal's words",
    "the word in a file of that name",
    "a path part may be a coincidence",
    ClaimAuthority.SOURCE_BEARING,
)
WORDS = ProbeShape(
    ProbeFamily.EXPLICIT_SEED,
    ProbeType.GREP,
    3,
    "find goal words that no structure of the tree bears",
    "the word in running text or code",
    "an exploratory word supports no claim",
    ClaimAuthority.WEAK,
)
CAUTION = ProbeShape(
    ProbeFamily.CAUTION,
    ProbeType.GREP,
    1,
    "find what must not be assumed",
    "the term, to be judged hit by hit",
    "supports nothing without the consumer's judgement",
    ClaimAuthority.WEAK,
)
