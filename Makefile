# SPDX-License-Identifier: GPL-2.0-only
# Verbs for people; the work is done by kbuild, userspace/Makefile and the scripts in tests/.

KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
export PREFIX V

.DEFAULT_GOAL := help

## modules: build the kernel modules for KDIR (default: the running kernel)
modules:
	@tools/kbuild $(KDIR)

## user: build iotape and its library
user:
	@$(MAKE) --no-print-directory -C userspace

## all: modules and user
all: modules user

## install: install what was built (modules for KDIR, the rest under PREFIX)
install:
	@tools/kbuild $(KDIR) install
	@$(MAKE) --no-print-directory -C userspace install

## check-fast: lint, unit and golden tests: seconds, no root
check-fast:
	@tests/check-fast

## check: all tests, with what they need installed first (root)
check:
	@tests/check

## check-suites: suites of others, on a bare and a recorded directory (root); SUITES=dir: your builds
check-suites:
	@tests/summary --timeout=7200 "tests/suites/run $(if $(SUITES),--suites=$(SUITES)) $(if $(LOWER),--lower=$(LOWER))"

## check-debug: the modules in a kernel that looks for errors of its own, built first (root)
check-debug:
	@tests/debug/check

## check-programs: databases and MPI applications, recorded and replayed (root)
check-programs:
	@tests/summary --timeout=7200 tests/programs/run

## demo: record a program, replay it on two storages, compare (root)
demo:
	@tools/demo

## bench: what recording and replaying cost (root)
bench:
	@tests/bench/run

## drift: how far a paced replay drifts in ten minutes
drift:
	@tests/bench/drift

## docs: regenerate Documentation/records.md from the schema
docs: user
	@build/user/iotape schema --markdown >Documentation/records.md

## clean: remove everything that was built, but not downloaded kernels
clean:
	@rm -rf build/user build/modules build/tests build/vm

## help: this list
help:
	@sed -n 's/^## /  make /p' Makefile

.PHONY: modules user all install check-fast check check-suites check-debug check-programs demo bench drift docs \
	clean help
