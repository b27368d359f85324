#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The summary of tests counts what it should.
set -u

cd "$(dirname "$0")/../.." || exit 1

# expected last line | what a suite prints, with \n for line ends | its exit code
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
tests/summary 'sleep 1; echo 1..1; echo ok 1' | grep -qxE '# [1-9][0-9]* s: sleep 1; .*' || {
	echo "tests/summary:1: does not say how long a suite took"
	bad=1
}
nested="tests/summary 'echo 1..1; echo ok 1' 'echo ok 1; echo ok 2; echo 1..2'"
[ "$(tests/summary "$nested" | tail -n 1)" = '3 passed, 0 failed, 0 skipped' ] || {
	echo "tests/summary:1: what it prints cannot be counted by another one"
	bad=1
}
exit $bad
