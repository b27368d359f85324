#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Read logs as the method recorder_io_workload of CODES does, and print what it would simulate.

    codes.py DIRECTORY RANKS

Written from the rules of the reader of CODES: words end at blanks, commas and parentheses, times count from the first line, and
a barrier is added before an open without O_CREAT. Fails where the reader would.
"""
import re
import sys

O_CREAT = 0o100
OPERATIONS_MAX = 2048
NEGLIGIBLE_S = 0.00001


def operations(path):
    """Yield kind, bytes, begin and end in seconds of each operation."""
    begin = None
    descriptors = set()
    opened = False
    for line in open(path):
        words = re.split(r"[ ,()\n]+", line.strip())
        if words[0] == "BARRIER":
            yield "barrier", 0, 0.0, 0.0
            continue
        time, call = float(words[0]), words[1]
        begin = time if begin is None else begin
        time -= begin
        if call == "open":
            flags, descriptor, duration = int(words[3]), int(words[5]), float(words[6])
            if not flags & O_CREAT:
                yield "barrier", 0, time, time
            descriptors.add(descriptor)
            opened = True
            yield "open", 0, time, time + duration
        elif call == "close":
            descriptors.remove(int(words[2]))
            yield "close", 0, time, time + float(words[4])
        elif call in ("read", "write"):
            assert int(words[2]) in descriptors, line
            yield call, int(words[4]), time, time + float(words[7])
    assert opened, path


def main():
    counts = dict.fromkeys(["open", "close", "read", "write", "barrier"], 0)
    moved = {"read": 0, "write": 0}
    delay_s = 0.0
    for rank in range(int(sys.argv[2])):
        last = 0.0
        for number, (kind, size, begin, end) in enumerate(operations("%s/log.%d" % (sys.argv[1], rank))):
            assert number < OPERATIONS_MAX
            counts[kind] += 1
            if kind in moved:
                moved[kind] += size
            if begin - last > NEGLIGIBLE_S:
                delay_s += begin - last
            last = end
    print(" ".join("%s=%d" % item for item in counts.items()), "read_bytes=%d write_bytes=%d delay_ms=%d" % (
        moved["read"], moved["write"], round(1000 * delay_s)))


main()
