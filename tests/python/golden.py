# SPDX-License-Identifier: GPL-2.0-only
"""The golden traces, damaged copies, and what the program says of them."""
import functools
import json
import os
import pathlib
import subprocess
import tempfile

DIRECTORY = pathlib.Path(__file__).resolve().parent.parent / "golden"
TRACES = sorted(DIRECTORY.glob("*.iot"))
PROGRAM = os.environ["IOTAPE_PROGRAM"]
#: Of a mutated copy: share of the file at which a byte is changed, or the file is cut.
DAMAGES = [(cut, share) for cut in (False, True) for share in (0.0, 0.02, 0.4, 0.7, 0.99)]


def run(*arguments):
    """Run the program. Return: exit code, output, sentence on standard error without the name of the command."""
    result = subprocess.run([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    sentence = os.fsdecode(result.stderr).rstrip("\n")
    return result.returncode, result.stdout.decode(), sentence.removeprefix(f"iotape {arguments[0]}: ")


@functools.lru_cache(maxsize=None)
def dump(path):
    """Its records as objects, and the sentence with which the program stopped, "" at the end of the trace."""
    code, output, sentence = run("dump", "--all", "--json", path)
    lines = [json.loads(line) for line in output.splitlines()]
    return [line for line in lines if "omissions" not in line], sentence if code else ""  # else a remark


@functools.lru_cache(maxsize=None)
def stat(path, *options):
    """What `iotape stat --json` prints, as an object."""
    return json.loads(run("stat", "--json", *options, path)[1])


def damaged(directory, trace, cut, share):
    """A copy of a trace with a changed byte, or cut, at a share of its length."""
    content = bytearray(trace.read_bytes())
    at = int(len(content) * share)
    if cut:
        del content[at:]
    else:
        content[at] ^= 0x55
    path = pathlib.Path(directory) / f"{trace.stem}-{'cut' if cut else 'changed'}-{share}.iot"
    path.write_bytes(content)
    return path


def scratch(test):
    """A directory that is removed after the test."""
    directory = tempfile.TemporaryDirectory()
    test.addCleanup(directory.cleanup)
    return pathlib.Path(directory.name)
