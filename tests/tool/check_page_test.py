"""The page of sampan check in a real browser: what it shows against the findings it was made from."""

import json
import pathlib
import sys
import tempfile
import unittest

import raw_findings as raw
from browser import CHROMIUM, Browser
from tool import sampan


def lines(symbols):
    inlined, main = [0, symbols["place_inlined"]], [0, symbols["place_main"]]
    wait = {"does": "wait", "begin": None, "end": None}
    circle = [raw.access([main], call="aclrtSynchronizeStream", stream=None, **wait),
              raw.access([inlined, main], call="aclrtWaitAndResetNotify", stream=1, **wait),
              raw.access([inlined, main], call="aclrtWaitAndResetNotify", stream=2, thread=2, **wait)]
    return [
        raw.program("app"), raw.module(),
        raw.finding(1, [raw.access([inlined, main]), raw.host([main])], of=raw.buffer([main])), raw.count(1, 17),
        raw.finding(2, [raw.access([inlined, main]), raw.access([main], "aclrtMemcpyBatchAsync", stream=4, entry=7, begin=4000, end=8096)],
                    kind="race", of=raw.buffer([main], "device memory", 0, 1 << 20), overlap=(4000, 4096)),
        raw.finding(3, [raw.access([main], stream=3, entry=0), raw.access([main], stream=3, entry=5)], kind="race", of=raw.buffer([main])),
        raw.finding(4, circle, kind="deadlock", overlap=None),
        raw.finding(5, [raw.access([inlined], begin=2048, end=4128)], kind="out-of-bounds", of=raw.buffer([main]), overlap=(4096, 4128)),
        raw.finding(6, [], kind="leak", severity="warning", of=raw.buffer([main]), overlap=None, message="<b>4096 bytes</b> & \"more\" were left"),
        raw.finding(7, [raw.host([[-1, 4096]])], kind="use-after-free", overlap=None, of=raw.buffer([main])),
        raw.finding(8, [raw.access([main], "aclrtCreateStream", begin=0, end=0)], kind="leak", severity="warning", overlap=None),
        raw.finding(9, [raw.access([main]), raw.host([inlined], begin=128, end=129)], of=raw.buffer([main]), overlap=(128, 129)),
        raw.END,
    ]


@unittest.skipIf(CHROMIUM is None, "there is no Chromium")
class CheckPageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.report = cls.make("report", lines(raw.symbols()))
        cls.page = cls.folder / "report.html"
        cls.browser = cls.enterClassContext(Browser())

    @classmethod
    def make(cls, name, findings):
        (cls.folder / f"{name}.lines").write_text(json.dumps(findings))
        sampan("check", "--html", cls.folder / f"{name}.html", "--json", cls.folder / f"{name}.json",
               "--", sys.executable, "-B", raw.HERE, cls.folder / f"{name}.lines")
        return json.loads((cls.folder / f"{name}.json").read_text())

    def setUp(self):
        self.browser.events.clear()
        self.browser.open(self.page)

    def tearDown(self):
        """Whatever a test did: the page loaded nothing but itself and ran into no error."""
        for event in self.browser.events:
            method = event.get("method")
            if method == "Network.requestWillBeSent":
                self.assertTrue(event["params"]["request"]["url"].startswith(f"file://{self.folder}"))
            self.assertNotEqual(method, "Runtime.exceptionThrown", event)
            self.assertNotEqual(method, "Runtime.consoleAPICalled", event)

    def texts(self, selector):
        return self.browser.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.textContent)")

    def in_finding(self, number, selector):
        return self.texts(f"[id='{self.report['findings'][number - 1]['id']}'] {selector}")

    def test_every_finding_is_there_with_its_words(self):
        findings = self.report["findings"]
        self.assertEqual(self.texts(".message"), [finding["message"] for finding in findings])
        self.assertEqual(self.texts(".id"), [finding["id"] for finding in findings])
        self.assertEqual(self.texts("#index b"), [finding["kind"] for finding in findings])
        self.assertEqual(self.texts("#facts dd"), [str(self.report["errors"]), str(self.report["warnings"]), "parallel"])
        self.assertEqual(self.in_finding(1, ".times"), ["made 17 times"])
        self.assertEqual(self.texts(".message b"), [])

    def test_the_source_line_of_each_place_is_marked(self):
        source = raw.SOURCE.read_text().splitlines()
        marked = self.in_finding(1, "section.access .here")
        for place, shown in zip(("inlined", "main"), marked, strict=True):
            line = raw.line_of(place)
            self.assertEqual(shown.split(None, 1), [str(line), source[line - 1].strip() + "\n"])

    def test_a_frame_shows_its_source(self):
        first = f"[id='{self.report['findings'][0]['id']}'] section.access"
        self.assertEqual(self.in_finding(1, "section.access:first-child .frame b"), ["Touch", "pool::Pool::Refill<char>", "main"])
        self.browser.evaluate(f"document.querySelectorAll(\"{first} .frame\")[1].click()")
        self.assertTrue(self.in_finding(1, "section.access:first-child .here")[0].startswith(str(raw.line_of("caller"))))

    def test_lanes_and_the_missing_order(self):
        self.assertEqual(self.in_finding(1, ".lane-name"), ["thread 1", "stream 3"])
        self.assertEqual(self.in_finding(2, ".lane-name"), ["thread 1", "stream 3", "stream 4"])
        self.assertEqual(self.in_finding(3, ".lane-name"), ["thread 1", "stream 3, entry 0", "stream 3, entry 5"])
        self.assertEqual([len(self.in_finding(number, "path.missing")) for number in (1, 2, 3, 4, 5, 6)], [1, 1, 1, 3, 0, 0])
        red = self.browser.evaluate("getComputedStyle(document.querySelector('path.missing')).stroke")
        self.assertEqual(red, "rgb(196, 18, 47)")
        self.assertEqual(self.in_finding(4, ".missing-text"), ["waits for"] * 3)

    def test_bytes_are_drawn_to_scale(self):
        scale = self.browser.evaluate(f"""[...document.querySelectorAll("[id='{self.report['findings'][0]['id']}'] .strip-row")].map((row) => {{
            const track = row.querySelector(".strip-track").getBoundingClientRect(), bar = row.querySelector(".strip-bar").getBoundingClientRect();
            return [row.firstChild.textContent, (bar.left - track.left) / track.width, bar.width / track.width]; }})""")
        self.assertEqual([row[0] for row in scale], ["buffer", "1 write", "2 read", "both"])
        self.assertAlmostEqual(scale[1][2], 1, delta=0.01)
        self.assertAlmostEqual(scale[2][1], 128 / 4096, delta=0.01)

    def test_one_byte_and_none(self):
        self.assertIn("reads 128", self.in_finding(9, ".lanes .detail"))
        self.assertEqual(self.in_finding(8, "section.access p"), ["stream 3 of device 0, thread 1"])
        self.assertNotIn("writes", self.in_finding(8, "section.access h3")[0])

    def test_without_files_or_findings(self):
        self.assertEqual(self.in_finding(7, ".nosource")[0][:20], "No debug information")
        self.make("clean", [raw.program("app"), raw.END])
        self.browser.open(self.folder / "clean.html")
        self.assertIn("Nothing was found.", self.texts(".clean")[0])

    def test_it_fits_a_phone_and_the_dark(self):
        with Browser(390, 844, dark=True) as phone:
            phone.open(self.page)
            phone.frame()
            self.assertEqual(phone.evaluate("document.documentElement.scrollWidth"), 390)
            wide = phone.evaluate("[...document.querySelectorAll('article *')].filter((each) => !each.closest('.source, svg, .suppress') && each.getBoundingClientRect().right > 390).length")
            self.assertEqual(wide, 0)
            out = phone.evaluate("[...document.querySelectorAll('.lanes text, .lanes rect, .lanes circle')].filter((each) => { const box = each.getBoundingClientRect(); return box.left < 0 || box.right > 390; }).length")
            self.assertEqual(out, 0)
            self.assertEqual(phone.evaluate("document.documentElement.dataset.theme"), "dark")


if __name__ == "__main__":
    unittest.main()
