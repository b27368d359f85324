# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Package lists that are kept in a directory, so that the sources of the machine are not changed. Sourced by
# tests/vm/kernel and tests/vm/root, which define fail.

# apt_private DIRECTORY ARCHITECTURE SUITE...: sets apt_options, by which apt-get and apt-cache use the lists in
# DIRECTORY: of the suites, the first one preferred, from the mirror that the machine uses. Nothing counts as installed.
apt_private() {
	local apt=$1 architecture=$2 mirror suite native
	shift 2
	native=$(dpkg --print-architecture)
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 2>/dev/null |
		head -n 1)
	[ -n "$mirror" ] || fail "apt knows no mirror of Debian, to take packages of $* from: apt-get update"
	mkdir -p "$apt"/lists/partial "$apt"/cache/archives/partial
	: > "$apt/status"
	for suite; do
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
			"$mirror $suite main"
	done > "$apt/sources.list"
	apt_options=(-o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null
		-o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status"
		-o Dir::Cache="$apt/cache" -o Acquire::Languages=none
		-o APT::Default-Release="$1" -o APT::Sandbox::User="$(id -un)"
		-o APT::Update::Error-Mode=any)
	[ "$architecture" = "$native" ] ||
		apt_options+=(-o APT::Architecture="$architecture" -o APT::Architectures="$architecture,$native")
}
