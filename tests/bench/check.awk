# SPDX-License-Identifier: GPL-2.0-only
# check.awk - compares a table of tests/bench/instructions with limits: lines "CALL MODE RATIO". Prints TAP, and exits with 1 if a test
# failed. With is_printed=1, it prints the lines of the table instead.

/^#/ || !NF { next }

$1 == "instructions" {
	for (i = 2; i <= NF; i++)
		mode[i] = $i
	is_table = 1
	next
}

is_table {
	for (i = 3; i <= NF; i++) {
		ratio[$1, mode[i]] = $i / $2
		if (is_printed)
			printf "%-14s %-10s %.3f\n", $1, mode[i], $i / $2
	}
	next
}

{
	call[++limits] = $1
	of[limits] = $2
	limit[limits] = $3
}

END {
	if (is_printed)
		exit 0
	for (i = 1; i <= limits; i++) {
		is_known = (call[i], of[i]) in ratio
		is_good = is_known && ratio[call[i], of[i]] <= limit[i] * (1 + margin_percent / 100)
		if (!is_good)
			failed = 1
		printf "%sok %d - %s, %s: at most %s percent above %s times bare\n", is_good ? "" : "not ", i, call[i], of[i],
			margin_percent, limit[i]
		printf is_known ? "# %.3f\n" : "# not measured\n", ratio[call[i], of[i]]
	}
	print "1.." limits
	exit failed || !limits
}
