# SPDX-License-Identifier: GPL-2.0-only
# gcc and make: many small source files with headers in many directories are compiled and linked, and found to be up to date.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages='gcc make'
programs=(ar as gcc ld make)
compiler=$(gcc -print-file-name=)
machine=$(gcc -print-multiarch)
trees=("${compiler%/}" "/usr/lib/$machine"/{Scrt1.o,crti.o,crtn.o,libc.so,libc_nonshared.a,libgcc_s.so.1}
	/usr/include/{stdio,stdlib,string,features,features-time64,stdc-predef,alloca,endian,strings}.h "/usr/include/$machine"/{bits,gnu,sys})

prepare() { # DIRECTORY
	local i j
	for i in {1..8}; do
		mkdir -p "$1/include/$i"
		for j in {1..6}; do
			printf '#ifndef H_%s_%s\n#define H_%s_%s\nstruct s_%s_%s { int value[%s]; };\nint f_%s_%s(void);\n#endif\n' \
				"$i" "$j" "$i" "$j" "$i" "$j" "$j" "$i" "$j" >"$1/include/$i/part_${i}_$j.h"
		done
	done
	for i in {1..8}; do
		mkdir -p "$1/source/$i"
		for j in {1..6}; do
			{
				printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n'
				printf "#include \"part_$(((i + j) % 8 + 1))_%s.h\"\n" {1..6}
				printf "#include \"part_${i}_%s.h\"\n" {1..6}
				printf 'int f_%s_%s(void)\n{\n\tchar text[64];\n\n\tsnprintf(text, sizeof(text), "%%zu", sizeof(struct s_%s_%s));\n' \
					"$i" "$j" "$i" "$j"
				printf '\treturn atoi(text) + (int)strlen(text);\n}\n'
			} >"$1/source/$i/part_${i}_$j.c"
		done
	done
	printf '#include "part_1_1.h"\nint main(void)\n{\n\treturn f_1_1() != 5;\n}\n' >"$1/source/main.c"
	{
		printf 'CFLAGS := -O1%s -MMD\n' "$(printf ' -Iinclude/%s' {1..8})"
		printf 'OBJECTS := $(patsubst %%.c,%%.o,$(wildcard source/*/*.c))\n'
		printf 'program: source/main.o library.a\n\tgcc -o $@ $^\n'
		printf 'library.a: $(OBJECTS)\n\trm -f $@ && ar rc $@ $^\n'
		printf '%%.o: %%.c\n\tgcc $(CFLAGS) -c -o $@ $<\n-include $(OBJECTS:.o=.d)\n'
	} >"$1/Makefile"
}

work() { # DIRECTORY
	cd "$1" && make -s && ./program && make -s
}
