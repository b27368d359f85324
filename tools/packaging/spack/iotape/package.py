# SPDX-License-Identifier: GPL-2.0-only
from spack.package import *


class Iotape(MakefilePackage):
    """Record, analyse and replay the file I/O of applications.

    This package has the user part: the command, libiotape, and the libraries for one MPI. An
    administrator builds the kernel modules, which recording without strace needs."""

    license("GPL-2.0-only")

    # The source archive is made by tools/packaging/tarball, or use: spack develop --path=TREE iotape@0.1
    manual_download = True

    version("0.1")

    variant("mpi", default=True, description="record MPI calls, and replay on several nodes")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("uthash", type="build")
    depends_on("elfutils")
    depends_on("libnl")
    depends_on("libsodium")
    depends_on("libxml2")
    depends_on("ncurses")
    depends_on("otf2")
    depends_on("userspace-rcu")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("mpi", when="+mpi")

    requires("%gcc", msg="the Makefile uses options of gcc")

    def url_for_version(self, version):
        return f"file:///iotape-{version}.tar.gz"

    @property
    def build_targets(self):
        return ["-C", "userspace", f"PREFIX={self.prefix}"] + self.mpi_options()

    @property
    def install_targets(self):
        return ["-C", "userspace", "install", f"PREFIX={self.prefix}"] + self.mpi_options()

    def mpi_options(self):
        """Without an MPI of the specification, none of the machine is used."""
        return [] if self.spec.satisfies("+mpi") else ["MPIS="]

    @run_after("install")
    def check_version(self):
        if self.run_tests:
            Executable(self.prefix.bin.iotape)("--version")
