"""Raw findings, as a program under check writes them (src/check/findings/findings_file.h): for tests of the command alone.

As a program: raw_findings.py FILE writes the lines of FILE for its own process and exits as its last line says.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve()
SUBJECT = pathlib.Path(os.environ.get("TOOL_TEST_BUILD", "/nonexistent")) / "tests" / "tool" / "tool_check_subject"
SOURCE = HERE.parent / "check_subject.cc"


def symbols(program=SUBJECT):
    lines = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return {words[2]: int(words[0], 16) for words in map(str.split, lines) if len(words) == 3}


def line_of(place):
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), start=1) if line.endswith(f"// place: {place}"))


def module(path=SUBJECT, build_id="", number=0):
    return {"type": "module", "id": number, "path": str(path), "build_id": build_id, "base": "0x1000"}


def program(*argv):
    return {"type": "program", "version": 1, "argv": list(argv) or ["app"], "backend": "emulated"}


def access(stack, call="aclrtMemcpyAsync", does="write", stream=3, begin=0, end=4096, **more):
    return {"call": call, "does": does, "device": None if stream is None else 0, "stream": stream, "entry": None, "thread": 1,
            "begin": begin, "end": end, "stack": stack, **more}


def host(stack, does="read", begin=128, end=132, **more):
    return access(stack, call=None, does=does, stream=None, begin=begin, end=end, **more)


def buffer(stack, what="pinned host memory", device=None, size=4096):
    return {"what": what, "device": device, "address": "0x7f0000001000", "bytes": size, "call": "aclrtMallocHost", "stack": stack}


def finding(number, accesses, kind="host-read-before-sync", severity="error", of=None, overlap=(128, 132), **more):
    return {"type": "finding", "number": number, "kind": kind, "severity": severity, "message": "the host reads in {1} what the copy of {0} writes",
            "fix": "call aclrtSynchronizeStream(stream) before {1}", "buffer": of,
            "overlap": None if overlap is None else {"begin": overlap[0], "end": overlap[1]}, "accesses": accesses, **more}


def count(number, times):
    return {"type": "count", "number": number, "count": times}


END = {"type": "end", "reason": "exit"}


def write(lines):
    """Plays a program: writes the lines and does what the others say."""
    file = os.open(os.environ["SAMPAN_CHECK_FINDINGS"], os.O_WRONLY | os.O_APPEND)
    for line in lines:
        if "text" in line:  # as it is
            os.write(file, line["text"].encode())
        elif "type" in line:
            os.write(file, (json.dumps({"pid": os.getpid(), **line}) + "\n").encode())
        elif "only_under" in line:
            if os.environ.get("SAMPAN_SCHEDULE") != line["only_under"]:
                return 0
        elif "say" in line:
            print(os.environ.get("SAMPAN_SCHEDULE"), flush=True)
        elif "until" in line:
            while not os.path.exists(line["until"]):
                time.sleep(0.01)
        elif "signal" in line:
            if line["signal"] != signal.SIGKILL:
                signal.signal(line["signal"], signal.SIG_DFL)
            os.kill(os.getpid(), line["signal"])
        else:
            return line["status"]
    return 0


if __name__ == "__main__":
    sys.exit(write(json.loads(pathlib.Path(sys.argv[1]).read_text())))
