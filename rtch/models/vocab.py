"""The closed sets: every word that a record may hold where the specification lists the words."""

from __future__ import annotations

from enum import StrEnum


class TargetProfile(StrEnum):
    """What kind of surface the intent is about."""

    DOCTRINE_CHAIN = "doctrine_chain"
    AUDIT_HISTORY = "audit_history"
    CODE_PATH = "code_path"
    MANIFEST_REGISTRY = "manifest_registry"
    VAGUE_INTENT = "vague_intent"
    MIXED = "mixed"


class FanoutLevel(StrEnum):
    """How far the plan may spread: 5, 12 or 25 probes."""

    CONSERVATIVE = "conservative"
    NORMAL = "normal"
    WIDE = "wide"


class MutationRisk(StrEnum):
    """What the consumer means to do afterwards."""

    READ_ONLY = "read_only"
    LOW_MUTATION = "low_mutation"
    HIGH_MUTATION = "high_mutation"


class ExpectedOutput(StrEnum):
    """Which part of the packet is the result."""

    HYDRATION_PACKET = "hydration_packet"
    TARGET_SET = "target_set_for_consolidate"
    SINGLE_CHUNK = "single_chunk"
    CLAIM_EVIDENCE = "claim_evidence"


class Scope(StrEnum):
    """How far from the seeds a surface may lie (the sidecar vocabulary's profile)."""

    NARROW = "narrow"
    ADJACENT = "adjacent"
    BROAD = "broad"


class Investigation(StrEnum):
    """A purpose that widens what is legal or adds a surface."""

    MIGRATION = "migration"
    DRIFT = "drift"
    DISPOSITION = "disposition"


class Dialect(StrEnum):
    """Which of the two intake vocabularies the request was written in."""

    TACTICAL = "tactical"
    SIDECAR = "sidecar"


class Origin(StrEnum):
    """Where a term comes from, in descending order of trust at face value."""

    DURABLE_HANDLE = "durable_handle"
    MANIFEST_KEY = "manifest_key"
    EXPLICIT_SEED = "explicit_seed"
    LOCAL_SHAPE = "local_shape"
    FILE_PATH = "file_path"
    HEADING = "heading"
    CODE_SYMBOL = "code_symbol"
    JSON_KEY = "json_key"
    YAML_KEY = "yaml_key"
    REF_NEIGHBORHOOD = "ref_neighborhood"
    CAUTION = "caution"
    EXPLORATORY = "exploratory"
    NOISE = "noise"


class Use(StrEnum):
    """What a term may be used for."""

    LOCATE = "locate"
    PRESSURE = "pressure"
    HYDRATE = "hydrate"
    NEIGHBOR_ONLY = "neighbor_only"
    CAUTION = "caution"
    EXCLUDE = "exclude"
    EXPLORATORY = "exploratory"


class ProbeFamily(StrEnum):
    """The ten kinds of bounded search."""

    FILE_INVENTORY = "file_inventory"
    HEADING = "heading"
    EXPLICIT_SEED = "explicit_seed"
    DURABLE_HANDLE = "durable_handle"
    CAUTION = "caution"
    REFERENCE = "reference"
    SOURCE_OF_TRUTH = "source_of_truth"
    CODE_SYMBOL = "code_symbol"
    STRUCTURED_KEY = "structured_key"
    TEMPORAL = "temporal"


class ProbeType(StrEnum):
    """The mechanical form of a probe (the sidecar vocabulary's type)."""

    GREP = "grep"
    GLOB = "glob"
    RG_WINDOW = "rg-window"
    READ_LINES = "read-lines"
    JSON_KEY = "json-key"
    YAML_KEY = "yaml-key"


class ClaimAuthority(StrEnum):
    """The most that a probe's hits may support."""

    WEAK = "weak"
    SOURCE_BEARING = "source-bearing"
    CLAIM_SUPPORTING = "claim-supporting"


class ConfidenceClass(StrEnum):
    """What a hit or chunk supports; the table is in ``evidence``."""

    HIT = "hit"
    WEAK_HIT = "weak_hit"
    SOURCE_BEARING_HIT = "source_bearing_hit"
    HYDRATED_EVIDENCE = "hydrated_evidence"
    CLAIM_SUPPORTING = "claim_supporting"
    NEIGHBOR_ONLY = "neighbor_only"
    CAUTION_ONLY = "caution_only"


class HaltingReason(StrEnum):
    """Why the run stopped looking."""

    SATISFIED = "enough_evidence_definition_satisfied"
    BUDGET_EXHAUSTED = "budget_exhausted"
    NO_SIGNAL_CONSERVATIVE = "no_signal_at_conservative"
    NO_SIGNAL_NORMAL = "no_signal_at_normal"
    NO_SIGNAL_WIDE = "no_signal_at_wide"


class EntryKind(StrEnum):
    """What a path in the zone is."""

    FILE = "file"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    FIFO = "fifo"
    SOCKET = "socket"
    DEVICE = "device"
    DIRECTORY = "directory"
    UNREADABLE = "unreadable"
    ABSENT = "absent"


class RootSource(StrEnum):
    """What made a folder the zone root."""

    PINNED = "pinned"
    TICZONE = "ticzone"
    GIT = "git"
    CWD = "cwd"


class NewlineStyle(StrEnum):
    """How the lines of a text end; lines are told apart by LF alone."""

    LF = "lf"
    CRLF = "crlf"
    CR = "cr"
    MIXED = "mixed"
    NONE = "none"


class FileRole(StrEnum):
    """What a file is for, told by its path and shape alone."""

    CODE = "code"
    STUB = "stub"
    TEST = "test"
    EXAMPLE = "example"
    DOCUMENT = "document"
    DOC_CODE = "doc_code"
    CHANGELOG = "changelog"
    LEDGER = "ledger"
    CONFIG = "config"
    DATA = "data"
    LOCK = "lock"
    VENDORED = "vendored"
    GENERATED = "generated"


class SymbolKind(StrEnum):
    """What a definition defines."""

    CLASS = "class"
    FUNCTION = "function"
    METHOD = "method"
    TYPE = "type"
    CONSTANT = "constant"
    MODULE = "module"
    MACRO = "macro"


class KeyKind(StrEnum):
    """In which notation a key was written."""

    JSON = "json"
    YAML = "yaml"
    TOML = "toml"
    FRONT_MATTER = "front_matter"


class MarkerKind(StrEnum):
    """A phrase that says something about the standing of the text around it."""

    SOURCE_OF_TRUTH = "source_of_truth"
    DEPRECATION = "deprecation"
    SESSION_LESSONS = "session_lessons"
    TIC = "tic"


class SkipReason(StrEnum):
    """Why a surface that was named, hit or met was not hydrated."""

    BINARY = "binary"
    BROKEN_LINK = "broken_link"
    CHANGED_DURING_RUN = "changed_during_run"
    CHANGED_SINCE = "changed_since"
    CRITERIA_MET = "criteria_met"
    DUPLICATE_CONTENT = "duplicate_content"
    ENCODING = "encoding"
    EXCLUDED = "excluded"
    HELD = "held"
    MALFORMED = "malformed"
    NOT_FOUND = "not_found"
    NOT_REGULAR = "not_regular"
    NO_MATCH_IN_FILE = "no_match_in_file"
    OUT_OF_SCOPE = "out_of_scope"
    OUTSIDE_ZONE = "outside_zone"
    OVERSIZED = "oversized"
    OWN_OUTPUT = "own_output"
    READ_BUDGET = "read_budget"
    SECRET = "secret"  # noqa: S105  a reason code, not a secret
    SUBMODULE = "submodule"
    SURFACE_CAP = "surface_cap"
    SYMLINK = "symlink"
    TARGET_CUT = "target_cut"
    TIMEOUT = "timeout"
    UNREADABLE = "unreadable"
    VANISHED = "vanished"


class CautionFlag(StrEnum):
    """What a consumer must know before relying on a surface."""

    AGENT_DIRECTED_TEXT = "agent_directed_text"
    CAUTION_TERM = "caution_term"
    CHANGED_DURING_RUN = "changed_during_run"
    CONSTRAINT_STACK = "constraint_stack"
    CONTRADICTION = "contradiction"
    COST_CEILING = "cost_ceiling"
    DEPRECATED = "deprecated"
    DUPLICATE_KEY = "duplicate_key"
    EFFECTIVE_RECORD = "effective_record"
    ENCODING = "encoding"
    HELD = "held"
    IGNORE_RULES_UNAVAILABLE = "ignore_rules_unavailable"
    MALFORMED = "malformed"
    MUTATION_RISK = "mutation_risk"
    OVERTAKEN_ROW = "overtaken_row"
    OUTSIDE_ZONE = "outside_zone"
    PORTABILITY_COLLISION = "portability_collision"
    REPOSITORY_REFUSED = "repository_refused"
    SECRET_MASKED = "secret_masked"  # noqa: S105  a flag, not a secret
    SEARCH_INCOMPLETE = "search_incomplete"
    TIMEOUT = "timeout"
    TOOL_FAILED = "tool_failed"
    UNCLOSED_FENCE = "unclosed_fence"


class CriterionKind(StrEnum):
    """The checks that a halting definition can be compiled to."""

    MIN_SURFACES = "min_surfaces"
    MIN_CHUNKS = "min_chunks"
    MIN_CLASS = "min_class"
    REQUIRED_TERM = "required_term"
    REQUIRED_PATH = "required_path"
    DEFINITION = "definition"
    PER_SEED_COVERAGE = "per_seed_coverage"
    CAP_REACHED = "cap_reached"


class Verdict(StrEnum):
    """Whether a compiled criterion holds."""

    MET = "met"
    UNMET = "unmet"


class ChunkVerdict(StrEnum):
    """What became of a packet's chunk."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    EDITED = "edited"
    DELETED = "deleted"
    RENAMED = "renamed"
    AMBIGUOUS = "ambiguous"
    UNREADABLE = "unreadable"
    NOT_JUDGED = "not_judged"


class QuestionTie(StrEnum):
    """What an unresolved question is tied to."""

    CRITERION = "criterion"
    ZERO_HIT_PROBE = "zero_hit_probe"
    EXPLORATORY_HIT = "exploratory_hit"
    CONTRADICTION = "contradiction"
    SKIPPED_SURFACE = "skipped_surface"
    LIMIT = "limit"


class Engine(StrEnum):
    """What ran the stages."""

    DIRECT = "direct"
    PREFECT = "prefect"


class StageName(StrEnum):
    """The stages, and the cached steps between them."""

    INTAKE = "intake"
    ORIENT = "orient"
    SCOUT = "scout"
    BASKET = "basket"
    COST = "cost"
    SURVEY = "survey"
    PLAN = "plan"
    PROBE = "probe"
    JUDGE = "judge"
    HYDRATE = "hydrate"
    PACKET = "packet"
    COPIES = "copies"
    NOTICES = "notices"
    REFERENCES = "references"
    CONTRADICTIONS = "contradictions"
    PACKAGE = "package"
