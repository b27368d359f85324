#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print the rows of a file or stream of Apache Arrow, or those of `iotape export --format=csv`, one JSON list for each.

    arrow.py file PATH		with magic words and a footer
    arrow.py stream PATH	without
    arrow.py batches PATH	the number of rows of each batch, of a file
    arrow.py csv PATH REAL_NS	with the column `time` as it must be, of a trace that began then

The first row is that of names and types. Numbers are texts, unknown values null. Written from the descriptions of the columnar
format of Arrow and of FlatBuffers; fails where they are not observed, padding included.
"""
import json
import re
import struct
import sys

MAGIC = b"ARROW1"
MARKER = b"\xff\xff\xff\xff"
VERSION_5 = 4
SCHEMA, BATCH = 1, 3
INT, UTF8, TIMESTAMP = 2, 5, 10


def number(data, at, form):
    size = struct.calcsize("<" + form)
    assert at >= 0 and at + size <= len(data), f"a number at {at} is outside of {len(data)} bytes"
    assert at % size == 0, f"a number of {size} bytes at {at} is not aligned"
    return struct.unpack_from("<" + form, data, at)[0]


class Table:
    """A table of a FlatBuffer."""

    def __init__(self, data, reference):
        self.data = data
        self.at = reference + number(data, reference, "I")
        self.list = self.at - number(data, self.at, "i")
        self.list_bytes = number(data, self.list, "H")
        assert number(data, self.list + 2, "H") >= 4 and self.list_bytes >= 4 and self.list_bytes % 2 == 0

    def place(self, index):
        """Position of a field, or None."""
        if 4 + 2 * index >= self.list_bytes:
            return None
        place = number(self.data, self.list + 4 + 2 * index, "H")
        assert place < number(self.data, self.list + 2, "H"), "a field is outside of its table"
        return self.at + place if place else None

    def get(self, index, form, default=0):
        place = self.place(index)
        return default if place is None else number(self.data, place, form)

    def table(self, index):
        return Table(self.data, self.place(index))

    def text(self, index):
        begin = self.place(index)
        begin += number(self.data, begin, "I")
        size = number(self.data, begin, "I")
        assert self.data[begin + 4 + size] == 0, "a text does not end with a zero byte"
        return self.data[begin + 4:begin + 4 + size].decode()

    def vector(self, index):
        """Count, and position of the first element."""
        begin = self.place(index)
        begin += number(self.data, begin, "I")
        return number(self.data, begin, "I"), begin + 4

    def tables(self, index):
        count, at = self.vector(index)
        return [Table(self.data, at + 4 * i) for i in range(count)]

    def structures(self, index, form):
        count, at = self.vector(index)
        assert not count or at % 8 == 0, "structures are not aligned"
        size = struct.calcsize("<" + form)
        assert at + size * count <= len(self.data)
        return [struct.unpack_from("<" + form, self.data, at + size * i) for i in range(count)]


def type_of(field):
    kind, type_ = field.get(2, "B"), field.table(3)
    if kind == INT:
        return ("int" if type_.get(1, "B") else "uint") + str(type_.get(0, "i"))
    if kind == UTF8:
        return "utf8"
    assert kind == TIMESTAMP, f"type {kind}"
    return f"timestamp{type_.get(0, 'h')} {type_.text(1)}"


def read_schema(schema):
    assert schema.get(0, "h") == 0, "the numbers are not little-endian"
    columns = []
    for field in schema.tables(1):
        assert field.get(1, "B") == 1 and field.place(4) is None and field.vector(5)[0] == 0
        columns.append((field.text(0), type_of(field)))
    return columns


class Body:
    """The parts of the columns of a batch, in order."""

    def __init__(self, data, parts):
        self.data, self.parts = data, iter(parts)
        self.end = 0

    def next(self):
        at, size = next(self.parts)
        assert at == self.end and at + size <= len(self.data), "a part is not behind the one before it"
        self.end = (at + size + 7) // 8 * 8
        assert not any(self.data[at + size:self.end]), "padding is not zero"
        return self.data[at:at + size]


def read_column(body, kind, rows, unknown_count):
    known = body.next()
    assert len(known) == (rows + 7) // 8
    bits = [known[i // 8] >> i % 8 & 1 for i in range(8 * len(known))]
    assert not any(bits[rows:]) and bits[:rows].count(0) == unknown_count, "unknown values are not as many as stated"
    if kind == "utf8":
        ends = struct.unpack(f"<{rows + 1}i", body.next())
        data = body.next()
        assert ends[0] == 0 and ends[-1] == len(data) and list(ends) == sorted(ends), "limits of texts"
        values = [data[ends[i]:ends[i + 1]] for i in range(rows)]
        assert all(bits[i] or not values[i] for i in range(rows)), "an unknown text has bytes"
        return [values[i].decode() if bits[i] else None for i in range(rows)]
    values = struct.unpack(f"<{rows}{'Q' if kind == 'uint64' else 'q'}", body.next())
    return [str(values[i]) if bits[i] else None for i in range(rows)]


def read_batch(batch, data, columns):
    rows = batch.get(0, "q")
    nodes = batch.structures(1, "qq")
    body = Body(data, batch.structures(2, "qq"))
    assert len(nodes) == len(columns) and all(node[0] == rows for node in nodes) and batch.place(3) is None
    table = [read_column(body, kind, rows, node[1]) for (_, kind), node in zip(columns, nodes)]
    assert body.end == len(data) and next(body.parts, None) is None, "there is more than the columns"
    return zip(*table)


def messages(data, at):
    """Yield place, bytes of the head, the message and the body of each; at last the place behind the end."""
    while data[at:at + 4] == MARKER:
        size = number(data, at + 4, "i")
        if not size:
            yield at + 8, 0, None, b""
            return
        assert at % 8 == 0 and size % 8 == 0 and at + 8 + size <= len(data), "a message is not aligned"
        message = Table(data[at + 8:at + 8 + size], 0)
        assert message.get(0, "h") == VERSION_5
        begin, body_bytes = at + 8 + size, message.get(3, "q")
        assert body_bytes % 8 == 0 and begin + body_bytes <= len(data), "a body is longer than the file"
        yield at, size + 8, message, data[begin:begin + body_bytes]
        at = begin + body_bytes
    raise AssertionError(f"there is no message at {at}")


def read_footer(data, at, columns, places):
    size = number(data[-10:-6], 0, "i")
    assert data.endswith(MAGIC) and at + size + 10 == len(data) and at % 8 == 0, "the footer has another size"
    footer = Table(data[at:at + size], 0)
    assert footer.get(0, "h") == VERSION_5 and read_schema(footer.table(1)) == columns, "the footer has another schema"
    assert footer.vector(2)[0] == 0
    assert footer.structures(3, "qi4xq") == places, "the footer has other batches"


def read_arrow(data, is_file):
    at = 0
    if is_file:
        assert data[:8] == MAGIC + b"\0\0", "the magic word is missing"
        at = 8
    columns, places = None, []
    for place, head_bytes, message, body in messages(data, at):
        if message is None:
            break
        kind = message.get(1, "B")
        assert kind == (BATCH if columns else SCHEMA), f"message {kind}"
        if columns is None:
            columns = read_schema(message.table(2))
            yield [list(column) for column in columns]
            continue
        places.append((place, head_bytes, len(body)))
        yield from read_batch(message.table(2), body, columns)
    if is_file:
        read_footer(data, place, columns, places)
    else:
        assert place == len(data), "there is more after the end"


def read_csv(data, real_ns):
    kinds = {"offset_bytes": "int64", "result": "int64"} | dict.fromkeys(("node", "kind", "path", "flags", "fields", "text"), "utf8")
    names, row = None, []
    for value, end in re.findall(rb'("(?:[^"]|"")*"|[^,\r"]*)(,|\r\n)', data):
        quoted = value.startswith(b'"')
        value = value[1:-1].replace(b'""', b'"') if quoted else value
        # bytes that are not UTF-8, as the Python package has them in tables of Arrow
        text = value.decode("utf-8", "surrogateescape").encode("utf-8", "backslashreplace").decode()
        row.append(text if value or quoted else None)
        if end == b",":
            continue
        if names is None:
            names = row
            yield [[name, kinds.get(name, "uint64")] for name in names] + [["time", "timestamp3 UTC"]]
        else:
            assert len(row) == len(names)
            yield row + [str(real_ns + int(row[0]))]
        row = []


def main():
    data = open(sys.argv[2], "rb").read()
    if sys.argv[1] == "batches":
        for _, _, message, _ in messages(data, 8):
            if message and message.get(1, "B") == BATCH:
                print(message.table(2).get(0, "q"))
        return
    rows = read_csv(data, int(sys.argv[3])) if sys.argv[1] == "csv" else read_arrow(data, sys.argv[1] == "file")
    for row in rows:
        print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))


sys.stdout.reconfigure(encoding="utf-8", newline="\n")
main()
