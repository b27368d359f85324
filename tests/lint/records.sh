#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Documentation/records.md is the output of `iotape schema --markdown`.
set -u

cd "$(dirname "$0")/../.." || exit 1

make -s user >/dev/null || exit 1
build/user/iotape schema --markdown | diff -u Documentation/records.md - || {
	echo "Documentation/records.md:1: make docs brings it up to date"
	exit 1
}
