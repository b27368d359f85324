# SPDX-License-Identifier: GPL-2.0-only
# git: a repository with some commits, and a repack.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=git
programs=(git seq)
trees=(/usr/lib/git-core/git)

work() { # DIRECTORY
	local round file
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	export GIT_CONFIG_NOSYSTEM=1 HOME=$1
	git init -q -b main "$1/one" && cd "$1/one" || return
	for round in 1 2 3; do
		mkdir -p "d$round"
		for file in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
			seq $((round * file)) 200 >"d$round/$file"
		done
		git add -A && git commit -q -m "round $round" || return
	done
	git -c gc.auto=0 -c pack.threads=1 repack -q -a -d && git status --short
}
