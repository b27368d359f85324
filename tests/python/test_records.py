# SPDX-License-Identifier: GPL-2.0-only
"""Records one by one, compared with `iotape dump --json`."""
import gc
import unittest

import golden
import iotape

UNKNOWN = {"handle": 0, "uid": 4294967295, "gid": 4294967295, "world": 0, "memory": 0, "woken_delay_ns": 0}


def shown(record, name):
    """A field as `iotape dump --json` prints it."""
    text = record.text(name)
    symbols = record.kind.fields[name].meaning
    return text if symbols in SYMBOLS else record[name]


#: Meanings whose values the dump prints as words.
SYMBOLS = {"reason", "whence", "type", "call", "verdict", "sources", "verb", "fileattrs", "attrs", "intents", "prot",
           "open_flags", "rw_flags", "rename_flags", "map_flags", "touch_flags", "falloc_flags", "lock_flags"}


class Records(unittest.TestCase):
    """Every field of every record of every golden trace."""

    def check_record(self, record, line):
        self.assertEqual(record.kind.name, line["kind"])
        if record.kind.is_operation:
            self.assertEqual(record.path or "", line["path"])
        if "tail" in line and record.tail_text != line["tail"]:
            self.assertEqual(record.tail.decode("utf-8", "surrogateescape"), line["tail"])
        self.assertEqual("tail" in line, record.tail != b"")
        for name, field in record.kind.fields.items():
            if field.meaning == "name":
                continue  # printed as a path
            if record[name] is None:
                self.assertIn(line[name], (0, UNKNOWN.get(name), field.text(0)), f"{name} is not known")
            else:
                self.assertEqual(shown(record, name), line[name], name)
                self.assertFalse(name in UNKNOWN and UNKNOWN[name] == record[name] and
                                 "not known" in field.sentence, f"{name} is not masked")

    def test_all_records_are_those_of_the_dump(self):
        total = 0
        for path in golden.TRACES:
            with self.subTest(path.name), iotape.open(path) as trace:
                lines, sentence = golden.dump(path)
                self.assertEqual(sentence, "")
                records = list(trace)
                self.assertEqual(len(records), len(lines))
                for record, line in zip(records, lines):
                    self.check_record(record, line)
                total += len(records)
        self.assertGreater(total, 3000)

    def test_damaged_traces_end_with_the_sentence_of_the_program(self):
        directory = golden.scratch(self)
        sentences = set()
        for damage in golden.DAMAGES:
            for path in golden.TRACES[::3]:
                path = golden.damaged(directory, path, *damage)
                with self.subTest(path.name):
                    lines, sentence = golden.dump(path)
                    count, error = self.read(path)
                    self.assertEqual((count, error), (len(lines), sentence))
                    sentences.add(error.rpartition(": ")[2])
        self.assertGreater(len(sentences), 3, sentences)

    @staticmethod
    def read(path):
        count = 0
        try:
            for _ in iotape.open(path).records():
                count += 1
        except iotape.TraceError as error:
            return count, str(error)
        return count, ""

    def test_kinds_are_selected_by_name_and_group(self):
        path = golden.DIRECTORY / "operations.iot"
        kinds = [line["kind"] for line in golden.dump(path)[0]]
        trace = iotape.open(path)
        self.assertEqual(sum(1 for _ in trace.records("read")), kinds.count("read"))
        self.assertEqual(sum(1 for _ in trace.records(["read", iotape.kinds["write"]])),
                         kinds.count("read") + kinds.count("write"))
        operations = [kind for kind in kinds if iotape.kinds[kind].is_operation]
        self.assertEqual([record.kind.name for record in trace.records("op")], operations)
        with self.assertRaisesRegex(ValueError, "no kind or group of records 'reed'"):
            trace.records("reed")

    def test_a_record_outlives_its_trace(self):
        with iotape.open(golden.DIRECTORY / "operations.iot") as trace:
            records = list(trace.records("read"))
        values = [dict(record) for record in records]
        del trace
        gc.collect()
        self.assertEqual([dict(record) for record in records], values)
        self.assertEqual(records[0].length_bytes, records[0]["length_bytes"])
        with self.assertRaisesRegex(AttributeError, "a record of kind read has no field size"):
            print(records[0].size)
        self.assertIn("read", repr(records[0]))

    def test_fields_that_the_trace_is_too_old_for_are_not_known(self):
        # runtime_ns came later than this trace
        record = next(iotape.open(golden.DIRECTORY / "operations.iot").records("read"))
        self.assertIsNone(record.runtime_ns)
        self.assertEqual(record.text("runtime_ns"), "?")
        record = next(iotape.open(golden.DIRECTORY / "requests.iot").records("op"))
        self.assertIsNotNone(record.runtime_ns)

    def test_a_log_does_not_show_costs(self):
        path = golden.scratch(self) / "log.iot"
        log = golden.DIRECTORY.parent / "import" / "names.strace"
        self.assertEqual(golden.run("import", "-q", "--root=/tmp/job/root", log, "-o", path)[0], 0)
        with iotape.open(path) as trace:
            records = list(trace.records("op"))
            columns = trace.columns("oncpu_ns", "switches", "result", "duration_ns")
        self.assertTrue(records)
        for record in records:
            self.assertIsNone(record.oncpu_ns)
            self.assertIsNone(record.switches)
            self.assertIsNotNone(record.result)
            self.assertNotEqual(record.duration_ns, 0)
        self.assertTrue(columns["oncpu_ns"].mask.all() and columns["switches"].mask.all())
        self.assertFalse(columns["result"].mask.any())
        self.assertEqual([value is None for value in columns["duration_ns"].tolist()],
                         [record.duration_ns is None for record in records])


class Traces(unittest.TestCase):
    """Opening, closing, and a trace as a whole."""

    def test_paths_are_text_bytes_or_path_objects(self):
        path = golden.DIRECTORY / "tree.iot"
        for form in (path, str(path), bytes(path)):
            with iotape.open(form) as trace:
                self.assertEqual(trace.record_count, len(golden.dump(path)[0]))

    def test_errors_have_the_sentence_of_the_library(self):
        with self.assertRaises(iotape.TraceError) as caught:
            iotape.open("/nonexistent")
        self.assertEqual(str(caught.exception), "/nonexistent: No such file or directory")
        self.assertEqual((caught.exception.errno, caught.exception.offset_bytes), (2, None))
        text = golden.scratch(self) / "text"
        text.write_bytes(b"x" * 100)
        with self.assertRaises(iotape.TraceError) as caught:
            iotape.open(text)
        self.assertEqual(str(caught.exception), f"{text}:0x0: not a trace")
        self.assertEqual(caught.exception.offset_bytes, 0)

    def test_a_closed_trace_is_not_read(self):
        with iotape.open(golden.DIRECTORY / "operations.iot") as trace:
            records, batches = trace.records(), trace.batches(rows=1)
            next(records)
            next(batches)
        for action in (lambda: next(records), lambda: next(batches), trace.records, trace.columns, trace.batches,
                       trace.stat, lambda: trace.facts):
            with self.assertRaisesRegex(ValueError, "the trace is closed"):
                action()
        trace.close()

    def test_several_readers_of_a_trace_are_independent(self):
        trace = iotape.open(golden.DIRECTORY / "operations.iot")
        first, second = trace.records(), trace.records()
        self.assertEqual([dict(next(first)) for _ in range(5)], [dict(next(second)) for _ in range(5)])

    def test_facts_omissions_and_losses_are_those_of_stat(self):
        for path in golden.TRACES:
            with self.subTest(path.name), iotape.open(path) as trace:
                stat = golden.stat(path)
                self.assertEqual(trace.facts, stat["facts"])
                self.assertEqual(trace.is_complete, stat["is_complete"])
                self.assertEqual(trace.lost, stat["lost"])
                self.assertEqual([(o.name, o.count, o.operations, o.bytes) for o in trace.omissions],
                                 [(o["reason"], o["count"], o["operations"], o["bytes"])
                                  for o in stat["omissions"]["reasons"]])

    def test_the_capture_is_that_of_the_dump(self):
        path = golden.DIRECTORY / "tree.iot"
        head = golden.run("dump", "--json-format=2", path)[1].split("\n", maxsplit=1)[0]
        self.assertIn(iotape.open(path).capture, head)
        self.assertIn(str(iotape.open(path).mono_ns), head)


class Schema(unittest.TestCase):
    """Names, sentences and units come from the library."""

    def test_kinds_and_fields_are_those_of_the_program(self):
        listed = golden.run("schema", "--markdown")[1]
        sentences = listed.replace("\\", "")
        for kind in iotape.kinds.values():
            self.assertIn(kind.name, listed)
            for name, field in kind.fields.items():
                self.assertIn(f"`{'kind' if name == 'op_kind' else name}`", listed)
                self.assertIn(field.sentence, sentences)
        self.assertGreater(len(iotape.kinds), 50)

    def test_names_end_with_their_units(self):
        fields = [field for kind in iotape.kinds.values() for field in kind.fields.values()]
        for field in fields:
            self.assertTrue(field.unit == "" or field.name.endswith("_" + field.unit))
            self.assertEqual(field.unit == "ns", field.meaning in ("instant", "wall", "stamp", "span") or
                             field.name.endswith("_ns"), field.name)
        self.assertEqual({field.unit for field in fields}, {"", "ns", "bytes", "pages"})

    def test_fields_do_not_hide_attributes_of_records(self):
        own = {name for name in dir(iotape.Record) if not name.startswith("__")}
        for kind in iotape.kinds.values():
            self.assertEqual(own & set(kind.fields), set(), kind.name)

    def test_values_are_printed_as_by_the_dump(self):
        read = iotape.kinds["read"].fields
        self.assertEqual(read["result"].text(-2), "ENOENT")
        self.assertEqual(iotape.kinds["open"].fields["mode"].text(0o640), "0640")
        with self.assertRaises(iotape.TraceError):
            read["task"].text(1 << 32)
