# SPDX-License-Identifier: GPL-2.0-only
# See table. The seconds of a program or of a replay are the median of its runs; the scatter is half of the range of its
# runs, as a share of that. error = (replay - program) / program.

function median(key,    n, i, j, x, v) {
	n = split(runs[key], v, " ")
	for (i = 2; i <= n; i++) {
		x = v[i] + 0
		for (j = i - 1; j > 0 && v[j] + 0 > x; j--)
			v[j + 1] = v[j]
		v[j + 1] = x
	}
	scatter = (v[n] - v[1]) / 2
	return n % 2 ? v[(n + 1) / 2] + 0 : (v[n / 2] + v[n / 2 + 1]) / 2
}

function percent(part) {
	return sprintf("%+.1f %%", 100 * part)
}

function add(group, variant, error,    size) {
	size = error < 0 ? -error : error
	count[group, variant]++
	sum[group, variant] += size
	if (size > worst[group, variant])
		worst[group, variant] = size
}

BEGIN {
	while ((getline line < groups) > 0)
		if (line !~ /^#/ && split(line, word, " ") == 2)
			group_of[word[2]] = word[1]
	variant_count = split("kernel thread think single temporal full", variants, " ")
}

NF == 8 && $6 == "" {
	key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
	runs[key] = runs[key] " " $7
	if (!($1 in workload_seen)) {
		workload_seen[$1] = 1
		workloads[++workload_count] = $1
	}
	if ($2 == "program" && !(($1, $4) in place_seen)) {
		place_seen[$1, $4] = 1
		places[$1, ++place_count[$1]] = $4
	}
	has[$2] = 1
	if ($2 != "program" && $2 != "recorded" && $8 != 0)
		differs[key]++
}

function tap(    line, word, number, failed, variant, name) {
	while ((getline line < limits) > 0) {
		if (line ~ /^#/ || split(line, word, " ") < 3)
			continue
		name = word[1]; variant = word[2]
		number++
		if (!((name, variant) in worst_of)) {
			printf "not ok %d - %s: %s was measured\n", number, name, variant
			failed = 1
		} else {
			bad = 100 * worst_of[name, variant] > word[3]
			printf "%s %d - %s: %s is within %s %%\n", bad ? "not ok" : "ok", number, name, variant, word[3]
			printf "# worst: %.2f %%, %s\n", 100 * worst_of[name, variant], where_of[name, variant]
			failed = failed || bad
		}
	}
	printf "1..%d\n", number
	exit failed
}

END {
	for (w = 1; w <= workload_count; w++) {
		name = workloads[w]
		group = name in group_of ? group_of[name] : "other"
		if (limits == "") {
			printf "\n## %s\n\n| recorded on | replayed on | program | scatter |", name
			for (v = 1; v <= variant_count; v++)
				if (variants[v] in has)
					printf " %s |", variants[v]
			printf "\n|---|---|---|---|"
			for (v = 1; v <= variant_count; v++)
				if (variants[v] in has)
					printf "---|"
			print ""
		}
		for (f = 1; f <= place_count[name]; f++)
			for (t = 1; t <= place_count[name]; t++) {
				from = places[name, f]; to = places[name, t]
				program = median(name SUBSEP "program" SUBSEP "-" SUBSEP to)
				if (limits == "")
					printf "| %s | %s | %.4f s | %.2f %% |", from, to, program, 100 * scatter / program
				for (v = 1; v <= variant_count; v++) {
					variant = variants[v]
					if (!(variant in has))
						continue
					key = name SUBSEP variant SUBSEP from SUBSEP to
					if (!(key in runs)) {
						if (limits == "")
							printf " - |"
						continue
					}
					error = median(key) / program - 1
					add(group, variant, error)
					if (!((name, variant) in worst_of) || error * error > worst_of[name, variant] ^ 2) {
						worst_of[name, variant] = error < 0 ? -error : error
						where_of[name, variant] = from " on " to
					}
					if (limits == "")
						printf " %s%s |", percent(error), key in differs ? " (differs)" : ""
				}
				if (limits == "")
					print ""
			}
	}
	if (limits != "")
		tap()
	print "\n## All\n\n| group | replay | pairs | mean error | worst |\n|---|---|---|---|---|"
	group_count = split("process parallel mpi other", order, " ")
	for (g = 1; g <= group_count; g++)
		for (v = 1; v <= variant_count; v++)
			if ((order[g], variants[v]) in count)
				printf "| %s | %s | %d | %.1f %% | %.1f %% |\n", order[g], variants[v], count[order[g], variants[v]],
					100 * sum[order[g], variants[v]] / count[order[g], variants[v]], 100 * worst[order[g], variants[v]]
}
