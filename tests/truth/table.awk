# SPDX-License-Identifier: GPL-2.0-only
# table.awk - from a dump of a recorded tests/truth/calls to the rows of the table in
# Documentation/visibility.md: | system call | records |

# The value of KEY=VALUE on this line.
function value(key,    i) {
	for (i = 4; i <= NF; i++)
		if (index($i, key "=") == 1)
			return substr($i, length(key) + 2)
	return ""
}

# One record as a word: kind, peculiarities, error.
function word(    text, flags) {
	text = $4
	flags = value("flags")
	if (text == "touch" && flags != "0" || text == "map" && flags ~ /inherited|moved/ || flags ~ /splice/)
		text = text "[" flags "]"
	if (text == "setattr")
		text = text "[" value("attrs") "]"
	if (text == "getxattr" && $NF == "security.capability")
		text = text "[capability]"
	gsub(/\|/, "+", text) # the text becomes a table cell
	if (value("result") ~ /^E/)
		text = text "=" value("result")
	return text
}

function add(    life) {
	life = $3 == "-"
	if (!($2 in place)) {
		place[$2] = ++tasks
		task_at[tasks] = $2
	}
	records++
	task[records] = place[$2]
	number[records] = life ? value("op") + 0.5 + records * 1e-6 : $3
	parent[records] = life ? 0 : value("parent")
	words[records] = word()
}

# The records nested in one operation of a task, in order, from LOW on.
function list(which, inside,    text, best, i, last, once, count, one, nested) {
	last = -1
	text = ""
	once = ""
	count = 0
	for (;;) {
		best = 0
		for (i = 1; i <= records; i++)
			if (task[i] == which && parent[i] == inside && number[i] > last &&
			    (!best || number[i] < number[best]))
				best = i
		if (best) {
			last = number[best]
			one = words[best]
			nested = inside == 0 && number[best] == int(number[best]) ? list(which, number[best]) : ""
			if (nested != "")
				one = one " (" nested ")"
		}
		if (best && one == once) {
			count++
			continue
		}
		if (once != "")
			text = text (text == "" ? "" : " ") once (count > 1 ? " x" count : "")
		if (!best)
			return text
		once = one
		count = 1
	}
}

function row(    i, text, part) {
	if (title == "" || title == "-")
		return
	for (i = 1; i <= tasks; i++) {
		part = list(i, 0)
		if (part == "")
			continue
		if (task_at[i] != main)
			part = "(child) " part
		text = text (text == "" ? "" : " ") part
	}
	print "| " title " | " (text == "" ? "-" : text) " |"
}

function clear() {
	delete place
	delete task_at
	records = tasks = 0
}

$4 == "lookup" && index($5, "case:") == 1 {
	row()
	clear()
	title = substr($5, 6)
	gsub(/\\040/, " ", title)
	main = $2
	place[main] = tasks = 1
	task_at[1] = main
	next
}
{ add() }
