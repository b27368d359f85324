# SPDX-License-Identifier: GPL-2.0-only
# tar and make: a source tree is packed, unpacked, and built by make with a compiler that only copies.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages='tar make'
programs=(tar make cat wc seq gzip)

prepare() { # DIRECTORY
	local i
	mkdir -p "$1/source"
	for i in $(seq 60); do
		seq "$i" $((i + 400)) >"$1/source/$i.in"
	done
	{
		echo "all: $(seq -s ' ' -f %g.out 60)"
		printf '%%.out: %%.in\n\tcat $< $< >$@; wc -l $@ >>$@\n'
	} >"$1/source/Makefile"
}

work() { # DIRECTORY
	cd "$1" && tar cf all.tar source && mkdir copy && tar xf all.tar -C copy &&
		make -s -C copy/source && tar czf built.tar.gz copy && rm -r copy
}
