"""What a search is told to find code by: for each language the lines that may define or import something.

Rust regular expressions, for ``rg --only-matching``. Each finds more than is there, and ``languages``
decides; but each is of one language alone. All languages in one expression made the automaton so
large that 11 MB took 40 s; apart they do 100 MB/s and more. Bytes, not characters, are matched, and
only the beginning of a line, so that a minified file costs little more than another.
"""

from __future__ import annotations

_W = r"[\w\x80-\xff]"
_ID = r"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*"
_SHORT = r"[^\n]{0,200}"
_PIECES = r"(?:[^\n;,]*[;,]){0,40}[^\n;,]*"
"""At most so many pieces of a line: where alternatives stay open for long, counting bytes is four times as slow."""


def _lines(*alternatives: str, tail: str = _SHORT) -> str:
    """Join alternatives, in which `` _ `` stands for blanks and `` ? `` for none or more, as lines from their start."""
    joined = "|".join(alternatives).replace(" _ ", r"[ \t]+").replace(" ? ", r"[ \t]*").replace("ID", _ID)
    return f"(?-u)^(?:{joined}){tail}"


def _any(words: str) -> str:
    return "(?:" + "|".join(words.split()) + ")"


_BODY = r"\([^;\n]*\)[^;(){}\n]*\{"
_JS_MODIFIERS = "(?:" + _any("export default declare abstract async") + " _ )*"
_JAVA_MODIFIERS = _any(
    "public protected private static final abstract synchronized native default sealed non-sealed strictfp external "
    "factory"
)
_CSHARP_MODIFIERS = _any(
    "public private protected internal static sealed abstract partial readonly ref unsafe virtual override async "
    "extern new file required const"
)
_ANNOTATIONS = r"(?:@[\w.]+(?:\([^)\n]*\))? _ )*"
_WORDS = r"(?:(?:@[\w.]+(?:\([^)\n]*\))?|[a-z]+(?:[(\[]\w+[)\]])?) _ )*"

_JAVASCRIPT = _lines(
    rf" ? {_JS_MODIFIERS}"
    + _any("function class interface enum type namespace module import export")
    + r"[ \t*{\"'(].",
    rf"(?:export _ )?(?:declare _ )?{_any('const let var')} _ ID",
    rf" _ (?:export _ )?{_any('const let var')} _ ID ? (?::[^=\n]*?)?= ? (?:async ? )?(?:function\b|\(|ID ? =>|<)",
    r" ? [\w$.]+ ? [:=] ? (?:async ? )?(?:function\b|\([^)\n]*?\)[^=\n]*?=>|ID ? =>)",
    r" ? (?:module\.)?exports\.ID ? =",
    rf"[ \t]+[\w$#*][\w$#* \t]*(?:<[^>\n]*?>)?{_BODY}",
    r"[ \t]+[\w$?]+(?:<[^>\n]*?>)?\([^;\n]*?\) ? :[^;\n]+; ? \r?$",
    r"[ \t]*\}[^\n]*?\bfrom ? ['\"]",
    r"[^'\"`\n]*?\b(?:require|import) ? \( ? ['\"`]",
    tail=_PIECES,
)
_C = _lines(
    r" ? # ? (?:define|include|import)\b",
    rf" ? (?:typedef _ )?(?:template ? <[^\n]*?> ? )?{_any('enum class struct union')} _ \w",
    r" ? (?:inline _ )?namespace _ \w",
    r" ? (?:typedef|using) _ \w",
    r"\} ? \w+ ? ;",
    r"[A-Za-z_~][\w \t*&<>:,~]*\([^;\n]*?$",
    r"[ \t]+[A-Za-z_][\w:<>,]*[ \t*&][\w:<>,*&~ \t]*\(",
    tail=_PIECES,
)

SCANS: dict[str, str] = {
    "python": _lines(
        rf" ? (?:async _ )?{_any('def class from import cimport cdef cpdef')} _ .",
        r"type _ \w",
        r"ID ? (?::[^=\n]{1,120})?=[^=]",
    ),
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "go": _lines(
        rf"{_any('func type var const import')} _ .",
        r"\t(?:[\w.]+ _ )?\"[^\"\s]+\"",
        r"\t[A-Z]\w*(?: _ [\w.*\[\]]+)? ? =[^=]",
    ),
    "rust": _lines(
        r" ? (?:(?:pub(?:\([^)\n]*\))?|default|async|const|unsafe|extern(?: _ \"[^\"\n]*\")?) _ )*"
        + _any("fn struct enum union trait type mod const static impl use extern macro_rules!")
        + "[ \\t<]"
    ),
    "java": _lines(
        rf" ? {_ANNOTATIONS}(?:{_JAVA_MODIFIERS} _ )*"
        rf"{_any('class record mixin interface enum @interface extension import')} _ \w",
        rf"[ \t]+(?:{_JAVA_MODIFIERS} _ )+[^=;(\n]*[(=]",
        r"[ \t]+[\w.$<>,\[\]? ]+ _ ID\([^;\n]*(?:\{|$)",
        tail=_PIECES,
    ),
    "dart": _lines(
        rf" ? {_ANNOTATIONS}(?:{_JAVA_MODIFIERS} _ )*"
        rf"{_any('class record mixin interface enum extension import export part')} _ .",
        rf"[ \t]+(?:{_JAVA_MODIFIERS} _ )+[^=;(\n]*[(=]",
        r"[ \t]+[\w.$<>,\[\]? ]+ _ ID\([^;\n]*(?:\{|$)",
        tail=_PIECES,
    ),
    "kotlin": _lines(
        rf" ? {_WORDS}{_any('class object interface typealias fun')} _ .",
        r"(?:[a-z]+ _ )*(?:val|var|import) _ \w",
        r"[ \t]+(?:[a-z]+ _ )*const _ val _ \w",
    ),
    "scala": _lines(rf" ? {_WORDS}{_any('class object trait type enum def val import')} _ ."),
    "c": _C,
    "cpp": _C,
    "csharp": _lines(
        rf" ? (?:\[[^\]\n]*\] ? )*(?:{_CSHARP_MODIFIERS} _ )*"
        rf"{_any('class struct record interface enum delegate namespace')} _ \w",
        r" ? (?:global _ )?using _ \w",
        rf"[ \t]+(?:{_CSHARP_MODIFIERS} _ )+\w",
        r"[ \t]+[\w.$<>,\[\]? ]+ _ ID(?:<[^>\n]*>)?\([^;\n]*(?:\{|$)",
        tail=_PIECES,
    ),
    "ruby": _lines(
        rf" ? (?:{_any('private public protected memoize module_function')} _ )?def _ .",
        rf" ? {_any('class module')} _ \w",
        r" ? [A-Z]\w* ? =[^=~>]",
        rf" ? {_any('require require_relative load autoload')}[ \t(]",
    ),
    "php": _lines(
        r" ? (?:<\?php _ )?"
        rf"(?:{_any('abstract final public protected private static readonly')} _ )*"
        rf"{_any('function class interface trait enum const namespace use')} _ .",
        r" ? define\(",
        rf" ? (?:return _ )?{_any('require include require_once include_once')}\b",
    ),
    "swift": _lines(
        rf" ? {_WORDS}{_any('func struct actor class protocol enum typealias extension')} _ .",
        r"(?:[a-z]+(?:\([a-z]+\))? _ )*(?:let|var) _ \w",
        r"(?:@\w+ _ )?import _ \w",
    ),
    "bash": _lines(
        r" ? function _ \S",
        r" ? [\w.:-]+ ? \( ? \)",
        rf"(?:{_any('export readonly declare typeset')}(?: _ -\w+)* _ )?[A-Za-z_]\w*=",
        r" ? (?:source|\.) _ \S",
    ),
    "lua": _lines(r" ? (?:local _ )?function _ \w", r"(?:local _ )?ID ? =[^=]", r"[^'\"\n]*\brequire[ \t('\"]"),
    "elixir": _lines(
        r" ? def(?:p|guard|delegate|module|protocol|macro|macrop)? _ \w", r" ? (?:alias|import|use|require) _ \w"
    ),
    "perl": _lines(r" ? (?:sub|package|use|require) _ \w"),
    "proto": _lines(r" ? (?:message|enum|service|rpc|import) _ ."),
    "graphql": _lines(r" ? (?:extend _ )?(?:type|interface|union|enum|input|scalar|directive) _ ."),
    "sql": _lines(r" ? (?i:create) _ \w"),
    "make": _lines(r"[A-Za-z_]\w* ? [:?+]?=", r"[A-Za-z0-9_][\w./%-]*(?: _ [\w./%-]+)* ? :", r"-?include _ \S"),
}
"""By the language's name in ``languages``."""
