# SPDX-License-Identifier: GPL-2.0-only
# tar and make: an archive is unpacked, compiled by parallel jobs, packed again, and compared.
# shellcheck shell=bash disable=SC2034 # for tests/programs/guest
packages='tar make gcc zstd'

version() {
	echo "tar $(tar --version | sed -n '1s/.* //p'), make $(make --version | sed -n '1s/.* //p')"
}

work() { # DIRECTORY
	local i
	mkdir "$1/source" && cd "$1/source" || return
	for i in 1 2 3 4 5; do
		printf '#include "all.h"\nint part%d(int x) { return x * %d; }\n' "$i" "$i" >"part$i.c"
	done
	printf 'int part%d(int x);\n' 1 2 3 4 5 >all.h
	printf '#include "all.h"\nint main(void) { return part1(1) + part5(8) != 41; }\n' >main.c
	printf 'all: main.o part1.o part2.o part3.o part4.o part5.o\n\t$(CC) -o $@ $^\n*.o: all.h\n' >Makefile
	tar -cf ../source.tar . && mkdir ../build && tar -C ../build -xf ../source.tar &&
		make -s -j 3 -C ../build CFLAGS=-O0 && ../build/all && tar -df ../source.tar &&
		tar --zstd -C ../build -cf ../build.tar.zst . && tar --zstd -tf ../build.tar.zst >../list &&
		cp -a ../build ../copy && diff -r ../build ../copy && rm -r ../build
}
