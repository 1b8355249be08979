"""The page of sampan report in a real browser: what it shows against the trace it was made from."""

import collections
import json
import pathlib
import re
import tempfile
import unittest

import trace_file
from browser import CHROMIUM, Browser
from tool import sampan

BYTES = "size(B)"


def shown_bytes(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{int(count) if count == int(count) else format(count, '.1f')} {unit}"
        count /= 1024
    return None


def counted(number, one, many):
    return f"{number:,} {one if number == 1 else many}"


@unittest.skipIf(CHROMIUM is None, "there is no Chromium")
class PageTest(unittest.TestCase):
    """One browser and one real trace for all."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.summary = trace_file.record(cls.folder / "copies.json.gz")
        cls.trace = trace_file.events(cls.folder / "copies.json.gz")
        cls.slices = trace_file.slices(cls.trace)
        cls.copies = trace_file.copies(cls.trace)
        cls.begin = min(trace_file.nanoseconds(event["ts"]) for event in cls.trace if "ts" in event)
        assert sampan("report", cls.folder / "copies.json.gz").returncode == 0
        cls.page = cls.folder / "copies.html"
        cls.browser = cls.enterClassContext(Browser())

    def setUp(self):
        self.browser.events.clear()
        self.browser.open(self.page)

    def tearDown(self):
        """Whatever a test did: the page loaded nothing but itself and ran into no error."""
        for event in self.browser.events:
            method = event.get("method")
            if method == "Network.requestWillBeSent":
                self.assertEqual(event["params"]["request"]["url"], f"file://{self.page}")
            self.assertNotEqual(method, "Runtime.exceptionThrown", event)
            self.assertNotEqual(method, "Runtime.consoleAPICalled", event)

    def range_in_view(self):
        self.browser.frame()
        data = self.browser.evaluate("({...document.getElementById('view').dataset})")
        return int(data["from"]), int(data["to"])

    def check_view(self):
        """What the page says about the range in view is what the trace has there."""
        begin, end = self.range_in_view()
        inside = [event for event in self.slices if begin <= trace_file.nanoseconds(event["ts"]) - self.begin <= end]
        copies = trace_file.copies(inside)
        moved = sum(copy["args"][BYTES] for copy in copies)
        expected = f"{counted(len(inside), 'slice', 'slices')}, {counted(len(copies), 'copy', 'copies')}, {shown_bytes(moved)}"
        self.assertEqual(self.browser.text("#view").split(": ")[1], expected)
        return begin, end

    def focus_timeline(self):
        self.browser.evaluate("document.getElementById('tracks').focus()")

    def search(self, words):
        self.browser.evaluate("document.getElementById('query').select()")
        self.browser.evaluate("document.getElementById('query').focus()")
        if words:
            self.browser.type(words)
        else:
            self.browser.press("Escape")
        self.browser.frame()
        return self.browser.text("#found")

    def selected(self):
        """What the panel says about the selected slice."""
        return dict(self.browser.evaluate(
            "[...document.querySelectorAll('#panel-selection dl div')].map((pair) => [...pair.children].map((cell) => cell.textContent))"))

    def test_figures_are_those_of_the_trace(self):
        facts = dict(self.browser.evaluate(
            "[...document.querySelectorAll('#facts div')].map((pair) => [...pair.children].map((cell) => cell.textContent))"))
        self.assertEqual(facts["Program"], "tool_copies")
        self.assertEqual(facts["Copies"], f"{len(self.copies):,}")
        self.assertEqual(facts["Moved"], shown_bytes(sum(copy["args"][BYTES] for copy in self.copies)))
        depths = [event["args"]["tasks"] for event in self.trace if event["ph"] == "C" and "queue depth" in event["name"]]
        self.assertEqual(facts["Deepest queue"], str(max(depths)))
        self.assertEqual(self.browser.text("#counter-most"), f"at most {max(depths)}")
        self.check_view()

    def test_every_row_of_the_trace_is_there(self):
        rows = collections.Counter((event["pid"], event["tid"]) for event in self.slices)
        names = {(event["pid"], event["tid"]): event["args"]["name"] for event in self.trace if event["name"] == "thread_name"}
        expected = sorted(f"{names[row]}: {counted(count, 'slice', 'slices')}" for row, count in rows.items())
        shown = self.browser.evaluate("[...document.querySelectorAll('.row')].map((row) => row.title)")
        self.assertEqual(sorted(shown), expected)

    def test_summary_and_advice_are_those_of_the_runtime(self):
        lines = [line.strip() for line in self.summary.splitlines()]
        shown = self.browser.evaluate(
            "[...document.querySelectorAll('#summary tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        count = len(shown)
        self.assertEqual([re.split(r"\s{2,}", line) for line in lines[1 : count + 1]], shown)
        said = self.browser.evaluate("[...document.querySelectorAll('#sentences p')].map((line) => line.textContent)")
        advice = self.browser.evaluate("[...document.querySelectorAll('.advice')].map((box) => box.textContent)")
        self.assertEqual([lines[0].removeprefix("Sampan summary: "),
                          *(line for line in lines[count + 1 :] if not line.startswith("advice: "))], said)
        self.assertEqual([line.removeprefix("advice: ") for line in lines if line.startswith("advice: ")], advice)

    def test_zoom_by_keys_buttons_wheel_and_drag(self):
        browser = self.browser
        whole = self.check_view()
        self.focus_timeline()
        for key in ("+", "w", "w", "w", "d"):
            browser.press(key)
        begin, end = self.check_view()
        self.assertAlmostEqual((end - begin) * 1.5**4, whole[1] - whole[0], delta=(whole[1] - whole[0]) / 1000)
        browser.press("ArrowLeft")
        self.assertLess(self.check_view()[0], begin)
        browser.press("0")
        self.assertEqual(self.check_view(), whole)
        browser.evaluate("document.getElementById('zoom-in').click()")
        begin, end = self.check_view()
        self.assertAlmostEqual(2 * (end - begin), whole[1] - whole[0], delta=2)
        browser.evaluate("document.getElementById('zoom-all').click()")
        box = browser.evaluate("(({left, top, width}) => ({left, top, width}))(document.getElementById('canvas').getBoundingClientRect())")
        x, y = box["left"] + box["width"] / 4, box["top"] + 40
        browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
        begin, end = self.check_view()
        length = whole[1] - whole[0]
        self.assertAlmostEqual((end - begin) * 2.71828, length, delta=length / 100)
        # What was under the pointer still is.
        self.assertAlmostEqual(begin + (end - begin) / 4, whole[0] + length / 4, delta=length / 100)
        browser.mouse("mousePressed", x, y, button="left", clickCount=1)
        browser.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
        browser.mouse("mouseReleased", x - 100, y, button="left", clickCount=1)
        moved = self.check_view()
        self.assertAlmostEqual(moved[0] - begin, 100 * (end - begin) / box["width"], delta=length / 1000)
        browser.evaluate("document.getElementById('zoom-all').click()")
        ruler = browser.evaluate("document.querySelector('#ruler canvas').getBoundingClientRect().top") + 10
        browser.mouse("mousePressed", box["left"] + 300, ruler, button="left", clickCount=1)
        browser.mouse("mouseMoved", box["left"] + 500, ruler, button="left", buttons=1)
        browser.mouse("mouseReleased", box["left"] + 500, ruler, button="left", clickCount=1)
        begin, end = self.check_view()
        self.assertAlmostEqual(end - begin, length * 200 / box["width"], delta=length / 1000)

    def test_search_finds_what_the_trace_has(self):
        def matching(test):
            return sum(1 for event in self.slices if test(event["name"], event.get("args", {})))

        for words, expected in [
            ("64K", matching(lambda _, args: args.get(BYTES) == 65536)),
            ("bytes>64K", matching(lambda _, args: args.get(BYTES, 0) > 65536)),
            ("stream:2", matching(lambda _, args: args.get("Stream Id") == 2)),
            ("aclrtMemcpy2d", matching(lambda name, _: "aclrtMemcpy2d" in name)),
            ("kind:device bytes:1M", matching(lambda _, args: "device" in args.get("operation", "") and args.get(BYTES) == 1 << 20)),
            ("form:rows", matching(lambda _, args: args.get("form") == "rows")),
        ]:
            self.assertGreater(expected, 0, words)
            self.assertEqual(self.search(words), counted(expected, "match", "matches"))
        self.assertEqual(self.search("nothing-like-this"), "no matches")
        self.assertTrue(self.browser.evaluate("document.getElementById('next').disabled"))
        self.assertEqual(self.search(""), "")

    def test_matches_are_gone_through_in_the_order_of_time(self):
        batches = sorted((copy for copy in self.copies if copy["args"]["form"] == "batch"), key=lambda copy: copy["ts"])
        self.search("form:batch")
        for at, key in [(0, False), (1, False), (2, False), (1, True), (0, True), (len(batches) - 1, True), (0, False)]:
            self.browser.press("Enter", shift=key)
            self.browser.frame()
            self.assertEqual(self.browser.text("#found"), f"{at + 1} of {len(batches)} matches")
            shown, args = self.selected(), batches[at]["args"]
            for name in ("Stream Id", "Task Id", "connection_id", "entries"):
                self.assertEqual(shown[name], str(args[name]), name)
            self.assertEqual(shown[BYTES], f"{shown_bytes(args[BYTES])} ({args[BYTES]:,})")
            begin, end = self.range_in_view()
            self.assertTrue(begin <= trace_file.nanoseconds(batches[at]["ts"]) - self.begin <= end)

    def test_the_arrow_leads_from_a_copy_to_its_call_and_back(self):
        calls = {event["args"]["connection_id"]: event for event in self.slices
                 if event["name"].startswith("AscendCL@") and "connection_id" in event["args"]}
        copy = next(copy for copy in self.copies if copy["args"]["form"] == "rows" and copy["name"] == "MEMCPY_ASYNC")
        number = copy["args"]["connection_id"]
        self.search(f"connection_id:{number} form:rows")
        self.browser.press("Enter")
        self.assertEqual(self.selected()["connection_id"], str(number))
        self.focus_timeline()
        self.browser.press("f")
        self.assertEqual(self.browser.text("#panel-selection h3"), calls[number]["name"])
        self.assertEqual(self.selected()["Thread Id"], str(calls[number]["args"]["Thread Id"]))
        self.browser.press("f")
        self.assertEqual(self.browser.text("#panel-selection h3"), "MEMCPY_ASYNC")
        self.browser.press("Enter")  # zooms to it
        begin, end = self.check_view()
        start = trace_file.nanoseconds(copy["ts"]) - self.begin
        self.assertTrue(begin <= start and start + trace_file.nanoseconds(copy["dur"]) <= end)
        self.assertLess(end - begin, 10 * trace_file.nanoseconds(copy["dur"]) + 100)
        # The slice is where the picture shows it: in the middle, on the row of its stream.
        self.browser.press("Escape")
        row = self.browser.evaluate(f"""(() => {{
            const row = [...document.querySelectorAll('.row')].find((each) => each.firstChild.data === 'Stream {copy["args"]["Stream Id"]}');
            row.scrollIntoView({{block: 'center'}});
            return row.getBoundingClientRect().top; }})()""")
        box = self.browser.evaluate("(({left, width}) => [left, width])(document.getElementById('canvas').getBoundingClientRect())")
        self.browser.frame()
        self.browser.click(box[0] + box[1] / 2, row + 10)
        self.assertEqual(self.selected()["connection_id"], str(number))

    def test_bandwidth_over_size(self):
        self.browser.evaluate("document.getElementById('tab-rates').click()")
        kinds = collections.Counter()
        for copy in self.copies:
            if "bandwidth(GB/s)" not in copy["args"]:
                continue
            ends = [copy["args"].get(end, {}).get("place") for end in ("dst", "src")]
            kinds[copy["args"]["operation"] + (", pageable" if "pageable" in ends else "")] += 1
        legend = self.browser.evaluate("[...document.querySelectorAll('#legend li')].map((entry) => entry.innerText.split('\\n'))")
        self.assertEqual({kind: figures.split(",")[0] for kind, figures in legend},
                         {kind: counted(count, "copy", "copies") for kind, count in kinds.items()})
        self.assertIn(f"{sum(kinds.values())} copies", 
                      self.browser.evaluate("document.querySelector('#panel-rates canvas').getAttribute('aria-label')"))

    def test_everything_can_be_reached_and_seen_with_the_keyboard(self):
        reached = []
        for _ in range(40):
            self.browser.press("Tab")
            state = self.browser.evaluate("""(() => {
                const element = document.activeElement;
                return [element.id || element.className, getComputedStyle(element).outlineStyle, getComputedStyle(element).outlineWidth]; })()""")
            if not state[0] or state[0] in reached and state[0] != "area":
                break
            self.assertEqual(state[1:], ["solid", "2px"], state)
            reached.append(state[0])
        for wanted in ("theme", "help", "query", "zoom-in", "zoom-all", "tracks", "area", "counter", "splitter", "tab-summary"):
            self.assertIn(wanted, reached)
        self.browser.press("/")
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "query")
        self.browser.evaluate("document.getElementById('tab-summary').focus()")
        self.browser.press("ArrowRight")
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "tab-rates")
        self.assertFalse(self.browser.evaluate("document.getElementById('panel-rates').hidden"))
        self.browser.press("?")
        self.assertTrue(self.browser.evaluate("document.getElementById('keys').open"))
        self.browser.press("Escape")
        self.assertFalse(self.browser.evaluate("document.getElementById('keys').open"))

    def test_light_and_dark_can_be_read(self):
        contrast = """(() => {
            const part = (value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
            const light = (name) => {
              const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
              const [red, green, blue] = [0, 2, 4].map((at) => part(parseInt(hex.slice(at, at + 2), 16) / 255));
              return 0.2126 * red + 0.7152 * green + 0.0722 * blue; };
            const ratio = ([front, back]) => { const [a, b] = [light(front), light(back)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); };
            const pairs = [['--text', '--surface'], ['--text', '--page'], ['--faint', '--surface'], ['--faint', '--sunken'], ['--accent', '--surface'],
              ['--warn', '--warn-soft'], ['--mark', '--surface'], ['--on-pale', '--call'], ['--on-pale', '--wait'],
              ...['h2d', 'd2h', 'd2d', 'h2h', 'fill', 'other', 'failed', 'unfinished'].map((tint) => ['--on-slice', `--${tint}`])];
            return pairs.map((pair) => [pair.join(' on '), ratio(pair)]); })()"""
        background = "getComputedStyle(document.body).backgroundColor"
        seen = set()
        for preferred in ("light", "dark"):
            self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": preferred}])
            self.browser.wait_for(f"document.documentElement.dataset.theme === '{preferred}'")
            seen.add(self.browser.evaluate(background))
            for pair, ratio in self.browser.evaluate(contrast):
                self.assertGreaterEqual(ratio, 4.5, (preferred, pair))
        self.assertEqual(len(seen), 2)
        for expected in ("light", "dark"):  # chosen, whatever the system has
            self.browser.evaluate("document.getElementById('theme').click()")
            self.assertEqual(self.browser.evaluate("document.documentElement.dataset.theme"), expected)
        self.browser.evaluate("document.getElementById('theme').click()")
        self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])

    def test_nothing_sticks_out_on_screens_of_any_width(self):
        for width, height in [(1366, 640), (1920, 1080), (1024, 700), (768, 1024), (390, 800)]:
            self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
            self.browser.frame()
            self.assertLessEqual(self.browser.evaluate("document.scrollingElement.scrollWidth"), width)
            self.assertGreaterEqual(self.browser.evaluate("document.getElementById('tracks').clientHeight"), 60)
            self.check_view()
        self.browser.call("Emulation.setDeviceMetricsOverride", width=1366, height=768, deviceScaleFactor=1, mobile=False)

    def test_a_page_of_many_slices_is_usable(self):
        """Groups are drawn, found and told about."""
        process = self.trace[0]["pid"] + 1
        lines = "".join(
            ',{"name":"MEMCPY_ASYNC","ph":"X","pid":%d,"tid":3,"ts":%d.500,"dur":0.400,"args":{"Stream Id":3,"Task Id":%d,"connection_id":%d,'
            '"Task Type":"MEMCPY_ASYNC","submitted":%d.250,"size(B)":4096,"bandwidth(GB/s)":10.24,"operation":"host to device"}}\n'
            % (process, 10**9 + i, i, i + 1, 10**9 + i) for i in range(170_000))
        trace = self.folder / "many.json"
        trace.write_text("[\n" + json.dumps(self.trace[0]) + "\n" + lines + "]\n")
        self.assertEqual(sampan("report", trace).returncode, 0)
        self.page = self.folder / "many.html"
        self.browser.events.clear()
        self.browser.open(self.page)
        self.assertIn("170,000 slices, 170,000 copies", self.browser.text("#view"))
        self.search("4K stream:3 kind:host")
        self.browser.wait_for("/^[0-9,]+ matches, [0-9,]+ groups$/.test(document.getElementById('found').textContent)")
        self.browser.press("Enter")
        self.assertRegex(self.selected()["copies"], r"^\d+ of 4 KiB, together \d+ KiB$")


@unittest.skipIf(CHROMIUM is None, "there is no Chromium")
class OtherPagesTest(unittest.TestCase):
    """Pages of traces that are wide, narrow, several, or too long to show each slice."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        trace_file.record(cls.folder / "copies.json")
        cls.lines = (cls.folder / "copies.json").read_text().splitlines(keepends=True)

    def report(self, *words):
        page = self.folder / "page.html"
        result = sampan("report", *words, "-o", page)
        self.assertEqual(result.returncode, 0, result.stderr)
        return page

    def slowed(self, name, factors):
        """The trace with its copies' durations multiplied, one factor after the other."""
        lines, number = [], 0
        for line in self.lines:
            event = json.loads(line.strip().lstrip(",")) if "bandwidth(GB/s)" in line else None
            if event:
                event["dur"] = round(max(event["dur"], 0.1) * factors[number % len(factors)], 3)
                line, number = "," + json.dumps(event) + "\n", number + 1
            lines.append(line)
        (self.folder / name).write_text("".join(lines))
        return self.folder / name

    def test_labels_of_a_wide_range_are_whole(self):
        page = self.report(self.slowed("wide.json", [1, 1e3, 1e6, 1e9]))
        for width, height in ((1366, 768), (390, 844)):
            with Browser(width, height) as browser:
                browser.open(page)
                browser.evaluate("""(() => {
                    window.drawn = [];
                    const before = CanvasRenderingContext2D.prototype.fillText;
                    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
                        const wide = this.measureText(text).width;
                        const left = this.textAlign === "right" ? x - wide : this.textAlign === "center" ? x - wide / 2 : x;
                        window.drawn.push([this.canvas.parentElement.id, text, left, left + wide, y, this.canvas.clientWidth]);
                        before.call(this, text, x, y);
                    };
                    document.getElementById("tab-rates").click();
                })()""")
                labels = browser.wait_for("(() => { const own = drawn.filter((one) => one[0] === 'panel-rates'); return own.length > 3 && own; })()")
                rates = [label for label in labels if label[1].endswith("B/s")]
                self.assertGreater(len(rates), 3)
                for _, text, left, right, _, wide in labels:
                    self.assertGreaterEqual(left, 0, f"{text} is cut on the left at a width of {width}")
                    self.assertLessEqual(right, wide, f"{text} is cut on the right at a width of {width}")
                heights = sorted({label[4] for label in rates})
                for one, other in zip(heights, heights[1:]):
                    self.assertGreaterEqual(other - one, 11, "labels overlap")

    def test_nothing_is_cut_on_a_telephone(self):
        with Browser(390, 844) as browser:
            browser.open(self.report(self.folder / "copies.json"))
            self.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"), 390)
            right = browser.evaluate("Math.max(...[...document.querySelectorAll('#summary th, #summary td, #advice *, #sentences *, "
                                     ".bar button, #facts div, #tabs button')].map((one) => one.getBoundingClientRect().right))")
            self.assertLessEqual(right, 390)
            hidden = browser.evaluate("(() => { const one = document.getElementById('summary'); return one.scrollHeight - one.clientHeight; })()")
            self.assertLessEqual(hidden, 0, "rows of the summary are hidden behind the advice")

    def test_labels_of_the_ruler_are_whole(self):
        page = self.report(self.folder / "copies.json")
        with Browser() as browser:
            for width in (390, 500, 620, 740, 860, 980, 1100, 1366):
                browser.resize(width, 844)
                browser.open(page)
                browser.evaluate("""(() => {
                    window.drawn = [];
                    const before = CanvasRenderingContext2D.prototype.fillText;
                    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
                        window.drawn.push([this.canvas.parentElement.id, text, x + this.measureText(text).width, this.canvas.clientWidth]);
                        before.call(this, text, x, y);
                    };
                    window.dispatchEvent(new Event("resize"));
                    for (const one of document.querySelectorAll(".bar .buttons button")) one.click();
                })()""")
                labels = browser.wait_for("(() => { const own = drawn.filter((one) => one[0] === 'ruler'); return own.length > 0 && own; })()")
                for _, text, right, wide in labels:
                    self.assertLessEqual(right, wide, f"{text} is cut on the right at a width of {width}")

    def test_several_traces_stand_over_one_time(self):
        trace_file.record(self.folder / "second.json")
        page = self.report(self.folder / "copies.json", self.folder / "second.json")
        traces = [trace_file.events(self.folder / name) for name in ("copies.json", "second.json")]
        model = trace_file.model_of(page)
        self.assertEqual(model["file"], "copies.json, second.json")
        self.assertEqual(sum(track["slices"] for track in model["tracks"]), sum(len(trace_file.slices(trace)) for trace in traces))
        for name, trace in zip(("copies.json", "second.json"), traces):
            rows = {(event["pid"], event["tid"]) for event in trace_file.slices(trace)}
            self.assertEqual(sum(track["area"].startswith(f"{name}: ") for track in model["tracks"]), len(rows))
        times = [trace_file.nanoseconds(event["ts"]) for trace in traces for event in trace if "ts" in event]
        ends = [trace_file.nanoseconds(event["ts"]) + trace_file.nanoseconds(event.get("dur", 0)) for trace in traces for event in trace if "ts" in event]
        self.assertEqual(model["span"], max(ends) - min(times))
        self.assertEqual(dict(model["facts"])["Copies"], sum(len(trace_file.copies(trace)) for trace in traces))
        # Each call leads to its own task: flows stay within a file.
        tracks = model["items"]["track"]
        areas = [model["tracks"][track]["area"].split(":")[0] for track in tracks]
        self.assertTrue(model["flows"])
        for call, task in zip(model["flows"][0::2], model["flows"][1::2]):
            self.assertEqual(areas[call], areas[task])
        with Browser() as browser:
            browser.open(page)
            self.assertEqual(browser.evaluate("document.documentElement.dataset.ready"), "true")

    def test_a_part_of_a_long_trace_shows_each_slice(self):
        """A group names the command that shows what is in it, and that command does."""
        long = self.folder / "long.json"
        with open(long, "w", encoding="ascii") as file:
            head = json.loads(self.lines[1].rstrip().rstrip(","))
            file.write("[\n" + json.dumps(head))
            for number in range(400_000):
                file.write(f'\n,{{"name":"call","ph":"X","pid":128,"tid":1,"ts":{1000 + number},"dur":0.5,"args":{{}}}}')
            file.write("\n]\n")
        page = self.report(long)
        model = trace_file.model_of(page)
        self.assertGreater(len(model["groups"]), 1000)
        with Browser() as browser:
            browser.open(page)
            browser.evaluate("document.getElementById('tracks').focus()")
            for _ in range(3):
                browser.press(".")
            browser.frame()
            said = dict(browser.evaluate("[...document.querySelectorAll('#panel-selection dl div')].map((pair) => [...pair.children].map((cell) => cell.textContent))"))
        command = said["to see each"].split()
        self.assertEqual(command[:3], ["sampan", "report", str(long)])
        part = trace_file.model_of(self.report(*command[2:]))
        self.assertEqual(part["groups"], [])
        held = int(re.search(r"([\d,]+) slices", said["holds"])[1].replace(",", ""))
        self.assertGreaterEqual(len(part["items"]["track"]), held)
        self.assertLessEqual(len(part["items"]["track"]), held + 2)
        self.assertIn("Only what lies between", " ".join(part["notes"]))


if __name__ == "__main__":
    unittest.main()
