# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Sums of a trace as DataFrames: the output of `iotape stat --json`."""
import json
import os
import shutil
import subprocess

from ._library import TraceError, installed
from .columns import _require


class Stat:
    """Sums of a trace.

    json: the object that `iotape stat --json` prints. Its members are attributes: numbers as they are, None if not
    known; lists and tables as DataFrames, whose unknown values are missing (NA). Without options: kinds, files,
    processes; with by: groups; with waits: processes, and late_arrivals with ranks and waits.
    """

    def __init__(self, values):
        self.json = values

    def __getattr__(self, name):
        if name == "json" or name not in self.json:
            raise AttributeError(f"the output of iotape stat has no member {name}")
        return _member(self.json[name])

    def __dir__(self):
        return [*super().__dir__(), *self.json]

    def __repr__(self):
        return f"<iotape stat: {', '.join(self.json)}>"


def _member(value):
    if isinstance(value, list) and all(isinstance(row, dict) for row in value):
        return _frame(value)
    if isinstance(value, dict) and value and all(isinstance(row, dict) for row in value.values()):
        return _frame(list(value.values()), list(value))
    return Stat(value) if isinstance(value, dict) else value


def _frame(rows, index=None):
    pandas = _require("pandas", "DataFrames")
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: _column(pandas, [row.get(name) for row in rows]) for name in names}
    return pandas.DataFrame(columns, index=index)


def _column(pandas, values):
    """Whole numbers stay exact if one is missing."""
    known = [value for value in values if value is not None]
    if known and all(type(value) is int for value in known):  # pylint: disable=unidiomatic-typecheck
        return pandas.array(values, dtype="UInt64" if max(known) >> 63 else "Int64")
    if known and all(type(value) in (int, float) for value in known):
        return pandas.array([float("nan") if value is None else value for value in values], dtype="float64")
    return pandas.Series(values, dtype=object).array


def _option(name, value):
    option = "--" + name.replace("_", "-")
    return option if value is True else f"{option}={value}"


def read(path, **options):
    """Run `iotape stat --json` on a trace.

    Options are those of the program, such as by="file", sort="bytes", top=10, since="2s", rank=0, op="read,write",
    filter="size < 4k", waits=True. TraceError if it fails; ValueError for options that it does not have.
    """
    program = installed("PROGRAM", "IOTAPE_PROGRAM") or shutil.which("iotape")
    if not program:
        raise TraceError("the program iotape is not installed; set IOTAPE_PROGRAM")
    arguments = [_option(name, value) for name, value in options.items() if value not in (None, False)]
    result = subprocess.run([program, "stat", "--json", *arguments, "--", os.fspath(path)], stdin=subprocess.DEVNULL,
                            capture_output=True, check=False)
    if result.returncode:
        sentence = os.fsdecode(result.stderr).split("\n", maxsplit=1)[0]
        sentence = sentence.removeprefix("iotape stat: ") or f"iotape stat ended with {result.returncode}"
        raise ValueError(sentence) if result.returncode == 2 else TraceError(sentence)
    return Stat(json.loads(result.stdout.decode("utf-8", "surrogateescape")))
