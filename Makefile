# SPDX-License-Identifier: GPL-2.0-only
# Verbs for people; the work is done by kbuild, userspace/Makefile and the scripts in tests/.

KDIR ?= /lib/modules/$(shell uname -r)/build
# Where `make install` puts things, all below DESTDIR. modprobe(8) looks in /lib/modules only, so modules
# follow PREFIX unless it is one of the system's.
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
PLUGINDIR ?= $(LIBDIR)
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
MODULES_PREFIX ?= $(filter-out / /usr /usr/local,$(patsubst %/,%,$(PREFIX)))
# For what installs only: the tests install below directories of their own.
INSTALLING := install-user install-modules uninstall-user uninstall-modules
$(INSTALLING): export DESTDIR := $(DESTDIR)
$(INSTALLING): export PREFIX := $(PREFIX)
$(INSTALLING): export BINDIR := $(BINDIR)
$(INSTALLING): export LIBDIR := $(LIBDIR)
$(INSTALLING): export PLUGINDIR := $(PLUGINDIR)
$(INSTALLING): export INCLUDEDIR := $(INCLUDEDIR)
$(INSTALLING): export DATADIR := $(DATADIR)
$(INSTALLING): export MANDIR := $(MANDIR)
$(INSTALLING): export MODULES_PREFIX := $(MODULES_PREFIX)
export V

.DEFAULT_GOAL := help

## modules: build the kernel modules for KDIR (default: the running kernel)
modules:
	@tools/kbuild $(KDIR)

## user: build iotape and its library
user:
	@$(MAKE) --no-print-directory -C userspace

## all: modules and user
all: modules user

## install: install-user and install-modules, below DESTDIR
install: install-user install-modules

## install-user: programs, library, headers, manual pages, shell completion, Python package, under PREFIX, BINDIR, LIBDIR, PLUGINDIR, INCLUDEDIR, DATADIR, MANDIR, PYTHONDIR
install-user:
	@$(MAKE) --no-print-directory -C userspace install

## install-modules: the modules for KDIR, under MODULES_PREFIX
install-modules:
	@tools/kbuild $(KDIR) install

## uninstall: remove what install installed with the same variables: uninstall-user and uninstall-modules
uninstall: uninstall-user uninstall-modules

uninstall-user:
	@$(MAKE) --no-print-directory -C userspace uninstall

uninstall-modules:
	@tools/kbuild $(KDIR) uninstall

## check-fast: lint, unit and golden tests: seconds, no root
check-fast:
	@tests/check-fast

## check: all tests, after installing their packages (root)
check:
	@tests/check

## check-all: check, and suites that rarely fail alone: all on the second kernel, the virtual machine, more fuzzing (root)
check-all:
	@tests/check --all

## check-suites: suites of others, on a bare and a recorded directory (root); SUITES=dir: your builds
check-suites:
	@tests/summary --timeout=7200 "tests/suites/run $(if $(SUITES),--suites=$(SUITES)) $(if $(LOWER),--lower=$(LOWER))"

## check-builds: the modules built for every kernel of this machine's Debian sources (network, half an hour)
check-builds:
	@tests/summary --timeout=7200 tests/builds/run

## check-arm64: builds for arm64, and loops, call sites and system calls on an emulated machine (root, an hour)
check-arm64:
	@tools/setup --for=build,vm,arm64
	@tests/summary --timeout=10800 tests/arm64/run

## check-debug: the modules in a kernel that looks for errors of its own, built first (root)
check-debug:
	@tests/debug/check

## check-fresh: both commands of the README, twice, on a Debian that has nothing (root, hours)
check-fresh:
	@tests/fresh/run

## check-fuzz: five times as many mutated inputs as check has (half an hour)
check-fuzz:
	@tests/summary --timeout=7200 tests/fuzz/run

## check-programs: databases and MPI applications, recorded and replayed (root)
check-programs:
	@tests/summary --timeout=7200 tests/programs/run

## check-report: pages of iotape report in a browser, which is installed first (root, 150 MB); screenshots to look at
check-report:
	@tests/summary --timeout=1200 tests/report/run

## check-packages: the Debian packages on a minimal Debian, from build to purge, and the RPM packages (root, network, 20 minutes)
check-packages:
	@tests/summary --timeout=3600 tests/packages/run tests/packages/rpm

## check-boot: the Debian packages on a machine that boots, is upgraded, loses its power and is purged (root, network, 20 minutes)
check-boot:
	@tests/summary --timeout=3600 tests/packages/boot

## check-slurm: jobs of a Slurm in a virtual machine, with their files recorded (root, ten minutes)
check-slurm:
	@tests/summary --timeout=3600 tests/slurm/run

## check-soak: random load on the modules for MINUTES (180) in a virtual machine: nothing leaks or grows (root); KERNEL=debug, SEED=N
check-soak: MINUTES ?= 180
check-soak:
	@tests/summary --timeout=$$(($(MINUTES) * 60 + 7200)) "tests/soak/run --minutes=$(MINUTES) $(if $(KERNEL),--kernel=$(KERNEL)) $(if $(SEED),--seed=$(SEED))"

## check-scale: recordings with 100,000 tasks and 10 million names, and 10,000 mounts, in a virtual machine (root, an hour)
check-scale:
	@tests/summary --timeout=14400 tests/soak/scale

## demo: record a program, replay it on two storages, compare (root)
demo:
	@tools/demo

## bench: what recording and replaying cost (root)
bench:
	@tests/bench/run

## figures: measure the counted tables of Documentation/performance.md again (root)
figures:
	@tests/bench/figures

## drift: how far a paced replay drifts in ten minutes
drift:
	@tests/bench/drift

## docs: regenerate Documentation/records.md from the schema
docs: user
	@build/user/iotape schema --markdown >Documentation/records.md

## deb: Debian packages, in build/packages/deb
deb:
	@tools/packaging/deb

## rpm: RPM packages, in build/packages/rpm
rpm:
	@tools/packaging/rpm/build

## clean: remove everything that was built, but not downloaded kernels
clean:
	@rm -rf build/user build/modules build/tests build/vm build/packages

## help: this list
help:
	@sed -n 's/^## /  make /p' Makefile

.PHONY: modules user all install install-user install-modules uninstall uninstall-user \
	uninstall-modules check-fast check check-all check-arm64 check-builds check-suites check-debug check-fuzz check-fresh check-programs check-report check-packages check-boot check-slurm check-soak check-scale deb rpm demo bench figures drift docs \
	clean help
