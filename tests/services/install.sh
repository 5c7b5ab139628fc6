#!/usr/bin/env bash
# Install what tests/services needs and this machine lacks: PostgreSQL, Chromium, ip for hosts with networks
# of their own, and Dask for the interpreter that is named. Idempotent; says in one line a thing what it did.
#
#     tests/services/install.sh .venv/bin/python
set -euo pipefail

python=${1:?the interpreter that runs the tests}
root=$(cd "$(dirname "$0")/../.." && pwd)

has_postgres() {
    command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

has_chromium() {
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
}

missing=()
has_postgres || missing+=(postgresql)
has_chromium || missing+=(chromium)
PATH="$PATH:/usr/sbin:/sbin" command -v ip >/dev/null || missing+=(iproute2)
if ((${#missing[@]})); then
    echo "services: installing ${missing[*]}"
    sudo=()
    [[ $(id -u) -eq 0 ]] || sudo=(sudo -n)
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    {
        "${sudo[@]}" apt-get -qq update &&
            "${sudo[@]}" apt-get -qq -y --no-install-recommends install "${missing[@]}"
    } >"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
    rm -f "$log"
else
    echo "services: PostgreSQL, Chromium and ip are here"
fi

if "$python" -c 'import sys, importlib.util as u; sys.exit(u.find_spec("prefect_dask") is None)'; then
    echo "services: Dask is here"
else
    echo "services: installing the dask extra"
    mapfile -t wanted < <("$python" - "$root/pyproject.toml" <<'PY'
import sys, tomllib
with open(sys.argv[1], "rb") as stream:
    print(*tomllib.load(stream)["project"]["optional-dependencies"]["dask"], sep="\n")
PY
    )
    "$python" -m pip install --quiet --disable-pip-version-check "${wanted[@]}"
fi
