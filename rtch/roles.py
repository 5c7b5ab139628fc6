"""What a file is for, told by its path alone; and the banner of a generated file.

Only the parts of the path below the zone root are looked at: a zone that lies in a folder
called ``build`` or ``tests`` is judged like any other. A role ranks a file, it never hides it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rtch.models.vocab import FileRole


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# -- what an ending says ---------------------------------------------------------------------------

_CODE = _words(
    "py pyx pxd pxi pyw tac rpy wsgi js mjs cjs jsx ts mts cts tsx coffee vue svelte astro go rs java kt kts scala "
    "groovy clj cljs c h cc cpp cxx hh hpp hxx inc inl ipp m mm cs fs fsx vb rb php phtml swift dart ex exs erl hrl hs "
    "ml mli lua pl pm r jl zig nim cr d v sv vhd sh bash zsh fish ksh csh tcl ps1 psm1 psd1 bat cmd vbs sql proto "
    "thrift graphql gql html htm css scss sass less hbs ejs j2 jinja jinja2 mako njk twig liquid mustache pug tmpl tpl "
    "jsp cshtml razor xaml xsl xslt erb el lisp scm rkt asm s f90 f pas cu cl glsl hlsl wgsl metal sol tf hcl nix cue "
    "rego jsonnet libsonnet awk"
)
_DOCUMENT = _words("md markdown mdx mdc rst txt adoc asciidoc org tex pod rdoc textile wiki")
_DATA = _words(
    "csv tsv jsonl ndjson parquet arrow avro npy npz pkl h5 xml xsd rdf ttl geojson log db sqlite png jpg "
    "jpeg gif webp ico svg pdf eps woff woff2 ttf eot otf mp3 mp4 wav ogg zip gz bz2 xz zst tar tgz whl jar bin dat so "
    "dll dylib exe a o class pyc wasm pem crt key gpg asc sig"
)
_STRUCTURED = _words("json json5 jsonc yaml yml toml")
_CONFIG = _STRUCTURED | _words(
    "ini cfg conf cnf config properties env rc plist xcconfig entitlements xcprivacy gradle sbt mk mak am ac m4 cmake "
    "bazel bzl gn gni gyp gypi ninja gemspec podspec nuspec cabal csproj fsproj vbproj vcxproj sln props targets mod "
    "work spec service socket timer desktop rules policy zcml pip pth cff mf manifest tfvars dockerfile containerfile "
    "dockerignore modulemap pro"
)
_CATALOGUES = _words("po pot mo xlf xliff")
_STRINGS = _STRUCTURED | _words("properties ftl strings resx arb")
"""What texts of a surface are kept in, with the catalogues."""
_BY_ENDING = {
    **dict.fromkeys(_DATA, FileRole.DATA),
    **dict.fromkeys(_CONFIG, FileRole.CONFIG),
    **dict.fromkeys(_DOCUMENT, FileRole.DOCUMENT),
    "ipynb": FileRole.DOC_CODE,
}
_OPAQUE = _DATA | _CATALOGUES
"""What nobody reads line by line."""
_STUBS = (".pyi", ".d.ts", ".d.mts", ".d.cts")
# What a template or a sample turns into is told by the ending before: ``config.h.in``, ``logging.conf.sample``.
_WRAPPERS = _words("in inc sample example template default dist orig")

# -- what a whole name says ------------------------------------------------------------------------

_LOCKS = _words(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock uv.lock poetry.lock "
    "pdm.lock pixi.lock pipfile.lock conda-lock.yml cargo.lock go.sum go.work.sum composer.lock gemfile.lock "
    "mix.lock pubspec.lock podfile.lock package.resolved flake.lock gradle.lockfile packages.lock.json "
    "module.bazel.lock .terraform.lock.hcl cartfile.resolved stack.yaml.lock"
)
_CONFIG_NAMES = _words(
    "makefile gnumakefile dockerfile containerfile jenkinsfile vagrantfile procfile gemfile rakefile podfile brewfile "
    "pipfile justfile taskfile caddyfile snakefile fastfile cartfile earthfile tiltfile build workspace codeowners "
    "owners manifest kconfig kbuild config crontab requirements version pom.xml ivy.xml build.xml web.xml config.xml "
    "androidmanifest.xml"
)
"""Whole names, or what stands before the first dot or hyphen of a name whose ending says nothing."""
_DOCUMENT_NAMES = _words("readme license licence copying copyright notice install todo contributing security")
_PINS = re.compile(
    r"(?:^|/)(?:(?:(?:dev|tests?|docs?|build|ci|lint|min|minimal)[-_.])?(?:requirements|constraints)(?:[-_.][\w.-]*)?"
    r"|cmakelists|robots)\.txt$|^requirements/[^/]*\.txt$"
)
"""Settings that are written as plain text: a name with the folder it lies in."""
_GENERATED_NAME = re.compile(
    r"(?:\.min\.(?:js|css|mjs)|[.-](?:bundle|chunk)\.(?:js|css)|\.(?:js|css|mjs|cjs|ts)\.map|_pb2(?:_grpc)?\.pyi?"
    r"|\.pb\.(?:go|cc|h|rs)|_pb\.(?:js|ts|d\.ts|rb)|\.g\.(?:dart|cs)|\.freezed\.dart|\.designer\.cs"
    r"|\.generated\.[a-z]+|[._]gen\.go|_generated\.[a-z]+|\.tsbuildinfo)$"
    r"|^(?:zz_generated[^/]*|moc_[^/]*\.cpp|ui_[^/]*\.h)$"
)
_MAN_PAGE = re.compile(r"^(?!.*\.so\.)[\w.+-]*(?<![-_.]\d)(?<![-_]v\d)(?<!\.log)\.[1-9][a-z]{0,2}$")

# -- what a folder says ----------------------------------------------------------------------------

_VENDORED = _words(
    "vendor vendored _vendor _vendored third_party third-party thirdparty 3rdparty node_modules bower_components "
    "jspm_packages site-packages dist-packages .venv .tox .nox carthage extern externals"
)
# A package may be called ``venv`` and a folder ``pods``: an environment is known by its parts, CocoaPods by a capital.
_INSTALLED = re.compile(r"(?:^|/)(?:(?:venv|virtualenv)/(?:lib|lib64|bin|Scripts|include|Include|share)|Pods)/")
_GENERATED = _words(
    ".next .nuxt .output .svelte-kit .turbo __pycache__ __generated__ generated htmlcov lcov-report .eggs .gradle "
    "_site .docusaurus .parcel-cache"
)
_PRODUCTS = re.compile(
    r"(?:^|/)(?:cmake-build-[^/]*|_build|target/(?:debug|release|classes|doc)"
    r"|build/(?:lib|bdist[^/]*|temp[^/]*|classes|generated|intermediates|outputs|reports|static|_?html))/"
)
# ``build`` alone is as often a folder of build scripts, or a package of that name. So may ``dist``, ``autogen`` and
# ``coverage`` be: what no build writes there is somebody's own source, and a report is known by its names.
_PRODUCT_FOLDER = re.compile(r"(?:^|/)(?:dist|autogen)/")
_NEVER_BUILT = _words("py pyx pxd go rs java kt kts scala cs rb swift ex exs erl hs jl zig lua pl pm proto")
_COVERAGE_REPORT = re.compile(
    r"(?:^|/)coverage/(?:(?:lcov\.info|clover\.xml|cobertura[^/]*|coverage-[^/]*\.json|coverage\.(?:xml|json|lcov)"
    r"|index\.html)|.*\.(?:[jt]sx?|[cm]js|vue|py|rb|go)\.html|(?:.*/)?(?:prettify|sorter|block-navigation)\.(?:js|css))$"
)
_OWN_SOURCES = re.compile(r"(?:^|/)src/(?!.*(?:^|/)(?:resources|static|public|assets|webapp|www|wwwroot)/).*$")

_TEST_FOLDERS = _words(
    "test tests __tests__ __mocks__ __snapshots__ testdata test_data test-data test_suite testsuite fixtures "
    "__fixtures__ e2e cypress playwright unittests unit_tests integration_tests test-d type-tests playground"
)
_SPEC_FOLDERS = frozenset(("spec", "specs", "features"))
_MAIN_SOURCES = re.compile(r"(?:^|/)src/main/(?:java|kotlin|scala|groovy)/")
"""Where the layout itself keeps tests apart, in ``src/test``: a package below may be called anything."""
_TEST_NAME = re.compile(
    r"^(?:tests?|test_[^/]*|conftest|tests?_helpers?|testutils?)\.[a-z]+$|[_.-]tests?(?:-d)?\.[a-z]+$"
    r"|[._-]spec\.[a-z]+$|\.(?:cy|e2e|bats|snap|feature)(?:\.[a-z]+)?$"
)
_TEST_CLASS = re.compile(r"[a-z0-9](?:Tests?|TestCase|Spec|IT)\.(?:java|kt|kts|scala|groovy|cs|swift|php)$")

_EXAMPLE_FOLDERS = _words(
    "example examples sample samples demo demos benchmark benchmarks bench benches asv_bench cookbook "
    "quickstart quickstarts tutorials recipes showcase cookiecutter"
)
_SCAFFOLD_FOLDERS = _words("skeleton skeletons scaffold scaffolds scaffolding boilerplate boilerplates")
_CHART_FOLDERS = _words("chart charts helm")
_VIEWS = _words("jsx tsx vue svelte css scss sass less")
"""What draws a page: there, a skeleton is what is shown until the page is."""
_DOC_FOLDERS = _words("doc docs documentation docs_src api-ref api-docs apidocs website wiki man guides")
_DATA_FOLDERS = _words("data dataset datasets corpora corpus assets static public")
_CONFIG_FOLDERS = _words("etc conf config conf.d debian .github .husky .circleci")
_SCRIPT_FOLDERS = _words("bin scripts libexec")
_LOCALE_FOLDERS = _words("locale locales i18n l10n translations")
_LANGUAGE = re.compile(r"(?:^|[._])[a-z]{2}(?:[-_](?:[a-z]{2}|[a-z]{4}|\d{3})){0,2}$|-[a-z]{2}[-_][a-z]{2}$")
_ENGLISH = re.compile(r"(?:^|[._-])en(?:[-_]us)?$")

# -- files that only grow --------------------------------------------------------------------------

_VERSION = r"v?\d+(?:[._]\d+)*(?:[._]x)?(?:[-_.]?(?:alpha|beta|rc|a|b|dev|post|final)[-_.]?\d*)?"
_LOG_FOLDERS = _words(
    "changelog changelogs changelog.d changelog.next changes changes.d news newsfragments news.d .changeset whatsnew "
    "releasenotes release-notes release_notes"
)
_LOG_RULES = re.compile(r"^(?:readme|config|contributing|_?template|[\w-]*[-_]template)(?:\.|$)|^\.")
"""What lies among a changelog's fragments and tells how they are made."""
_RELEASE_FOLDERS = _words("release releases announce announcements history")
_LOG_STEM = re.compile(
    rf"^(?:changelogs?|change[-_]log|authors|contributors|credits|thanks)(?:[-_.](?:old|archive)|[-_.]?{_VERSION})?$"
)
_NOTES_STEM = re.compile(
    rf"^(?:release[-_ ]?notes?|(?:release|version)[-_ ]?history|whats?[-_']?new)(?:[-_.]?{_VERSION})?$"
)
_PLAIN_STEM = re.compile(r"^(?:changes|history|news|releases)$")
_DATED_STEM = re.compile(rf"^(?:changes|history|news|releases?)[-_.]?{_VERSION}$")
_VERSION_STEM = re.compile(rf"^{_VERSION}$")
_DOC_ROOTS = _DOC_FOLDERS | _words("source src content html en sphinx")
_GUIDE_FOLDERS = _words(
    "contributor contributors contributing developer developers development developer-guide internals"
)
_LEDGER_STEM = re.compile(r"(?:^|[-_.])(?:ledger|journal)(?:$|[-_.])")
_AUDIT_FOLDER = re.compile(r"^audit(?:[-_]?(?:logs?|trail|history))?$")

QUIET = frozenset({FileRole.TEST, FileRole.VENDORED, FileRole.GENERATED, FileRole.LOCK, FileRole.EXAMPLE})
"""Files that say nothing about the tree they lie in, whatever they say of themselves."""


# -- most paths --------------------------------------------------------------------------------------

_TELLING = re.compile(
    r"[-_. ](?:author|b(?:ats|undle)\.|c(?:hange|hunk\.|makelists|onfig\.|onftest|onstraints|ontribut|redits|y\.)"
    r"|d(?:\.|esigner)|e2e\.|f(?:eature\.|reezed)|g(?:\.|en\.|enerated)|history|journal|ledger|m(?:in\.|oc_)|news"
    r"|pb2?[._]|r(?:eadme\.|elease|equirements|obots)|s(?:nap|pec)\.|t(?:emplate\.|est|hanks)|ui_|v(?:\d|ersion)|what)"
)
"""Where a name, in lower case and after a dot, may say more than its ending does: the words of every rule on names."""
_TELLING_NAMES = _LOCKS | _CONFIG_NAMES
_TELLING_CLASSES = _words("java kt kts scala groovy cs swift php")
_PLAIN = (_CODE | frozenset(_BY_ENDING) | _CATALOGUES | {"pyi"}) - _WRAPPERS - {"jsonl", "ndjson", "arb"}
"""Endings beside which most names tell nothing."""


@lru_cache(maxsize=1 << 18)
def role_of(path: str) -> FileRole:
    """Return a file's role from its path relative to the zone root.

    The first that fits: lock, generated, vendored, test, example, ledger, changelog; then what
    the name's ending says, and data where nothing speaks.
    """
    # Most names say nothing but by their ending: such files of one folder are judged once.
    folder, _, name = path.rpartition("/")
    lower = name.lower()
    stem, _, ending = lower.rpartition(".")
    plain = (
        ending in _PLAIN
        and not _TELLING.search("." + lower)
        and stem[:1].isalpha()
        and lower not in _TELLING_NAMES
        and "\n" not in name
        and not (ending in _TELLING_CLASSES and _TEST_CLASS.search(name))
    )
    return (_role_of_most(folder, ending) if plain else None) or judged(path)


@lru_cache(maxsize=1 << 16)
def _role_of_most(folder: str, ending: str) -> FileRole | None:
    """Return the role of a folder's files with names that tell nothing; None where every name may tell something."""
    parts = folder.lower().split("/")
    if any(part.endswith("coverage") for part in parts) or (
        ending in _STRINGS and not _LOCALE_FOLDERS.isdisjoint(parts)
    ):
        return None
    return judged(f"{folder}/x.{ending}".lstrip("/"))


def judged(path: str) -> FileRole:
    """Return what ``role_of`` returns, by every rule; it takes ten times as long."""
    lower = path.lower()
    *folders, name = lower.split("/")
    suffix = _suffix(name)
    return (
        _quiet_role(path, lower, folders, suffix)
        or _record_role(path, folders, name, suffix)
        or _role_by_ending(folders, name, suffix)
    )


def _quiet_role(path: str, lower: str, folders: list[str], suffix: str) -> FileRole | None:
    above, name = frozenset(folders), lower.rpartition("/")[2]
    if name in _LOCKS or suffix == "lock":
        return FileRole.LOCK
    if above & _GENERATED or _GENERATED_NAME.search(name) or _is_product(lower, suffix):
        return FileRole.GENERATED
    if above & _VENDORED or _INSTALLED.search(path):
        return FileRole.VENDORED
    if _is_test(path, folders, above, suffix):
        return FileRole.TEST
    if above & _EXAMPLE_FOLDERS or _is_scaffold(folders, name, suffix):
        return FileRole.EXAMPLE
    return None


def _suffix(name: str) -> str:
    """Return the ending that tells what a file holds; a name that is nothing but an ending has none."""
    stem, _, suffix = name.rpartition(".")
    while suffix in _WRAPPERS and "." in stem.lstrip("."):
        stem, _, suffix = stem.rpartition(".")
    return suffix if stem else ""


def _is_product(path: str, suffix: str) -> bool:
    if ".egg-info/" in path or ".dist-info/" in path or ("coverage/" in path and _COVERAGE_REPORT.search(path)):
        return True
    found = _PRODUCTS.search(path) or (suffix not in _NEVER_BUILT and _PRODUCT_FOLDER.search(path))
    return bool(found) and not _OWN_SOURCES.search(path)


def _is_test(path: str, folders: list[str], above: frozenset[str], suffix: str) -> bool:
    if above & _TEST_FOLDERS and not _MAIN_SOURCES.search(path.lower()):
        return True
    name = path.rpartition("/")[2]
    if suffix in _DOCUMENT:
        return False
    if _TEST_NAME.search(name.lower()) or _TEST_CLASS.search(name):
        return True
    # A package may be called ``testing``, as numpy's is; at the root it holds tests. In a zone, specs are documents.
    return folders[:1] == ["testing"] or (bool(above & _SPEC_FOLDERS) and suffix in _CODE)


def _is_scaffold(folders: list[str], name: str, suffix: str) -> bool:
    """Tell whether a file is there to be copied into a project that somebody starts.

    Pages live in ``templates/`` as well, and a chart's manifests do: so only settings of a folder below count.
    """
    if any("cookiecutter" in folder for folder in folders):
        return True
    if suffix not in _VIEWS and not _SCAFFOLD_FOLDERS.isdisjoint(folders):
        return True
    settings = suffix in _CONFIG or name in _CONFIG_NAMES
    return settings and "templates" in folders[:-1] and _CHART_FOLDERS.isdisjoint(folders)


def _record_role(path: str, folders: list[str], name: str, suffix: str) -> FileRole | None:
    """Return the role of files that only grow: ledgers and changelogs."""
    if suffix in _CODE:
        return None
    if _is_ledger(folders, name, suffix):
        return FileRole.LEDGER
    return FileRole.CHANGELOG if _is_log(path, folders, name, suffix) else None


def _is_ledger(folders: list[str], name: str, suffix: str) -> bool:
    stem = name.partition(".")[0] or name
    rows = suffix in {"jsonl", "ndjson"}
    if rows and any(_AUDIT_FOLDER.match(folder) or _LEDGER_STEM.search(folder) for folder in folders):
        return True
    told = _LEDGER_STEM.search(stem) or (rows and stem in {"queue", "events", "audit"})
    return bool(told and (rows or suffix in _DOCUMENT))


def _is_log(path: str, folders: list[str], name: str, suffix: str) -> bool:
    """Tell whether a file says what changed when; a document about how to release or to write that is none."""
    fragment = not _LOG_FOLDERS.isdisjoint(folders) and not _LOG_RULES.search(name)
    if fragment or suffix in _CONFIG or suffix in _OPAQUE:
        return fragment and suffix not in _OPAQUE
    stem, _, ending = name.rpartition(".")
    if not stem or ending[:1].isdigit():
        stem = name
    if _NOTES_STEM.match(stem):
        return _GUIDE_FOLDERS.isdisjoint(folders)
    if _PLAIN_STEM.match(stem):
        # Such a word may be a guide's subject; standing for the whole project, it names the log.
        whole = _DOC_ROOTS.issuperset(folders) and (stem != "releases" or not folders)
        return whole or path[-len(name)].isupper()
    if _VERSION_STEM.match(stem):
        return not _RELEASE_FOLDERS.isdisjoint(folders)
    return bool(_LOG_STEM.match(stem) or _DATED_STEM.match(stem))


def _role_by_ending(folders: list[str], name: str, suffix: str) -> FileRole:
    above = frozenset(folders)
    if name.endswith(_STUBS):
        return FileRole.STUB
    if suffix in _CODE:
        told = FileRole.DOCUMENT if suffix == "inc" else FileRole.DOC_CODE
        return told if above & _DOC_FOLDERS else FileRole.CODE
    if name == "pkg-info" or suffix in _CATALOGUES or _is_translation(folders, name, suffix):
        return FileRole.GENERATED
    if name in _CONFIG_NAMES or _is_pins(folders, name):
        return FileRole.CONFIG
    if suffix in _STRINGS and _holds_data(above):
        return FileRole.DATA
    return _BY_ENDING.get(suffix) or _role_by_name(name, suffix, above)


def _is_pins(folders: list[str], name: str) -> bool:
    """Tell whether plain text holds settings; among documents, constraints may be a subject."""
    if name.startswith("constraints") and not _DOC_FOLDERS.isdisjoint(folders):
        return False
    return bool(_PINS.search("/".join((*folders[-1:], name))))


def _is_translation(folders: list[str], name: str, suffix: str) -> bool:
    """Tell whether texts are a copy in another language; English is what they are copied from."""
    start = next((place for place, folder in enumerate(folders) if folder in _LOCALE_FOLDERS), None)
    if suffix not in _STRINGS or (start is None and suffix != "arb"):
        return False
    told = [*(folders[start + 1 :] if start is not None else ()), name.rpartition(".")[0]]
    return any(map(_LANGUAGE.search, told)) and not any(map(_ENGLISH.search, told))


def _holds_data(above: frozenset[str]) -> bool:
    return bool(above & (_DATA_FOLDERS | _LOCALE_FOLDERS)) or any(_AUDIT_FOLDER.match(folder) for folder in above)


def _role_by_name(name: str, suffix: str, above: frozenset[str]) -> FileRole:
    """Return the role of a file whose ending says nothing, or that has none."""
    first = re.split(r"[.-]", name, maxsplit=1)[0]
    if not suffix and first not in {"", "readme"} and above & _SCRIPT_FOLDERS:
        return FileRole.CODE
    if first in _DOCUMENT_NAMES or _MAN_PAGE.search(name):
        return FileRole.DOCUMENT
    if not first or first in _CONFIG_NAMES or (not suffix and above & _CONFIG_FOLDERS):
        return FileRole.CONFIG
    return FileRole.DATA


_BANNER = re.compile(
    rb"@generated\b|\bDO NOT (?:EDIT|MODIFY)\b|\bAuto-?generated\b|\bautomatically generated\b"
    rb"|\b[Gg]enerated (?:by|from|with|code)\b.{0,80}|^// Code generated ",
    re.IGNORECASE,
)
_COMMENT = re.compile(rb"^\s*(?:#|//|/\*|\*|--|;|<!--|%|\"\"\"|'''|@rem)", re.IGNORECASE)
_BANNER_LINES = 12


def is_generated_banner(head: bytes) -> bool:
    """Tell whether a file's first bytes say that a program wrote it.

    Only comment lines among the first dozen count, so code that writes such a banner is not
    taken for its own output.
    """
    rows = head[:4096].split(b"\n", _BANNER_LINES)[:_BANNER_LINES]
    return any(_BANNER.search(row) is not None for row in rows if _COMMENT.match(row))
