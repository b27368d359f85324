#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The option tables and the manual pages agree: every command and option has an entry, and every entry an option.
#
# `iotape help` lists the commands, `iotape help NAME` the options of a command. The page of a command is
# iotape-NAME.1, or iotape.1 if there is no such page. An option is in the synopsis and has an entry of
# its own, with its short form.
set -u

cd "$(dirname "$0")/../.." || exit 1

[ -d Documentation/man ] || { echo "there is no Documentation/man"; exit 4; }
make -s user >/dev/null || exit 1
iotape=build/user/iotape

# Sections as plain text; in mdoc an option is "Fl Fl name" or "Fl -name", or one of the letters of "Fl xyz".
text_of() { # PAGE FIRST LAST
	sed -n "/^\.Sh $2/,/^\.Sh $3/p" "$1" | sed -E 's/\\-/-/g; s/\bFl (Fl |-)/--/g'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
if command -v mandoc >/dev/null; then
	# warnings about pages of other packages depend on the machine
	found=$(mandoc -T lint -W warning Documentation/man/*.[1-8] | grep -v 'outdated mandoc.db')
	[ -z "$found" ] || { echo "$found"; bad=1; }
fi
while read -r command; do
	page=Documentation/man/iotape-$command.1
	[ -f "$page" ] || page=Documentation/man/iotape.1
	if ! grep -qE "\b$command\b" "$page" 2>/dev/null; then
		echo "$page:1: does not mention the command $command"
		bad=1
		continue
	fi
	text_of "$page" SYNOPSIS DESCRIPTION >"$work/synopsis"
	text_of "$page" DESCRIPTION NOTHING | sed -n 's/^\.It //p' >"$work/entries"
	"$iotape" help "$command" | sed -nE 's/^ {2,6}(-([a-zA-Z0-9]), +)?--([a-z-]+).*/\3 \2/p' | grep -vE '^help ' >"$work/table"
	while read -r option letter; do
		if ! grep -E -- "(^|[ ,])--$option( |$)" "$work/entries" | grep -qE -- "${letter:+^Fl $letter }"; then
			echo "$page:1: lacks an entry for the option ${letter:+-$letter, }--$option of $command"
			bad=1
		fi
		if ! grep -qE -- "--$option\b${letter:+|Fl [a-zA-Z]*$letter}" "$work/synopsis"; then
			echo "$page:1: lacks the option --$option of $command in the synopsis"
			bad=1
		fi
	done <"$work/table"
	[ "$page" != Documentation/man/iotape.1 ] || continue
	while read -r option; do
		if ! grep -q "^$option " "$work/table"; then
			echo "$page:1: has an entry for --$option, which $command does not have"
			bad=1
		fi
	done < <(grep -oE -- '--[a-z-]+' "$work/entries" | sed 's/^--//')
done < <("$iotape" help | sed -nE 's/^  ([a-z]+) +.*/\1/p')
exit $bad
