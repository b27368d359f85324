# SPDX-License-Identifier: GPL-2.0-only
"""Runs the tests of this directory, and prints TAP."""
import sys
import traceback
import unittest


class Result(unittest.TestResult):
    """A line for each test; what failed in it, subtests included, below as a comment."""

    def __init__(self):
        super().__init__()
        self.failed = False
        self._number = 0
        self._reports = []
        self._reason = None

    def startTest(self, test):
        super().startTest(test)
        self._reports = []
        self._reason = None

    def _report(self, test, error):
        text = "".join(traceback.format_exception(*error))
        self._reports.append(f"{test}\n{text}")

    def addError(self, test, err):
        self._report(test, err)
        if not isinstance(test, unittest.TestCase):  # of a class or a module: no test begins
            self.stopTest(test)

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        if err:
            self._report(subtest, err)

    def addSkip(self, test, reason):
        self._reason = reason

    def addUnexpectedSuccess(self, test):
        self._reports.append("a success was not expected")

    def stopTest(self, test):
        self._number += 1
        self.failed |= bool(self._reports)
        name = f"{test.id()}".replace("#", "")
        print(f"{'not ' if self._reports else ''}ok {self._number} - {name}"
              f"{' # SKIP ' + self._reason if self._reason else ''}")
        for line in "\n".join(self._reports).splitlines()[:60]:
            print(f"# {line}")
        self._reports = []
        sys.stdout.flush()


def main():
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(".")
    print("# suite: python")
    print(f"1..{suite.countTestCases()}")
    result = Result()
    suite.run(result)
    return 1 if result.failed else 0


sys.exit(main())
