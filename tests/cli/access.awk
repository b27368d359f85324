# SPDX-License-Identifier: GPL-2.0-only
# Of the output of `iotape dump --json --op=read,write,submit`: how requests follow each other, from the positions of each
# handle: two lines of counts: direction, requests, first, consecutive, strided, sequential, random.

/^{"kind":"(read|write|submit)",/ && !/"result":-/ {
	kind = text("kind")
	moved = number("result")
	if (kind == "submit") { # the bytes it moves are not known yet
		kind = text("flags") ~ /write/ ? "write" : "read"
		moved = number("length_bytes")
	}
	key = kind number("handle")
	begin = number("offset_bytes")
	n = ++count[key]
	total[kind]++
	if (n == 1)
		class[kind, "first"]++
	else if (begin == end[key])
		class[kind, "consecutive"]++
	else if (n > 2 && begin - starts[key, n - 1] == starts[key, n - 1] - starts[key, n - 2])
		class[kind, "strided"]++
	else if (begin > end[key])
		class[kind, "sequential"]++
	else
		class[kind, "random"]++
	starts[key, n] = begin
	end[key] = begin + moved
}

function line(kind) {
	printf "%ss %d %d %d %d %d %d\n", kind, total[kind], class[kind, "first"], class[kind, "consecutive"],
		class[kind, "strided"], class[kind, "sequential"], class[kind, "random"]
}

END {
	line("read")
	line("write")
}
