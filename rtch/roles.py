"""What a file is for, told by its path alone; and the banner of a generated file.

Only the parts of the path below the zone root are looked at: a zone that lies in a folder
called ``build`` or ``tests`` is judged like any other. A role ranks a file, it never hides it.
"""

from __future__ import annotations

import re

from rtch.models.vocab import FileRole


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CODE = _words(
    "py pyx pxd pyw js mjs cjs jsx ts mts cts tsx vue svelte astro go rs java kt kts scala groovy clj cljs c h cc cpp "
    "cxx hh hpp hxx m mm cs fs vb rb php swift dart ex exs erl hrl hs ml mli lua pl pm r jl zig nim d sh bash zsh fish "
    "ps1 bat cmd sql proto thrift graphql gql html htm css scss sass less hbs ejs j2 jinja jinja2 tmpl erb el lisp scm "
    "asm s f90 f cu cl glsl sol tf hcl nix awk"
)
_DOCUMENT = _words("md markdown mdx mdc rst txt adoc asciidoc org tex pod rdoc textile wiki")
_DATA = _words(
    "csv tsv jsonl ndjson parquet arrow avro npy npz pkl h5 xml xsd rdf ttl geojson po pot mo log db sqlite png jpg "
    "jpeg gif webp ico svg pdf eps woff woff2 ttf eot otf mp3 mp4 wav ogg zip gz bz2 xz zst tar tgz whl jar bin dat so "
    "dll dylib exe a o class pyc wasm pem crt key gpg asc sig"
)
_STRUCTURED = _words("json json5 jsonc yaml yml toml")
_STUBS = (".pyi", ".d.ts", ".d.mts", ".d.cts")

_LOCKS = _words(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock uv.lock poetry.lock "
    "pdm.lock pixi.lock pipfile.lock conda-lock.yml cargo.lock go.sum go.work.sum composer.lock gemfile.lock "
    "mix.lock pubspec.lock podfile.lock package.resolved flake.lock gradle.lockfile packages.lock.json "
    "module.bazel.lock .terraform.lock.hcl cartfile.resolved stack.yaml.lock"
)
_VENDORED = _words(
    "vendor vendored _vendor _vendored third_party third-party thirdparty 3rdparty node_modules bower_components "
    "jspm_packages site-packages dist-packages .venv venv virtualenv .tox .nox pods carthage extern externals"
)
_GENERATED = _words(
    "dist .next .nuxt .output .svelte-kit .turbo __pycache__ __generated__ generated autogen coverage htmlcov "
    ".eggs .gradle _site .docusaurus .parcel-cache"
)
# ``build`` alone is as often a folder of build scripts, or a package of that name.
_BUILD_PRODUCTS = re.compile(
    r"(?:^|/)(?:build/(?:lib|bdist[^/]*|temp[^/]*|classes|generated|intermediates|outputs|reports|static|_?html)"
    r"|target/(?:debug|release|classes|doc)|cmake-build-[^/]*|[^/]*\.egg-info|_build)/"
)
_GENERATED_NAME = re.compile(
    r"(?:\.min\.(?:js|css|mjs)|[.-]bundle\.js|\.(?:js|css|mjs|cjs)\.map|_pb2(?:_grpc)?\.pyi?|\.pb\.(?:go|cc|h|rs)"
    r"|_pb\.(?:js|ts|d\.ts|rb)|\.g\.(?:dart|cs)|\.freezed\.dart|\.designer\.cs|\.generated\.[a-z]+|[._]gen\.go"
    r"|_generated\.[a-z]+|\.tsbuildinfo)$|^(?:zz_generated[^/]*|moc_[^/]*\.cpp|ui_[^/]*\.h)$"
)

_TEST_FOLDERS = _words(
    "test tests __tests__ __mocks__ __snapshots__ testdata test_data test-data test_suite testsuite fixtures "
    "__fixtures__ e2e cypress playwright unittests unit_tests integration_tests test-d type-tests playground"
)
_SPEC_FOLDERS = frozenset(("spec", "specs", "features"))
_TEST_NAME = re.compile(
    r"^(?:tests?|test_[^/]*|conftest|tests?_helpers?|testutils?)\.[a-z]+$|[_.-]tests?(?:-d)?\.[a-z]+$"
    r"|[._-]spec\.[a-z]+$|\.(?:cy|e2e|bats|snap|feature)(?:\.[a-z]+)?$"
)
_TEST_CLASS = re.compile(r"[a-z0-9](?:Tests?|TestCase|Spec|IT)\.(?:java|kt|kts|scala|groovy|cs|swift|php)$")

_EXAMPLE_FOLDERS = _words(
    "example examples sample samples demo demos benchmark benchmarks bench benches asv_bench cookbook "
    "quickstart quickstarts tutorials recipes showcase"
)
_DOC_FOLDERS = _words("doc docs documentation docs_src website wiki man guides")
_LOG_FOLDERS = _words(
    "changelog changelogs changelog.d changelog.next changes changes.d news newsfragments news.d .changeset whatsnew "
    "releasenotes release-notes release_notes"
)
_LOG_STEM = re.compile(
    r"^(?:changelog|change[-_]log|changes|history|news|releases?|release[-_ ]?(?:notes|history)|whats?[-_']?new"
    r"|authors|contributors|credits|thanks|maintainers)(?:[-_.v ][\w.-]*)?$"
)
_LEDGER_STEM = re.compile(r"(?:^|[-_.])(?:ledger|journal)(?:$|[-_.])")
_AUDIT_FOLDER = re.compile(r"^audit(?:[-_]?(?:logs?|trail|history))?$")
_DATA_FOLDERS = _words(
    "data dataset datasets locale locales i18n l10n translations corpora corpus assets static public"
)
_TEXT_CONFIG = ("requirements", "constraints", "cmakelists", "robots")
_BARE_DOCUMENTS = _words("readme license licence copying notice install todo contributing security")
_SCRIPT_FOLDERS = _words("bin scripts libexec")

QUIET = frozenset({FileRole.TEST, FileRole.VENDORED, FileRole.GENERATED, FileRole.LOCK, FileRole.EXAMPLE})
"""Files that say nothing about the tree they lie in, whatever they say of themselves."""


def role_of(path: str) -> FileRole:
    """Return a file's role from its path relative to the zone root.

    The first that fits: lock, generated, vendored, test, example, ledger, changelog; then what
    the name's ending says.
    """
    lower = path.lower()
    *folders, name = lower.split("/")
    suffix = name.rpartition(".")[2] if "." in name else ""
    above = frozenset(folders)
    if name in _LOCKS:
        return FileRole.LOCK
    if above & _GENERATED or _GENERATED_NAME.search(name) or (folders and _BUILD_PRODUCTS.search(lower)):
        return FileRole.GENERATED
    if above & _VENDORED:
        return FileRole.VENDORED
    if _is_test(path, folders, above, suffix):
        return FileRole.TEST
    if above & _EXAMPLE_FOLDERS:
        return FileRole.EXAMPLE
    return _record_role(folders, name, suffix) or _role_by_ending(name, above, suffix)


def _is_test(path: str, folders: list[str], above: frozenset[str], suffix: str) -> bool:
    if above & _TEST_FOLDERS:
        return True
    name = path.rpartition("/")[2]
    if suffix in _DOCUMENT:
        return False
    if _TEST_NAME.search(name.lower()) or _TEST_CLASS.search(name):
        return True
    # A package may be called ``testing``, as numpy's is; at the root it holds tests. In a zone, specs are documents.
    return folders[:1] == ["testing"] or (bool(above & _SPEC_FOLDERS) and suffix in _CODE)


def _record_role(folders: list[str], name: str, suffix: str) -> FileRole | None:
    """Return the role of files that only grow: ledgers and changelogs."""
    if suffix in _CODE:
        return None
    stem = name.partition(".")[0] or name
    rows = suffix in {"jsonl", "ndjson"}
    if rows and any(_AUDIT_FOLDER.match(folder) or _LEDGER_STEM.search(folder) for folder in folders):
        return FileRole.LEDGER
    if (rows or suffix in _DOCUMENT) and (_LEDGER_STEM.search(stem) or (rows and stem in {"queue", "events", "audit"})):
        return FileRole.LEDGER
    if (suffix in _DOCUMENT or suffix == stem or "." not in name) and _LOG_STEM.match(stem):
        return FileRole.CHANGELOG
    if suffix not in _DATA and not _LOG_FOLDERS.isdisjoint(folders):
        return FileRole.CHANGELOG
    return None


def _role_by_ending(name: str, above: frozenset[str], suffix: str) -> FileRole:
    role = FileRole.CONFIG
    if name.endswith(_STUBS):
        role = FileRole.STUB
    elif suffix in _CODE:
        role = FileRole.DOC_CODE if above & _DOC_FOLDERS else FileRole.CODE
    elif suffix == "ipynb":
        role = FileRole.DOC_CODE
    elif suffix in _DOCUMENT and not name.startswith(_TEXT_CONFIG):
        role = FileRole.DOCUMENT
    elif suffix in _DATA or (suffix in _STRUCTURED and _holds_data(above)):
        role = FileRole.DATA
    elif not suffix:
        role = _role_without_ending(name, above)
    return role


def _holds_data(above: frozenset[str]) -> bool:
    return bool(above & _DATA_FOLDERS) or any(_AUDIT_FOLDER.match(folder) for folder in above)


def _role_without_ending(name: str, above: frozenset[str]) -> FileRole:
    if name in _BARE_DOCUMENTS:
        return FileRole.DOCUMENT
    return FileRole.CODE if above & _SCRIPT_FOLDERS else FileRole.CONFIG


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
