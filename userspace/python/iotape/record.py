# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""One record of a trace."""
import ctypes
import os
from collections.abc import Mapping

from ._library import check, lib
from .schema import by_pointer, text_of


class Record(Mapping):
    """A record: a mapping from names of fields to numbers, None for those that are not known.

    Fields are attributes as well. kind: a Kind; path: of the file, from the root of the recorded mount, or None;
    is_path_guess: the file had lost this name before the record. A record remains valid after its trace was closed.
    """

    __slots__ = ("kind", "path", "is_path_guess", "_pointer")

    def __init__(self, original, path=None, is_path_guess=False):
        self._pointer = None
        pointer = ctypes.c_void_p()
        check(lib.iotape_record_copy(original, ctypes.byref(pointer)))
        self._pointer = pointer
        self.kind = by_pointer[lib.iotape_record_kind(pointer)]
        self.path = path
        self.is_path_guess = is_path_guess

    def __del__(self, _free=lib.iotape_record_free):
        _free(self._pointer)

    def __getitem__(self, name):
        field = self.kind.fields[name]
        if not lib.iotape_record_is_known(self._pointer, field.pointer):
            return None
        value = ctypes.c_int64() if field.is_signed else ctypes.c_uint64()
        get = lib.iotape_record_get_s64 if field.is_signed else lib.iotape_record_get_u64
        check(get(self._pointer, field.pointer, ctypes.byref(value)))
        return value.value

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"a record of kind {self.kind.name} has no field {name}") from None

    def __iter__(self):
        return iter(self.kind.fields)

    def __len__(self):
        return len(self.kind.fields)

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __repr__(self):
        fields = " ".join(f"{name}={self.text(name)}" for name in self)
        return f"<iotape record {self.kind.name}{' ' + repr(self.path) if self.path is not None else ''} {fields}>"

    @property
    def begin_ns(self):
        """Begin on the monotonic clock of the node."""
        return lib.iotape_record_begin_ns(self._pointer)

    @property
    def end_ns(self):
        """End on the same clock; that of a record without a duration is its begin."""
        return lib.iotape_record_end_ns(self._pointer)

    @property
    def moved_bytes(self):
        """Bytes that the operation moved, or made accessible in a mapping; None for other records."""
        return lib.iotape_record_moved_bytes(self._pointer) if self.kind.is_operation else None

    @property
    def tail(self):
        """The name, path or other text at the end of the record, as bytes."""
        count = ctypes.c_size_t()
        at = lib.iotape_record_tail(self._pointer, ctypes.byref(count))
        return ctypes.string_at(at, count.value) if count.value else b""

    @property
    def tail_text(self):
        """The tail as `iotape dump` prints it."""
        room = ctypes.create_string_buffer(4 * len(self.tail) + 64)
        check(lib.iotape_record_tail_text(self._pointer, room, len(room)))
        return os.fsdecode(room.value)

    def text(self, name):
        """A field as `iotape dump` prints it: flags and results by their names; "?" if it is not known."""
        return "?" if self[name] is None else text_of(self._pointer, self.kind.fields[name])
