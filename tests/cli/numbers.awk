# SPDX-License-Identifier: GPL-2.0-only
# Members of an object that `iotape dump --json` prints on a line.

function number(name) {
	return match($0, "\"" name "\":\"?-?[0-9]+") ? substr($0, RSTART + length(name) + 3 + (substr($0, RSTART + length(name) + 3, 1) == "\""), RLENGTH) + 0 : 0
}

function text(name) {
	return match($0, "\"" name "\":\"[^\"]*\"") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5) : ""
}

# The time of a record is its first field.
function first_time() {
	return match($0, /"(enter_ns|time_ns)":/) ? substr($0, RSTART + 1, RLENGTH - 3) : ""
}
