# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Many records as columns: NumPy arrays, and from them pandas DataFrames and Arrow tables."""
import ctypes
import os
from collections.abc import Mapping

from ._library import Column, Error, lib
from .schema import kinds as all_kinds

DEFAULT_COLUMNS = ("kind", "path", "begin_ns", "duration_ns", "task", "result", "moved_bytes")
BATCH_ROWS = 1 << 16
_WORDS = ("kind", "path")  # columns of texts, which the library numbers


def _require(module, purpose):
    try:
        return __import__(module)
    except ImportError:
        raise ImportError(f"{module} is required for {purpose} (Debian: python3-{module}; pip install {module})") from None


class Columns(Mapping):
    """Columns by name, one value of each for every record.

    A column is a masked array: int64 or uint64 numbers, or texts (kind, path). A value is masked if the record has
    no such field, or if it is not known. A field that is signed in some kinds only and has numbers that neither
    type can hold is an array of Python integers.
    """

    def __init__(self, numbers, words):
        self._numbers = numbers
        self._words = words

    def __getitem__(self, name):
        codes = self._numbers[name]
        if name not in self._words:
            return codes
        numpy = _require("numpy", "columns")
        # one more: the array may be empty, and a masked number is 0
        words = numpy.array([*self._words[name], None], dtype=object)
        return numpy.ma.MaskedArray(words[codes.data.astype(numpy.int64)], mask=codes.mask)

    def __iter__(self):
        return iter(self._numbers)

    def __len__(self):
        return len(self._numbers)

    def __repr__(self):
        return f"<iotape columns {', '.join(self)}: {self.rows} rows>"

    @property
    def rows(self):
        """Number of records."""
        return len(next(iter(self._numbers.values()))) if self._numbers else 0

    def codes(self, name):
        """A column of texts as numbers, which words() has the texts of."""
        return self._numbers[name]

    def words(self, name):
        """The texts of a column, by the numbers that codes() returns."""
        return list(self._words[name])

    def floats(self, name):
        """A column of numbers as float64, NaN where they are not known. Beyond 2^53 they are rounded."""
        return self._numbers[name].astype(float).filled(float("nan"))

    def to_pandas(self):
        """A DataFrame: numbers as Int64 and UInt64, which can be missing; texts as categories."""
        pandas = _require("pandas", "DataFrames")
        frame = {}
        for name, values in self._numbers.items():
            mask = values.mask
            if name in self._words:
                codes = values.data.astype("int64")
                codes[mask] = -1
                frame[name] = pandas.Categorical.from_codes(codes, categories=self._words[name])
            elif values.dtype == object:
                frame[name] = values.filled(None)
            else:
                frame[name] = pandas.arrays.IntegerArray(values.data.copy(), mask.copy())
        return pandas.DataFrame(frame)

    def to_arrow(self):
        """A pyarrow.Table with nulls; texts as dictionaries. Bytes that are not UTF-8 are escaped."""
        pyarrow = _require("pyarrow", "Arrow tables")
        table = {}
        for name, values in self._numbers.items():
            if name not in self._words:
                table[name] = pyarrow.array(values.data, mask=values.mask)
                continue
            words = [word.encode("utf-8", "backslashreplace").decode() for word in self._words[name]]
            codes = pyarrow.array(values.data.astype("int64"), mask=values.mask)
            table[name] = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(words, pyarrow.string()))
        return pyarrow.table(table)


def _signed_kinds(name, kinds):
    """Indices of the kinds in which a field may be negative, and whether that holds for all kinds that have it."""
    with_field = [kind for kind in kinds if name in kind.fields]
    signed = [kind.index for kind in with_field if kind.fields[name].is_signed]
    return signed, len(signed) == len(with_field)


class ColumnReader:
    """Reads columns from a reader of the library, batch by batch."""

    def __init__(self, reader, names, kinds, rows):
        self._numpy = _require("numpy", "columns")
        self._reader = reader
        self._names = list(dict.fromkeys(names))
        self._signed = {name: _signed_kinds(name, kinds) for name in self._names}
        self._kinds = kinds
        self._rows = rows
        self._paths = []

    def _words(self):
        words = {}
        if "kind" in self._names:
            words["kind"] = list(all_kinds)
        if "path" in self._names:
            path_at = lib.iotape_reader_path_at
            while (path := path_at(self._reader.pointer, len(self._paths))) is not None:
                self._paths.append(os.fsdecode(path))
            words["path"] = self._paths
        return words

    def _read(self, columns, error):
        pointers = (ctypes.c_void_p * len(self._kinds))(*(kind.pointer for kind in self._kinds))
        return lib.iotape_reader_columns(self._reader.pointer, pointers, len(self._kinds), columns, len(columns),
                                         self._rows, ctypes.byref(error))

    def next(self):
        """The next batch as numbers by name; None at the end of the trace."""
        numpy = self._numpy
        names = [*self._names, *({"kind"} - set(self._names))]
        values = {name: numpy.empty(self._rows, numpy.uint64) for name in names}
        known = {name: numpy.empty(self._rows, numpy.uint8) for name in names}
        columns = (Column * len(names))(
            *(Column(name.encode(), values[name].ctypes.data, known[name].ctypes.data) for name in names))
        error = Error()
        rows = self._read(columns, error)
        if rows < 0:
            raise error.exception()
        if not rows:
            return None
        kinds = values["kind"][:rows]
        return {name: self._column(name, values[name][:rows], known[name][:rows], kinds) for name in self._names}

    def _column(self, name, values, known, kinds):
        numpy = self._numpy
        signed, is_always = self._signed[name]
        if signed and not is_always and (values[~numpy.isin(kinds, signed)] >> numpy.uint64(63)).any():
            # some values fit int64 only, others uint64 only
            is_signed = numpy.isin(kinds, signed)
            values = numpy.where(is_signed, values.view(numpy.int64).astype(object), values.astype(object))
        elif signed:
            values = values.view(numpy.int64)
        return numpy.ma.MaskedArray(values, mask=known == 0)

    def batches(self):
        """Columns of at most the given number of rows each."""
        while (numbers := self.next()) is not None:
            yield Columns(numbers, {name: list(words) for name, words in self._words().items()})

    def all(self):
        """All that remains as one."""
        numpy = self._numpy
        parts = []
        while (numbers := self.next()) is not None:
            parts.append(numbers)
        numbers = {}
        for name in self._names:
            columns = [part.pop(name) for part in parts]
            if not columns:
                empty = numpy.empty(0, numpy.uint64)
                columns = [self._column(name, empty, empty, empty)]
            numbers[name] = numpy.ma.MaskedArray(numpy.concatenate([column.data for column in columns]),
                                                 mask=numpy.concatenate([column.mask for column in columns]))
        return Columns(numbers, self._words())
