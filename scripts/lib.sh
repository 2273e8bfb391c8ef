# Shared by the scripts; read with `.`, from the top of the clone.

say() { printf '%s\n' "$*" >&2; }

die() {
	say "$@"
	exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

is_root() { [ "$(id -u)" = 0 ]; }

# have_postgres says whether PostgreSQL's programs are on this machine, or come
# with the npm packages, which have them for one platform.
have_postgres() {
	has initdb || [ "$(uname -sm)" = "Linux x86_64" ] || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

# have_chromium says whether the browser tests find a browser.
have_chromium() { [ -n "${CHROMIUM:-}" ] || has chromium || has google-chrome; }

# absent prints the Debian packages of what this machine lacks. $1 is run or
# test: only tests need a browser.
absent() {
	has python3 || printf 'python3 '
	has bwrap || printf 'bubblewrap '
	[ "$1" != test ] || have_chromium || printf 'chromium '
	have_postgres || printf 'postgresql '
}
