#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Bandwidth over time: the bytes that reads and writes of a trace moved, in intervals of equal length."""
import argparse
import sys

import iotape
import numpy

MIB = 1 << 20
BAR = 40


def moved_until(columns, times_ns):
    """Bytes moved before each of the times, if each operation moved its bytes evenly between begin and end."""
    begin = columns["begin_ns"].data.astype(float)
    length = columns["end_ns"].data.astype(float) - begin
    moved = columns.floats("moved_bytes")
    for time_ns in times_ns:
        done = numpy.where(length > 0, (time_ns - begin) / numpy.where(length > 0, length, 1), time_ns > begin)
        yield (numpy.clip(done, 0, 1) * moved).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace")
    parser.add_argument("--intervals", type=int, default=20, choices=range(1, 1001), metavar="N")
    arguments = parser.parse_args()
    with iotape.open(arguments.trace) as trace:
        columns = {kind: trace.columns("begin_ns", "end_ns", "moved_bytes", kinds=kind) for kind in ("read", "write")}
        for omission in trace.omissions:
            print(f"# {omission.sentence}")
    with_rows = [part for part in columns.values() if part.rows]
    if not with_rows:
        sys.exit(f"{arguments.trace}: no reads and no writes")
    first = float(min(part["begin_ns"].min() for part in with_rows))
    last = float(max(part["end_ns"].max() for part in with_rows))
    # one nanosecond more: the last interval contains the end
    edges = numpy.linspace(first, numpy.nextafter(last, numpy.inf) + 1, arguments.intervals + 1)
    seconds = (edges[1] - edges[0]) / 1e9
    sums = {kind: numpy.diff(list(moved_until(part, edges))) / MIB for kind, part in columns.items()}
    most = max(sums["read"] + sums["write"]) or 1
    print(f"{'seconds':>10} {'read MiB/s':>12} {'write MiB/s':>12}")
    for edge, read, write in zip(edges, sums["read"], sums["write"]):
        bar = "#" * round(BAR * (read + write) / most)
        print(f"{(edge - first) / 1e9:10.3f} {read / seconds:12.3f} {write / seconds:12.3f} {bar}".rstrip())
    print(f"total {sums['read'].sum():.6f} MiB read, {sums['write'].sum():.6f} MiB written")


if __name__ == "__main__":
    try:
        main()
    except iotape.TraceError as error:
        sys.exit(f"bandwidth: {error}")
