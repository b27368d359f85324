# SPDX-License-Identifier: GPL-2.0-only
"""The examples run on the golden traces, and their sums are those of stat; the package as it is installed."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

import golden
import iotape

PACKAGE = pathlib.Path(iotape.__file__).parent
EXAMPLES = PACKAGE.parent / "examples"


def run(*arguments, **environment):
    return subprocess.run([sys.executable, "-W", "error", *map(str, arguments)], capture_output=True, text=True,
                          check=False, env={**os.environ, **environment})


class Examples(unittest.TestCase):
    """Three programs."""

    def test_bandwidth_adds_up_to_the_bytes_of_stat(self):
        for path in (golden.DIRECTORY / name for name in ("operations.iot", "tree.iot", "mpi.iot")):
            kinds = golden.stat(path)["kinds"]
            result = run(EXAMPLES / "bandwidth.py", path)
            if not {"read", "write"} & set(kinds):
                self.assertEqual((result.returncode, result.stderr), (1, f"{path}: no reads and no writes\n"))
                continue
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            read, written = map(float, re.search(r"total ([0-9.]+) MiB read, ([0-9.]+) MiB", result.stdout).groups())
            self.assertAlmostEqual(read * 2**20, kinds.get("read", {}).get("read_bytes", 0), delta=1)
            self.assertAlmostEqual(written * 2**20, kinds.get("write", {}).get("written_bytes", 0), delta=1)

    def test_top_files_are_those_of_stat(self):
        for path in golden.TRACES:
            result = run(EXAMPLES / "top_files.py", "-n0", path)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            got = {tuple(line.split(maxsplit=3)[::3]) for line in result.stdout.splitlines()
                   if re.match(" *[0-9]+ +[0-9.]+ ", line)}
            expected = {}
            for line in golden.dump(path)[0]:
                if line.get("path"):
                    expected[line["path"]] = expected.get(line["path"], 0) + 1
            shown = {"".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name): count
                     for name, count in expected.items()}
            self.assertEqual(got, {(str(count), name) for name, count in shown.items()}, path.name)

    def test_waits_add_up_to_those_of_stat(self):
        for name in ("mpi", "mpi-files", "operations"):
            path = golden.DIRECTORY / f"{name}.iot"
            result = run(EXAMPLES / "waits.py", path)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            waits = (golden.stat(path, "--waits")["late_arrivals"] or {"waits": []})["waits"]
            total = f"total {sum(row['waited_ns'] for row in waits)} ns" if waits else "no rank waits for another"
            self.assertEqual(result.stdout.splitlines()[-1], total)

    def test_damage_is_one_sentence(self):
        path = golden.damaged(golden.scratch(self), golden.DIRECTORY / "operations.iot", False, 0.7)
        for example in ("bandwidth", "top_files", "waits"):
            result = run(EXAMPLES / f"{example}.py", path)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, rf"\A{example}: {path}:0x[0-9a-f]+: [^\n]+\n\Z")


class Library(unittest.TestCase):
    """Finding the library."""

    def test_a_missing_library_is_one_sentence(self):
        result = run("-c", "import iotape", IOTAPE_LIBRARY="/nonexistent/libiotape.so")
        self.assertRegex(result.stderr, "ImportError: /nonexistent/libiotape.so: cannot be loaded .*; install iotape")

    def test_a_library_without_a_function_is_too_old(self):
        library = pathlib.Path("/lib/x86_64-linux-gnu/libm.so.6")
        result = run("-c", "import iotape", IOTAPE_LIBRARY=str(library))
        self.assertIn(f"ImportError: {library}: has no function iotape_version: the library is older", result.stderr)

    def test_a_missing_program_is_one_sentence(self):
        code = f"import iotape; iotape.open({str(golden.DIRECTORY / 'tree.iot')!r}).stat()"
        result = run("-c", code, IOTAPE_PROGRAM="", PATH="/nonexistent")
        self.assertIn("TraceError: the program iotape is not installed", result.stderr)

    def test_numpy_and_pandas_are_imported_at_their_first_use(self):
        code = "import sys, iotape; print('numpy' in sys.modules or 'pandas' in sys.modules)"
        self.assertEqual(run("-c", code).stdout, "False\n")
