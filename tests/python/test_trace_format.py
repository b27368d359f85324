# SPDX-License-Identifier: GPL-2.0-only
"""Chunks of columns, decoded as Documentation/trace-format.md specifies them, by nothing but this file."""
import ctypes
import struct
import unittest

import golden
import iotape

ZSTD = ctypes.CDLL("libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
MODULUS = 1 << 64


def decompress(frame, count):
    """The bytes of one zstd frame."""
    room = ctypes.create_string_buffer(count + 1)
    found = ZSTD.ZSTD_decompress(room, ctypes.c_size_t(count), frame, ctypes.c_size_t(len(frame)))
    if found != count:
        raise ValueError("a frame of another length")
    return room.raw[:count]


class Columns:
    """The columns of a chunk, as they are decoded."""

    def __init__(self, content):
        self.content = content
        self.at = 0
        self.end = 0
        self.memories = [[0] * 512 for _ in range(48)]

    def take(self, count):
        """The next bytes."""
        self.at += count
        return self.content[self.at - count:self.at]

    def varint(self):
        """The next number of variable length."""
        value = shift = 0
        while True:
            byte, = self.take(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def runs(self, count):
        """Coding 1."""
        numbers = []
        while len(numbers) < count:
            number, length = self.varint(), self.varint()
            numbers += [number] * (length or count - len(numbers))
        return numbers

    def classes(self, count):
        """Coding 3."""
        lengths = self.take(count)
        rest = sum(max(length - 1, 0) for length in lengths)
        bits = int.from_bytes(self.take((rest + 7) // 8), "little")
        numbers = []
        for length in lengths:
            width = max(length - 1, 0)
            numbers.append((1 << width | bits & ((1 << width) - 1)) if length else 0)
            bits >>= width
        return numbers

    def list(self, count):
        """A list of numbers."""
        coding, = self.take(1)
        if coding == 0:
            return [self.varint() for _ in range(count)]
        if coding == 1:
            return self.runs(count)
        if coding == 2:
            values = [self.varint() for _ in range(self.varint())]
            return [values[index] for index in self.take(count)]
        return self.classes(count)

    def table(self):
        """The description of the records of a kind."""
        kind, form, units, count = struct.unpack("<HBBB", self.take(5))
        return {"kind": kind, "form": form, "bytes": 4 * units, "columns": [self.take(6) for _ in range(count)]}

    def slot(self, memory, key, values):
        """Index of a slot, and the memory."""
        index = 0 if key == 255 else (values[key] * 0x9e3779b97f4a7c15 % MODULUS) >> 55
        return self.memories[memory], index

    def predict(self, column, values):
        """The predicted value of a column."""
        _, predictor, key, memory, _, _ = column
        if predictor == 0:
            return 0
        if predictor == 1:
            return self.end
        if predictor == 2:
            return values[key]
        slots, index = self.slot(memory, key, values)
        return slots[index] + (values[0] if predictor == 5 else 0)

    def remember(self, table, values):
        """Update the memories after a record."""
        self.end = (values[0] + (values[1] if table["form"] > 1 else 0)) % MODULUS
        for value, (_, predictor, key, memory, plus, also) in zip(values, table["columns"]):
            if predictor < 3 or (predictor == 4 and not value):
                continue
            if predictor == 5:
                value += values[2] - self.end
            elif plus != 254:
                value += values[plus]
            slots, index = self.slot(memory, key, values)
            slots[index] = value % MODULUS
            if also != 254:
                slots, index = self.slot(memory + 1, also, values)
                slots[index] = value % MODULUS

    def record(self, table):
        """The next record of a table."""
        tail = table["tails"].pop()
        if table["form"] == 0:
            return self.take(tail)
        fields, values = bytearray(table["bytes"]), []
        for column, numbers in zip(table["columns"], table["lists"]):
            number = numbers.pop()
            width = 8 if column[0] & 128 else 4
            value = self.predict(column, values) + (-(number + 1) // 2 if number % 2 else number // 2)
            values.append(value % (1 << 8 * width))
            place = 4 * (column[0] & 127)
            fields[place:place + width] = values[-1].to_bytes(width, "little")
        self.remember(table, values)
        return struct.pack("<HHHH", 8 + len(fields) + tail, table["kind"], tail, 0) + fields + self.take(tail)

    def records(self, count):
        """All records."""
        tables = [self.table() for _ in range(self.take(1)[0])]
        order = self.list(count)
        for index, table in enumerate(tables):
            table["lists"] = [self.list(order.count(index))[::-1] for _ in table["columns"]]
            table["tails"] = self.list(order.count(index))[::-1]
        records = [self.record(tables[index]) for index in order]
        if self.at != len(self.content):
            raise ValueError("bytes behind the last tail")
        return records


def layouts_of(schema):
    """The fields of each kind, from the schema of a trace: by id its name, and the formats of the fields for struct."""
    kinds = {}
    for words in map(str.split, schema.splitlines()):
        if words[0] == "record":
            kind = kinds[int(words[1])] = (words[2], [])
        elif words[0] == "field":
            kind[1].append({"u32": "I", "s32": "i", "u64": "Q", "s64": "q"}[words[1]])
    return kinds


def records_of(path):
    """All records of a trace, as name, values and tail; and the number of its chunks of columns."""
    content, found, columns = path.read_bytes(), [], 0
    at = 64 + struct.unpack_from("<I", content, 20)[0]
    kinds = layouts_of(content[64:at].decode())
    while at < len(content):
        _, kind, codec, _, stored, raw, _, count = struct.unpack_from("<IBBHIIII", content, at)
        payload = content[at + 64:at + 64 + stored]
        at += 64 + stored
        if kind != 1:
            continue
        if codec == 2:
            columns += 1
            found += Columns(decompress(payload[4:], struct.unpack_from("<I", payload)[0])).records(count)
            continue
        payload = decompress(payload, raw) if codec else payload
        while payload:
            length = struct.unpack_from("<H", payload)[0]
            found.append(payload[:length])
            payload = payload[length:]
    return [parse(kinds, record) for record in found], columns


def parse(kinds, record):
    """A record on the wire as name, values and tail."""
    length, kind, tail, _ = struct.unpack_from("<HHHH", record)
    name, formats = kinds[kind]
    return name, struct.unpack("<" + "".join(formats), record[8:length - tail]), bytes(record[length - tail:])


def place(record):
    """For the order of records: name, tail and time."""
    return record[0], record[2], record[1][0]


class Format(unittest.TestCase):
    """Golden traces, written anew."""

    def check(self, copy):
        """Compare all records of a trace with those of the library, which leaves out values that are not known."""
        found, columns = records_of(copy)
        with iotape.open(copy) as trace:
            expected = sorted(((record.kind.name, tuple(record[name] for name in record), record.tail) for record in trace),
                              key=place)
        self.assertEqual(len(found), len(expected))
        for one, other in zip(sorted(found, key=place), expected):
            self.assertEqual(place(one), place(other))
            self.assertEqual([None if known is None else value for value, known in zip(one[1], other[1])], list(other[1]))
        return columns, len(found)

    def test_columns_are_decoded_as_documented(self):
        directory = golden.scratch(self)
        columns = total = 0
        for path in golden.TRACES:
            copy = directory / path.name
            if golden.run("anonymize", "-q", path, "-o", copy)[0]:
                continue  # outcomes of replays
            with self.subTest(path.name):
                chunks, records = self.check(copy)
                columns += chunks
                total += records
        self.assertGreater(columns, 5)
        self.assertGreater(total, 2000)


if __name__ == "__main__":
    unittest.main()
