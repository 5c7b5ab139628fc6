"""Line patterns of programming languages: what defines a name, and what imports another file.

In a definition pattern the group that took part last names the symbol, and its own name says the
kind (digits at its end only keep it apart): ``cls fun met typ con mod mac``. A group ``own`` is the
type a definition belongs to; alone it opens one without defining it, as Rust's ``impl`` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from rtch.models.vocab import SymbolKind

KINDS = {
    "cls": SymbolKind.CLASS,
    "fun": SymbolKind.FUNCTION,
    "met": SymbolKind.METHOD,
    "typ": SymbolKind.TYPE,
    "con": SymbolKind.CONSTANT,
    "mod": SymbolKind.MODULE,
    "mac": SymbolKind.MACRO,
}

Imports = Callable[[bytes], list[bytes]]


class Language(NamedTuple):
    """How one language's lines are read.

    ``not_names`` are words of it that look like a name before a bracket; ``imports_may_define`` tells
    that one line can do both, as ``const fs = require("fs")`` does; ``import_word`` stands in every line that
    imports, for asking for it costs a tenth of reading the line.
    """

    name: str
    pattern: bytes
    imports: Imports
    not_names: frozenset[bytes] = frozenset()
    imports_may_define: bool = False
    import_word: bytes = b""

    def definition(self) -> re.Pattern[bytes]:
        """Return the definition pattern, compiled when the first file of the language is met."""
        return _compiled(self.pattern)


@lru_cache(maxsize=64)
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


_CONTROL = frozenset(
    b"if for while switch catch return function with else do new throw await yield typeof delete case foreach using "
    b"lock fixed sizeof defined elif elseif unless until match super constructor assert print not and or in is".split()
)


# Half of a brace language's candidate lines are statements; looking for these first halves the time.
_STATEMENT = rb"(?![ \t]*+(?:if|for|while|switch|catch|return|else|throw|await|case)\b)"


def _pattern(*parts: bytes, identifier: bytes = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*", unless: bytes = b"") -> bytes:
    """Join alternatives, in which ID stands for an identifier, `` _ `` for blanks and `` ? `` for none or more."""
    joined = b"|".join(parts).replace(b" _ ", rb"[ \t]+").replace(b" ? ", rb"[ \t]*").replace(b"ID", identifier)
    return unless + rb"(?:" + joined + rb")"


def _words(names: str) -> bytes:
    return b"(?:" + "|".join(names.split()).encode() + b")"


_PYTHON = _pattern(
    rb" ? (?:async _ )?def _ (?P<fun>ID)",
    rb" ? (?:cdef _ )?class _ (?P<cls>ID)",
    rb" ? (?:cdef|cpdef) _ (?:[\w.\[\]:,]++[ \t*]++)*+(?P<fun2>ID) ? \(",
    rb"type _ (?P<typ>ID)[^=\n]*=(?!=)",
    rb"(?P<con>ID) ? (?::[^=\n]{1,120})?=(?!=)",
)

_JS_MODIFIER = _words("export default declare abstract async") + rb" _ "
_JS_MEMBER = _words("public private protected static async get set override readonly abstract") + rb" _ "
_JS_ARROW = rb"(?:async ? )?(?:function\b|\([^\n]*=>|\([^()\n]*[ \t\r]*$|ID ? =>|<[^\n]*=>)"
_JS_PARAMETERS = rb"\((?:[^()'\"`=\n]|=(?!>)|\([^()\n]*\))*\)"
_JAVASCRIPT = _pattern(
    rb" ? (?:" + _JS_MODIFIER + rb")*(?:function(?: ? \* ? | _ )(?P<fun>ID)|class _ (?P<cls>ID)|interface _ (?P<typ>ID)"
    rb"|(?:const _ )?enum _ (?P<typ2>ID)|type _ (?P<typ3>ID) ? [=<]|(?:namespace|module) _ (?P<mod>ID))",
    rb" ? (?:export _ )?(?:const|let|var) _ (?P<fun2>ID) ? (?::[^=\n]{1,100})?= ? " + _JS_ARROW,
    rb"(?:export _ (?:declare _ )?)?(?:const|let|var) _ (?P<con>ID)",
    rb" ? (?P<own>[\w$.]+)\.prototype\.(?P<met>ID) ? = ? (?:async ? )?function\b",
    rb" ? (?:module\.)?exports\.(?P<con2>ID) ? =(?!=)",
    rb" ? (?:[\w$]+\.)*(?P<fun3>ID) ? [:=] ? (?:async ? )?(?:function\b|\([^)\n]*\)[^=\n]{0,60}=>|ID ? =>)",
    rb"[ \t]+(?:" + _JS_MEMBER + rb")*"
    rb"\*?#?(?P<met2>ID)\?? ? (?:<[^>\n]*>)?" + _JS_PARAMETERS + rb"(?:[^\n(;{]{0,80}\{[^\n]*$| ? :[^\n]+; ? \r?$)",
    unless=_STATEMENT,
    identifier=rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*",
)

_GO = _pattern(
    rb"func _ \( ? (?:ID _ )?\*?(?P<own>ID)[^)\n]*\) ? (?P<met>ID)",
    rb"func _ (?P<fun>ID)",
    rb"type _ (?P<typ>ID)",
    rb"(?:var|const) _ (?P<con>ID)",
    rb"\t(?P<con2>[A-Z]\w*)(?: _ [\w.*\[\]]+)? ? =(?!=)",
)

_RUST = _pattern(
    rb" ? (?:pub(?:\([^)\n]*\))? _ )?(?:(?:default|async|const|unsafe|extern(?: _ \"[^\"\n]*\")?) _ )*"
    rb"(?:fn _ (?P<fun>ID)|(?:struct|enum|union) _ (?P<cls>ID)|(?:trait|type) _ (?P<typ>ID)|mod _ (?P<mod>ID)"
    rb"|(?:const|static) _ (?:mut _ )?(?P<con>ID) ? :)",
    rb" ? macro_rules! ? (?P<mac>ID)",
    rb" ? (?:unsafe _ )?impl\b(?:<[^{\n]*?>)? ? (?:[^{\n]*?[ \t]for _ )?&?(?:mut _ )?(?:dyn _ )?(?:\w+::)*(?P<own>ID)",
)

_JAVA_WORDS = _words(
    "public protected private static final abstract synchronized native default sealed non-sealed strictfp external "
    "factory"
)
_JAVA_TYPE = rb"[\w.$]+(?:<[^()\n]*>)?(?:\[\])*\??"
_NO_TYPE = rb"(?!(?:return|new|throw|else|await|case|using|yield|var|do|goto|delete)\b)"
_JAVA = _pattern(
    rb" ? (?:@[\w.]+(?:\([^)\n]*\))? _ )*(?:" + _JAVA_WORDS + rb" _ )*"
    rb"(?:(?:class|record|mixin) _ (?P<cls>ID)|(?:interface|enum|@interface|extension) _ (?P<typ>ID))",
    rb"[ \t]+(?:" + _JAVA_WORDS + rb" _ )*(?:static _ final|final _ static) _ " + _JAVA_TYPE + rb" _ (?P<con>ID) ? =",
    rb"[ \t]+(?:" + _JAVA_WORDS + rb" _ )+(?:<[^>\n]+> _ )?(?:" + _JAVA_TYPE + rb" _ )?(?P<met>ID) ? \(",
    rb"[ \t]+"
    + _NO_TYPE
    + rb"(?:<[^>\n]+> _ )?"
    + _JAVA_TYPE
    + rb" _ (?P<met2>ID)\((?:[^;\n]*|[^;{\n]*\)[^;{\n]*\{[^\n]*)$",
)

_KOTLIN = _pattern(
    rb" ? (?:(?:@[\w.]+(?:\([^)\n]*\))?|[a-z]+) _ ){0,6}?"
    rb"(?:(?:class|object) _ (?P<cls>ID)|(?:interface|typealias) _ (?P<typ>ID)"
    rb"|fun _ (?:<[^>\n]*> ? )?(?:(?P<own>[\w.]+)(?:<[^>\n]*>)?\??\.)?(?P<fun>ID) ? \()",
    rb"(?:[a-z]+ _ ){0,3}?(?:val|var) _ (?P<con>ID)",
    rb"[ \t]+(?:[a-z]+ _ ){0,2}?const _ val _ (?P<con2>ID)",
)
_SCALA = _pattern(
    rb" ? (?:[a-z]+(?:\[\w+\])? _ ){0,4}?"
    rb"(?:(?:class|object) _ (?P<cls>ID)|(?:trait|type|enum) _ (?P<typ>ID)|def _ (?P<fun>ID))",
    rb" ? (?:[a-z]+ _ ){0,3}?val _ (?P<con>[A-Z]\w*)",
)

_C_STATEMENT = (
    rb"(?!"
    + _words("return else if for while switch case goto typedef using namespace do new delete throw sizeof")
    + rb"\b)"
)
_C_OPENS = rb"(?= ? (?:final ? )?(?::[^:\n]|\{|\r?$|//|/\*))"
_C_OWNER = rb"(?:\w+(?:::\w+)*)"
_C_AFTER = rb"(?:const|noexcept|override|final|= ? 0|= ? default|= ? delete)"
_C = _pattern(
    rb" ? \# ? define _ (?P<mac>ID)",
    rb" ? (?:typedef _ )?enum _ (?:(?:class|struct) _ )?(?P<typ>ID)" + _C_OPENS,
    rb" ? (?:typedef _ )?(?:template ? <[^\n]*> ? )?(?:class|struct|union) _ "
    rb"(?:[A-Z][A-Z0-9_]+(?:\([^)\n]*\))? _ )?(?:\w+::)*(?P<cls>ID)" + _C_OPENS,
    rb" ? (?:inline _ )?namespace _ (?P<mod>[\w:]+)",
    rb" ? typedef\b[^\n;]*?[\s*)](?P<typ2>ID) ? (?:\[[^\]\n]*\])*;",
    rb" ? using _ (?P<typ3>ID) ? =",
    rb"\} ? (?P<typ4>ID) ? ;",
    _C_STATEMENT
    + rb"[A-Za-z_][\w \t*&<>:,]*?[ \t*&>](?:(?P<own>"
    + _C_OWNER
    + rb")(?:<[^()\n]*>)?::)?(?P<fun>~?ID) ? \([^;\n]*$",
    _C_STATEMENT + rb"(?:(?P<own2>" + _C_OWNER + rb")(?:<[^()\n]*>)?::)?(?P<fun2>~?ID) ? \([^;\n\"]*$",
    rb"[ \t]+" + _C_STATEMENT + rb"(?:[\w:]++(?:<[^()\n]*?>)?[ \t*&]++)++(?P<met>~?ID)\("
    rb"(?:[^;\n]*;?|[^;{\n]*\)[^;{\n]*\{[^\n]*|[^\n]*\) ? " + _C_AFTER + rb"[^\n]*) ? \r?$",
)

_CSHARP_WORDS = _words(
    "public private protected internal static sealed abstract partial readonly ref unsafe virtual override async "
    "extern new file required const"
)
_CSHARP = _pattern(
    rb" ? (?:\[[^\]\n]*\] ? )*(?:" + _CSHARP_WORDS + rb" _ )*(?:record _ struct|class|struct|record) _ (?P<cls>ID)",
    rb" ? (?:" + _CSHARP_WORDS + rb" _ )*(?:interface|enum) _ (?P<typ>ID)",
    rb" ? (?:" + _CSHARP_WORDS + rb" _ )*delegate _ " + _JAVA_TYPE + rb" _ (?P<typ2>ID)",
    rb" ? namespace _ (?P<mod>[\w.]+)",
    rb"[ \t]+(?:" + _CSHARP_WORDS + rb" _ )*(?:const|static _ readonly) _ " + _JAVA_TYPE + rb" _ (?P<con>ID) ? [=;]",
    rb"[ \t]+(?:" + _CSHARP_WORDS + rb" _ )+(?:" + _JAVA_TYPE + rb" _ )?(?P<met>ID) ? (?:<[^>\n]*> ? )?\(",
    rb"[ \t]+(?:" + _CSHARP_WORDS + rb" _ )+" + _JAVA_TYPE + rb" _ (?P<met2>ID) ? (?:\{|=>|\r?$)",
    rb"[ \t]+" + _NO_TYPE + _JAVA_TYPE + rb" _ (?P<met3>ID)(?:<[^>\n]*>)?\((?:[^;\n]*|[^;{\n]*\)[^;{\n]*\{[^\n]*)$",
)

_RUBY = _pattern(
    rb" ? (?:(?:private|public|protected|memoize|module_function) _ )?def _ (?:(?:self|(?P<own>ID))\.)?"
    rb"(?P<fun>ID[?!=]?|[-+*/%<>=!~\[\]^&|]+)",
    rb" ? class _ (?:\w*::)*(?P<cls>ID)",
    rb" ? module _ (?:\w*::)*(?P<mod>ID)",
    rb" ? (?P<con>[A-Z]\w*) ? =(?![=~>])",
)
_PHP = _pattern(
    rb" ? (?:<\?php _ )?(?:" + _words("abstract final public protected private static readonly") + rb" _ )*"
    rb"(?:function _ &?(?P<fun>ID)|class _ (?P<cls>ID)|(?:interface|trait|enum) _ (?P<typ>ID)"
    rb"|const _ (?:\w+ _ )?(?P<con>ID) ? =)",
    rb" ? namespace _ (?P<mod>[\w\\]+)",
    rb" ? define\( ? ['\"](?P<con2>\w+)['\"]",
)
_SWIFT = _pattern(
    rb" ? (?:(?:@\w+(?:\([^)\n]*\))?|[a-z]+(?:\([a-z]+\))?) _ ){0,6}?"
    rb"(?:func _ (?P<fun>ID)|(?:struct|actor) _ (?P<cls>ID)|class _ (?!(?:func|var|let)\b)(?P<cls2>ID)"
    rb"|(?:protocol|enum|typealias) _ (?P<typ>ID)|extension _ (?P<own>[\w.]+))",
    rb"(?:[a-z]+(?:\([a-z]+\))? _ ){0,3}?(?:let|var) _ (?P<con>ID)",
)
_SHELL = _pattern(
    rb" ? function _ (?P<fun>[\w.:-]+)",
    rb" ? (?P<fun2>[\w.:-]+) ? \( ? \)",
    rb"(?:(?:export|readonly|declare|typeset)(?: _ -\w+)* _ )?(?P<con>[A-Za-z_]\w*)=",
)
_LUA = _pattern(
    rb" ? (?:local _ )?function _ (?:(?P<own>[\w.]+)[.:])?(?P<fun>ID)", rb"(?:local _ )?(?P<con>ID) ? =(?!=)"
)
_ELIXIR = _pattern(
    rb" ? (?:def|defp|defguard|defdelegate) _ (?P<fun>ID[?!]?)",
    rb" ? (?:defmodule|defprotocol) _ (?P<mod>[\w.]+)",
    rb" ? (?:defmacro|defmacrop) _ (?P<mac>ID[?!]?)",
)
_PERL = _pattern(rb" ? sub _ (?P<fun>\w+)", rb" ? package _ (?P<mod>[\w:]+)")
_PROTO = _pattern(rb" ? (?:message|enum|service) _ (?P<typ>ID)", rb" ? rpc _ (?P<met>ID)")
_GRAPHQL = _pattern(rb" ? (?:extend _ )?(?:(?:type|interface|union|enum|input|scalar) _ |directive _ @)(?P<typ>ID)")
_SQL_NAME = rb"(?:if _ not _ exists _ )?[\"`\[]?(?:\w+[\"`\]]?\.[\"`\[]?)?"
_SQL = _pattern(
    rb"(?i: ? create _ (?:or _ replace _ )?(?:(?:temp(?:orary)?|unique|materialized) _ )*"
    rb"(?:(?:table|view|type|index) _ " + _SQL_NAME + rb"(?P<typ>\w+)"
    rb"|(?:function|procedure|trigger) _ " + _SQL_NAME + rb"(?P<fun>\w+)))",
)
_MAKE = _pattern(
    rb"(?P<con>[A-Za-z_]\w*) ? [:?+]?=", rb"(?P<fun>[A-Za-z0-9_][\w./%-]*)(?: _ [\w./%-]+)* ? ::?(?:[^=:]|$)"
)


def _first(*patterns: bytes) -> Imports:
    """Return a reader that takes the first group of the first pattern that fits."""

    def read(line: bytes) -> list[bytes]:
        for pattern in patterns:
            match = _compiled(pattern).match(line)
            if match is not None:
                return [match[1]]
        return []

    return read


def _all(pattern: bytes) -> Imports:
    """Return a reader that takes the first group wherever the pattern fits."""

    def read(line: bytes) -> list[bytes]:
        return _compiled(pattern).findall(line)

    return read


_PY_IMPORT = rb"[ \t]*(?:from[ \t]+([.\w\x80-\xff]+)[ \t]+)?c?import[ \t]+\(?([^#;\n]*)"


def _python_imports(line: bytes) -> list[bytes]:
    """Return ``a.b.c`` for ``from a.b import c`` too, for c may be a module; the longest part that is a file counts."""
    match = _compiled(_PY_IMPORT).match(line)
    if match is None:
        return []
    base = match[1]
    names = [name.split()[0] for name in match[2].translate(None, b")\\\r").split(b",") if name.split()]
    if base is None:
        return names
    if not names or names == [b"*"]:
        return [base]
    return [base + name if base.endswith(b".") else base + b"." + name for name in names]


_RUST_USE = (
    rb"[ \t]*(?:pub(?:\([^)]*\))?[ \t]+)?"
    rb"(?:use[ \t]+([\w:]+)(?:\{([^{}]*))?|extern[ \t]+crate[ \t]+(\w+)|mod[ \t]+(\w+)[ \t]*;)"
)


def _rust_imports(line: bytes) -> list[bytes]:
    match = _compiled(_RUST_USE).match(line)
    if match is None:
        return []
    path, names, crate, module = match.groups()
    if path is None:
        return [crate or b"self::" + module]
    stem = path.rstrip(b":")
    if names is None or not path.endswith(b"::"):
        return [stem]
    inner = [name.split()[0] for name in names.split(b",") if name.split()]
    return [stem if name == b"self" else path + name for name in inner] or [stem]


_RUBY_REQUIRE = rb"[ \t]*(require|require_relative|load|autoload[ \t]*\(?[ \t]*:\w+[ \t]*,)[ \t(]*['\"]([^'\"\n]+)['\"]"


def _ruby_imports(line: bytes) -> list[bytes]:
    match = _compiled(_RUBY_REQUIRE).match(line)
    if match is None:
        return []
    return [b"./" + match[2] if match[1] == b"require_relative" and not match[2].startswith(b".") else match[2]]


_DOTTED_IMPORT = _first(rb"[ \t]*import[ \t]+(?:static[ \t]+)?(\w+(?:\.\w+)*(?:\.\*)?)")
_C_INCLUDE = _first(rb"[ \t]*#[ \t]*(?:include|import)[ \t]*[\"<]([^\">\n]+)[\">]")
_PHP_IMPORTS = _first(
    rb"[ \t]*use[ \t]+(?:function[ \t]+|const[ \t]+)?\\?([\w\\]+)",
    rb"[ \t]*(?:return[ \t]+)?(?:require|include)(?:_once)?\b[^'\"\n]*['\"]/?([^'\"\n]+)['\"]",
)
_CSHARP_IMPORTS = _first(rb"[ \t]*(?:global[ \t]+)?using[ \t]+(?:static[ \t]+)?(?:\w+[ \t]*=[ \t]*)?([\w.]+)[ \t]*;")
_JS_IMPORTS = _all(rb"(?:\bfrom|\bimport|\brequire[ \t]*\(|\bimport[ \t]*\()[ \t]*['\"`]([^'\"`\n]+)['\"`]")
_GO_IMPORTS = _first(rb"(?:import[ \t]+|\t)(?:[\w.]+[ \t]+)?\"([^\"\s]+)\"[ \t\r]*(?://.*)?$")

_LANGUAGES = (
    ("py pyi pyw pyx pxd", Language("python", _PYTHON, _python_imports, import_word=b"import")),
    ("js mjs cjs jsx", Language("javascript", _JAVASCRIPT, _JS_IMPORTS, _CONTROL, imports_may_define=True)),
    (
        "ts mts cts tsx vue svelte astro",
        Language("typescript", _JAVASCRIPT, _JS_IMPORTS, _CONTROL, imports_may_define=True),
    ),
    ("go", Language("go", _GO, _GO_IMPORTS, import_word=b'"')),
    ("rs", Language("rust", _RUST, _rust_imports, imports_may_define=True)),
    ("java groovy", Language("java", _JAVA, _DOTTED_IMPORT, _CONTROL, import_word=b"import")),
    ("dart", Language("dart", _JAVA, _first(rb"(?:import|export|part)[ \t]+['\"]([^'\"\n]+)['\"]"), _CONTROL)),
    ("kt kts", Language("kotlin", _KOTLIN, _DOTTED_IMPORT, import_word=b"import")),
    ("scala sc", Language("scala", _SCALA, _DOTTED_IMPORT, import_word=b"import")),
    ("c h", Language("c", _C, _C_INCLUDE, _CONTROL, import_word=b"#")),
    ("cc cpp cxx hh hpp hxx ipp inl cu cuh m mm", Language("cpp", _C, _C_INCLUDE, _CONTROL, import_word=b"#")),
    ("cs", Language("csharp", _CSHARP, _CSHARP_IMPORTS, _CONTROL, import_word=b"using")),
    ("rb rake gemspec", Language("ruby", _RUBY, _ruby_imports)),
    ("php", Language("php", _PHP, _PHP_IMPORTS)),
    (
        "swift",
        Language("swift", _SWIFT, _first(rb"(?:@\w+[ \t]+)?import[ \t]+(?:(?:class|struct|func)[ \t]+)?([\w.]+)")),
    ),
    ("sh bash zsh ksh bats", Language("bash", _SHELL, _first(rb"[ \t]*(?:source|\.)[ \t]+[\"']?([^\s\"';&|]+)"))),
    ("lua", Language("lua", _LUA, _all(rb"\brequire[ \t(]*['\"]([^'\"\n]+)['\"]"), imports_may_define=True)),
    ("ex exs", Language("elixir", _ELIXIR, _first(rb"[ \t]*(?:alias|import|use|require)[ \t]+([\w.]+)"))),
    ("pl pm", Language("perl", _PERL, _first(rb"[ \t]*(?:use|require)[ \t]+([A-Za-z][\w:]+)"))),
    ("proto", Language("proto", _PROTO, _first(rb"import[ \t]+(?:public[ \t]+)?\"([^\"\n]+)\""))),
    ("graphql gql", Language("graphql", _GRAPHQL, _first())),
    ("sql", Language("sql", _SQL, _first())),
    ("mk mak", Language("make", _MAKE, _first(rb"-?include[ \t]+(\S+)"))),
)

_BY_ENDING = {ending: language for endings, language in _LANGUAGES for ending in endings.split()}
_BY_NAME = {
    **dict.fromkeys(("makefile", "gnumakefile"), _BY_ENDING["mk"]),
    **dict.fromkeys(("rakefile", "gemfile", "vagrantfile", "podfile", "fastfile"), _BY_ENDING["rb"]),
    **dict.fromkeys((".bashrc", ".bash_profile", ".zshrc", ".profile", "pkgbuild"), _BY_ENDING["sh"]),
    **dict.fromkeys(("sconstruct", "sconscript", "wscript"), _BY_ENDING["py"]),
}


def language_of(path: str) -> Language | None:
    """Return the language that a path's name tells."""
    name = path.rpartition("/")[2].lower()
    return _BY_NAME.get(name) or (_BY_ENDING.get(name.rpartition(".")[2]) if "." in name else None)
