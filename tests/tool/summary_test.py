"""sampan run --summary: the table at the end of a program, and advice where something is plainly slow."""

import re
import unittest

from tool import PROGRAMS, sampan

TRACEE = PROGRAMS / "tool_tracee"


def run_summarised(*words):
    result = sampan("run", "--summary", "--", TRACEE, *words)
    return result.returncode, result.stdout, result.stderr


def rows(text):
    """(operation, path) -> (copies, bytes, time, bandwidth), as printed."""
    found = {}
    for line in text.splitlines():
        cells = re.split(r"  +", line.strip())
        if len(cells) == 6 and cells[0] != "operation":
            found[cells[0], cells[1]] = tuple(cells[2:])
    return found


def advice(text):
    return [line.strip() for line in text.splitlines() if line.strip().startswith("advice:")]


class SummaryTest(unittest.TestCase):
    def test_the_table_counts_what_was_copied(self):
        code, _, text = run_summarised("everything")
        self.assertEqual(code, 0, text)
        table = rows(text)
        self.assertEqual(table["host to device", "at once"][:2], ("100", "6.25 KiB"))
        self.assertEqual(table["host to device", "blocking"][:2], ("41", "41 MiB"))
        self.assertEqual(table["device to host", "shared"][:2], ("2", "5 MiB"))
        self.assertEqual(table["device to device", "shared"][:2], ("1", "1 MiB"))
        # Its stream is idle by then, or not yet.
        short = table.get(("device to device", "at once")) or table["device to device", "engine"]
        self.assertEqual(short[:2], ("1", "4 KiB"))
        self.assertEqual(table["fill", "shared"][:2], ("1", "1 MiB"))
        self.assertIn("1 of them failed", text)
        self.assertIn("asynchronous copies with pageable memory: 1, of which 1 (100 %) blocked the host", text)
        self.assertRegex(text, r"the host waited [0-9.]+ [mun]?s: ")

    def test_the_deepest_queue(self):
        _, _, text = run_summarised("full")
        self.assertRegex(text, r"deepest queue: 179[23] tasks \(device 0, stream ")
        self.assertRegex(text, r"[1-9][0-9.]* [mu]s for room in full queues")
        self.assertEqual(advice(text), [])  # copies of 128 KiB are nothing to merge

    def test_advice_to_merge_small_copies(self):
        _, _, text = run_summarised("many", "5000")
        (only,) = advice(text)
        # Copies of 64 B and now and then a larger one, which is in no run if the machine lets it wait.
        size = "(6[4-9]|[7-9][0-9]|1[0-9]{2}) B"
        self.assertRegex(only, rf"Stream \d+ of device 0 got \d+ copies host to device of {size} on average")
        self.assertIn("aclrtMemcpyBatchAsync", only)

    def test_advice_to_use_pinned_memory(self):
        _, _, text = run_summarised("pageable")
        (only,) = advice(text)
        self.assertIn("10 copies between host and device used pageable memory: 80 MiB in ", only)
        self.assertIn("10 asynchronous calls had to copy before they returned", only)
        self.assertIn("aclrtMallocHost", only)
        self.assertIn("10, of which 10 (100 %) blocked the host", text)

    def test_advice_to_use_a_second_stream(self):
        _, _, text = run_summarised("there")
        (only,) = advice(text)
        self.assertRegex(only, r"Stream \d+ of device 0 copied [0-9.]+ ms to the device and [0-9.]+ ms back")

    def test_a_program_that_copies_nothing(self):
        _, _, text = run_summarised("aborted")
        self.assertIn("nothing was copied", text)
        self.assertEqual(advice(text), [])

    def test_output_of_the_program_is_its_own(self):
        _, out, _ = run_summarised("many", "3000")
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["ready", "copied"])


if __name__ == "__main__":
    unittest.main()
