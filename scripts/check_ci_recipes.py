#!/usr/bin/env python3
"""Checks the recipes of docs/CI.md: parses them, and runs their commands with a small project in a new folder.

    check_ci_recipes.py --build FOLDER     installs a build of this tree where the recipes build Sampan
    check_ci_recipes.py --full             builds Sampan from a clean clone of this repository, as the recipes do

What cannot run here (services, containers, package managers) is named on a line that begins with "not run".
Exit status 77: PyYAML or a program that the recipes need is missing.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.access("/usr/bin/python3", os.X_OK):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    print("check_ci_recipes: skipped: there is no PyYAML (python3-yaml)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "CI.md"
BLOCK = re.compile(r"^```(\w+) (\w+)\n(.*?)^```$", re.M | re.S)
# Both images, and a limit of time, in each service's words.
IMAGES = ["debian:12", "ubuntu:24.04"]
NOT_HERE = re.compile(r"^(?:apt-get|docker)\b")
INSTALL = "apt-get install -y -qq --no-install-recommends "
# What every compiler for C++ brings: no recipe names it.
BY_COMPILER = {"libc6", "libgcc-s1", "libstdc++6"}
# A program that waits for a signal that never comes.
HANG = """#include <acl/acl.h>
int main() {
  aclrtStream stream;
  aclrtNotify notify;
  if (aclrtSetDevice(0) || aclrtCreateStream(&stream) || aclrtCreateNotify(&notify, 0)) return 1;
  if (aclrtWaitAndResetNotify(notify, stream, 0)) return 1;
  return aclrtSynchronizeStream(stream);
}
"""


class Failure(Exception):
    """A recipe that does not do what the page says."""


def require(condition, text):
    if not condition:
        raise Failure(text)


def blocks():
    """The marked blocks of the page, by their marks."""
    found = {mark: text for _, mark, text in BLOCK.findall(PAGE.read_text(encoding="utf-8"))}
    wanted = {"github", "gitlab", "ctest", "conftest", "test_copies", "hang", "seeds"}
    require(set(found) == wanted, f"docs/CI.md has the blocks {sorted(found)}, not {sorted(wanted)}")
    return found


def github_commands(text):
    workflow = yaml.safe_load(text)
    # YAML 1.1 reads the key "on" as true.
    require({"push", "pull_request"} == set(workflow[True]), "github: on")
    [job] = workflow["jobs"].values()
    require(job["strategy"]["matrix"]["image"] == IMAGES and job["timeout-minutes"] > 0, "github: images and time limit")
    require(job["container"] == "${{ matrix.image }}", "github: container")
    commands = []
    for step in job["steps"]:
        require(("run" in step) != ("uses" in step), f"github: the step {step} has no command, or two")
        if "uses" in step:
            print(f"not run: uses {step['uses']}")
            continue
        commands.append(step["run"])
    cache = [step for step in job["steps"] if step.get("uses", "").startswith("actions/cache@")]
    require(len(cache) == 1 and cache[0]["with"]["path"] == "sampan-prefix", "github: the cache keeps sampan-prefix")
    require(any(step.get("if") == f"steps.{cache[0]['id']}.outputs.cache-hit != 'true'" for step in job["steps"]),
            "github: a step that the cache saves")
    return commands


def gitlab_commands(text):
    pipeline = yaml.safe_load(text)
    job = pipeline["test"]
    require(job["parallel"]["matrix"] == [{"IMAGE": IMAGES}] and job["image"] == "$IMAGE", "gitlab: images")
    require(job["timeout"] == "30m" and job["cache"]["paths"] == ["sampan-prefix"], "gitlab: time limit and cache")
    require(all(isinstance(line, str) for line in job["before_script"] + job["script"]), "gitlab: lines of text")
    # GitLab runs the lines in one shell.
    return ["\n".join(job["before_script"] + job["script"])]


def docker_commands():
    """The RUN lines of the Dockerfile, and whether each COPY and ENV leads somewhere."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    words = {line.split()[0] for line in lines}
    require(words == {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "CMD"}, f"Dockerfile: {sorted(words)}")
    for line in lines:
        if line.startswith("COPY ") and "--from" not in line:
            require((ROOT / line.split()[1]).exists(), f"Dockerfile: {line}: there is no such file")
    environment = dict(pair.split("=", 1) for line in lines if line.startswith("ENV ") for pair in line.split()[1:])
    return [line[4:] for line in lines if line.startswith("RUN ")], environment


def packages_of(name, commands):
    """The packages that the one installing command names."""
    [named] = [part.split(INSTALL)[1] for command in commands for part in re.split(r"&&|\n", command) if INSTALL in part]
    require(named.split(), f"{name}: no packages")
    return set(named.split())


def needed_packages(build):
    """The packages that own what the installed command and libraries load."""
    readelf = ["readelf", "--wide", "-d", build / "bin/sampan", *sorted((build / "lib64").glob("*.so"))]
    dynamic = subprocess.run(readelf, check=True, capture_output=True, text=True).stdout
    listed = subprocess.run(["ldd", build / "bin/sampan"], check=True, capture_output=True, text=True).stdout
    places = dict(re.findall(r"^\s*(\S+) => (\S+)", listed, re.M))
    owners = set()
    for library in set(re.findall(r"\(NEEDED\).*\[(\S+)\]", dynamic)):
        place = pathlib.Path(places.get(library, "/nowhere"))
        if build in place.resolve().parents or not place.exists():
            continue  # our own, or the dynamic linker
        # Packages name files by the folder before or after /lib became a link to /usr/lib.
        paths = [str(place), str(place.resolve()), f"/usr{place}", str(place.resolve()).removeprefix("/usr")]
        asked = subprocess.run(["dpkg", "-S", *paths], check=False, capture_output=True, text=True).stdout
        require(asked, f"no package has {place}")
        owners.add(asked.split(":")[0])
    return owners - BY_COMPILER


def check_packages(build, commands):
    """A job that takes Sampan from its cache installs nothing by make: each list names what running needs."""
    image = packages_of("Dockerfile", commands.pop("docker")[-1:])
    lists = {name: packages_of(name, found) for name, found in commands.items()}
    if build is not None and shutil.which("dpkg") and shutil.which("ldd"):
        needed = needed_packages(build)
        for name, named in {**lists, "Dockerfile": image}.items():
            require(needed <= named, f"{name}: running needs the package {', '.join(sorted(needed - named))}")
    for name, named in lists.items():
        require(image <= named, f"{name}: without {', '.join(sorted(image - named))}, which the Dockerfile's image has")
    print("run: the packages of each recipe are enough for running")


class Workplace:
    """A new folder with the project of a user, in which commands run with nothing of this machine's settings."""

    def __init__(self, folder, build):
        self.folder, self.build = folder, build

    def fill(self, texts):
        for name, text in texts.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        for name in ("first_copy.cc", "check.h"):
            shutil.copy(ROOT / "examples" / name, self.folder / {"first_copy.cc": "copies.cc"}.get(name, name))

    def run(self, script, code=0, shell="bash"):
        """Runs a script; returns what it printed."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "CCACHE_DIR", "CMAKE_CXX_COMPILER_LAUNCHER",
                                                    "CMAKE_C_COMPILER_LAUNCHER") if name in os.environ}
        ran = subprocess.run([shell, "-e", "-c", script], cwd=self.folder, text=True, check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=3600,
                             env={**kept, "RUNTIME_REPOSITORY": f"file://{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"})
        require(ran.returncode == code, f"exit status {ran.returncode}, not {code}:\n{script}\n{ran.stdout[-4000:]}")
        return ran.stdout

    def prepared(self, script):
        """The script, with what cannot run here left out, and the build of Sampan replaced unless it is to be built."""
        lines = []
        for line in script.splitlines():
            bare = line.strip()
            if NOT_HERE.match(bare):
                print(f"not run: {bare}")
                continue
            if self.build is not None and bare.startswith("git clone "):
                print(f"not run without --full: {bare}")
                line = ":"
            if self.build is not None and bare.startswith("make -C sampan install "):
                replaced = f'cmake --install {shlex.quote(str(self.build))} --prefix "$PWD/sampan-prefix" >/dev/null'
                print(f"replaced: {bare}\n      by: {replaced}")
                line = replaced
            lines.append(line)
        return "\n".join(lines)


def python_with_pytest():
    """The interpreter of the recipes must have pytest: the first on PATH, or the system's."""
    for candidate in (shutil.which("python3"), "/usr/bin/python3"):
        if candidate and subprocess.run([candidate, "-c", "import pytest"], check=False, stderr=subprocess.DEVNULL).returncode == 0:
            return candidate
    return None


def check_service(name, commands, texts, build):
    with tempfile.TemporaryDirectory() as folder:
        work = Workplace(pathlib.Path(folder), build)
        work.fill(texts)
        tools = work.folder / "tools"
        tools.mkdir()
        (tools / "python3").symlink_to(python_with_pytest())
        printed = ""
        for command in commands:
            printed += work.run(f'PATH="{tools}:$PATH"\n' + work.prepared(command))
        require("100% tests passed" in printed and "0 tests failed out of 5" in printed, f"{name}: CTest:\n{printed[-3000:]}")
        require("1 passed" in printed, f"{name}: pytest:\n{printed[-3000:]}")
        print(f"run: {name}: every other command")
        return check_inner(work) if name == "gitlab" else None


def check_inner(work):
    """The shell blocks: the hang and the seeds."""
    (work.folder / "hang.cc").write_text(HANG, encoding="utf-8")
    found = blocks()
    work.run(". sampan-prefix/set_env.sh\ng++ hang.cc -o app -I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64 -lacl_rt")
    # The limit is shortened; the answer does not depend on it, because the program never ends by itself.
    hang = found["hang"].replace(" 50 sampan", " 3 sampan")
    require(hang != found["hang"], "the limit of the hang is not 50 seconds")
    printed = work.run(". sampan-prefix/set_env.sh\n" + hang, code=124)
    require("notify" in printed, f"no report about the hang:\n{printed}")
    work.run(". sampan-prefix/set_env.sh\ncp build/copies app\n" + found["seeds"])
    print("run: the hang, whose report names the notify; five seeds")


def check_docker(build):
    commands, environment = docker_commands()
    for command in commands:
        print(f"not run: RUN {command.split('&&')[0].strip()} ...")
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "opt/sampan"
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        moved = {name: value.replace("/opt/sampan", str(prefix)) for name, value in environment.items()}
        sourced = subprocess.run(["bash", "-c", f". '{prefix}/set_env.sh' && env"], env={"PATH": "/usr/bin:/bin"}, check=True,
                                 capture_output=True, text=True).stdout
        expected = dict(line.split("=", 1) for line in sourced.splitlines() if str(prefix) in line)
        for name, value in expected.items():
            first = value.split(":")[0]
            require(moved.get(name, "").split(":")[0] == first, f"Dockerfile: set_env.sh sets {name} to {first}")
        printed = subprocess.run(["sampan", "info"], env=moved, check=False, capture_output=True, text=True)
        require(printed.returncode == 0, f"Dockerfile: sampan info in its environment:\n{printed.stdout}{printed.stderr}")
    print("run: the command and the environment of the Dockerfile")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--build", type=pathlib.Path, help="a build folder of this tree")
    how.add_argument("--full", action="store_true", help="build Sampan from a clean clone")
    arguments = parser.parse_args()
    missing = [tool for tool in ("git", "make", "cmake", "g++", "timeout", "shuf") if shutil.which(tool) is None]
    if missing or python_with_pytest() is None:
        print(f"check_ci_recipes: skipped: there is no {', '.join(missing) or 'python3-pytest'}")
        return 77
    build = arguments.build.resolve() if arguments.build else None
    if build is not None and not (build / "python/site-packages/acl.so").exists():
        print("check_ci_recipes: skipped: the build has no Python module")
        return 77
    try:
        found = blocks()
        texts = {"CMakeLists.txt": found["ctest"], "conftest.py": found["conftest"], "test_copies.py": found["test_copies"]}
        commands = {"github": github_commands(found["github"]), "gitlab": gitlab_commands(found["gitlab"]),
                    "docker": docker_commands()[0]}
        check_packages(build, commands)
        check_service("github", github_commands(found["github"]), texts, build)
        check_service("gitlab", gitlab_commands(found["gitlab"]), texts, build)
        if build is not None:
            check_docker(build)
        else:
            print("not run with --full: the Dockerfile")
    except (Failure, yaml.YAMLError, KeyError, TypeError) as failure:
        print(f"check_ci_recipes: {type(failure).__name__}: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
