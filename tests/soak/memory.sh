# SPDX-License-Identifier: GPL-2.0-only
# memory.sh - memory of the kernel after each round, and its growth. Sourced by guest.
#
# The rounds before a tenth of their number, at least three, fill caches and are left out. The medians of the first and of the
# last third of the others are compared.
# shellcheck shell=bash disable=SC2154 # variables of the other files

measures=$work/measures
module_caches=(tapefs_inode iot_task request)
# What is measured after them (slab includes objects that are larger than a slab), in the order of columns, with the permitted growth.
columns=("unreclaimable slab in KiB" "vmalloc without stacks in KiB" "per-CPU memory in KiB" "open files" "tasks without kworkers")
growths=(1024 256 64 40 4)

# objects CACHE: allocated objects, without those that a CPU keeps at hand.
objects() {
	[ ! -e "/sys/kernel/slab/$1/shrink" ] || echo 1 >"/sys/kernel/slab/$1/shrink"
	awk -v name="$1" '$1 == name { print $2; found = 1 } END { if (!found) print 0 }' /proc/slabinfo
}

measure() { # ROUND
	local cache line=$1
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 0.3 # objects that wait for a grace period
	echo 2 >/proc/sys/vm/drop_caches
	for cache in "${module_caches[@]}"; do
		line+=" $(objects "$cache")"
	done
	line+=" $(awk '/^SUnreclaim:/ { slab = $2 } /^VmallocUsed:/ { vmalloc = $2 } /^KernelStack:/ { stacks = $2 }
		/^Percpu:/ { percpu = $2 } END { print slab, vmalloc - stacks, percpu }' /proc/meminfo)"
	line+=" $(cut -f 1 /proc/sys/fs/file-nr) $(ps -e --no-headers -o comm | grep -vc ^kworker)"
	echo "$line" >>"$measures"
	cat /proc/slabinfo >"$work/slabs.$1"
}

# growth COLUMN: the medians of both thirds.
growth() {
	awk -v column="$1" '
		{ value[NR] = $column }
		function median(from, count,    i, j, list, swap) {
			for (i = 1; i <= count; i++)
				list[i] = value[from + i - 1]
			for (i = 1; i <= count; i++)
				for (j = i + 1; j <= count; j++)
					if (list[j] < list[i]) { swap = list[i]; list[i] = list[j]; list[j] = swap }
			return list[int((count + 1) / 2)]
		}
		END {
			skip = int(NR / 10) < 3 ? 3 : int(NR / 10)
			third = int((NR - skip) / 3)
			if (third < 2) { print "few"; exit }
			print median(skip + 1, third), median(NR - third + 1, third)
		}' "$measures"
}

grows_at_most() { # LIMIT BEFORE AFTER
	[ $(($3 - $2)) -le "$1" ] && return
	echo "from $2 to $3, at most $1 more is allowed"
	return 1
}

# Caches that have grown most since the first third, in KiB and objects.
grown_caches() {
	join <(awk 'NR > 2 { print $1, $2 }' "$work/slabs.$middle" | sort) <(awk 'NR > 2 { print $1, $2, $4 }' "$work/slabs.$count" | sort) |
		awk '{ printf "%d KiB, %d objects: %s\n", ($3 - $2) * $4 / 1024, $3 - $2, $1 }' | sort -rn | head -n 12
}

# A limit that is not reached by noise; a leak in each round is a multiple of it after some hours.
check_growth() { # WHAT COLUMN LIMIT
	local before after
	read -r before after < <(growth "$2")
	if [ "$before" = few ]; then
		number=$((number + 1))
		echo "ok $number - $1 do not grow # SKIP $count rounds are too few"
		return
	fi
	ok "$1: $before, then $after, at most $3 more" grows_at_most "$3" "$before" "$after"
}

# Without mounts and recordings, no object of the modules exists.
is_zero() { # COLUMN
	awk -v column="$1" '$column != 0 { print "round " $1 ": " $column; bad = 1 } END { exit bad }' "$measures"
}

check_memory() {
	local i
	middle=$((count / 3 > 0 ? count / 3 : 1))
	for i in "${!module_caches[@]}"; do
		ok "after each round, no object of ${module_caches[i]} is left" is_zero $((i + 2))
	done
	for i in "${!columns[@]}"; do
		check_growth "${columns[i]}" $((i + 5)) "${growths[i]}"
	done
	grown_caches | sed 's/^/# /'
	sed 's/^/# /' "$measures" | awk -v n="$count" 'n < 20 || NR % int(n / 20) == 0'
}
