# SPDX-License-Identifier: GPL-2.0-only
# Checks a dump with all records: each handle must start once, by open or opened, before its first use,
# and end once. Prints errors and counts.
$3 == "-" && $4 != "opened" { next }
{
	handle = ""
	for (i = 5; i <= NF; i++)
		if ($i ~ /^handle=/)
			handle = substr($i, 8)
	if (handle == "" || handle == 0)
		next
}
$4 == "opened" {
	if (handle in opened)
		print "handle " handle " was opened in the recording, and told as one from before"
	tolds += !(handle in told)
	told[handle] = 1
	next
}
$4 == "open" {
	if (handle in opened || handle in told)
		print "handle " handle " was opened twice"
	opens++
	opened[handle] = 1
	next
}
{
	if (!(handle in opened) && !(handle in told))
		print "handle " handle " was used by " $4 " before it was told"
	if (handle in gone)
		print "handle " handle " was used by " $4 " after its end"
}
$4 == "release" {
	if (handle in gone)
		print "handle " handle " ended twice"
	ends++
	gone[handle] = 1
}
END {
	print "# " opens " opened, " tolds " from before, " ends " gone" >"/dev/stderr"
	exit !opens
}
