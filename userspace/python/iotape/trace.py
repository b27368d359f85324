# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""A trace: its records one by one and as columns, its facts, and what it lacks."""
import ctypes
import os
import weakref
from typing import NamedTuple, Optional

from . import stat as _stat
from ._library import READER_PATHS, UNKNOWN, Column, Error, Info, OmissionOut, lib
from .columns import BATCH_ROWS, DEFAULT_COLUMNS, ColumnReader
from .record import Record
from .schema import select


class Omission(NamedTuple):
    """Something that a trace lacks for one reason; operations and bytes are None if their number is not known."""

    name: str
    sentence: str
    count: int
    operations: Optional[int]
    bytes: Optional[int]


class _Reader:
    """A reader of the library."""

    def __init__(self, path, has_paths):
        error = Error()
        self.pointer = ctypes.c_void_p()
        if lib.iotape_reader_open(os.fsencode(path), READER_PATHS if has_paths else 0, ctypes.byref(self.pointer),
                                  ctypes.byref(error)):
            raise error.exception()

    def close(self):
        pointer, self.pointer = self.pointer, None
        lib.iotape_reader_close(pointer)

    def __del__(self, _close=lib.iotape_reader_close):
        _close(self.pointer)

    def next(self, kinds):
        """Find the next record of the kinds. Return: its pointer, None at the end."""
        if self.pointer is None:
            raise ValueError("the trace is closed")
        error = Error()
        pointers = (ctypes.c_void_p * len(kinds))(*(kind.pointer for kind in kinds))
        found = lib.iotape_reader_columns(self.pointer, pointers, len(kinds), (Column * 0)(), 0, 1, ctypes.byref(error))
        if found < 0:
            raise error.exception()
        return lib.iotape_reader_record(self.pointer) if found else None

    def path(self):
        """Path of the file that the last record is about, and whether it had lost this name."""
        is_guess = ctypes.c_int()
        path = lib.iotape_reader_path(self.pointer, ctypes.byref(is_guess))
        return (None, False) if path is None else (os.fsdecode(path), bool(is_guess.value))

    def info(self):
        info = Info()
        lib.iotape_reader_info(self.pointer, ctypes.byref(info), ctypes.sizeof(info))
        return info

    def omissions(self):
        """At the end of the trace: all that it lacks."""
        out = OmissionOut()
        index = 0
        while lib.iotape_reader_omission(self.pointer, index, ctypes.byref(out), ctypes.sizeof(out)) > 0:
            operations, count_bytes = (None if number == UNKNOWN else number for number in (out.operations, out.bytes))
            yield Omission(out.name.decode(), os.fsdecode(out.sentence), out.count, operations, count_bytes)
            index += 1


class Trace:
    """An open trace. It can be read any number of times, and is closed at the end of a `with` block.

    path: as given; capture: random id of the recording, in hexadecimal digits; real_ns, mono_ns: wall clock and
    monotonic clock at its beginning; bytes: length of the file; record_count: records in it; is_complete: False
    if records may be missing at its end; is_torn: the file ends within a chunk, which is ignored
    """

    def __init__(self, path):
        self.path = os.fspath(path)
        self._readers = weakref.WeakSet()
        self._is_closed = False
        self._whole = None
        reader = self._open(False)
        info = reader.info()
        reader.close()
        self.capture = bytes(info.capture).hex()
        self.real_ns = info.real_ns
        self.mono_ns = info.mono_ns
        self.bytes = info.bytes
        self.record_count = info.records
        self.is_complete = bool(info.is_complete)
        self.is_torn = bool(info.is_torn)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<iotape trace {self.path!r}>"

    def __iter__(self):
        return self.records()

    def close(self):
        """Close the trace, and what still reads from it."""
        self._is_closed = True
        for reader in list(self._readers):
            reader.close()

    def _open(self, has_paths):
        if self._is_closed:
            raise ValueError("the trace is closed")
        reader = _Reader(self.path, has_paths)
        self._readers.add(reader)
        return reader

    def records(self, kinds=None, paths=True):
        """Iterate over records in the order in which they ended.

        kinds: None for all, or names, groups and Kinds, see select(); paths: whether records have a path, which
        costs memory for the names in the trace
        """
        selected = select(kinds)
        reader = self._open(paths)
        return self._iterate(reader, selected, paths)

    @staticmethod
    def _iterate(reader, kinds, has_paths):
        try:
            while (pointer := reader.next(kinds)) is not None:
                yield Record(pointer, *(reader.path() if has_paths else ()))
        finally:
            reader.close()

    def columns(self, *names, kinds="op"):
        """Columns of all records of the kinds (default: operations), as Columns.

        Names are those of fields, or kind, path, begin_ns, end_ns, task and moved_bytes; a field named kind is
        op_kind. Without names: DEFAULT_COLUMNS.
        """
        names = names or DEFAULT_COLUMNS
        reader = self._open("path" in names)
        try:
            return ColumnReader(reader, names, select(kinds), BATCH_ROWS).all()
        finally:
            reader.close()

    def batches(self, *names, kinds="op", rows=BATCH_ROWS):
        """The same in parts of at most the given number of rows, for traces that are larger than memory."""
        if rows < 1:
            raise ValueError("a batch has at least one row")
        names = names or DEFAULT_COLUMNS
        selected = select(kinds)
        reader = self._open("path" in names)
        return self._iterate_batches(reader, ColumnReader(reader, names, selected, rows))

    @staticmethod
    def _iterate_batches(reader, columns):
        try:
            for batch in columns.batches():
                yield batch
                if reader.pointer is None:
                    raise ValueError("the trace is closed")
        finally:
            reader.close()

    def _read_whole(self):
        """Facts and omissions, which are known at the end of the trace only."""
        if self._whole is None:
            reader = self._open(False)
            try:
                facts = []
                while (pointer := reader.next(select("fact"))) is not None:
                    facts.append(os.fsdecode(Record(pointer).tail))
                self._whole = facts, tuple(reader.omissions()), reader.info()
            finally:
                reader.close()
        return self._whole

    @property
    def facts(self):
        """Facts about the run: a list of texts key=value. Reads the trace once."""
        return list(self._read_whole()[0])

    @property
    def omissions(self):
        """What the trace lacks: a tuple of Omission, empty if nothing is known to be missing. Reads it once."""
        return self._read_whole()[1]

    @property
    def lost(self):
        """Records that the kernel dropped, and records that did not reach the file. Reads the trace once."""
        info = self._read_whole()[2]
        return info.lost + info.missing

    def stat(self, by=None, **options):
        """Sums as `iotape stat` computes them; options are those of the program, see Stat."""
        if self._is_closed:
            raise ValueError("the trace is closed")
        return _stat.read(self.path, by=by, **options)
