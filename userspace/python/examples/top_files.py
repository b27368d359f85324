#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The files on which a trace spent most time in operations, batch by batch, so that memory does not grow with it."""
import argparse
import sys

import iotape
import numpy


def printable(path):
    """A path on one line: control characters, and bytes that are not UTF-8, are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace")
    parser.add_argument("-n", type=int, default=10, help="number of files, 0 for all (default: 10)")
    arguments = parser.parse_args()
    count, time_ns, moved, paths, unnamed = numpy.zeros(0), numpy.zeros(0), numpy.zeros(0), [], 0
    with iotape.open(arguments.trace) as trace:
        for batch in trace.batches("path", "duration_ns", "moved_bytes"):
            paths = batch.words("path")
            path = batch.codes("path")
            of = path.compressed().astype(int)
            unnamed += int(path.mask.sum())
            weights = [numpy.nan_to_num(batch.floats(name))[~path.mask] for name in ("duration_ns", "moved_bytes")]
            sums = [numpy.bincount(of, weight, len(paths)) for weight in (numpy.ones(len(of)), *weights)]
            count, time_ns, moved = (numpy.append(old, numpy.zeros(len(paths) - len(old))) + new
                                     for old, new in zip((count, time_ns, moved), sums))
        for omission in trace.omissions:
            print(f"# {omission.sentence}")
    order = sorted(range(len(paths)), key=lambda i: (-time_ns[i], paths[i]))
    print(f"{'operations':>10} {'ms':>12} {'KiB':>12}  file")
    for i in order[:arguments.n or None]:
        print(f"{int(count[i]):10} {time_ns[i] / 1e6:12.3f} {moved[i] / 1024:12.1f}  {printable(paths[i])}")
    if unnamed:
        print(f"{unnamed:10} {'':12} {'':12}  (operations on files without a known name)")


if __name__ == "__main__":
    try:
        main()
    except iotape.TraceError as error:
        sys.exit(f"top_files: {error}")
