"""sampan hosts check: two hosts, which are network namespaces; one host; and what it says when that fails."""

import collections
import itertools
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from tool import SAMPAN, SANITIZED, environment, sampan, two_hosts

DEVICES = {"SAMPAN_DEVICES": "1", "SAMPAN_DEVICE_MEMORY": "256M"}


class Owner:
    """The command on the first host."""

    def __init__(self, *before, seconds="60"):
        self.process = subprocess.Popen([*before, SAMPAN, "hosts", "check", "--seconds", seconds], env=environment(**DEVICES),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = ""
        for line in self.process.stdout:
            found = re.fullmatch(r"  sampan hosts check (\S+)\n", line)
            if found:
                self.address = found[1]
                break

    def end(self):
        out, err = self.process.communicate(timeout=90)
        return self.process.returncode, out, err

    def kill(self):
        self.process.kill()
        self.process.communicate()


class HostsTest(unittest.TestCase):
    def check(self, address, *before, **more):
        return subprocess.run([*before, SAMPAN, "hosts", "check", address], env=environment(**DEVICES, **more), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)

    def test_two_hosts(self):
        first, second = two_hosts(self)
        owner = Owner("ip", "netns", "exec", first)
        self.addCleanup(owner.kill)
        self.assertTrue(owner.address)
        result = self.check(owner.address, "ip", "netns", "exec", second)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^   4 KiB   write \S+ [mu]s, read \S+ [mu]s$")
        self.assertRegex(result.stdout, r"(?m)^  64 MiB   write \S+ GB/s, read \S+ GB/s$")
        self.assertIn("every byte was right", result.stdout)
        self.assertNotIn("one host", result.stdout)
        code, out, err = owner.end()
        self.assertEqual((code, err), (0, ""))
        self.assertIn("has copied", out)
        # Its process is gone now.
        late = self.check(owner.address, "ip", "netns", "exec", second)
        self.assertEqual((late.returncode, late.stdout), (1, ""))
        self.assertIn("10.214.0.1:", late.stderr)
        self.assertIn("cannot be reached", late.stderr)

    def test_the_other_host_is_a_lane_of_the_trace(self):
        first, second = two_hosts(self)
        owner = Owner("ip", "netns", "exec", first)
        self.addCleanup(owner.kill)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        trace = pathlib.Path(folder.name) / "peer.json"
        result = self.check(owner.address, "ip", "netns", "exec", second, SAMPAN_TRACE=str(trace), SAMPAN_SUMMARY="1")
        self.assertEqual(result.returncode, 0, result.stderr)
        events = json.loads(trace.read_text())
        area = next(event["pid"] for event in events if event["name"] == "process_name" and event["args"]["name"] == "Other hosts")
        rows = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name" and event["pid"] == area}
        name = f"process {owner.process.pid} on host 10.214.0.1"
        transfers = [event for event in events if event["ph"] == "X" and event["pid"] == area]
        self.assertEqual({event["name"] for event in transfers}, {"PEER_WRITE", "PEER_READ"})
        for event in transfers:
            facts = event["args"]
            self.assertTrue(facts["peer"].startswith(name), facts)
            self.assertTrue(rows[event["tid"]].startswith(facts["peer"]))
            frames = facts["on the wire(B)"] - facts["size(B)"]  # at least a header there and one back
            self.assertTrue(64 <= frames <= 80 + facts["size(B)"] // 1024, facts)
        for one, other in itertools.combinations(sorted((e["tid"], e["ts"], e["dur"]) for e in transfers)[:2000], 2):
            if one[0] == other[0]:
                self.assertLessEqual(one[1] + one[2], other[1] + 0.002)
                break
        tasks = [event for event in events if event["ph"] == "X" and "Task Type" in event["args"]]
        through = [event for event in tasks if event["args"].get("path") == "network"]
        sizes = collections.Counter(event["args"]["size(B)"] for event in through if event["name"] == "MEMCPY_ASYNC")
        word = 8  # that tells the owner of the end
        self.assertEqual(sizes, collections.Counter(e["args"]["size(B)"] for e in transfers if e["args"]["size(B)"] != word))
        self.assertNotIn("HOST_FUNC", {event["name"] for event in tasks})
        line = rf"(?m)^  {re.escape(name)}\S*.*: {len(transfers)} transfers, \S+ \S+ in .*, \S+ \S+ on the wire$"
        self.assertRegex(result.stderr, line)
        page = sampan("report", trace)
        self.assertEqual(page.returncode, 0, page.stderr)

    def test_one_host(self):
        owner = Owner()
        self.addCleanup(owner.kill)
        result = self.check(owner.address)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("Both are one host", result.stdout)
        self.assertEqual(owner.end()[0], 0)

    def test_a_damaged_address_is_refused(self):
        owner = Owner()
        self.addCleanup(owner.kill)
        middle = len(owner.address) // 2
        other = "0" if owner.address[middle] != "0" else "1"
        result = self.check(owner.address[:middle] + other + owner.address[middle + 1:])
        self.assertEqual(result.returncode, 1)
        self.assertIn("damaged", result.stderr)
        for text in ("10.0.0.1", "1-xyz", "1-123", "-12", ""):
            result = self.check(text)
            self.assertEqual(result.returncode, 2, text)
            self.assertIn("'sampan hosts check'", result.stderr)

    def test_no_other_host_comes(self):
        owner = Owner(seconds="0.2")
        code, _, err = owner.end()
        self.assertEqual(code, 1)
        self.assertIn("no other process has imported", err)

    @unittest.skipIf(SANITIZED, "mounts over libraries")
    def test_without_libfabric_the_message_names_the_package(self):
        hide = "for file in /usr/lib/*/libfabric.so.1 /usr/lib64/libfabric.so.1; do [ ! -e $file ] || mount --bind /dev/null $file || exit 77; done; "
        words = ["unshare", "-m", "sh", "-c", hide + 'exec "$@"', "sh", SAMPAN]
        info = subprocess.run([*words, "info", "--json"], env=environment(), capture_output=True, text=True, timeout=120, check=False)
        if info.returncode != 0:
            self.skipTest("libraries cannot be hidden here: root and the command unshare are needed")
        facts = json.loads(info.stdout)["hosts"]
        self.assertEqual(facts["provider"], "")
        self.assertIn("libfabric1", facts["reason"])
        result = subprocess.run([*words, "hosts", "check"], env=environment(), capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("install it (Debian: libfabric1)", result.stderr)

    def test_info_names_the_provider(self):
        facts = json.loads(sampan("info", "--json").stdout)["hosts"]
        self.assertEqual((facts["provider"], facts["reason"]), ("tcp", ""))
        self.assertRegex(facts["libfabric"], r"^\d+\.\d+$")
        self.assertIn(f"libfabric {facts['libfabric']}, provider tcp, at {facts['address']}", sampan("info").stdout)
