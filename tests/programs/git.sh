# SPDX-License-Identifier: GPL-2.0-only
# git: commits, branches, a merge, a repack by several threads, a clone, a worktree.
# shellcheck shell=bash disable=SC2034 # for tests/programs/guest
packages=git

version() {
	git --version | cut -d ' ' -f 3
}

work() { # DIRECTORY
	local round
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	export GIT_CONFIG_NOSYSTEM=1 HOME=$1
	git init -q -b main "$1/one" && cd "$1/one" || return
	for round in 1 2 3 4; do
		mkdir -p "d$round" && seq $((round * 100)) >"d$round/numbers" && seq "$round" 60 >shared &&
			git add -A && git commit -q -m "round $round" || return
	done
	git checkout -q -b other HEAD~2 && seq 7 >new && git add new && git commit -q -m other &&
		git checkout -q main && git merge -q -m merge other &&
		git mv d1 moved && git commit -q -m move &&
		git -c pack.threads=3 repack -q -a -d && git gc -q --prune=now &&
		git clone -q "$1/one" "$1/two" && git worktree add -q "$1/three" other &&
		git -C "$1/two" fsck --strict && git -C "$1/three" status --short && git fsck
}
