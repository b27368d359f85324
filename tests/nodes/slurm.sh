# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A private Slurm with one node: this machine. Its files are in a directory, and nothing outside
# of it changes. Needs root, and slurmctld, slurmd, munge (Debian: slurm-wlm, munge).
#
# slurm_open DIR: an empty directory, or one with a plugstack.conf; sets SLURM_CONF, by which srun and the daemons find
#	it. Lines of slurm_more are added to the configuration
# slurm_close: ends the daemons

slurm_daemons=()
slurm_more=()

slurm_can() {
	[ "$(id -u)" = 0 ] && command -v slurmctld slurmd munged srun >/dev/null
}

slurm_munge() { # DIR
	dd if=/dev/urandom of="$1/munge.key" bs=128 count=1 2>/dev/null
	chmod 600 "$1/munge.key"
	munged --force --foreground --key-file="$1/munge.key" --socket="$1/munge.socket" --pid-file="$1/munge.pid" \
		--seed-file="$1/munge.seed" --log-file="$1/munge.log" >"$1/munge.out" 2>&1 &
	slurm_daemons+=($!)
}

slurm_configuration() { # DIR
	local host
	host=$(hostname)
	cat <<-END
		ClusterName=test
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=16817
		SlurmdPort=16818
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$1/munge.socket
		CredType=cred/munge
		StateSaveLocation=$1/state
		SlurmdSpoolDir=$1/spool
		SlurmctldPidFile=$1/slurmctld.pid
		SlurmdPidFile=$1/slurmd.pid
		SlurmctldLogFile=$1/slurmctld.log
		SlurmdLogFile=$1/slurmd.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		MailProg=/bin/true
		MessageTimeout=100
		BatchStartTimeout=100
		ReturnToService=2
		NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
		PartitionName=all Nodes=$host Default=YES MaxTime=10 OverSubscribe=FORCE:4 State=UP
	END
}

slurm_open() {
	local tries until=$((SECONDS + 180))
	chmod 755 "$1"
	mkdir "$1/state" "$1/spool"
	slurm_munge "$1"
	slurm_configuration "$1" >"$1/slurm.conf"
	[ ${#slurm_more[@]} = 0 ] || printf '%s\n' "${slurm_more[@]}" >>"$1/slurm.conf"
	# The plugin for cgroup v2 needs groups created by systemd; that for v1 does nothing.
	echo CgroupPlugin=cgroup/v1 >"$1/cgroup.conf"
	export SLURM_CONF=$1/slurm.conf
	for ((tries = 0; tries < 100; tries++)); do
		[ ! -S "$1/munge.socket" ] || break
		sleep 0.1
	done
	slurmctld -D >"$1/slurmctld.out" 2>&1 &
	slurm_daemons+=($!)
	slurmd -D >"$1/slurmd.out" 2>&1 &
	slurm_daemons+=($!)
	while ((SECONDS < until)); do
		[ "$(sinfo -h -o %t 2>/dev/null)" != idle ] || return 0
		sleep 0.1
	done
	sinfo
	tail -n 3 "$1"/*.log "$1"/*.out
	return 1
}

slurm_close() {
	[ ${#slurm_daemons[@]} = 0 ] || kill "${slurm_daemons[@]}"
	wait "${slurm_daemons[@]}"
	slurm_daemons=()
} 2>/dev/null
