#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every sub-command and every option of it has its place in a man page, and the pages are sound.
#
# What there is comes from the program: `iotape --help` lists the commands, `iotape NAME --help`
# the options. iotape-NAME.1 tells of a command, or iotape.1 if there is no such page.
set -u

cd "$(dirname "$0")/../.." || exit 1

[ -d Documentation/man ] || { echo "there is no Documentation/man"; exit 4; }
make -s user >/dev/null || exit 1
iotape=build/user/iotape

# A page as plain text; in mdoc an option is "Fl Fl name" or "Fl -name".
text_of() {
	sed -E 's/\\-/-/g; s/\bFl (Fl |-)/--/g' "$1"
}

bad=0
if command -v mandoc >/dev/null; then
	# what it says of pages that other packages have depends on the machine
	found=$(mandoc -T lint -W warning Documentation/man/*.[1-8] | grep -v 'outdated mandoc.db')
	[ -z "$found" ] || { echo "$found"; bad=1; }
fi
while read -r command; do
	page=Documentation/man/iotape-$command.1
	[ -f "$page" ] || page=Documentation/man/iotape.1
	if ! grep -qE "\b$command\b" "$page" 2>/dev/null; then
		echo "$page:1: does not tell of the command $command"
		bad=1
		continue
	fi
	while read -r option; do
		if ! text_of "$page" | grep -qE -- "--$option\b"; then
			echo "$page:1: does not tell of the option --$option of $command"
			bad=1
		fi
	done < <("$iotape" "$command" --help | grep -oE '^ +(-[a-zA-Z0-9?], +)?--[a-z-]+' | grep -oE '[a-z][a-z-]+$' |
		grep -vxE 'help|usage|version')
done < <("$iotape" --help | sed -nE 's/^  ([a-z]+) +.*/\1/p')
exit $bad
