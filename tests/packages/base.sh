# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # the caller defines top
# The Debian of a site in a directory, which is kept for the next run, to be sourced after tests/fresh/root.sh. The caller defines
# `base`, the directory. It has a kernel with its headers, DKMS and systemd.

# With what the packages need, so that they can be installed without the network. The initial RAM disk has no driver for
# other machines, which takes less time to load.
make_base() {
	local inputs
	inputs=$(sed -n '/^make_base/,/^}/p' "$top/tests/packages/base.sh" | cat - "$top/tests/fresh/root.sh" | sha256sum)
	[ "$(cat "$base.inputs" 2>/dev/null)" != "$inputs" ] || return 0
	rm -rf --one-file-system "$base" "$base.inputs"
	mkdir -p "$base"
	base=$(cd "$base" && pwd)
	chmod 755 "$base"
	root_install "$base" && root_mount "$base" || return
	root_run "$base" sh -euc 'apt-get update -qq
		apt-get install -qqy --no-install-recommends systemd systemd-sysv udev dbus dkms gcc libc6-dev linux-headers-amd64 \
			initramfs-tools kmod procps libdw1 libncursesw6 libnl-3-200 libnl-genl-3-200 libopen-trace-format2-10 libsodium23 liburcu8 libxml2 libzstd1
		sed -i "s/^MODULES=.*/MODULES=list/; s/^COMPRESS=.*/COMPRESS=gzip/" /etc/initramfs-tools/initramfs.conf
		printf "%s\n" virtio_pci virtio_blk ext4 >>/etc/initramfs-tools/modules
		apt-get install -qqy --no-install-recommends linux-image-amd64
		apt-get clean
		rm -rf /usr/share/man/* /usr/share/locale/* /var/lib/apt/lists/*' || return
	root_unmount
	echo "$inputs" >"$base.inputs"
}
