# SPDX-License-Identifier: GPL-2.0-only
"""Columns and DataFrames, compared with `iotape dump --json` and `iotape stat --json`."""
import collections
import importlib.util
import sys
import unittest
from unittest import mock

import golden
import iotape
import numpy
import pandas


def operations(path):
    return [line for line in golden.dump(path)[0] if iotape.kinds[line["kind"]].is_operation]


class Numbers(unittest.TestCase):
    """Columns of the golden traces."""

    def test_every_numeric_field_of_operations_is_that_of_the_dump(self):
        for path in golden.TRACES:
            with self.subTest(path.name), iotape.open(path) as trace:
                lines = operations(path)
                names = sorted({name for line in lines for name, value in line.items() if isinstance(value, int)} -
                               {"path_generation", "op_kind", "name", "new_name", "old_name"})
                columns = trace.columns("kind", "path", *names)
                self.assertEqual(columns["kind"].tolist(), [line["kind"] for line in lines])
                self.assertEqual([path or "" for path in columns["path"].tolist()], [line["path"] for line in lines])
                for name in names:
                    for got, line in zip(columns[name].tolist(), lines):
                        if name not in line:
                            self.assertIsNone(got)
                        elif got is None:
                            self.assertEqual(line[name], 0)  # too new for the trace, or not known
                        elif isinstance(line[name], int):
                            self.assertEqual(got, line[name])

    def test_records_and_columns_know_the_same(self):
        masked = 0
        for path in golden.TRACES:
            with self.subTest(path.name), iotape.open(path) as trace:
                for kind in iotape.kinds.values():
                    records = list(trace.records(kind, paths=False))
                    columns = trace.columns(*kind.fields, kinds=kind)
                    for name in kind.fields:
                        self.assertEqual(columns[name].tolist(), [record[name] for record in records], name)
                        masked += int(columns[name].mask.sum())
        self.assertGreater(masked, 100)

    def test_sums_are_those_of_stat(self):
        compared = 0
        for path in golden.TRACES:
            with self.subTest(path.name), iotape.open(path) as trace:
                columns = trace.columns("kind", "result", "moved_bytes", "duration_ns")
                for name, row in golden.stat(path)["kinds"].items():
                    if not iotape.kinds[name].is_operation or name in ("complete", "submit"):
                        continue
                    of = columns["kind"] == name
                    self.assertEqual(of.sum(), row["operations"], name)
                    self.assertEqual((columns["result"][of] < 0).sum(), row["failed"], name)
                    if row["time_ns"] is not None:
                        self.assertEqual(columns["duration_ns"][of].sum() or 0, row["time_ns"], name)
                    bytes_of = row["read_bytes"], row["written_bytes"], row["touched_bytes"]
                    self.assertIn(columns["moved_bytes"][of].sum(), (max(bytes_of), sum(bytes_of)), name)
                    compared += 1
        self.assertGreater(compared, 100)

    def test_batches_are_parts_of_the_whole(self):
        trace = iotape.open(golden.DIRECTORY / "operations.iot")
        whole = trace.columns("path", "kind", "handle")
        for rows in (1, 7, 113, 10000):
            batches = list(trace.batches("path", "kind", "handle", rows=rows))
            self.assertTrue(all(batch.rows == rows for batch in batches[:-1]))
            for name in whole:
                self.assertEqual([value for batch in batches for value in batch[name].tolist()], whole[name].tolist())
        with self.assertRaisesRegex(ValueError, "at least one row"):
            trace.batches(rows=0)

    def test_damaged_traces_give_rows_and_then_the_sentence(self):
        directory = golden.scratch(self)
        with_rows = 0
        for damage in golden.DAMAGES:
            for path in golden.TRACES[1::3]:
                path = golden.damaged(directory, path, *damage)
                with self.subTest(path.name):
                    lines, sentence = golden.dump(path)
                    rows, error = 0, ""
                    try:
                        for batch in iotape.open(path).batches("kind", "path", kinds=None, rows=5):
                            rows += batch.rows
                    except iotape.TraceError as failure:
                        error = str(failure)
                    self.assertEqual((rows, error), (len(lines), sentence))
                    with_rows += bool(rows and error)
                    if error:
                        with self.assertRaisesRegex(iotape.TraceError, "0x"):
                            iotape.open(path).columns(kinds=None)
        self.assertGreater(with_rows, 0)

    def test_an_unknown_column_is_refused(self):
        with self.assertRaisesRegex(iotape.TraceError, "operations.iot: unknown column 'lenght'"):
            iotape.open(golden.DIRECTORY / "operations.iot").columns("lenght")

    def test_a_trace_without_such_records_has_no_rows(self):
        columns = iotape.open(golden.DIRECTORY / "tree.iot").columns("kind", "path", "result", kinds="mpi_send")
        self.assertEqual((columns.rows, columns["path"].tolist(), columns["result"].tolist()), (0, [], []))
        self.assertEqual(len(columns.to_pandas()), 0)

    def test_types_hold_the_numbers(self):
        columns = iotape.open(golden.DIRECTORY / "operations.iot").columns("result", "handle", "offset_bytes")
        self.assertEqual((columns["result"].dtype, columns["handle"].dtype), (numpy.int64, numpy.uint64))

    def test_numbers_beyond_both_types_are_integers_of_python(self):
        # offset_bytes is signed in some kinds only
        from iotape.columns import ColumnReader  # pylint: disable=import-outside-toplevel
        kinds = iotape.select(None)
        signed = next(kind for kind in kinds if "offset_bytes" in kind.fields and kind.fields["offset_bytes"].is_signed)
        unsigned = next(kind for kind in kinds if "offset_bytes" in kind.fields and kind is not signed and
                        not kind.fields["offset_bytes"].is_signed)
        reader = ColumnReader(None, ["offset_bytes"], kinds, 2)
        of = numpy.array([signed.index, unsigned.index], numpy.uint64)
        known = numpy.ones(2, numpy.uint8)
        values = numpy.array([2**64 - 5, 2**64 - 5], numpy.uint64)
        self.assertEqual(reader._column("offset_bytes", values, known, of).tolist(), [-5, 2**64 - 5])
        values[1] = 7
        column = reader._column("offset_bytes", values, known, of)
        self.assertEqual((column.dtype, column.tolist()), (numpy.int64, [-5, 7]))


class Frames(unittest.TestCase):
    """pandas and Arrow."""

    def test_unknown_values_are_missing_in_frames(self):
        trace = iotape.open(golden.DIRECTORY / "operations.iot")
        columns = trace.columns("kind", "path", "length_bytes", "runtime_ns")
        frame = columns.to_pandas()
        self.assertEqual(frame["length_bytes"].isna().tolist(), columns["length_bytes"].mask.tolist())
        self.assertTrue(frame["runtime_ns"].isna().all())
        self.assertEqual(frame["kind"].astype(str).tolist(), columns["kind"].tolist())
        counted = frame.groupby("kind", observed=True).size().to_dict()
        self.assertEqual(counted, collections.Counter(line["kind"] for line in operations(trace.path)))
        floats = columns.floats("length_bytes")
        self.assertEqual(numpy.isnan(floats).tolist(), columns["length_bytes"].mask.tolist())

    def test_stat_is_that_of_the_program(self):
        path = golden.DIRECTORY / "operations.iot"
        stat = iotape.open(path).stat()
        expected = golden.stat(path)
        self.assertEqual(stat.json, expected)
        self.assertEqual(stat.seconds, expected["seconds"])
        self.assertEqual(stat.kinds.to_dict("index"), expected["kinds"])
        self.assertEqual(stat.files.to_dict("records"), expected["files"])
        self.assertIsInstance(stat.processes, pandas.DataFrame)
        groups = iotape.open(path).stat(by="file", sort="bytes", top=3, op="read,write").groups
        self.assertEqual(groups.to_dict("records"),
                         golden.stat(path, "--by=file", "--sort=bytes", "--top=3", "--op=read,write")["groups"])
        with self.assertRaisesRegex(AttributeError, "no member nonsense"):
            print(stat.nonsense)

    def test_unknown_sums_are_missing(self):
        stat = iotape.open(golden.DIRECTORY / "mpi.iot").stat(waits=True)
        self.assertTrue(stat.processes["storage_ns"].isna().all())
        self.assertEqual(str(stat.processes["mpi_ns"].dtype), "Int64")
        self.assertEqual(stat.late_arrivals.waits.to_dict("records"), stat.json["late_arrivals"]["waits"])

    def test_stat_fails_with_the_sentence_of_the_program(self):
        path = golden.damaged(golden.scratch(self), golden.DIRECTORY / "operations.iot", False, 0.7)
        with self.assertRaises(iotape.TraceError) as caught:
            iotape.open(path).stat()
        self.assertEqual(str(caught.exception), golden.run("stat", path)[2])
        with self.assertRaisesRegex(ValueError, "--by=nonsense: not operation"):
            iotape.open(golden.DIRECTORY / "operations.iot").stat(by="nonsense")

    def test_a_missing_module_is_named(self):
        columns = iotape.open(golden.DIRECTORY / "operations.iot").columns("result")
        with mock.patch.dict(sys.modules, {"pandas": None}), self.assertRaisesRegex(ImportError, "python3-pandas"):
            columns.to_pandas()
        with mock.patch.dict(sys.modules, {"pyarrow": None}), self.assertRaisesRegex(ImportError, "pyarrow is required"):
            columns.to_arrow()

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed, Debian has no package of it")
    def test_arrow_tables_have_nulls(self):
        columns = iotape.open(golden.DIRECTORY / "operations.iot").columns("path", "length_bytes", "result")
        table = columns.to_arrow()
        for name in columns:
            self.assertEqual(table[name].to_pylist(), columns[name].tolist())
