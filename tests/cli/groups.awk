# SPDX-License-Identifier: GPL-2.0-only
# Of the output of `iotape dump --all --json`: a line for each group of operations, sorted by the caller:
# name, operations, failed, time_ns, read, written and touched bytes. Variable: by.
# Asynchronous requests are left out of bytes and failures: the caller compares traces without them.

function of_path(path) {
	if (path == "")
		return "?"
	if (by == "file")
		return path
	return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : "."
}

function add(group) {
	ops[group]++
	failed[group] += number("result") < 0
	time[group] += number("parent") ? 0 : number("duration_ns")
}

/^{"kind":"task"/ {
	task = number("task")
	pid[task] = number("pid")
	tgid[task] = number("tgid")
	uid[task] = number("uid")
	command[task] = text("tail")
	next
}

/"path_generation":/ {
	kind = text("kind")
	task = number("task")
	path = text("path")
	if (kind == "open")
		opened[number("handle")] = path
	if (by == "operation")
		group = kind
	else if (by == "file" || by == "directory")
		group = of_path(path)
	else if (by == "process")
		group = command[task] " " tgid[task]
	else if (by == "thread")
		group = command[task] " " pid[task]
	else if (by == "user")
		group = uid[task] ""
	add(group)
	result = number("result")
	if (result > 0 && (kind == "read" || kind == "copy_range" || kind == "remap_range"))
		read[group] += result
	if (result > 0 && kind == "write")
		written[group] += result
	if (result > 0 && (kind == "copy_range" || kind == "remap_range"))
		written[by == "file" || by == "directory" ? of_path(opened[number("to_handle")]) : group] += result
	if (result >= 0 && kind == "touch")
		touched[group] += number("length_bytes")
}

END {
	for (group in ops)
		printf "%s|%.0f|%.0f|%.0f|%.0f|%.0f|%.0f\n", group, ops[group], failed[group], time[group], read[group],
			written[group], touched[group]
}
