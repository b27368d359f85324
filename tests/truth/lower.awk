# SPDX-License-Identifier: GPL-2.0-only
# lower.awk - from a dump, the final sizes of files: PATH SIZE. Only files that keep
# one name.

function value(key,    i) {
	for (i = 4; i <= NF; i++)
		if (index($i, key "=") == 1)
			return substr($i, length(key) + 2)
	return ""
}

function at_least(path, bytes) {
	if (bytes > size[path])
		size[path] = bytes
}

value("result") ~ /^E/ { next }
$4 == "open" && !($5 in size) { size[$5] = value("size_bytes") }
$4 == "write" && value("result") > 0 { at_least($5, value("offset_bytes") + value("result")) }
$4 == "setattr" && value("attrs") ~ /size/ { size[$5] = value("size_bytes") }
$4 == "copy_range" && value("result") > 0 {
	at_least(of_handle[value("to_handle")], value("to_offset_bytes") + value("result"))
}
$4 == "open" { of_handle[value("handle")] = $5 }
$4 == "fallocate" {
	flags = value("flags")
	if (flags ~ /collapse/)
		size[$5] -= value("length_bytes")
	else if (flags ~ /insert/)
		size[$5] += value("length_bytes")
	else if (flags !~ /keep_size/)
		at_least($5, value("offset_bytes") + value("length_bytes"))
}
END {
	for (path in size)
		if (path != ".")
			printf "%s %.0f\n", path, size[path]
}
