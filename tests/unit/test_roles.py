"""A file's role, told by its path below the zone root."""

import pytest

from rtch.models.vocab import FileRole
from rtch.roles import is_generated_banner, role_of

ROLES = {
    FileRole.CODE: "src/app.py lib/rules/index.js cmd/main.go build/tasks/x.js src/build/env.py pkg/testing/util.py "
    "src/contest.py latest.go web/index.html src/history.py src/ledger.py bin/run scripts/deploy news/feed.py "
    "spec.py api.proto src/outer/target/x.rs",
    FileRole.STUB: "pkg/core.pyi types/index.d.ts",
    FileRole.TEST: "tests/test_app.py testing/conftest.py a/test/B.java src/app.test.ts src/app.spec.js pkg/x_test.go "
    "src/__tests__/a.js spec/models/user_spec.rb tests/data/x.json src/test_util.py conftest.py EngineTest.java "
    "pkg/testdata/in.txt tests/README.md a/EngineTests.cs cypress/a.cy.ts",
    FileRole.EXAMPLE: "examples/a.py benchmarks/run.py samples/x/main.go docs/examples/a.md",
    FileRole.DOCUMENT: "README.md docs/guide.rst LICENSE readme audit-logs/governance/specs/x.md specs/plan.md "
    "CLAUDE.md audit-logs/governance/borns-tic570-x.md docs/testing.md MEMORY.md src/notes.txt",
    FileRole.DOC_CODE: "docs/conf.py docs_src/tutorial.py notebooks/a.ipynb doc/make.sh",
    FileRole.CHANGELOG: "CHANGELOG.md CHANGES docs/changelog.rst NEWS HISTORY.rst changelog.d/12.bugfix.md AUTHORS "
    "docs/releases/../whatsnew/3.1.rst release-notes.md .changeset/x.md CHANGES/12.bugfix",
    FileRole.LEDGER: "audit-logs/cprs/queue.jsonl audit-logs/tics/2026-01-02.jsonl x/cgg-ledger/ledger.md ledger.md "
    "my-ledger.jsonl queue.jsonl audit_log/a/b.jsonl",
    FileRole.CONFIG: "pyproject.toml .github/workflows/ci.yml package.json Makefile Dockerfile requirements.txt "
    "setup.cfg CMakeLists.txt config/actor-registry.json",
    FileRole.DATA: "data/x.json a.csv logo.png x.jsonl audit-logs/conformations/tic-12.json",
    FileRole.LOCK: "uv.lock package-lock.json a/b/Cargo.lock go.sum pnpm-lock.yaml",
    FileRole.VENDORED: "vendor/x/y.go src/pip/_vendor/rich/a.py node_modules/a/tests/b.js third_party/z.c",
    FileRole.GENERATED: "dist/app.js static/app.min.js api/x_pb2.py api/x.pb.go build/lib/pkg/a.py target/release/x "
    "x/zz_generated.deepcopy.go web/app.js.map x.egg-info/PKG-INFO docs/_build/a.html a/__generated__/b.ts",
}


_OWN_SOURCE = {
    FileRole.CODE: "coverage/control.py coverage/ctracer/util.c coverage/htmlfiles/page.html dist/publish.py "
    "src/tool/dist/upload.js src/tool/build/lib/load.js autogen/agent.py venv/create.py src/pods/list.ts "
    "lib/commands/coverage/report.go",
    FileRole.GENERATED: "coverage/lcov.info coverage/lcov-report/index.html coverage/src/app.js.html "
    "coverage/index.html coverage/clover.xml ui/build/static/js/1.2aaf.chunk.js src/main/resources/static/dist/app.js "
    "dist/index.d.ts x-1.0.dist-info/METADATA src/x.egg-info/SOURCES.txt lib/a.d.ts.map",
    FileRole.VENDORED: "venv/lib/python3.11/x.py tools/venv/bin/activate ios/Pods/A/a.m",
}
_LOGS = {
    FileRole.CHANGELOG: "docs/changelog-2.5.rst ChangeLog_old.txt CHANGES-v2.17.rst docs/whats_new_3_0.rst "
    "RELEASES.md docs/news.rst doc/en/announce/release-2.0.1.rst docs/releases/1.2.3.txt release_notes/v2.md "
    "changelogs/changelog.yaml whatsnew/index.rst releasenotes/notes/fix-1.yaml packages/a/History.md "
    "Changelog.previous news/12.bugfix",
    FileRole.DOCUMENT: "docs/release-process.rst docs/development/releases.rst release_policy.md RELEASE.md "
    "changelog/README.rst newsfragments/README.txt changes/_template.rst docs/changelog-entries.rst "
    "docs/api/history.md docs/contributor/release-notes.rst scripts/release.minor.rst MAINTAINERS.md docs/1.2.3.md "
    "CHANGES_template.rst",
    FileRole.CONFIG: ".changeset/config.json news/.gitignore changelogs/config.yaml",
}
_ENDINGS = {
    FileRole.DOCUMENT: "man/tool.1 doc/tool.8 share/man1/bzip2.1 etc/tool.conf.5 LICENSE-MIT LICENSE.APACHE "
    "docs/a.inc docs/about.rst.inc api-ref/source/v3.inc docs/notes.txt docs/ref/constraints.txt "
    "docs/requirements-format.md README.1st",
    FileRole.CONFIG: "setup.cfg.in logging.conf.sample .env.example MANIFEST.in requirements.in dev-requirements.txt "
    "requirements/ci.txt Dockerfile.dev .eslintrc pom.xml go.mod etc/hosts scripts/.gitignore VERSION app.properties",
    FileRole.DATA: "samples.ly a.lasso app.log.1 lib/libx.so.1 tool-1.2 a.unknown motd py.typed x/image.dcm deep/blob",
    FileRole.CODE: "app.tac src/config.h.in src/table.inc lib/view.tpl.php module.psm1",
    FileRole.GENERATED: "PKG-INFO",
    FileRole.LOCK: "any.lock",
}
_COPIES = {
    FileRole.GENERATED: "locale/de/LC_MESSAGES/a.po a/messages.pot x.mo l10n/a.xlf locales/pt-BR.json "
    "i18n/messages.de.yml app/l10n/app_fr.arb lib/intl_zh_Hant.arb locale/de.yml translations/zh_CN/admin.json "
    "locales/en-GB/a.json",
    FileRole.DATA: "locales/en.json i18n/en_US/common.yml locale/index.json l10n/app_en.arb translations/common.json",
    FileRole.CODE: "src/locale/de.js",
}
_SAMPLES = {
    FileRole.TEST: "tests/conf.py tests/roots/a/conf.py fixtures/feature_store.yaml tests/data/PKG-INFO "
    "tests/locale/de.po test/integration/coverage/report.py tests/a/setup.cfg",
    FileRole.EXAMPLE: "tool/templates/aws/store.yaml lib/templates/node/package.json templates/app/Makefile "
    "cookiecutter-a/setup.py x/{{cookiecutter.name}}/a.toml skeleton/setup.cfg",
    FileRole.CONFIG: "charts/app/templates/rbac/role.yaml templates/mail.yaml",
    FileRole.CODE: "app/templates/admin/base.html src/components/skeleton/Skeleton.tsx templates/engine/load.py",
}


def _each(table: dict[FileRole, str]) -> list[tuple[FileRole, str]]:
    return [(role, path) for role, paths in table.items() for path in paths.split()]


@pytest.mark.parametrize(("role", "path"), _each(ROLES))
def test_roles(role: FileRole, path: str) -> None:
    assert role_of(path) is role


@pytest.mark.parametrize(("role", "path"), _each(_OWN_SOURCE))
def test_a_folder_named_like_a_build_product_may_hold_own_sources(role: FileRole, path: str) -> None:
    assert role_of(path) is role


@pytest.mark.parametrize(("role", "path"), _each(_LOGS))
def test_a_changelog_is_told_by_its_exact_name_and_rules_about_it_are_documents(role: FileRole, path: str) -> None:
    assert role_of(path) is role


@pytest.mark.parametrize(("role", "path"), _each(_ENDINGS))
def test_an_ending_that_says_nothing_makes_no_config(role: FileRole, path: str) -> None:
    assert role_of(path) is role


@pytest.mark.parametrize(("role", "path"), _each(_COPIES))
def test_a_translation_counts_as_generated_and_the_english_it_copies_as_data(role: FileRole, path: str) -> None:
    assert role_of(path) is role


@pytest.mark.parametrize(("role", "path"), _each(_SAMPLES))
def test_settings_of_a_test_or_a_scaffold_are_no_settings_of_the_zone(role: FileRole, path: str) -> None:
    assert role_of(path) is role


@pytest.mark.parametrize(
    "head",
    [
        b"// Code generated by protoc-gen-go. DO NOT EDIT.\npackage x\n",
        b"#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\n",
        b"/**\n * @generated SignedSource<<x>>\n */\n",
        b"<!-- This file is automatically generated -->\n",
        b"# autogenerated\n",
    ],
)
def test_a_banner_in_a_comment_marks_a_generated_file(head: bytes) -> None:
    assert is_generated_banner(head)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"print('DO NOT EDIT')\n",
        b"# Edits the config. Do nothing else.\n",
        b"# a\n" * 20 + b"# @generated\n",
        b"\xff\x00@generated",
    ],
)
def test_code_that_writes_a_banner_is_not_generated(head: bytes) -> None:
    assert not is_generated_banner(head)


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("src/main/java/test/score/ScoreParser.java", FileRole.CODE),
        ("core/src/main/kotlin/org/tests/Score.kt", FileRole.CODE),
        ("src/test/java/score/ScoreParser.java", FileRole.TEST),
        ("src/main/java/score/ScoreParserTest.java", FileRole.TEST),
        ("test/src/score/ScoreParser.java", FileRole.TEST),
    ],
)
def test_a_package_may_be_called_test_where_the_layout_keeps_tests_apart(path: str, role: FileRole) -> None:
    assert role_of(path) is role
