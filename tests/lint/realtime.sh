#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The build refuses kernels with PREEMPT_RT, with a reason.
set -eu

cd "$(dirname "$0")/../.."
probe=kmod/compat/Kbuild.probe
config() {
	printf 'include %s\nall: ;\n' $probe | make -s --no-print-directory -f - srctree=/nowhere objtree=/nowhere "$@" 2>&1
}
config || { echo "$probe:1: an ordinary kernel is refused"; exit 1; }
if said=$(config CONFIG_PREEMPT_RT=y); then
	echo "$probe:1: a kernel with PREEMPT_RT is not refused"
	exit 1
fi
case $said in
*"iotape does not support kernels with PREEMPT_RT: "*) ;;
*) echo "$probe:1: no sentence about PREEMPT_RT: $said"; exit 1 ;;
esac
