# SPDX-License-Identifier: GPL-2.0-only
# Of the output of `iotape dump --json`: how many files of `used` and `old` were begun with before all
# was done with that of the same name in `made`. Prints two numbers: files looked at, out of order.

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
	} else if (dir == "used" || $0 ~ /"kind":"unlink"/) { # old was made at the beginning
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
