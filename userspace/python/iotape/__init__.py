# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Traces of file I/O, read through libiotape.

    import iotape

    with iotape.open("job.iot") as trace:
        for record in trace.records("read"):
            print(record.path, record.offset_bytes, record.result)
        reads = trace.columns("path", "duration_ns", "moved_bytes", kinds="read")
        print(reads["moved_bytes"].sum())
        print(trace.stat(by="file").groups)

Kinds of records, their fields and the units of these come from the library. A value that is not known is None in
a record, masked in a column, and missing (NA) in a DataFrame, never 0. NumPy is needed for columns, pandas for
DataFrames, pyarrow for Arrow tables; each is imported at its first use.
"""
from ._library import TraceError, version
from .columns import DEFAULT_COLUMNS, Columns
from .record import Record
from .schema import Field, Kind, kinds, select
from .stat import Stat
from .trace import Omission, Trace

__all__ = ["Columns", "DEFAULT_COLUMNS", "Field", "Kind", "Omission", "Record", "Stat", "Trace", "TraceError", "kinds",
           "open", "select", "version"]


def open(path):  # pylint: disable=redefined-builtin
    """Open a trace: a path as text, bytes or pathlib.Path. TraceError if it is not a trace."""
    return Trace(path)
