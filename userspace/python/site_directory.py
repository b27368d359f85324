# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Print the directory below a prefix in which this Python looks for packages.

A prefix in which it does not look gets the usual directory, for PYTHONPATH.
"""
import site
import sys
import sysconfig

prefix = sys.argv[1].rstrip("/")
found = [directory for directory in site.getsitepackages() if directory.startswith(f"{prefix}/lib/")]
print(found[0] if found else sysconfig.get_path("purelib", "posix_prefix", {"base": prefix}))
