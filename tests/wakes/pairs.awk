# SPDX-License-Identifier: GPL-2.0-only
# Are there as many wake-ups of each pair as hand-overs? Of --tasks of the workload handover, then of the
# output of `iotape dump --json --kind=who,wake`. Prints those that differ, and their number last.

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
