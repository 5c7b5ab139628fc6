"""The shapes that secrets have in text: key blocks, tokens that a service marks as its own, named literals.

Each pattern begins at a literal that is looked for first, its repetitions are possessive or bounded, and
none can start often inside a run that it scans: that is what keeps a hostile megabyte of one line cheap.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple


class _Pattern:
    """A pattern compiled when it is first used: all of them at import would cost 40 ms."""

    __slots__ = ("_args", "_compiled")

    def __init__(self, pattern: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._args = (pattern, flags)
        self._compiled: re.Pattern[str] | None = None

    def __call__(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(*self._args)
        return self._compiled


class Found(NamedTuple):
    """A half-open span of characters."""

    start: int
    end: int
    kind: str


def secrets_in(text: str) -> list[Found]:
    """Return every span that has the shape of a secret, in no order; spans may overlap."""
    return [*_key_blocks(text), *_tokens(text), *_named_literals(text)]


# What tells a value from a reference to one.

_PLACEHOLDER = _Pattern(
    r"^\[masked:|^\$[A-Za-z_{(]|\$\{|\{\{|^\{[\w.]*\}|%\(|^%[A-Za-z_]+%?$|^<[^>]*>?$|\.\.\.|\*\*\*|xxx"
    r"|^(?:os\.|process\.env|env[.:(]|secrets?\.|vault:|ssm:|arn:|op://|ref\+|file:|!vault|/[\w.-]+/)"
    r"|change.?me|replace.?me|example|placeholder|dummy|redacted|your[_-]|_here$|todo|sample|insert",
    re.IGNORECASE,
)
_STAND_INS = frozenset({"password", "passwd", "pass", "pwd", "secret", "token", "pw"})


def _is_placeholder(value: str) -> bool:
    return bool(_PLACEHOLDER().search(value[:400])) or len(set(value)) < 4 or value.lower() in _STAND_INS


def _is_value(value: str) -> bool:
    return not _is_placeholder(value)


def _entropy(value: str) -> float:
    """Return the bits a character (Shannon)."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_random(value: str) -> bool:
    """Tell a generated value from words with separators between them."""
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    turns = sum(a.islower() and b.isupper() for a, b in pairwise(value))
    mixed = (digits >= 2 and letters >= 2) or (turns >= max(3, len(value) // 6) and "_" not in value)
    floor = 3.0 if len(value) >= 16 else 2.5
    return len(value) >= 8 and mixed and _entropy(value) >= floor and _is_value(value)


def _is_password(value: str) -> bool:
    """Tell a password from a label or a word: it has more than letters."""
    kinds = (
        any(char.isdigit() for char in value),
        any(char.isalpha() for char in value),
        any(not char.isalnum() and char not in "_-. " for char in value),
    )
    return sum(kinds) >= 2 and _entropy(value) >= 2.0 and _is_value(value)


# Private keys: whole blocks, and what a chunk's edge has left of one.

_BEGIN = _Pattern(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = _Pattern(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_NO_KEY = _Pattern(r"[^A-Za-z0-9+/=\s\\\"',:-]")
"""What stands between the markers in a program that handles keys, and never in a key."""
_KEY_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash)[^\n]{0,200}+"
_CUT_BODY = _Pattern(rf"(?:{_KEY_HEADER}|[\s\"',+]|\\[nr]|[A-Za-z0-9+/=]{{16,}}+)*+")
_KEY_LINE = _Pattern(r"[ \t]*[A-Za-z0-9+/]{60,76}={0,2}\r?")
_LAST_KEY_LINE = _Pattern(r"[ \t]*[A-Za-z0-9+/]{1,76}={0,2}\r?")
_CUT_LINES = 3
"""Lines of key material at the edge of a text that are taken for the inside of a key."""


def _key_blocks(text: str) -> Iterator[Found]:
    at = 0
    if "PRIVATE KEY" in text:
        begin, end = _BEGIN().search(text), _END().search(text)
        if end and not (begin and begin.start() < end.start()):
            at = end.end()
            yield Found(
                _body_start(text, end.start()),
                end.start() - (text[end.start() - 1 : end.start()] == "\n"),
                "private_key",
            )
        while begin := _BEGIN().search(text, at):
            end = _END().search(text, begin.end()) if end is not None else None
            stop = _body_end(text, begin.end(), end.start() if end else None)
            at = max(stop, begin.end())
            yield _trimmed(text, begin.end(), stop)
    if at == 0:
        yield from _cut_block(text)


def _body_end(text: str, start: int, end: int | None) -> int:
    """Return where the key that begins at ``start`` ends; ``start`` where there is none."""
    if end is not None:
        body = re.sub(_KEY_HEADER, "", text[start : min(end, start + 20_000)])
        if not _NO_KEY().search(body):
            return end
    match = _CUT_BODY().match(text, start)
    return match.end() if match and len(match[0].strip()) >= 16 else start


def _trimmed(text: str, start: int, end: int) -> Found:
    """Leave the line ends beside the markers where they are, and a masked body alone."""
    if text.startswith("[masked:", start + 1):
        return Found(start, start, "private_key")
    start += text[start : start + 1] == "\n" and start < end
    end -= end > start and text[end - 1] == "\n"
    return Found(start, end, "private_key")


def _body_start(text: str, end: int) -> int:
    """Walk back from an END marker over the lines that can belong to a key."""
    start = text.rfind("\n", 0, end) + 1
    while start > 0:
        before = text.rfind("\n", 0, start - 1) + 1
        if not _LAST_KEY_LINE().fullmatch(text, before, start - 1):
            break
        start = before
    return start


def _cut_block(text: str) -> Iterator[Found]:
    """Find key material that begins with the text: the inside of a block that was cut at both ends."""
    end = count = 0
    while (feed := text.find("\n", end)) >= 0 and _KEY_LINE().fullmatch(text, end, feed):
        end = feed + 1
        count += 1
    if count >= _CUT_LINES and "CERTIFICATE" not in text[end : end + 160]:
        yield Found(0, end - 1, "key_material")


# Tokens that a service marks as its own.

_A = "[A-Za-z0-9]"
_W = "[A-Za-z0-9_-]"
_START = "(?<![A-Za-z0-9])"
_STOP = "(?![A-Za-z0-9])"
_SET = r"\\?[\"']?\s{0,4}(?:=>|[:=,])\s{0,4}\\?[\"']?"


class _Shape(NamedTuple):
    """A kind of token: one of ``marks`` must stand in the text for ``pattern`` to be tried.

    Where the pattern has the group ``v``, that part alone is the secret; ``check`` has the last word.
    """

    kind: str
    marks: tuple[str, ...]
    pattern: _Pattern
    check: Callable[[str], bool] | None = None


def _shape(kind: str, marks: str, pattern: str, check: Callable[[str], bool] | None = None) -> _Shape:
    return _Shape(kind, tuple(marks.split()), _Pattern(pattern, re.MULTILINE), check)


_SHAPES = (
    # code hosts
    _shape("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"gh[pousr]_{_A}{{30,}}+"),
    _shape("github_fine_grained_token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}+"),
    _shape(
        "gitlab_token",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glimt- glagent-",
        rf"gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent)-{_W}{{20,}}+",
    ),
    _shape("atlassian_token", "ATATT3 ATCTT3", r"AT[AC]TT3[A-Za-z0-9_=-]{40,}+"),
    # clouds
    _shape("aws_access_key_id", "AKIA ASIA ABIA ACCA", rf"{_START}A(?:KI|SI|BI|CC)A[A-Z0-9]{{16}}{_STOP}"),
    _shape(
        "aws_secret_key",
        "ecret ECRET",
        rf"(?i:secret.?(?:access.?)?key){_SET}(?P<v>[A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])",
    ),
    _shape("google_api_key", "AIza", rf"AIza{_W}{{35}}"),
    _shape("google_oauth", "ya29. GOCSPX-", rf"(?:ya29\.|GOCSPX-){_W}{{20,}}+"),
    _shape(
        "azure_storage_key", "AccountKey= SharedAccessKey=", r"(?:Account|Access)Key=(?P<v>[A-Za-z0-9+/]{40,}+={0,2})"
    ),
    _shape("azure_signature", "sig=", r"[?&;]sig=(?P<v>[A-Za-z0-9%+/]{40,}+)"),
    _shape("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{40,}+"),
    _shape("databricks_token", "dapi", rf"{_START}dapi[a-f0-9]{{32}}"),
    # chat and mail
    _shape(
        "slack_token",
        "xoxa- xoxb- xoxp- xoxr- xoxs- xoxe- xoxe. xapp-",
        rf"(?:xox[abeprs][-.]|xapp-){_W}[A-Za-z0-9.-]{{9,}}+",
    ),
    _shape(
        "slack_webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<v>[A-Za-z0-9/_-]{20,}+)",
    ),
    _shape("telegram_bot_token", ":AA", rf"(?<!\d)\d{{8,10}}:AA{_W}{{33}}"),
    _shape("discord_webhook", "/api/webhooks/", rf"/api/webhooks/\d{{5,25}}+/(?P<v>{_W}{{30,}}+)"),
    _shape("sendgrid_key", "SG.", rf"{_START}SG\.{_W}{{16,64}}+\.{_W}{{16,}}+"),
    _shape("twilio_key", "SK", rf"{_START}SK[0-9a-f]{{32}}{_STOP}"),
    _shape("mailgun_key", "key-", rf"{_START}key-[0-9a-f]{{32}}{_STOP}"),
    _shape("mailchimp_key", "-us", rf"{_START}[0-9a-f]{{32}}-us\d{{1,2}}{_STOP}"),
    # payment and trade
    _shape("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", rf"(?:[sr]k_(?:live|test)_|whsec_){_A}{{16,}}+"),
    _shape("shopify_token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    _shape("square_token", "sq0atp- sq0csp- EAAAE", rf"(?:sq0(?:atp|csp)-{_W}{{22,}}+|{_START}EAAAE{_W}{{59}})"),
    # package registries
    _shape("npm_token", "npm_", rf"npm_{_A}{{30,}}+"),
    _shape(
        "npm_registry_login",
        "_authToken _auth _password",
        r"(?:^|:)_(?:authToken|auth|password)\s{0,4}=\s{0,4}[\"']?(?P<v>[^\s\"'$]{8,}+)",
        _is_value,
    ),
    _shape("pypi_token", "pypi-AgE", rf"pypi-AgE{_W}{{30,}}+"),
    _shape("rubygems_key", "rubygems_", r"rubygems_[a-f0-9]{40,}+"),
    _shape("docker_token", "dckr_pat_ dckr_oat_", rf"dckr_[po]at_{_W}{{20,}}+"),
    # models
    _shape("anthropic_key", "sk-ant-", rf"sk-ant-{_W}{{16,}}+"),
    _shape(
        "openai_key", "sk-proj- sk-svcacct- sk-admin- sk-or-", rf"{_START}sk-(?:proj|svcacct|admin|or)-{_W}{{16,}}+"
    ),
    _shape("sk_key", "sk-", rf"{_START}sk-{_A}{{20,}}+(?!-)"),
    _shape("huggingface_token", "hf_", rf"{_START}hf_{_A}{{30,}}+"),
    # tools
    _shape("vault_token", "hvs. hvb. hvr.", rf"{_START}hv[sbr]\.{_W}{{20,}}+"),
    _shape("terraform_token", ".atlasv1.", r"\.atlasv1\.[A-Za-z0-9_=-]{40,}+"),
    _shape("age_key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}+"),
    _shape("grafana_token", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9_+/=]{32,}+"),
    _shape("new_relic_key", "NRAK- NRJS- NRII-", rf"NR(?:AK|JS|II)-{_W}{{19,}}+"),
    _shape("linear_key", "lin_api_", rf"lin_api_{_A}{{32,}}+"),
    _shape("notion_token", "ntn_", rf"{_START}ntn_{_A}{{40,}}+"),
    _shape("postman_key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _shape(
        "service_token",
        "dp.pt. pul- sbp_ sntrys_ figd_ gsk_ pplx- r8_ xai- fo1_ HRKU- pscale_tkn_",
        rf"{_START}(?:dp\.pt\.|pul-|sbp_|sntrys_|figd_|gsk_|pplx-|r8_|xai-|fo1_|HRKU-|pscale_tkn_){_W}{{32,}}+",
    ),
    # wherever they come from
    _shape("jwt", "eyJ", rf"(?<!{_W})eyJ{_W}{{8,}}+\.eyJ{_W}{{8,}}+\.{_W}*+"),
    _shape(
        "http_authorization",
        "uthorization UTHORIZATION",
        rf"(?i:authorization){_SET}(?i:bearer|basic|token)\s{{1,4}}(?P<v>[A-Za-z0-9._~+/=-]{{8,}}+)",
        _is_value,
    ),
    _shape("bearer_token", "Bearer bearer", r"[Bb]earer\s{1,4}(?P<v>[A-Za-z0-9._~+/=-]{20,}+)", _is_random),
    _shape("url_userinfo", "://", r"://[^\s/:@\"'<>`\[]{0,128}+:(?P<v>[^\s/@\"'<>`]{1,256}+)@", _is_value),
    _shape("url_token", "://", r"://(?P<v>[^\s/:@\"'<>`\[]{20,256}+)@", _is_random),
)
"""One row a kind, so that they can be compared."""

KINDS: tuple[str, ...] = (
    *(shape.kind for shape in _SHAPES),
    "private_key",
    "key_material",
    "password",
    "secret",
    "token",
    "key",
)


_MARKS = tuple((mark, shape) for shape in _SHAPES for mark in shape.marks)


def _tokens(text: str) -> Iterator[Found]:
    # Most texts have none of the marks, and many are one line: this loop is what masking them costs.
    likely = [shape for mark, shape in _MARKS if mark in text]
    for kind, _, pattern, check in dict.fromkeys(likely):
        group = "v" if "v" in pattern().groupindex else 0
        for match in pattern().finditer(text):
            if check is None or check(match[group]):
                yield Found(*match.span(group), kind)


# Literals given to a name that says what they are.

_HINTS = ("pass", "pwd", "secret", "token", "credential", "key")
_NAME = _Pattern(
    r"(?P<name>pass(?:word|wd|phrase|code)|pwd|secret|token|credential|key)"
    r"(?:[_-]?(?:key|value|token|secret|[0-9]))?s?(?=[\\\"'`\]>:=(\s])"
)
"""Looked for in the lower-cased text: without a case to ignore, the search skips to the first letters."""
_WHOSE_KEY = _Pattern(r"(?:api|access|private|signing|encryption|auth|account|master|shared|client)[_-]?\Z")
_QUOTED = _Pattern(
    r"(?:\\?[\"'`])?\]?"
    r"(?P<sep>\s{0,4}:\s{0,4}[A-Za-z_][\w.\[\]|?]{0,40}+\s{0,4}=(?!=)|\s{0,4}(?::=|=>|={1,3}|!==?|:|\())\s{0,4}"
    r"(?:\\[\"'](?P<escaped>[^\"'\\\s]{6,}+)|[rbu]?\"(?P<double>(?:[^\"\\\s]|\\.){6,}+)"
    r"|[rbu]?'(?P<single>(?:[^'\\\s]|\\.){6,}+)|`(?P<back>[^`\s]{6,}+))",
    re.ASCII,
)
_BARE = _Pattern(r"[\"']?(?P<sep>=|:[ \t]{1,4}| )(?P<bare>[^\s\"'`,;<>(){}\[\]|&]{6,200}+)(?![(\[])")
_BARE_REST = _Pattern(r"[^\s\"'`,;<>(){}\[\]|&]*+")
_ELEMENT = _Pattern(r">(?P<element>[^<\s]{6,256}+)</")
_BEFORE_NAME = _Pattern(r"[\w.-]{0,60}\Z", re.ASCII)
_REST_OF_LINE = _Pattern(r"[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)")
_LONG = 60
_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _named_literals(text: str) -> Iterator[Found]:
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return
    if len(lowered) != len(text):
        lowered = text.translate(_ASCII_LOWER)
    skip_to = 0
    for name in _NAME().finditer(lowered):
        if name.start() < skip_to or not _names_a_secret(lowered, name):
            continue
        match = (
            _QUOTED().match(text, name.end()) or _BARE().match(text, name.end()) or _ELEMENT().match(text, name.end())
        )
        if match is None:
            continue
        kind, (start, end) = _kind(name["name"]), match.span(match.lastgroup or 0)
        if _is_bare_secret(text, name, match) if match.re is _BARE() else _is_named_secret(kind, match):
            skip_to = _end_of_bare(text, end) if match.re is _BARE() else end
            yield Found(start, skip_to, kind)
        elif end - start >= _LONG:
            skip_to = end  # else a line of names without a value would be judged again from each of them


def _end_of_bare(text: str, start: int) -> int:
    rest = _BARE_REST().match(text, start)
    return rest.end() if rest else start


def _names_a_secret(lowered: str, name: re.Match[str]) -> bool:
    start = name.start()
    return name["name"] != "key" or bool(_WHOSE_KEY().search(lowered[max(0, start - 12) : start]))


def _kind(name: str) -> str:
    if name.startswith(("pass", "pwd")):
        return "password"
    return name if name in {"token", "key"} else "secret"


def _is_named_secret(kind: str, match: re.Match[str]) -> bool:
    value = match[match.lastgroup or 0]
    if kind == "password":
        return _is_password(value)
    # A call or a comparison with a token is how parsers and clients are written.
    separator = match.groupdict().get("sep") or ""
    return not separator.strip().startswith(("(", "==", "!=")) and _is_random(value)


def _is_bare_secret(text: str, name: re.Match[str], match: re.Match[str]) -> bool:
    """Judge a value without quotes: in code it is a name, in a shell line, an option or YAML a literal."""
    value, separator = match["bare"], match["sep"]
    start = name.start()
    before = _BEFORE_NAME().search(text[max(0, start - 60) : start])
    whole = (before[0] if before else "") + text[start : name.end()]
    judge = _is_password if _kind(name["name"]) == "password" else _is_random
    if separator == " ":
        return whole.startswith("--") and judge(value)
    if separator == "=" and not (whole.isupper() or whole.startswith("--")):
        return len(value) >= 16 and not value.isidentifier() and _is_random(value)
    if separator != "=" and not _REST_OF_LINE().match(text, match.end()):
        return False
    return judge(value)
