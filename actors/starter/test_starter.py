"""Runs the program on its input and compares what it prints: python3 -m unittest FOLDER/test_starter.py, or pytest."""

import unittest
from pathlib import Path

from dse.flows.run import run_file
from dse.run.options import RunOptions

HERE = Path(__file__).resolve().parent


class TestStarter(unittest.TestCase):
    """What the program prints."""

    def test_it_prints_what_is_expected(self) -> None:
        """Every line, in order: one actor prints."""
        report = run_file(str(HERE / "starter.xdf"), RunOptions())
        expected = (HERE / "expected" / "stdout.txt").read_text()
        self.assertEqual(report.result.stdout, expected)
        self.assertEqual(report.exit_code, 0)


if __name__ == "__main__":
    unittest.main()
