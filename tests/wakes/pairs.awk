# SPDX-License-Identifier: GPL-2.0-only
# Does each pair of tasks have as many wake-ups as hand-overs? Reads the output of handover --tasks, then the
# output of `iotape dump --json --kind=who,wake`. Prints the pairs that differ, and their number last.

function number(name) {
	return match($0, "\"" name "\":[0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 : 0
}

FNR == NR {
	rounds[$1] = $2
	producer[$1] = $3
	consumer[$1] = $4
	next
}

/^{"kind":"task"/ { pid[number("task")] = number("pid"); parent[number("task")] = number("parent") }

/^{"kind":"wake"/ {
	by = number("task")
	woken = pid[number("woken")]
	for (kind in rounds)
		if (woken == consumer[kind] &&
		    (producer[kind] ? pid[by] == producer[kind] : pid[parent[by]] == woken))
			found[kind]++
}

END {
	for (kind in rounds) {
		if (found[kind] == rounds[kind])
			continue
		print kind ": " found[kind] + 0 " wake-ups for " rounds[kind] " hand-overs"
		wrong++
	}
	print wrong + 0
	exit wrong > 0
}
