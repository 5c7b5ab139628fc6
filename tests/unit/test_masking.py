"""Secrets in names and in text. Every token here is put together at run time, so that no scanner takes it for real."""

from __future__ import annotations

import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.masking import MaskedSpan, mask, names_digest, secret_name
from rtch.secret_shapes import KINDS

_RANDOM = random.Random(7)
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def some(n: int, alphabet: str = ALNUM) -> str:
    return "".join(_RANDOM.choice(alphabet) for _ in range(n))


TOKENS = {
    "github_token": "ghp" + "_" + some(36),
    "github_fine_grained_token": "github" + "_pat_" + some(22) + "_" + some(59),
    "gitlab_token": "glpat" + "-" + some(20),
    "atlassian_token": "ATATT3" + some(60),
    "aws_access_key_id": "AKIA" + some(16, string.ascii_uppercase),
    "google_api_key": "AIza" + some(35),
    "google_oauth": "ya29" + "." + some(40),
    "digitalocean_token": "dop_v1" + "_" + some(64, HEX),
    "databricks_token": "dapi" + some(32, HEX),
    "slack_token": "xoxb" + "-123456789012-" + some(24),
    "telegram_bot_token": "123456789" + ":AA" + some(33),
    "sendgrid_key": "SG" + "." + some(22) + "." + some(43),
    "twilio_key": "SK" + some(32, HEX),
    "mailgun_key": "key" + "-" + some(32, HEX),
    "mailchimp_key": some(32, HEX) + "-us12",
    "stripe_key": "sk_live" + "_" + some(24),
    "shopify_token": "shpat" + "_" + some(32, HEX),
    "square_token": "sq0atp" + "-" + some(22),
    "npm_token": "npm" + "_" + some(36),
    "pypi_token": "pypi" + "-AgEIcHlwaS5vcmc" + some(60),
    "rubygems_key": "rubygems" + "_" + some(48, HEX),
    "docker_token": "dckr_pat" + "_" + some(27),
    "anthropic_key": "sk" + "-ant-api03-" + some(40),
    "openai_key": "sk" + "-proj-" + some(48),
    "sk_key": "sk" + "-" + some(48),
    "huggingface_token": "hf" + "_" + some(34),
    "vault_token": "hvs" + "." + some(24),
    "terraform_token": some(14) + ".atlasv1." + some(60),
    "age_key": "AGE-SECRET" + "-KEY-1" + some(58, string.ascii_uppercase),
    "grafana_token": "glsa" + "_" + some(40),
    "new_relic_key": "NRAK" + "-" + some(27, string.ascii_uppercase),
    "linear_key": "lin_api" + "_" + some(40),
    "notion_token": "ntn" + "_" + some(46),
    "postman_key": "PMAK" + "-" + some(24, HEX) + "-" + some(34, HEX),
    "service_token": "gsk" + "_" + some(52),
    "jwt": "eyJ" + some(20) + ".eyJ" + some(40) + "." + some(43),
}
WITHIN = {
    "aws_secret_key": ("aws_secret_access_key = ", some(40), ""),
    "azure_storage_key": ("DefaultEndpointsProtocol=https;AccountKey=", some(86) + "==", ";"),
    "azure_signature": ("https://x.blob.core.windows.net/c?sv=1&sig=", some(43), ""),
    "slack_webhook": ("https://hooks.slack.com/services/", "T00000000/B00000000/" + some(24), ""),
    "discord_webhook": ("https://discord.com/api/webhooks/123456789012345678/", some(60), ""),
    "npm_registry_login": ("//registry.npmjs.org/:_authToken=", some(12), ""),
    "http_authorization": ('"Authorization": "Basic ', some(24), '"'),
    "bearer_token": ("curl -H 'X: Bearer ", "aB3" + some(30), "'"),
    "url_userinfo": ("postgres://app:", "hunter2-" + some(4), "@db:5432/x"),
    "url_token": ("https://", "aB3" + some(30), "@host/repo.git"),
    "password": ('password = "', "hunter2", '"'),
    "secret": ("client_secret: '", "aB3" + some(20), "'"),
    "token": ('"token": "', "a1B2" + some(20), '"'),
    "key": ("API_KEY=", "a1B2" + some(20), ""),
}


@pytest.mark.parametrize("kind", TOKENS)
def test_token_is_masked_wherever_it_stands(kind: str) -> None:
    token = TOKENS[kind]
    for before, after in (("", ""), ("x = '", "'"), ("see ", ", or not"), ("?t=", "&u=1"), ("(", ")")):
        found = mask(f"one\n{before}{token}{after}\nthree\n")
        assert token not in found.text
        assert found.text.startswith("one\n")
        assert found.text.endswith(f"{after}\nthree\n")
        assert [one.line for one in found.masked] == [1]
    assert mask(f"a {token} b") == (f"a [masked:{kind}] b", (MaskedSpan(0, kind),)) or kind == "terraform_token"


@pytest.mark.parametrize("kind", WITHIN)
def test_value_is_masked_and_its_name_is_not(kind: str) -> None:
    before, value, after = WITHIN[kind]
    found = mask(f"{before}{value}{after}")
    assert value not in found.text
    assert found.text.startswith(before)
    assert found.text.endswith(after)
    assert {one.kind for one in found.masked} == {kind}


def test_every_kind_is_tried() -> None:
    assert set(TOKENS) | set(WITHIN) | {"private_key", "key_material"} == set(KINDS)
    assert len(KINDS) >= 20


@pytest.mark.parametrize(
    "line",
    [
        'password = os.environ["DB_PASSWORD"]',
        "password: ${DB_PASSWORD}",
        "PASSWORD=$DB_PASSWORD1",
        'token = "{{ vault_token_1 }}"',
        "api_key = process.env.API_KEY1",
        'secret = "<your-secret-1>"',
        'password = "changeme123"',
        'token = getenv("TOKEN1")',
        'password: "Enter your password"',
        'token = "next_page_token"',
        "secret: !vault |",
        'key = "users/42/name"',
        'public_key = "id_rsa_42.pub"',
        'PASSWORD = "example-password-1"',
        "def token(self, value1): ...",
        'if token == "sha256sum99":',
        "https://host:8080/path@2x.png",
        "https://user:password@host",
        "git@github.com:org/repo.git",
        "tasks: sk-folding-cube sk-spinner-wrapper",
        "password_field2 = form.password2",
        'if "-----BEGIN PRIVATE KEY-----" in text and other(text):\n    return load(text)\n',
        'sha = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
        "a commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b touched it",
        "login(password=password2, token=token1)",
    ],
)
def test_references_placeholders_and_code_are_no_secrets(line: str) -> None:
    assert mask(line) == (line, ())


@pytest.mark.parametrize(
    "line",
    [
        "DB_PASSWORD=hunter22",
        "      POSTGRES_PASSWORD: hunter22",
        "password: s3cr3t!x  # do not tell",
        "mysql --password hunter22 -u root",
        "tool --token=a1B2c3D4e5F6g7H8",
        '{\\"password\\":\\"hunter22\\"}',
        "<password>hunter22</password>",
        'const password: string = "hunter22";',
        "setPassword('hunter22')",
        '"Password" => "hunter22",',
        "password := `hunter22`",
        'SECRET_KEY = "django-insecure-4x$a1B2c3D4"',
    ],
)
def test_literals_under_a_telling_name_are_masked(line: str) -> None:
    found = mask(line)
    assert "[masked:" in found.text
    assert "hunter22" not in found.text
    assert "a1B2c3D4" not in found.text
    assert "s3cr3t" not in found.text


BODY = [some(64, ALNUM + "+/") for _ in range(20)]


def key_block(kind: str = "RSA ", body: list[str] = BODY) -> list[str]:
    return [f"-----BEGIN {kind}PRIVATE KEY-----", *body, some(20) + "==", f"-----END {kind}PRIVATE KEY-----"]


def test_key_block_keeps_its_markers_and_its_lines() -> None:
    text = "\n".join(["before", *key_block(), "after"]) + "\n"
    found = mask(text)
    lines = found.text.split("\n")
    assert lines[0] == "before"
    assert lines[1].startswith("-----BEGIN")
    assert lines[2] == "[masked:private_key]"
    assert lines[-3].startswith("-----END")
    assert lines[-2] == "after"
    assert found.text.count("\n") == text.count("\n")
    assert [one.line for one in found.masked] == list(range(2, 23))
    assert not any(line in found.text for line in BODY)


@pytest.mark.parametrize("cut", [slice(0, 10), slice(5, 15), slice(8, None), slice(1, -1)])
def test_part_of_a_key_block_is_masked_where_a_chunk_cuts_it(cut: slice[int, int | None]) -> None:
    lines = key_block("OPENSSH ")[cut]
    found = mask("\n".join(lines) + "\n")
    assert not any(line in found.text for line in BODY)
    assert found.text.count("\n") == len(lines)


def test_key_in_one_json_string_is_masked() -> None:
    inner = "\\n".join(key_block(""))
    found = mask(f'{{"private_key": "{inner}\\n", "other": 1}}')
    assert not any(line in found.text for line in BODY)
    assert found.text.endswith(', "other": 1}')


def test_certificate_is_shown() -> None:
    text = "\n".join(["-----BEGIN CERTIFICATE-----", *BODY, "-----END CERTIFICATE-----"])
    assert mask(text) == (text, ())


PIECES = st.sampled_from(
    [
        *TOKENS.values(),
        *(a + b + c for a, b, c in WITHIN.values()),
        "\n".join(key_block()),
        *BODY,
        "\n",
        " ",
        "\r\n",
        '"',
        "'",
        "password=",
        "://",
        ":",
        "@",
        "[masked:x]",
        "Bearer ",
        "\\",
        "\u0130",
        "\u2028",
        "-----END PRIVATE KEY-----",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=12).map("".join))
def test_masking_keeps_lines_and_masking_again_changes_nothing(text: str) -> None:
    once = mask(text)
    assert once.text.count("\n") == text.count("\n")
    assert mask(once.text).text == once.text
    assert (once.text == text) == (not once.masked) or "[masked:" in text
    assert list(once.masked) == sorted(set(once.masked))


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=12).map("".join))
def test_lines_that_are_not_listed_are_the_files(text: str) -> None:
    found = mask(text)
    changed = {one.line for one in found.masked}
    for n, (now, then) in enumerate(zip(found.text.split("\n"), text.split("\n"), strict=True)):
        assert n in changed or now == then


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "eyJ",
        "eyJaaaaaaaa.",
        "://",
        "://a:",
        "password=",
        'password="',
        "PASSWORD=a1",
        "token: a",
        "sk-",
        "SG.aaaaaaaaaaaaaaaa",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n",
        "secret_access_key=",
        "authorization: bearer ",
        'password="\\',
        "api_key>aaaaaa",
        "<password>",
        "0123456789abcdef",
        'key: \\"',
        "token(",
        "1:AA",
    ],
)
def test_time_grows_with_length_and_not_faster(unit: str) -> None:
    def cost(size: int) -> float:
        text = unit * (size // len(unit))
        start = time.process_time()
        mask(text)
        return time.process_time() - start

    small = min(cost(50_000) for _ in range(2))
    assert cost(400_000) < 8 * 4 * small + 0.5


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "app/.env.production",
        "deploy/ID_RSA",
        "certs/server.pem",
        "a/b.key",
        ".netrc",
        "home/.pgpass",
        ".aws/credentials",
        "x/.aws/config",
        "vault.kdbx",
        ".npmrc",
        "id_ed25519",
        ".git-credentials",
        "infra/prod.tfstate",
        "credentials.json",
        "x/.docker/config.json",
        "store.p12",
        ".htpasswd",
    ],
)
def test_secret_names_are_told_with_a_reason(path: str) -> None:
    assert secret_name(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        "app/.env.sample",
        ".env.template",
        "id_rsa.pub",
        "src/credentials.py",
        "docs/keys.md",
        "environment.py",
        "config/secrets.yaml",
        "src/config.json",
        "docker/config.json",
        "src/token.go",
        "keyboard.ts",
        "README.md",
        "a.env.md",
    ],
)
def test_other_names_are_not(path: str) -> None:
    assert secret_name(path) is None


def test_reasons_are_in_words() -> None:
    assert secret_name("a/.env") == "environment file, where services keep their passwords"
    assert len(names_digest()) == 64


def test_a_token_right_before_another_is_masked_too() -> None:
    """Only when the other is gone does it no longer look like the beginning of a longer word."""
    both = mask("AKIAEHVHAPSFIJAENRLTghp_u8jzPde0IgxLd6GncfBAepfJBd0Kh8oOOL8d\n")
    assert both.text == "[masked:aws_access_key_id][masked:github_token]\n"
    assert {one.kind for one in both.masked} == {"aws_access_key_id", "github_token"}
