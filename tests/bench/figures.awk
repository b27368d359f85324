# SPDX-License-Identifier: GPL-2.0-only
# figures.awk - the document of tests/bench/figures with the measured tables: reads lines "COMMAND TAB output", then the document. Writes each
# figure and the previous one to log_file, and fails if a figure of a measured table is missing.

function fail(text) {
	print "tests/bench/figures: " text >"/dev/stderr"
	has_failed = 1
}

# The name of a row of the output for the title of a row of the document.
function name_of(title) {
	if (title ~ /512 B/)
		return "writers"
	if (title ~ /read 4 KiB/)
		return (command, "pread", 1) in value ? "pread" : "read"
	if (title ~ /write 4 KiB/)
		return (command, "pwrite", 1) in value ? "pwrite" : "write"
	if (title ~ /^open/)
		return (command, "open+close", 1) in value ? "open+close" : "open"
	if (title ~ /^create/)
		return "create+unlink"
	if (title ~ /^first/)
		return "touch"
	return title ~ /^stat/ ? "stat" : title ~ /^mixed/ ? "mixed" : title
}

# The number of a column of the output, 0 for none.
function place_of(name,   i) {
	for (i = 1; i <= columns[command]; i++)
		if (column[command, i] == name)
			return i
	return 0
}

function trim(text) {
	gsub(/^ +| +$/, "", text)
	return text
}

function change_of(old, new,   was) {
	was = old + 0
	return was ? sprintf(" (%+.1f %%)", 100 * (new - was) / was) : ""
}

# The figure of a column: a number, behind the first column with its ratio to the first, if the cell has one.
function figure(old, row, name,   at, number) {
	at = place_of(name)
	if (!at || !((command, row, at) in value)) {
		fail(command ": no " name " of " row)
		return old
	}
	number = value[command, row, at]
	return old ~ /x$/ ? sprintf("%s %.2fx", number, ratio[command, row, at]) : number
}

function write_row(   cells, cell, title, row, i, new, line) {
	cells = split($0, cell, "|") - 2
	title = trim(cell[2])
	row = name_of(title)
	line = "| " title " |"
	for (i = 1; i < cells; i++) {
		new = wanted[i] == "." ? trim(cell[i + 2]) : figure(trim(cell[i + 2]), row, wanted[i])
		line = line " " new " |"
		if (wanted[i] != ".")
			printf "%s, %s, %s: %s, was %s%s\n", section, title, wanted[i], new, trim(cell[i + 2]),
				change_of(trim(cell[i + 2]), new) >log_file
	}
	print line
}

# -- what was measured: columns of numbers, or of rates with their ratios ------------------------------

NR == FNR {
	tab = index($0, "\t")
	command = substr($0, 1, tab - 1)
	n = split(substr($0, tab + 1), word, " ")
	if (word[1] == "instructions" || word[1] == "kind") {
		is_rate[command] = word[1] == "kind"
		first = is_rate[command] ? 3 : 2
		columns[command] = n - first + 1
		for (i = first; i <= n; i++)
			column[command, i - first + 1] = word[i]
	} else if (columns[command] && is_rate[command] && n == 2 + 2 * columns[command]) {
		for (i = 1; i <= columns[command]; i++) {
			value[command, word[1], i] = sprintf("%.2f", 1e6 / word[1 + 2 * i])
			ratio[command, word[1], i] = word[2 + 2 * i] + 0
		}
	} else if (columns[command] && !is_rate[command] && n == 1 + columns[command]) {
		for (i = 1; i <= columns[command]; i++) {
			value[command, word[1], i] = word[1 + i]
			ratio[command, word[1], i] = word[1 + i] / word[2]
		}
	}
	next
}

# -- the document ----------------------------------------------------------------------------------------

/^## / { section = substr($0, 4) }

/^<!-- figures: / {
	command = $0
	sub(/^<!-- figures: /, "", command)
	bar = index(command, " | ")
	split(substr(command, bar + 3), wanted, " ")
	command = substr(command, 1, bar - 1)
	rows = columns[command] ? -2 : 0 # the head, and the line below it
	is_table = columns[command]
	print
	next
}

is_table && /^\|/ {
	if (rows++ < 0)
		print
	else
		write_row()
	next
}

is_table && rows > 0 { is_table = 0 }

{ print }

END { exit has_failed }
