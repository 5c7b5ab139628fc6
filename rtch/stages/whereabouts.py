"""Where what a document refers to lies: in the tree, out of it, gone, or where only a renderer could tell.

A link is tried as a file viewer follows it, then as the generators of sites do: without an ending, as a page's folder,
from the root of the site. Where a document is served by a generator, and for what the tree's ignore rules leave out,
nothing that is missing is called gone unless it is plainly a file of the tree.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple

from rtch.languages import language_of
from rtch.models.tree import Listing
from rtch.models.vocab import SkipReason
from rtch.reading import SkippedFile
from rtch.stages.desk import Desk
from rtch.structure import notation_of


class State(StrEnum):
    """What is known of a target; the values of the last four are said in the report."""

    THERE = "there"
    GONE = "gone"
    OUTSIDE = "lead out of the zone"
    SUBMODULE = "lead into a submodule"
    IGNORED = "name what the tree's ignore rules leave out, and that is not there now"
    SERVED = "may be pages or files that a site's generator makes"


class Target(NamedTuple):
    """What became of one target: ``path`` is where it is, or where it would be."""

    state: State
    path: str
    sure: bool = True


_SITE_CONFIGS = re.compile(
    r"(?:^|/)(?:(?:mkdocs|zensical|_config|_toc|hugo|book|antora(?:-playbook)?)\.(?:ya?ml|toml)|conf\.py|SUMMARY\.md"
    r"|(?:docusaurus|astro|gatsby|next|nuxt|rspress|vocs|velite)[.-]config\.[cm]?[jt]s|\.?eleventy(?:\.config)?\.[cm]?js"
    r"|(?:\.vitepress|\.vuepress)/[^/]+|(?:docs|mint|sidebars?|navigation|sidebarsReference)\.(?:json|[cm]?[jt]s)"
    r"|_sidebar\.md|\.nojekyll|source\.config\.ts)$"
)
_DOC_ROOTS = ("doc", "docs", "documentation", "content", "pages", "src", "source", "site", "website", "guides")
_PAGE_ENDINGS = (
    ".md", ".mdx", ".rst", ".markdown", ".adoc", ".ipynb", ".html",
    "/index.md", "/index.mdx", "/_index.md", "/README.md", "/index.rst", "/index.html",
)  # fmt: skip
_HTML = re.compile(r"\.html?$")
_HOST = re.compile(
    r"(?:www\.|[\w-]+\.(?:com|org|net|io|dev|co|app|ai|edu|gov|de|uk|eu|me|info)(?:[/:]|$))", re.IGNORECASE
)
_RENDERED_ALONE = re.compile(r"(?:^|/)(?:readme|contributing)[^/]*$", re.IGNORECASE)
_ANYWHERE = re.compile(r"(?:readme|index|__init__|main|mod|license|contributing)(?:\.|$)")
"""Names that files of many folders have: another of the same name is no trace of one."""


class Whereabouts:
    """The listing, asked for targets; one for a run."""

    def __init__(self, listing: Listing, desk: Desk) -> None:
        self._paths = listing.paths
        self._desk = desk
        self._known: dict[str, State] = {}
        self._patterns: dict[str, tuple[str, ...]] = {}

    # -- what is there -----------------------------------------------------------------------------

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(self._paths)

    @cached_property
    def _folders(self) -> frozenset[str]:
        folders: set[str] = {""}
        for path in self._paths:
            folder = path.rpartition("/")[0]
            while folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(folders)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = defaultdict(list)
        for path in self._paths:
            names[path.rpartition("/")[2].lower()].append(path)
        return names

    def near(self, path: str) -> tuple[str, ...]:
        """Return the one file of the same name that lies elsewhere; empty where there is none, or more than one."""
        name = path.rpartition("/")[2].lower()
        found = [] if _ANYWHERE.match(name) else [one for one in self._by_name.get(name, ()) if one != path]
        return tuple(found) if len(found) == 1 else ()

    def _exists(self, path: str) -> bool:
        return path in self._files or path in self._folders

    def _ends(self, tail: str) -> bool:
        """Tell whether some path of the tree ends so, by whole names."""
        return any(path.endswith("/" + tail) for path in self._by_name.get(tail.rpartition("/")[2].lower(), ()))

    # -- links -------------------------------------------------------------------------------------

    @cached_property
    def _at_root(self) -> frozenset[str]:
        return frozenset(path.lower() for path in self._paths if "/" not in path)

    def page(self, document: str, target: str) -> Target:
        """Return where a page of Sphinx leads, which is named without its ending; missing ones only beside others."""
        found = self.link(document, target)
        if found.state is not State.SERVED or target.startswith("/"):
            return found
        folder = found.path.rpartition("/")[0]
        pages = folder in self._folders and any(
            path.endswith(".rst") and path.rpartition("/")[0] == folder for path in self._desk.workspace.under(folder)
        )
        return Target(State.GONE, found.path, sure=False) if pages else found

    def link(self, document: str, target: str) -> Target:
        """Return where a link of a document leads; the target is without fragment and not empty."""
        folder = document.rpartition("/")[0]
        rooted = target.startswith("/")
        path = _joined("" if rooted else folder, target)
        if path is None:
            return Target(State.OUTSIDE, target)
        if self._exists(path):
            return Target(State.THERE, path)
        page = self._page(document, target, path)
        if page:
            return Target(State.THERE, page)
        state = self._disk(path)
        if state is not State.GONE:
            return Target(state, path)
        if self._may_be_served(document, target, path):
            return Target(State.SERVED, path)
        return Target(State.GONE, path, sure=not rooted and not self.is_served(document))

    def _page(self, document: str, target: str, path: str) -> str:
        """Return the file that a generator would serve for a target, if there is one."""
        starts: list[str] = []
        if target.startswith("/"):
            # The root of a site is a folder above its pages.
            starts = [*_above(document)]
        elif self.is_served(document):
            # A page lies in a folder of its own name, so a link may climb one more; or it begins at the site's root.
            starts = [document.rpartition(".")[0], ""]
        elif not _has_ending(path):
            starts = [document.rpartition(".")[0]]
        placed = [path, *(one for start in starts if (one := _joined(start, target)) is not None)]
        stems = [stem for one in placed for stem in (one, _HTML.sub("", one))]
        for stem in dict.fromkeys(one for one in stems if one):
            if stem != path and self._exists(stem):
                return stem
            for ending in _PAGE_ENDINGS:
                if stem + ending in self._files:
                    return stem + ending
        return ""

    def _may_be_served(self, document: str, target: str, path: str) -> bool:
        """Tell whether a missing target may be something that only a site has."""
        name = path.rpartition("/")[2]
        if _HTML.search(name) or _HOST.match(target):
            return True
        served, has_ending = self.is_served(document), _has_ending(path)
        if target.startswith("/"):
            return served or not has_ending or path.partition("/")[0] not in self._folders
        if not has_ending:
            plainly = "/" in target.strip("/") or target.endswith("/")
            return served or not plainly or not self._is_viewed(document)
        if not served:
            return False
        # A generator mounts folders where the tree has none, and may copy what lies at the tree's root.
        return path.rpartition("/")[0] not in self._folders or name.lower() in self._at_root

    def _is_viewed(self, document: str) -> bool:
        """Tell whether a document is read where it lies in the tree, as a README is."""
        return "/" not in document or _RENDERED_ALONE.search(document) is not None

    def is_served(self, document: str) -> bool:
        """Tell whether a generator of sites may render a document."""
        if "/" not in document:
            return "_config.yml" in self._files
        return any(document.startswith(place) for place in self._sites)

    @cached_property
    def _sites(self) -> tuple[str, ...]:
        """What served documents begin with: a configuration's folder, and folders of documents beside it."""
        found: set[str] = set()
        for path in self._paths:
            if _SITE_CONFIGS.search(path):
                folder = path.rpartition("/")[0]
                if folder.rpartition("/")[2] in {".vitepress", ".vuepress"}:
                    folder = folder.rpartition("/")[0]
                found.add(f"{folder}/" if folder else "")
                above = folder.rpartition("/")[0]
                beside = (f"{above}/{name}".lstrip("/") for name in _DOC_ROOTS)
                found.update(f"{one}/" for one in beside if one in self._folders)
        return tuple(sorted(found))

    # -- paths in code spans -----------------------------------------------------------------------

    def path(self, document: str, target: str) -> Target | None:
        """Return where a path in a code span leads; None where it need not be one of this tree.

        It is tried from every folder above the document, and may lack what it begins with.
        """
        plain = target
        while plain.startswith(("./", "../")):
            plain = plain.partition("/")[2]
        bases = [*_above(document)]
        if target.startswith("../"):
            bases = bases[:1]
        written = target if target.startswith("../") else plain
        placed = [(base, one) for base in bases if (one := _joined(base, written))]
        for _, one in placed:
            if self._exists(one):
                return Target(State.THERE, one)
        if self._ends(plain):
            return Target(State.THERE, plain)
        ours = [one for base, one in placed if self._is_ours(base, one)]
        if not ours:
            return None
        states = [self._disk(one) for _, one in placed]
        there = next((state for state in states if state is not State.GONE), State.GONE)
        return Target(there, ours[-1], sure=False)

    def _is_ours(self, base: str, path: str) -> bool:
        """Tell whether a path's first folder below a base is one of the tree, and its last one is or lay in one."""
        inner = path[len(base) + 1 :] if base and path.startswith(base + "/") else path
        start = path[: len(path) - len(inner)] + inner.partition("/")[0]
        folder = path.rpartition("/")[0]
        return start in self._folders and (folder in self._folders or folder.rpartition("/")[0] in self._folders)

    # -- the disk ----------------------------------------------------------------------------------

    def _disk(self, path: str) -> State:
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._look(path)
        return known

    def _look(self, path: str) -> State:
        """Look at the disk for what is not listed: ignored files, and what lies in a submodule or behind a link."""
        try:
            self._desk.workspace.locate(path)
        except SkippedFile as skipped:
            if skipped.reason is SkipReason.SUBMODULE:
                return State.SUBMODULE
            if skipped.reason is SkipReason.OUTSIDE_ZONE:
                return State.OUTSIDE
            if skipped.reason is not SkipReason.NOT_FOUND:
                return State.THERE
            return State.IGNORED if self._is_ignored(path) else State.GONE
        return State.THERE

    def _is_ignored(self, path: str) -> bool:
        """Tell whether an ignore rule may be meant for a path that is not there; read generously."""
        for folder in _above(path):
            inner = path[len(folder) + 1 :] if folder else path
            parts = inner.split("/")
            prefixes = ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
            for pattern in self._rules(folder):
                if any(fnmatchcase(one, pattern) for one in (prefixes if "/" in pattern else parts)):
                    return True
        return False

    def _rules(self, folder: str) -> tuple[str, ...]:
        known = self._patterns.get(folder)
        if known is None:
            place = f"{folder}/.gitignore" if folder else ".gitignore"
            known = self._patterns[folder] = tuple(self._read_rules(place)) if place in self._files else ()
        return known

    def _read_rules(self, place: str) -> Iterator[str]:
        try:
            data = self._desk.workspace.read(place, max_bytes=_MAX_RULE_BYTES).data
        except SkippedFile:
            return
        for line in data.decode("utf-8", "replace").split("\n"):
            rule = line.strip()
            if rule and rule[0] not in "#!":
                anchored = rule.rstrip("/*")
                # An anchored name is matched from its folder, as one with a folder is.
                yield (anchored.removeprefix("**/").lstrip("/") or rule)


_IMAGE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|ico|pdf|mp4|webm|zip)$", re.IGNORECASE)
_MAX_RULE_BYTES = 1 << 18


def _has_ending(path: str) -> bool:
    """Tell whether a path's name ends like a file that somebody writes or draws."""
    name = path.rpartition("/")[2]
    told = notation_of(path) is not None or language_of(path) is not None or _IMAGE.search(name) is not None
    return told and not _HTML.search(name)


def _joined(folder: str, target: str) -> str | None:
    """Return a target's place in the zone, the root as the empty text; None where it leads out of the zone."""
    path = posixpath.normpath(posixpath.join("/" + folder, target.lstrip("/") if target.startswith("/") else target))
    depth = 0
    for part in posixpath.join(folder, target.lstrip("/")).split("/"):
        depth += -1 if part == ".." else 0 if part in {"", "."} else 1
        if depth < 0:
            return None
    return path.lstrip("/")


def _above(path: str) -> Iterator[str]:
    """Yield the folders above a path, the nearest first, the root as the empty text."""
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""
