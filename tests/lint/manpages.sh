#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every sub-command and every option of it has its place in a man page, and the pages are sound.
#
# What there is comes from the program: `iotape --help` lists the commands, `iotape NAME --help`
# the options. iotape-NAME.1 tells of a command, or iotape.1 if there is no such page. An option is in
# the synopsis and in what follows.
set -u

cd "$(dirname "$0")/../.." || exit 1

[ -d Documentation/man ] || { echo "there is no Documentation/man"; exit 4; }
make -s user >/dev/null || exit 1
iotape=build/user/iotape

# Sections as plain text; in mdoc an option is "Fl Fl name" or "Fl -name", or one of the letters of "Fl xyz".
text_of() { # PAGE FIRST LAST
	sed -n "/^\.Sh $2/,/^\.Sh $3/p" "$1" | sed -E 's/\\-/-/g; s/\bFl (Fl |-)/--/g'
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
	while read -r option letter; do
		if ! text_of "$page" DESCRIPTION NOTHING | grep -qE -- "--$option\b"; then
			echo "$page:1: does not tell of the option --$option of $command"
			bad=1
		fi
		if ! text_of "$page" SYNOPSIS DESCRIPTION | grep -qE -- "--$option\b${letter:+|Fl [a-zA-Z]*$letter}"; then
			echo "$page:1: lacks the option --$option of $command in the synopsis"
			bad=1
		fi
	done < <("$iotape" "$command" --help | sed -nE 's/^ +(-([a-zA-Z0-9]), +)?--([a-z-]+).*/\3 \2/p' | grep -vE '^(help|usage|version) ')
done < <("$iotape" --help | sed -nE 's/^  ([a-z]+) +.*/\1/p')
exit $bad
