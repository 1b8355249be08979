#!/usr/bin/env python3
"""Checks the layers: a folder under src/ is a layer, and a layer includes only what the table allows.

Also refused: reading the environment outside base/system/environment.cc, starting a thread outside base/threads/threads.h, a
source file whose first line is not a comment, a folder that the table does not know, a folder of tests/unit that mirrors none. Prints file:line and the reason for each finding; exits 1 if there are any.
"""

import argparse
import functools
import os
import pathlib
import re
import sys

# Layer -> what it may include besides itself. <acl> and <hccl> are the public headers under include/.
LAYERS = {
    "base": set(),
    "backend/api": {"base"},
    "observe": {"base", "backend/api"},
    "summary": {"base", "observe"},
    "trace": {"base", "backend/api", "observe", "summary"},
    "check": {"base", "backend/api", "observe"},
    "core": {"base", "backend/api", "observe"},
    "backend/emulated": {"base", "backend/api", "observe"},
    "backend/cuda": {"base", "backend/api", "observe"},
    "backend/fabric": {"base", "backend/api"},
    "process": {"base", "backend/api", "observe", "trace", "check", "backend/emulated", "backend/cuda",
                "backend/fabric", "core"},
    "acl": {"base", "observe", "core", "process", "<acl>"},
    "hccl": {"base", "<acl>", "<hccl>"},
    "collectives": {"base", "hccl", "<acl>", "<hccl>"},
}
ENVIRONMENT_READER = "base/system/environment.cc"
THREAD_STARTER = "base/threads/threads.h"
SOURCE_SUFFIXES = {".h", ".c", ".cc", ".cu"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
READS_ENVIRONMENT = re.compile(r"\b(?:secure_)?getenv\s*\(|\benviron\b")
# std::thread:: (hardware_concurrency, id) starts none.
STARTS_THREAD = re.compile(r"\bstd::(?:thread\b(?!::)|jthread\b|async\b)|\b(?:pthread|thrd)_create\b|\bSIGEV_THREAD\b")
LINE_COMMENT = re.compile(r"//.*$")

# Folders outside src/ -> what they may include besides themselves. A folder without a row belongs to the one above it.
OUTSIDE = {
    "examples": {"<acl>", "<hccl>"},
    "python": {"<acl>"},
    "bench": {"base", "backend/emulated", "backend/cuda", "examples", "<acl>", "<hccl>"},
    "tools/hccl_bench": {"examples", "bench"},
    "tools/sampan": {"base", "check", "summary", "trace", "backend/cuda", "backend/fabric", "examples", "bench", "<acl>", "<hccl>"},
    "tests/support": {"<acl>"},
    "tests/abi": {"<acl>", "<hccl>"},
    "tests/dropin": {"<acl>", "<aclnn>"},
    "tests/fuzz": {"acl", "base", "backend/cuda", "backend/fabric", "collectives", "core", "hccl", "tools/sampan", "<acl>", "<hccl>"},
    "tests/tool": {"<acl>"},
    "tests/check": {"<acl>", "<hccl>"},
    "tests/conformance": {"tests/support", "<acl>"},
    "tests/process": {"tests/support", "<acl>"},
    "tests/model": {"tests/support", "<acl>"},
    "tests/clients": {"tests/support", "<acl>"},
    "tests/hazards": {"tests/support", "<acl>"},
    "tests/regression": {"base", "backend/api", "core", "hccl", "tests/support", "tests/hccl", "<acl>", "<hccl>"},
    "tests/stress": {"tests/support", "<acl>"},
    "tests/hccl": {"tests/process", "tests/support", "<acl>", "<hccl>"},
    "tests/hosts": {"backend/fabric", "base", "tests/hccl", "tests/process", "tests/support", "<acl>", "<hccl>"},
    "tests/collectives": {"examples", "tests/hosts", "<hccl>"},
    "tests/libhccl": {"collectives", "examples", "tests/support", "tests/hosts", "<acl>", "<hccl>"},
    "tests/fault": {"process", "tests/support", "<acl>"},
    "tests/gpu": {"base", "backend/api", "backend/cuda", "process", "tests/support", "<acl>"},
    "tests/unit": {"base", "backend/api", "observe", "trace", "check", "backend/emulated", "backend/cuda", "core",
                   "tools/sampan", "tests/support", "<acl>"},
}
OUTSIDE_FOLDERS = ["examples", "python", "bench", "tools", "tests"]
# Where an include may begin, besides the folder of its file.
INCLUDE_FOLDERS = ["", "src", "include", "include/hccl", "include/hccl/platform", "examples/collectives",
                   "tools/sampan"]

# State that is not a member of an object belongs into process/, in src/ and in tools/. These may stay elsewhere,
# as (path, variable) -> reason.
GLOBALS_LAYER = "process"
ALLOWED_GLOBALS = {
    ("src/base/threads/thread_stripe.cc", "taken"): "which stripes have an owner, for counters in layers below process",
    ("src/base/threads/thread_stripe.h", "sharing_threads"): "numbers the threads for the stripes that they share",
    ("src/base/threads/thread_stripe.cc", "lease"): "gives the thread's own stripe back when it exits",
    ("src/base/threads/thread_stripe.h", "stripe_plus_one"): "every counted use of an allocation reads it, in layers below process",
    ("src/backend/api/running_task.h", "running_task"): "a fault happens on the thread that executes the task",
    ("src/base/threads/thread_sanitizer.h", "watched"): "the one word that layers test when no races are looked for",
    ("src/base/threads/thread_sanitizer.cc", "in_runtime"): "what ThreadSanitizer was told of the thread",
    ("src/base/threads/thread_sanitizer.cc", "own_code"): "where the library lies in memory",
    ("src/observe/observers.h", "state"): "the one word that a hook tests when nothing observes",
    ("src/observe/observers.h", "observers"): "layers below process tell the observers of the process",
    ("src/observe/hooks.h", "this_thread"): "what a thread says of its task, in layers below process, before an event tells it",
    ("src/observe/hooks.cc", "taken"): "numbers the tasks of all threads while they are observed",
    ("src/observe/event_clock.h", "event_clock"): "layers below process read it for each event",
    ("src/trace/session.cc", "the_session"): "the exit of the process and a forked child reach it",
    ("src/trace/session.cc", "this_thread"): "the buffer of the thread, which is written without a lock",
    ("src/trace/session.cc", "leaver"): "its destructor hands in the buffer when the thread exits",
    ("src/check/checker.cc", "thread_mark"): "what a signal handler has to know of its thread",
    ("src/check/checker.cc", "threads"): "numbers the threads of the program in findings",
    ("src/check/host/host_faults.cc", "watched_signals"): "signals belong to the process",
    ("src/check/host/host_faults.cc", "last_fault"): "the thread's last fault, for a signal handler",
    ("src/check/host/host_aliases.cc", "moving_begin"): "the pages on their way, for threads that fault on them",
    ("src/check/session.cc", "the_aliases"): "one for the process, like the checker",
    ("src/check/findings/thread_owned.h", "slot"): "what a thread keeps, also while its objects are destroyed",
    ("src/check/findings/thread_owned.h", "owner"): "deletes it",
    ("src/check/host/page_guard.cc", "changes"): "tells a signal handler whether another thread has changed pages",
    ("src/check/host/page_guard.cc", "step_window"): "the pages that the thread opened for one instruction",
    ("src/check/session.cc", "the_report"): "one for the process, like the checker",
    ("src/check/session.cc", "the_checker"): "signal handlers, the exit of the process and a forked child reach it",
    ("src/check/findings/stacks.cc", "own_code"): "where our libraries lie in memory",
    ("src/check/findings/stacks.cc", "c_library"): "the same of the C library",
    ("src/check/host/system_calls.cc", "redirector"): "the loaded files whose calls are redirected",
    ("src/core/streams/stream.cc", "last_queue"): "numbers the queues of all devices",
    ("src/core/streams/stream.cc", "number"): "gettid is a system call, and each submission asks for the number",
    ("src/backend/emulated/kernels/line_kernels.cc", "g_active_kernels"): "which instructions the processor has; tests choose others",
    ("src/acl/objects/context.cc", "process_options"): "aclrtSetSysParamOpt works before there is a runtime",
    ("src/acl/objects/exception_info.cc", "only"): "the older call has one callback for the process, registered without a runtime",
    ("src/acl/objects/state_callback.cc", "the"): "state callbacks are registered before there is a runtime and outlive it",
    ("src/acl/init.cc", "the_state"): "counts aclInit and aclFinalize, which make and end the runtime",
    ("src/hccl/platform_state.cc", "the_platform"): "libhccl_plf is a library of its own: it cannot reach process/",
    ("src/hccl/platform_state.h", "the_platform"): "the same",
    ("src/collectives/board/own_range.cc", "known"): "libhccl is a library of its own: it cannot reach process/",
    ("src/collectives/calls/call_group.cc", "group"): "a group of calls belongs to the thread that began it",
    ("src/collectives/comm/registry.cc", "registry"): "libhccl is a library of its own: it cannot reach process/",
    ("src/collectives/board/board.cc", "mapped_boards"): "the same",
    ("src/collectives/comm/user_memory.cc", "memory"): "the same",
    ("src/collectives/far/far_memory.cc", "imports"): "the same",
    ("src/hccl/group/meeting_point.cc", "places"): "libhccl_plf is a library of its own: it cannot reach process/",
    ("src/acl/guard.cc", "hccl_watch_word"): "the one word that libhccl_plf tests when no one watches its calls",
    ("src/base/threads/fork_lock.cc", "mark"): "its pages are cleared in a forked child, which tells that it is one",
    ("src/base/threads/fork_lock.cc", "is_forked_child"): "the same where the system cannot clear pages",
    ("src/base/threads/fork_lock.cc", "list_lock"): "a fork waits for the locks of all layers, also before there is a runtime",
    ("src/base/threads/fork_lock.cc", "first"): "the list of those locks",
    ("src/base/time/local_time.cc", "local_offset_s"): "a forked child may not ask the C library for the time zone",
    ("src/base/log/log.cc", "known"): "log levels are read once, before there is a runtime",
    ("src/base/log/log.cc", "the_sink"): "lines are logged before there is a runtime and after it",
    ("src/base/threads/threads.h", "running"): "counts our threads, so that the process knows when the program's have ended",
    ("tools/sampan/replay/replay_run.cc", "current_device"): "which device a thread of a replay has made current",
}
VARIABLE = re.compile(
    r"^\s*(?:\[\[[^]]*\]\]\s*)*(?P<words>(?:(?:inline|static|constinit|extern|thread_local)\s+)*)"
    r"(?P<type>(?:const\s+)?(?:struct\s+)?[A-Za-z_][\w:]*(?:<[^;={}()]*>)?(?:::\w+)?(?:\s*(?:const\b|[*&]))*)\s+"
    r"(?P<name>\w+)(?:\[[^]]*\])*\s*(?:=(?!=)|\{|;|,)")
NO_VARIABLE = re.compile(
    r"(?:using|return|namespace|class|enum|union|typedef|constexpr|else|case|template|throw|friend|goto|delete)\b|struct$")
CONTRIBUTING = "CONTRIBUTING.md"


def layer_of(path):
    """The layer that a path relative to src/ belongs to, or None."""
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        name = "/".join(parts[:length])
        if name in LAYERS:
            return name
    return None


def check_include(layer, quoted, angled, root):
    """Why this include is refused, or None."""
    name = quoted or angled
    if not (root / "src" / name).is_file():
        if (root / "include" / name).is_file():
            public = f"<{name.split('/')[0]}>"
            return None if public in LAYERS[layer] else f"layer {layer} must not include the public header {name}"
        return None if angled else f'"{name}" is neither below src/ nor below include/'
    other = layer_of(name)
    if other == layer or other in LAYERS[layer]:
        return None
    allowed = ", ".join(sorted(LAYERS[layer])) or "nothing"
    return f'layer {layer} must not include "{name}" of layer {other}; besides itself it may include: {allowed}'


def check_file(path, name, layer, root):
    """Findings of one source file, as (line, reason)."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or not lines[0].startswith(("//", "/*")):
        yield 1, "the first line is not a comment that says what the file is for"
    for number, line in enumerate(lines, start=1):
        include = INCLUDE.match(line)
        if include:
            reason = check_include(layer, include[1], include[2], root)
            if reason:
                yield number, reason
            continue
        code = LINE_COMMENT.sub("", line)
        if name != ENVIRONMENT_READER and READS_ENVIRONMENT.search(code):
            yield number, f"only src/{ENVIRONMENT_READER} reads the environment"
        if name != THREAD_STARTER and STARTS_THREAD.search(code):
            yield number, f"only src/{THREAD_STARTER} starts threads: use StartThread, and Thread as the owner"


def outside_of(path):
    """The folder of OUTSIDE that a path relative to the root belongs to, or None."""
    parts = path.split("/")[:-1]
    names = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in OUTSIDE), None)


def owner_of(path):
    """The layer, outside folder or public interface that a path relative to the root belongs to, or None."""
    top, _, rest = path.partition("/")
    if top == "include":
        return f"<{rest.split('/')[0]}>"
    return layer_of(rest) if top == "src" else outside_of(path)


@functools.lru_cache(maxsize=None)
def files_of(root):
    """The sources below the root, relative to it."""
    folders = ["src", "include", *OUTSIDE_FOLDERS]
    return {path.relative_to(root).as_posix() for path in sources_below(root, folders)}


@functools.lru_cache(maxsize=None)
def includes_of(path, root):
    """What a file includes of ours, as (line, path relative to the root)."""
    folders = [path.parent.relative_to(root).as_posix(), *INCLUDE_FOLDERS]
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        include = INCLUDE.match(line)
        if include is None:
            continue
        candidates = (os.path.normpath(os.path.join(folder, include[1] or include[2])) for folder in folders)
        name = next((candidate for candidate in candidates if candidate in files_of(root)), None)
        if name is not None:
            found.append((number, name))
    return found


def globals_of(path):
    """Mutable variables of a file that are not members, as (line, name). Sources are laid out by clang-format."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        code = LINE_COMMENT.sub("", line)
        variable = VARIABLE.match(code)
        if variable is None or NO_VARIABLE.match(variable["type"]):
            continue
        words = variable["words"].split()
        if code[0].isspace() and "static" not in words and "thread_local" not in words:
            continue  # a member or a local variable
        kind = variable["type"].strip()
        constant = kind.startswith("const ") and ("*" not in kind or kind.endswith("const"))
        if "thread_local" in words or not constant:
            yield number, variable["name"]


def check_globals(paths, root):
    """Globals without a reason, and reasons without a global."""
    unused = set(ALLOWED_GLOBALS)
    for path in paths:
        relative = path.relative_to(root).as_posix()
        for line, name in globals_of(path):
            unused.discard((relative, name))
            if (relative, name) not in ALLOWED_GLOBALS:
                yield path, line, (f"'{name}' is state of the process or of a thread outside src/{GLOBALS_LAYER}: make it "
                                   "a member, or give a reason in ALLOWED_GLOBALS of scripts/check_layers.py")
    for relative, variable in sorted(unused):
        yield pathlib.Path(__file__), 1, f"ALLOWED_GLOBALS has a reason for '{variable}' in {relative}, which has no such global"


def check_outside(sources, root):
    """Includes of sources outside src/ that the table does not allow."""
    for path in sources:
        owner = owner_of(path.relative_to(root).as_posix())
        if owner is None:
            yield path, 1, "this folder has no row in OUTSIDE of scripts/check_layers.py"
            continue
        for line, included in includes_of(path, root):
            other = owner_of(included)
            if other != owner and other not in OUTSIDE[owner]:
                allowed = ", ".join(sorted(OUTSIDE[owner])) or "nothing"
                yield path, line, f"{owner} must not include {included} of {other}; besides itself it may include: {allowed}"


def check_unit_tests(sources, root):
    """Unit tests whose folder mirrors none of src/ or tools/."""
    for path in sources:
        folder = path.relative_to(root).parent.as_posix()
        mirrored = folder.removeprefix("tests/unit/")
        if mirrored != folder and not any((root / top / mirrored).is_dir() for top in ("src", "")):
            yield path, 1, f"tests/unit mirrors src/ and tools/: there is no src/{mirrored}"


def check_rows(sources, root):
    """Rows and entries of the table that no source needs."""
    used = {}
    for path in sources:
        included = {owner_of(name) for _, name in includes_of(path, root)}
        used.setdefault(owner_of(path.relative_to(root).as_posix()), set()).update(included)
    script = pathlib.Path(__file__)
    for folder, allowed in {**LAYERS, **OUTSIDE}.items():
        if not (root / folder).is_dir() and not (root / "src" / folder).is_dir():
            yield script, 1, f"the table has a row for {folder}, which does not exist"
        for other in sorted(allowed - used.get(folder, allowed)):
            yield script, 1, f"the table lets {folder} include {other}, which no file does"


def table():
    """The table as CONTRIBUTING.md shows it; folders with the same entries share a row."""
    order = [*LAYERS, *OUTSIDE, "<acl>", "<aclnn>", "<hccl>"]
    rows = {}
    for folder, allowed in {**LAYERS, **OUTSIDE}.items():
        entries = ", ".join(f"`{name}`" for name in sorted(allowed, key=order.index))
        rows.setdefault((folder in LAYERS, entries or "nothing of ours"), []).append(f"`{folder}`")
    lines = [f"| {', '.join(folders)} | {entries} |" for (_, entries), folders in rows.items()]
    return "\n".join(["| folder | may include |", "|---|---|", *lines]) + "\n"


def check_contributing(root):
    text = (root / CONTRIBUTING).read_text(encoding="utf-8")
    if f"\n\n{table()}\n" not in text:
        yield root / CONTRIBUTING, 1, "the table of the layers is not what scripts/check_layers.py --table prints"


def sources_below(root, folders):
    return sorted(path for folder in folders for path in (root / folder).rglob("*") if path.suffix in SOURCE_SUFFIXES)


def findings(root):
    source_folder = root / "src"
    for path in sorted(source_folder.rglob("*")):
        if path.is_dir():
            continue
        name = path.relative_to(source_folder).as_posix()
        if name == "CMakeLists.txt":
            continue
        layer = layer_of(name)
        if layer is None:
            # backend/ itself only groups layers: its CMakeLists.txt is no code.
            if path.name == "CMakeLists.txt" and any(known.startswith(name.rsplit("/", 1)[0] + "/") for known in LAYERS):
                continue
            yield path, 1, "this folder is not a layer of the table in scripts/check_layers.py"
        elif path.suffix in SOURCE_SUFFIXES:
            for line, reason in check_file(path, name, layer, root):
                yield path, line, reason
    inside = sources_below(root, ["src"])
    outside = sources_below(root, OUTSIDE_FOLDERS)
    yield from check_outside(outside, root)
    yield from check_unit_tests(outside, root)
    yield from check_rows(inside + outside, root)
    yield from check_globals((path for path in inside + sources_below(root, ["tools"])
                             if not path.is_relative_to(source_folder / GLOBALS_LAYER)), root)
    yield from check_contributing(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--table", action="store_true", help="print the table as CONTRIBUTING.md shows it, check nothing")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(), end="")
        return 0
    root = arguments.root.resolve()
    count = 0
    for path, line, reason in findings(root):
        print(f"{os.path.relpath(path, root)}:{line}: {reason}")
        count += 1
    if count:
        print(f"check_layers: {count} finding(s)", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
