import pytest

from rtch.imports import Imports

TREE = (
    "README.md",
    "docs/guide/a.md",
    "docs/b.md",
    "src/app/__init__.py",
    "src/app/main.py",
    "src/app/util/__init__.py",
    "src/app/util/text.py",
    "src/lib/net/socket.rs",
    "src/lib/net/mod.rs",
    "web/index.ts",
    "web/view/index.tsx",
    "web/view/pane.tsx",
    "web/one/util.ts",
    "web/two/util.ts",
    "web/three/util.ts",
)


@pytest.mark.parametrize(
    ("path", "reference", "targets"),
    [
        ("src/app/main.py", ".util", ["src/app/util/__init__.py"]),
        ("src/app/main.py", ".util.text", ["src/app/util/text.py"]),
        ("src/app/util/text.py", "..main", ["src/app/main.py"]),
        ("src/app/util/text.py", ".", ["src/app/util/__init__.py"]),
        ("src/app/main.py", ".main.run", ["src/app/main.py"]),
        ("src/app/main.py", ".absent.deeper", []),
        ("web/index.ts", "./view/pane", ["web/view/pane.tsx"]),
        ("web/view/pane.tsx", "../one/util", ["web/one/util.ts"]),
        ("web/view/pane.tsx", "../one/util.ts", ["web/one/util.ts"]),
        ("docs/b.md", "./guide/a.md", ["docs/guide/a.md"]),
        ("docs/b.md", "../README.md", ["README.md"]),
        ("docs/b.md", "../../outside.md", []),
        ("README.md", "docs/guide/a.md", ["docs/guide/a.md"]),
        ("src/lib/net/mod.rs", "crate::net::socket", ["src/lib/net/socket.rs"]),
        ("web/index.ts", "app.util.text", ["src/app/util/text.py"]),
        ("web/index.ts", "app.util.text.clean", ["src/app/util/text.py"]),
        ("web/index.ts", "os.path", []),
        ("web/index.ts", "util", []),
        ("web/index.ts", "", []),
    ],
)
def test_a_reference_leads_to_the_file_it_means(path: str, reference: str, targets: list[str]) -> None:
    assert list(Imports(TREE).targets(path, [reference])) == targets


def test_a_name_with_many_files_leads_nowhere() -> None:
    tree = [f"{folder}/net/util.ts" for folder in ("a", "b", "c")]
    assert list(Imports(tree).targets("x.ts", ["net.util"])) == []
    assert list(Imports(tree[:2]).targets("x.ts", ["net.util"])) == tree[:2]


def test_references_are_followed_in_their_order() -> None:
    found = Imports(TREE).targets("src/app/main.py", [".util.text", ".util"])
    assert list(found) == ["src/app/util/text.py", "src/app/util/__init__.py"]
