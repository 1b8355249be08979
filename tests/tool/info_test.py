"""sampan info: facts, sources of settings, and a self-test that notices wrong copies."""

import json
import pathlib
import re
import unittest

from tool import BUILD, PROGRAMS, environment, sampan


def info(*words, **more):
    result = sampan("info", "--json", *words, env=environment(**more))
    return result, json.loads(result.stdout)


class InfoTest(unittest.TestCase):
    def test_facts(self):
        result, facts = info("--devices", "3")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(facts["passed"])
        self.assertEqual(facts["library"], str((BUILD / "lib64" / "libacl_rt.so").resolve()))
        self.assertEqual(facts["backend"], "emulated")
        self.assertEqual(facts["profile"], "ascend910b,cann8")  # profile-1
        self.assertTrue(facts["soc"].startswith("Ascend910B"))
        self.assertEqual([device["id"] for device in facts["devices"]], [0, 1, 2])
        for device in facts["devices"]:
            self.assertGreater(device["total_bytes"], 0)
        self.assertRegex(facts["versions"]["sampan"], r"^\d+\.\d+\.\d+$")

    def test_settings_have_their_sources(self):
        _, facts = info("--devices", "3", SAMPAN_DEVICES="5", SAMPAN_ENGINES="2", ASCEND_RT_VISIBLE_DEVICES="0,1")
        settings = {setting["name"]: setting for setting in facts["settings"]}
        self.assertEqual((settings["SAMPAN_DEVICES"]["value"], settings["SAMPAN_DEVICES"]["source"]), ("3", "command line"))
        self.assertEqual((settings["SAMPAN_ENGINES"]["value"], settings["SAMPAN_ENGINES"]["source"]), ("2", "environment"))
        self.assertEqual((settings["SAMPAN_PROFILE"]["value"], settings["SAMPAN_PROFILE"]["source"]), ("ascend910b,cann8", "default"))
        self.assertEqual((settings["SAMPAN_HELP"]["value"], settings["SAMPAN_HELP"]["source"]), ("0", "default"))
        for setting in facts["settings"]:
            self.assertTrue(setting["meaning"] and setting["accepted"] and setting["value"], setting)
        self.assertEqual([s["name"] for s in facts["ascend_settings"]], ["ASCEND_RT_VISIBLE_DEVICES"])
        self.assertEqual(len(facts["devices"]), 2)

    def test_every_setting_of_the_library_is_listed(self):
        source = (BUILD / "lib64" / "libacl_rt.so").read_bytes()
        # A name ends its string. Compilers also cut texts into vectors, whose bytes may look like other names.
        names = set(re.findall(rb"(SAMPAN_[A-Z_]+[A-Z])\0", source))
        _, facts = info()
        self.assertEqual({name.decode() for name in names}, {setting["name"] for setting in facts["settings"]})

    def test_every_copy_path_is_verified(self):
        _, facts = info()
        paths = facts["self_test"]["paths"]
        self.assertEqual({path["outcome"] for path in paths}, {"verified"})
        self.assertEqual(
            {path["call"] for path in paths},
            {
                "aclrtMemcpy", "aclrtMemcpyAsync", "aclrtMemcpy2d", "aclrtMemcpy2dAsync", "aclrtMemcpyBatch",
                "aclrtMemcpyBatchAsync", "aclrtMemcpyAsyncWithDesc", "aclrtMemcpyAsyncWithOffset", "aclrtMemset", "aclrtMemsetAsync",
            },
        )
        self.assertIn("device to peer", {path["path"] for path in paths})
        self.assertGreater(facts["self_test"]["seconds"], 0)

    def test_schedules_devices_and_profiles(self):
        for words in (["--schedule", "late"], ["--schedule", "early"], ["--schedule", "seed:3"], ["--devices", "1"],
                      ["--devices", "64"], ["--profile", "ascend910c,cann9"]):
            result, facts = info(*words)
            self.assertEqual((result.returncode, facts["passed"]), (0, True), words)
            self.assertEqual({path["outcome"] for path in facts["self_test"]["paths"]}, {"verified"}, words)

    def test_what_a_chip_does_not_offer_is_not_called_verified(self):
        result, facts = info("--profile", "ascend310-rc")
        self.assertEqual(result.returncode, 0)
        outcomes = {(path["call"], path["outcome"]) for path in facts["self_test"]["paths"]}
        self.assertIn(("aclrtMemcpy2dAsync", "not offered"), outcomes)
        self.assertIn(("aclrtMemcpyAsync", "verified"), outcomes)
        self.assertIn("not offered by this profile", facts["verdict"])

    def test_text_ends_in_the_verdict(self):
        result = sampan("info")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout.splitlines()[-1], r"^Sampan works here: \d+ copy paths verified, in \S+ m?s$")
        self.assertRegex(result.stdout, r"SAMPAN_PROFILE +default +ascend910b,cann8")


class BadRuntimeTest(unittest.TestCase):
    def test_wrong_bytes_fail_the_test(self):
        for wrong, where in (("-1", "of the destination"), ("1", "0 bytes behind the destination")):
            result, facts = info(LD_PRELOAD=str(PROGRAMS / "libtool_wrong_copy.so"), WRONG_BYTES=wrong)
            self.assertEqual((result.returncode, facts["passed"]), (1, False))
            failed = [path for path in facts["self_test"]["paths"] if path["outcome"] == "FAILED"]
            self.assertEqual({path["call"] for path in failed}, {"aclrtMemcpyAsync"})
            for path in failed:
                self.assertIn(where, path["detail"])
            self.assertIn("does NOT work here", facts["verdict"])

    def test_a_failure_inside_the_runtime_is_a_result(self):
        result, facts = info(SAMPAN_FAULT="memory:6")
        self.assertEqual((result.returncode, facts["passed"]), (1, False))

    @unittest.skipIf(pathlib.Path("/dev/nvidiactl").exists(), "this machine has an NVIDIA GPU")
    def test_a_backend_without_its_hardware(self):
        result = sampan("info", "--backend", "cuda")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("there is no NVIDIA driver", result.stderr)

    def test_a_runtime_that_does_not_start(self):
        for more in ({"SAMPAN_DEVICES": "65"}, {"ASCEND_RT_VISIBLE_DEVICES": "3,1"}):
            result, facts = info(**more)
            self.assertEqual((result.returncode, facts["passed"]), (1, False))
            self.assertIn(next(iter(more)), facts["error"])
            self.assertIn(facts["error"], result.stderr)


if __name__ == "__main__":
    unittest.main()
