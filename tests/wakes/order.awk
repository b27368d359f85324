# SPDX-License-Identifier: GPL-2.0-only
# From the output of `iotape dump --json`: how many files of `used` and `old` were accessed before all operations
# on the file of the same name in `made` had ended? Prints two numbers: files checked, files out of order.

function number(name) {
	return match($0, "\"" name "\":[0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 : 0
}

match($0, /"path":"(made|used|old)\/[^"]*"/) {
	path = substr($0, RSTART + 8, RLENGTH - 9)
	slash = index(path, "/")
	dir = substr(path, 1, slash - 1)
	file = substr(path, slash + 1)
	enter = number("enter_ns")
	if (dir == "made") {
		end = enter + number("duration_ns")
		if (!(file in made) || end > made[file])
			made[file] = end
	} else if (dir == "used" || $0 ~ /"kind":"unlink"/) { # old was created at the start
		if (!(file in used) || enter < used[file])
			used[file] = enter
	}
}

END {
	for (file in made) {
		files++
		wrong += !(file in used) || used[file] < made[file]
	}
	print files + 0, wrong + 0
}
