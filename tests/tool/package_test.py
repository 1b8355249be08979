"""The Debian package: installed into an empty root by dpkg, and used from there."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from tool import BUILD, PROGRAMS, environment, sampan


@unittest.skipIf(shutil.which("dpkg-shlibdeps") is None, "there is no dpkg-dev")
class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        work = pathlib.Path(cls.folder.name)
        made = subprocess.run(
            [os.environ["TOOL_TEST_CPACK"], "-G", "DEB", "-B", work / "packages"],
            cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )
        if made.returncode != 0:
            raise AssertionError(made.stdout)
        [cls.package] = (work / "packages").glob("*.deb")
        cls.root = work / "root"
        for name in ("info", "updates"):
            (cls.root / "var/lib/dpkg" / name).mkdir(parents=True)
        (cls.root / "var/lib/dpkg/status").touch()
        # An empty root has none of the libraries that the package depends on; this machine lends them.
        cls.dpkg("--force-depends", "-i", cls.package)

    @classmethod
    def dpkg(cls, *words):
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        ran = subprocess.run(
            ["dpkg", f"--root={cls.root}", "--force-not-root", *words],
            env=environment(PATH=path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )
        if ran.returncode != 0:
            raise AssertionError(ran.stdout)
        return ran.stdout

    def test_facts(self):
        fields = subprocess.run(["dpkg-deb", "-f", self.package], capture_output=True, text=True, check=True).stdout
        self.assertIn("Package: sampan\n", fields)
        self.assertRegex(fields, r"Depends: .*libc6 .*libstdc\+\+6")
        listed = self.dpkg("-L", "sampan").splitlines()
        for path in ("/usr/bin/sampan", "/opt/sampan/bin/sampan", "/opt/sampan/lib64/libascendcl.so",
                     "/opt/sampan/include/acl/acl.h", "/opt/sampan/set_env.sh",
                     "/usr/share/doc/sampan", "/usr/share/pkgconfig/sampan.pc",
                     "/usr/share/zsh/vendor-completions/_sampan", "/usr/share/fish/vendor_completions.d/sampan.fish"):
            self.assertIn(path, listed)
        self.assertEqual([path for path in listed if not path.startswith(("/opt", "/usr", "/."))], [])

    def test_tree(self):
        """What build scripts look for below ASCEND_HOME_PATH: the folders of CANN, stubs, and libraries to link with."""
        home = self.root / "opt/sampan"
        machine = "aarch64" if os.uname().machine == "aarch64" else "x86_64"
        for path in (f"{machine}-linux/include/acl/acl.h", f"{machine}-linux/lib64/libascendcl.so",
                     f"{machine}-linux/devlib/libascendcl.so", "runtime/include/acl/acl.h", "runtime/lib64/stub/libascendcl.so",
                     "compiler/lib64/stub/libascendcl.so", "tools", "opp", "lib64/libruntime.so", "lib64/libnnopbase.so",
                     "bin/setenv.bash", "set_env.sh"):
            target = (home / path).resolve(strict=True)
            self.assertTrue(target.is_relative_to(home.resolve()), f"{path} leads to {target}")

    def test_size(self):
        """Four times what it has: the libraries are not to grow unseen."""
        sizes = self.package.stat().st_size, sum(path.stat().st_size for path in (self.root / "opt").rglob("*") if not path.is_symlink())
        print(f"\n{self.package.name}: {sizes[0]} bytes, installed {sizes[1]} bytes", file=sys.stderr)
        self.assertLess(sizes[0], 14 << 20)
        self.assertLess(sizes[1], 40 << 20)

    def test_info_from_there(self):
        result = sampan("info", "--json", binary=self.root / "usr/bin/sampan")
        facts = json.loads(result.stdout)
        self.assertEqual((result.returncode, result.stderr, facts["passed"]), (0, "", True))
        self.assertEqual(facts["library"], str((self.root / "opt/sampan/lib64/libacl_rt.so").resolve()))
        self.assertRegex(facts["versions"]["cann"], r"^\d+\.\d+")

    def test_python_module(self):
        folder = self.root / "opt/sampan/python/site-packages"
        if not (folder / "acl.so").exists():
            self.skipTest("the Python module was not built")
        paths = (self.root / "usr/lib/python3/dist-packages/sampan.pth").read_text()
        self.assertEqual(paths, "/opt/sampan/python/site-packages\n")
        # As a .pth file of the system makes it, with the root in front.
        script = f"import site; site.addsitedir({str(folder)!r}); import acl; print(acl.rt.get_device_count())"
        ran = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, check=False, env=environment())
        self.assertEqual((ran.returncode, ran.stdout), (0, "(8, 0)\n"), ran.stderr)

    def test_run_from_there(self):
        result = sampan("run", PROGRAMS / "tool_vendor_rpath", binary=self.root / "usr/bin/sampan")
        self.assertEqual((result.returncode, result.stdout), (0, "devices 8\n"))

    def test_documents_are_those_of_the_sources(self):
        source = pathlib.Path(__file__).resolve().parents[2]
        documents = self.root / "usr/share/doc/sampan"
        expected = {"README.md", "LICENSE", "NOTICE", "CHANGELOG.md"}
        for folder in ("docs", "examples"):
            paths = (path for path in (source / folder).rglob("*") if path.is_file() and path.name != "CMakeLists.txt")
            expected |= {path.relative_to(source).as_posix() for path in paths}
        found = {path.relative_to(documents).as_posix() for path in documents.rglob("*") if path.is_file()}
        self.assertEqual(found, expected)
        for name in expected:
            self.assertEqual((documents / name).read_bytes(), (source / name).read_bytes(), name)

    @unittest.skipIf(shutil.which("pkg-config") is None, "there is no pkg-config")
    def test_example_built_with_pkg_config(self):
        for package in ("sampan", "ascendcl"):
            # As pkg-config finds it after installing, with the root in front of each folder.
            found = subprocess.run(
                ["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, check=False,
                env=environment(PKG_CONFIG_LIBDIR=str(self.root / "usr/share/pkgconfig"), PKG_CONFIG_SYSROOT_DIR=str(self.root)),
            )
            self.assertEqual((found.returncode, found.stderr), (0, ""))
            program = pathlib.Path(self.folder.name) / package
            source = self.root / "usr/share/doc/sampan/examples/first_copy.cc"
            subprocess.run(["c++", "-std=c++17", source, "-o", program, *found.stdout.split()], check=True)
            result = sampan("run", program, binary=self.root / "usr/bin/sampan")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r"(?m)^OK, ")

    def test_links_lead_home(self):
        for link in ("usr/bin/sampan", "usr/bin/hccl_bench", "usr/share/doc/sampan", "usr/share/man/man1/sampan.1",
                     "usr/share/man/man3/aclrtMemcpyBatchAsync.3", "usr/share/bash-completion/completions/sampan"):
            self.assertTrue((self.root / link).resolve(strict=True).is_relative_to((self.root / "opt/sampan").resolve()))

    def test_nothing_names_the_build_folder(self):
        found = subprocess.run(["grep", "-rlF", BUILD, self.root / "opt"], capture_output=True, text=True, check=False)
        self.assertEqual(found.stdout, "")


if __name__ == "__main__":
    unittest.main()
