# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A Debian of the release of this machine in a directory, to be sourced. The caller defines fail() and `top`, the tree, and calls
# root_unmount when it ends.

root_mounted=()
root_codename=

# root_source SUFFIX: the package source of this machine for a suite of its release.
root_source() {
	# shellcheck disable=SC2016 # apt-get expands it
	apt-get indextargets --format '$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)' |
		awk -v release="$root_codename${1:-}" '$1 == "Packages" && $3 == release && $4 == "main" { print $2; exit }'
}

# root_install DIRECTORY: installs a minimal Debian with git, and the network configuration of this machine.
root_install() {
	local root=$1 archive suffix source
	# shellcheck source=/dev/null
	root_codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	[ -n "$root_codename" ] || fail "/etc/os-release: does not name a Debian release"
	archive=$(root_source)
	[ -n "$archive" ] || fail "apt has no source for $root_codename"
	echo "# $root: $root_codename"
	debootstrap --variant=minbase --include=git,ca-certificates "$root_codename" "$root" "$archive" >"$root.log" 2>&1 ||
		{ tail -n 20 "$root.log"; fail "cannot install Debian: $root.log"; }
	rm -f "$root.log"
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
	for suffix in '' -updates -security; do
		source=$(root_source $suffix)
		[ -z "$source" ] || echo "deb $source $root_codename$suffix main"
	done >"$root/etc/apt/sources.list"
}

# root_mount DIRECTORY: makes it a mount point, like the root of every container, so that it can have mounts of its own.
root_mount() {
	local root=$1 directory
	mount --bind "$root" "$root"
	mount --make-private "$root"
	root_mounted+=("$root")
	for directory in dev proc sys; do
		mount --rbind /$directory "$root/$directory"
		mount --make-rslave "$root/$directory"
		root_mounted+=("$root/$directory")
	done
}

root_unmount() {
	local i
	for ((i = ${#root_mounted[@]} - 1; i >= 0; i--)); do
		umount -l "${root_mounted[i]}" || true
	done
	root_mounted=()
}

# root_run DIRECTORY COMMAND [ARGUMENT]...: runs a command of the Debian, with its environment instead of the caller's.
root_run() {
	local root=$1
	shift
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive \
		chroot "$root" "$@"
}
