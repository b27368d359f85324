#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The summary of tests counts correctly.
set -u

cd "$(dirname "$0")/../.." || exit 1

# expected last line | output of a suite, with \n for line ends | its exit code
cases=(
	'2 passed, 0 failed, 0 skipped|1..2\nok 1 - a\nok 2 - b|0'
	'2 passed, 0 failed, 0 skipped|ok 1 - a\nok 2 - b\n1..2|0'
	'2 passed, 0 failed, 0 skipped|# suite: x\n1..1\nok 1\n# suite: y\n1..1\nok|0'
	'2 passed, 0 failed, 0 skipped|1..1\nok 1\n1..1\nok 1|0'
	'1 passed, 1 failed, 0 skipped|1..2\nok 1 - a\nnot ok 2 - b|1'
	'0 passed, 1 failed, 0 skipped|1..1\nnot ok 1 - b # todo later|0'
	'1 passed, 0 failed, 1 skipped|1..2\nok 1 - a\nok 2 - b # SKIP no disk|0'
	'0 passed, 0 failed, 1 skipped|1..1\nnot ok 1 # SKIP as cmocka has it|0'
	'0 passed, 1 failed, 0 skipped|1..1\nok 1 - b # SKIP|0'
	'0 passed, 0 failed, 1 skipped|1..0 # SKIP no kernel|0'
	'0 passed, 1 failed, 0 skipped|1..0|0'
	'1 passed, 1 failed, 0 skipped|1..2\nok 1 - a|0'
	'2 passed, 1 failed, 0 skipped|1..1\nok 1 - a\nok 2 - b|0'
	'1 passed, 1 failed, 1 skipped|1..2\nok 1 - a\n1..0 # SKIP no|0'
	'1 passed, 1 failed, 0 skipped|1..1\nok 1 - a|1'
	'1 passed, 1 failed, 0 skipped|1..1\nok 1 - a|139'
	'0 passed, 1 failed, 0 skipped|hello|0'
	'0 passed, 1 failed, 0 skipped||0'
	'1 passed, 1 failed, 0 skipped|1..1\nok 1 - a\nBail out! no more|0'
	'1 passed, 0 failed, 0 skipped|1..1\n  ok 7 - of a test within\nok 1 - a\nokay|0'
)

bad=0
for case in "${cases[@]}"; do
	IFS='|' read -r expected text code <<<"${case//\\n/@}"
	output=$(tests/summary "printf '%s' '$text' | tr @ '\n'; exit $code")
	result=$?
	case $expected in *' 0 failed'*) wanted=0 ;; *) wanted=1 ;; esac
	if [ "${output##*$'\n'}" != "$expected" ] || [ $result != $wanted ]; then
		echo "tests/summary:1: '$text' with exit code $code gave '${output##*$'\n'}' and $result"
		bad=1
	fi
done
[ "$(tests/summary --timeout=1 'echo 1..1; echo ok 1; sleep 20' | tail -n 1)" = '1 passed, 1 failed, 0 skipped' ] || {
	echo "tests/summary:1: waits longer than it should"
	bad=1
}
says() { # PATTERN COMMAND [OPTION]: the reason of the failure matches
	tests/summary ${3:+"$3"} "$2" 2>/dev/null | grep -qxE "# failed: .*: $1" || {
		echo "tests/summary:1: does not say '$1' of '$2'"
		bad=1
	}
}
says 'did not end within 1 s' 'echo 1..1; echo ok 1; sleep 20' --timeout=1
says 'was killed by SIGKILL' 'echo 1..1; echo ok 1; kill -9 $$'
says 'was killed by SIGTERM' 'echo 1..1; echo ok 1; kill $$'
says 'ended with exit code 3' 'echo 1..1; echo ok 1; exit 3'
tests/summary 'sleep 1; echo 1..1; echo ok 1' | grep -qxE '# [1-9][0-9]* s: sleep 1; .*' || {
	echo "tests/summary:1: does not say how long a suite took"
	bad=1
}
nested="tests/summary 'echo 1..1; echo ok 1' 'echo ok 1; echo ok 2; echo 1..2'"
[ "$(tests/summary "$nested" | tail -n 1)" = '3 passed, 0 failed, 0 skipped' ] || {
	echo "tests/summary:1: what it prints cannot be counted by another one"
	bad=1
}
# The first runs alone; each of the others waits for the other, and their output is not mixed.
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
alone="echo 1..1; sleep 1; [ -e $directory/b ] || echo ok 1 - a"
meet() { # MINE OTHER
	echo "touch $directory/$1; timeout 20 sh -c 'until [ -e $directory/$2 ]; do sleep 0.1; done' &&" \
		"echo ok 1 - $1; echo ok 2 - $1; echo 1..2"
}
[ "$(tests/summary "$alone" --jobs=2 "$(meet b c)" "$(meet c b)" | grep -v '^#' | tr '\n' ' ')" = \
	'1..1 ok 1 - a ok 1 - b ok 2 - b 1..2 ok 1 - c ok 2 - c 1..2 5 passed, 0 failed, 0 skipped ' ] || {
	echo "tests/summary:1: --jobs=2 does not run two beside each other, or more, or mixes what they print"
	bad=1
}
# A killed run leaves nothing behind.
tests/summary --jobs=2 "echo \$\$ >$directory/d; exec sleep 987" "echo \$\$ >$directory/e; exec sleep 987" >/dev/null &
summary=$!
tries=200
until [ -s "$directory/d" ] && [ -s "$directory/e" ] || ! ((tries--)); do sleep 0.1; done
kill "$summary"
wait "$summary"
code=$?
tries=50
while kill -0 "$(<"$directory/d")" 2>/dev/null || kill -0 "$(<"$directory/e")" 2>/dev/null; do
	((tries--)) || break
	sleep 0.1
done
if [ $code != 143 ] || [ $tries -lt 0 ]; then
	echo "tests/summary:1: when it is killed, it ends with $code, or leaves commands behind"
	bad=1
fi
exit $bad
