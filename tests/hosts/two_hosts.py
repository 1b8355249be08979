"""Two network namespaces joined by a cable: two hosts on one machine, for tests in Python."""

import os
import subprocess

ADDRESSES = ("10.214.0.1", "10.214.0.2")
CANNOT = "network namespaces cannot be made here: root and the command ip are needed"


def ip(*words):
    try:
        return subprocess.run(["ip", *words], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0
    except FileNotFoundError:
        return False


class TwoHosts:
    """The namespaces, until close(). Without any if the system does not allow it."""

    def __init__(self):
        self.names = tuple(f"sampan-py-{os.getpid()}-{name}" for name in "ab")
        first, second = self.names
        self.made = ip("netns", "add", first) and ip("netns", "add", second)
        self.made = self.made and ip("-n", first, "link", "add", "sam0", "type", "veth", "peer", "name", "sam0", "netns", second)
        for name, address in zip(self.names, ADDRESSES):
            self.made = self.made and ip("-n", name, "addr", "add", address + "/24", "dev", "sam0")
            self.made = self.made and ip("-n", name, "link", "set", "sam0", "up") and ip("-n", name, "link", "set", "lo", "up")

    def close(self):
        for name in self.names:
            ip("netns", "del", name)
