# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Shared by podman and docker, which are scripts that run in the guest: root and Ann, who may record below $in; recordings of
# containers; commands in containers. The scripts make the command `container` and define runtime and remove. Containers need no
# image from elsewhere: their root directory is empty but for /usr of the guest. strace in the container is the independent count of
# operations.
# shellcheck disable=SC2034,SC2154 # variables for, and of, these scripts
suite=containers
# shellcheck source=tests/robust/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../robust/lib.sh"

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin # also that of containers
in=$data/in
dir=$in/ann
trace=/home/ann/trace
program=$data/program

setup() {
	# both exist if another suite ran in this guest
	getent passwd ann >/dev/null || { groupadd recorders && useradd -m -G recorders ann; } || exit 1
	install -m 755 "$top/build/user/iotape" "$top/build/tests/containers/request" /usr/local/bin
	install -m 4755 "$top/build/user/iotape-mount" /usr/local/bin
	mkdir -p "$in" /etc/iotape
	chmod 755 "$data" "$in"
	echo "group recorders $in" >/etc/iotape/recorders
	install -d -o ann -g ann "$dir"
	echo "of ann" >"$dir/open" && chown ann "$dir/open"
	echo "of nobody" >"$dir/secret" && chmod 600 "$dir/secret"
	head -c 32768 /dev/urandom >"$dir/input"
}

# make_root DIRECTORY: the root directory of a container
make_root() {
	local part
	mkdir -p "$1"/{usr,proc,sys,dev,tmp,etc,data,run,var}
	for part in bin lib lib64 sbin; do
		ln -s usr/$part "$1/$part"
	done
}

# ann COMMAND...
ann() {
	setpriv --reuid=ann --regid=ann --init-groups env HOME=/home/ann USER=ann XDG_RUNTIME_DIR="/run/user/$(id -u ann)" "$@"
}

# rec COMMAND...: a recording of the directory.
rec() {
	rm -f $trace
	iotape record -q -m "$dir" -o $trace -- "$@"
}

anns_rec() {
	rm -f $trace
	ann iotape record -q -m "$dir" -o $trace -- "$@"
}

dump_all() {
	iotape dump --all $trace >"$work/dump"
}

# -- recordings of containers ------------------------------------------------------------------------

# What is done in a container; strace writes what it has seen to the root directory of the container.
job='rm -f /data/moved; strace -f -y -o /tmp/log dd if=/data/input of=/data/output bs=4096 status=none && mv /data/output /data/moved'

# Reads and writes in the trace are those that strace has seen, of files with their names in the directory.
agrees() { # LOG
	local call name want have
	dump_all || return
	for call in read:input write:output; do
		name=${call#*:}
		want=$(grep -cE "${call%:*}\([0-9]+</data/$name>, .* = 4096" "$1")
		have=$(grep -cE " ${call%:*} $name .* result=4096 .* length_bytes=4096" "$work/dump")
		echo "$call: $have, strace: $want"
		[ "$want" = 8 ] && [ "$have" = 8 ] || return
	done
	grep -q " rename output " "$work/dump" && cmp "$dir/input" "$dir/moved"
}

# replays USER COMMAND...: the last trace, without a divergence.
replays() {
	local target=$data/$1/root/tmp/target
	rm -rf "$target"
	iotape compile $trace -o "$program" && chmod 644 "$program" && install -d -o "$1" "$target" &&
		"${@:2}" iotape init "$program" --target="$target" &&
		"${@:2}" iotape replay "$program" --target="$target" "${engine[@]}" && [ -e "$target/moved" ] && [ ! -e "$target/output" ]
}

# It may say, too, that processes of podman ran on.
records_nothing() {
	local code=0
	"$@" >"$work/said" 2>&1 || code=$?
	cat "$work/said"
	[ $code = 1 ] && grep -q '^iotape record: nothing was recorded: the command had no operation below ' "$work/said"
}

begin_long() {
	container -d --name long 'exec 9</data/open; touch /tmp/up; exec sleep 1000' && wait_for 60 test -e "$data/root/root/tmp/up"
}

end_long() {
	"${remove[@]}" long
	rm "$data/root/root/tmp/up"
}

# attached COMMAND...: a recording of the mount, during the command.
attached() {
	local code
	rm -f $trace
	iotape record --attach -m "$dir" -o $trace 2>"$work/attached" &
	wait_for 60 grep -q "^iotape record: recording" "$work/attached" && "$@"
	code=$?
	kill -INT %%
	wait %%
	cat "$work/attached"
	return $code
}

# A container from before has the bare directory: nothing of it is recorded, and the omission is stated.
from_before() {
	local code=1
	begin_long || return
	if records_nothing rec "$runtime" exec long cat /data/open && mount -t tapefs "$dir" "$dir" &&
		attached sh -c "$runtime exec long cat /data/open; cat '$dir/input' >/dev/null" && dump_all; then
		[ "$(grep -c " read input .* result=[1-9]" "$work/dump")" -gt 0 ] && ! grep " read open " "$work/dump" &&
			grep -qE "warning: [0-9]+ open files? (and|or) mappings? from before the recording went around the mounts" "$work/attached" &&
			iotape stat $trace | grep "went around the mounts"
		code=$?
	fi
	end_long
	umount "$dir"
	return $code
}

# One that was started after the mount is recorded, from any time on.
running() {
	local code=1
	mount -t tapefs "$dir" "$dir" && begin_long || return
	attached "$runtime" exec long cat /data/open && dump_all && [ "$(grep -c " read open .* result=7 " "$work/dump")" = 1 ]
	code=$?
	end_long
	umount "$dir"
	return $code
}

# -- iotape in containers ----------------------------------------------------------------------------

# Each command is refused, with one sentence.
try='for what in "record -m /data -o /tmp/trace -- true" status "top --once" "ctl pause" "ctl stop" "replay /tmp/program --target=/tmp/target"; do
	iotape $what; echo "code $?"
done 2>&1; echo "created: $(ls /tmp/trace 2>/dev/null)"'
outside='root of a container or user namespace may not [a-z ]+ \(CAP_SYS_ADMIN of the machine is needed\): run iotape outside of it'
absent='module [a-z]+ is loaded, but its device is not in /dev, as in a container: run iotape outside of it'

# The sessions of the kernel, but for their counters.
sessions() {
	iotape status --json | grep -oE '"(session|state|is_paused|policy|user|mounts)": ?[^,]*'
}

# refuses PATTERN COMMAND...: the command tries in a container, while root records outside of it, without an effect.
refuses() {
	local pattern=$1 before code
	shift
	iotape record -q -m "$dir" -o "$work/other" -- sh -c "cat '$dir/open' >/dev/null; exec sleep 1000" &
	wait_for 60 has_session || return
	before=$(sessions)
	"$@" >"$work/said"
	code=$?
	[ "$(sessions)" = "$before" ] || { echo "other sessions now:"; sessions; code=1; }
	pkill -f '^sleep 1000'
	wait %%
	cat "$work/said"
	[ $code = 0 ] && [ "$(grep -c '^code 1$' "$work/said")" = 6 ] && [ "$(grep -c '^iotape' "$work/said")" = 6 ] &&
		[ "$(grep -cE "^iotape [a-z]+: $pattern(; --engine=thread does not need it)?$" "$work/said")" = 6 ] &&
		grep -q '^created: $' "$work/said"
}

has_session() {
	[ "$(sessions | grep -c recording)" = 1 ]
}

# The root directories of the containers contain a program, and a target that is prepared for it.
devices=(--device /dev/iotape --device /dev/replayfs)
policy=(-v /etc/iotape:/etc/iotape -v /etc/passwd:/etc/passwd -v /etc/group:/etc/group)

replays_inside() {
	container 'mkdir /tmp/other && iotape init /tmp/program --target=/tmp/other && iotape replay --engine=thread /tmp/program --target=/tmp/other'
}

privileged() { # OPTION...
	container "$@" 'iotape record -q -m /data -o /data/trace -- cat /data/open && iotape dump /data/trace' >"$work/said" &&
		grep -q "^of ann$" "$work/said" && [ "$(grep -c " read open .* result=7 " "$work/said")" = 1 ] && rm "$dir/trace"
}

# The set-user-ID program, the mount of tapefs, and files of others, from a user namespace with all of its capabilities.
# The shell prints "GOT" for what must not be. Docker's capabilities do not include the newest three.
gain='grep -qE "^CapEff:.00000(1f|03)fffffffff$" /proc/self/status && echo "all capabilities"
	mount -t tapefs /data /data && echo "GOT a mount"
	cat /data/secret && echo "GOT the secret"
	chmod 666 /data/secret && echo "GOT the mode"
	iotape-mount /data -- /bin/cat /data/secret; echo "helper $?"'

no_gain() { # SENTENCE COMMAND...
	local sentence=$1
	shift
	"$@" >"$work/said" 2>&1
	cat "$work/said"
	! grep -E "GOT|of nobody" "$work/said" && grep -q "^iotape-mount: $sentence" "$work/said" && grep -q "^helper 1$" "$work/said" &&
		[ "$(stat -c %a:%U "$dir/secret")" = 600:root ]
}

no_gain_with_all() {
	no_gain "$@" && grep -qx "all capabilities" "$work/said"
}

