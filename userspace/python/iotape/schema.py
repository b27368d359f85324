# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Kinds of records and their fields, as the library describes them."""
import ctypes
from types import MappingProxyType

from ._library import check, lib


class Field:
    """A field of a kind.

    name: its name in records and columns; sentence: what it is; meaning: of its values, such as "bytes" or "task";
    unit: "ns", "bytes", "pages" or ""; is_signed: whether values may be negative
    """

    __slots__ = ("name", "sentence", "meaning", "unit", "is_signed", "pointer", "_kind_pointer")

    def __init__(self, kind_pointer, pointer):
        name = lib.iotape_field_name(pointer).decode()
        self.name = "op_kind" if name == "kind" else name  # as `iotape dump --json`: kind is that of the record
        self.sentence = lib.iotape_field_sentence(pointer).decode()
        self.meaning = lib.iotape_field_meaning(pointer).decode()
        self.unit = lib.iotape_field_unit(pointer).decode()
        self.is_signed = bool(lib.iotape_field_is_signed(pointer))
        self.pointer = pointer
        self._kind_pointer = kind_pointer

    def __repr__(self):
        return f"<iotape field {self.name}: {self.sentence}>"

    def text(self, value):
        """A value as `iotape dump` prints it: flags and results by their names."""
        record = ctypes.c_void_p()
        check(lib.iotape_record_new(self._kind_pointer, ctypes.byref(record)))
        try:
            set_value = lib.iotape_record_set_s64 if self.is_signed else lib.iotape_record_set_u64
            check(set_value(record, self.pointer, int(value)))
            return text_of(record, self)
        finally:
            lib.iotape_record_free(record)


class Kind:
    """A kind of record: name, sentence, group ("op", "mpi", ...), is_operation, and fields by name."""

    __slots__ = ("name", "sentence", "group", "is_operation", "fields", "index", "pointer")

    def __init__(self, index, pointer):
        self.name = lib.iotape_kind_name(pointer).decode()
        self.sentence = lib.iotape_kind_sentence(pointer).decode()
        self.group = lib.iotape_kind_group(pointer).decode()
        self.is_operation = bool(lib.iotape_kind_is_operation(pointer))
        self.index = index
        self.pointer = pointer
        fields = (Field(pointer, field) for field in _all(lambda i: lib.iotape_field_at(pointer, i)))
        self.fields = MappingProxyType({field.name: field for field in fields})

    def __repr__(self):
        return f"<iotape kind {self.name}: {self.sentence}>"


def text_of(record, field):
    """A field of a record of the library as text."""
    room = ctypes.create_string_buffer(1024)
    check(lib.iotape_record_text(record, field.pointer, room, len(room)))
    return room.value.decode()


def _all(at):
    index = 0
    while True:
        pointer = at(index)
        if not pointer:
            return
        yield pointer
        index += 1


_list = [Kind(index, pointer) for index, pointer in enumerate(_all(lib.iotape_kind_at))]
by_pointer = {kind.pointer: kind for kind in _list}

#: All kinds by name, in the order of the schema.
kinds = MappingProxyType({kind.name: kind for kind in _list})


def select(which):
    """A list of kinds: of None all, else those that a name, a group, a Kind, or several of these stand for."""
    if which is None:
        return list(_list)
    if isinstance(which, (str, Kind)):
        which = [which]
    selected = []
    for item in which:
        found = [kind for kind in _list if item in (kind, kind.name, kind.group)]
        if not found:
            raise ValueError(f"no kind or group of records '{item}'")
        selected += [kind for kind in found if kind not in selected]
    return selected
