#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Who waits for whom: which rank of an MPI job arrives late at which calls, and how long the others wait."""
import argparse
import sys

import iotape


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace")
    arguments = parser.parse_args()
    with iotape.open(arguments.trace) as trace:
        stat = trace.stat(waits=True)
        for omission in trace.omissions:
            print(f"# {omission.sentence}")
    if not stat.late_arrivals or not stat.late_arrivals.json["waits"]:
        print("no rank waits for another")
        return
    frame = stat.late_arrivals.waits
    pairs = frame.groupby(["waiting_rank", "late_rank"])[["times", "waited_ns"]].sum()
    print(f"{'waiting rank':>12} {'late rank':>10} {'times':>8} {'waited ms':>12}")
    for (waiting, late), row in pairs.sort_values("waited_ns", ascending=False).iterrows():
        print(f"{waiting:12} {late:10} {row.times:8} {row.waited_ns / 1e6:12.3f}")
    print(f"total {frame.waited_ns.sum()} ns")


if __name__ == "__main__":
    try:
        main()
    except iotape.TraceError as error:
        sys.exit(f"waits: {error}")
