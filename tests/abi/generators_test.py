#!/usr/bin/env python3
# Tests of the scripts that read the public headers and the sources of the C ABI.

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import api_comments
import api_definitions
import api_functions
import api_list
import check_behaviour
import check_documents
import check_sentences
import draw_layers
import generate_api_reference
import generate_compatibility
import generate_exports
import generate_unsupported

HEADER = """
/* ACL_FUNC_VISIBILITY aclError aclInComment(void); */
#define ACL_FUNC_VISIBILITY \\
  __attribute__((visibility("default")))
ACL_FUNC_VISIBILITY aclError aclCopy(void* dst, const void** src, size_t count,
                                     aclrtStream stream);
ACL_DEPRECATED_MESSAGE("prefer (another) one")
ACL_FUNC_VISIBILITY const char *aclName(void);
ACL_FUNC_VISIBILITY void aclLog(const char* fmt, ...);
ACL_FUNC_VISIBILITY uint32_t aclNumber(const aclThing* thing);
"""


def functions():
    return api_functions.parse(HEADER, "acl/acl_test.h")


class Declarations(unittest.TestCase):
    def test_names_types_and_parameters(self):
        self.assertEqual(
            [function.prototype() for function in functions()],
            [
                "aclError aclCopy(void* dst, const void** src, size_t count, aclrtStream stream)",
                "const char* aclName(void)",
                "void aclLog(const char* fmt, ...)",
                "uint32_t aclNumber(const aclThing* thing)",
            ],
        )

    def test_deprecated(self):
        self.assertEqual([f.name for f in functions() if f.deprecated], ["aclName"])

    def test_what_is_not_understood_is_refused(self):
        for text in (
            "ACL_FUNC_VISIBILITY aclError aclDefined(void) { return 0; }",
            "ACL_FUNC_VISIBILITY aclError notOurs(void);",
            "ACL_FUNC_VISIBILITY aclError aclArray(int values[4]);",
            "ACL_FUNC_VISIBILITY aclError aclUnnamed(int);",
        ):
            with self.assertRaises(ValueError, msg=text):
                api_functions.parse(text, "acl/acl_test.h")

    def test_the_real_headers(self):
        names = {function.name for function in api_functions.declared_functions()}
        self.assertEqual(len(names), 317)
        self.assertIn("aclrtMemcpyBatchAsync", names)
        self.assertIn("aclrtMemPoolTrimTo", names)


class Definitions(unittest.TestCase):
    def find(self, text):
        return {d.name: d.reason for d in api_definitions.find(text, functions(), "test.cc")}

    def test_a_definition(self):
        broken_line = "aclError aclCopy(void* dst, const void** src,\n  size_t n, aclrtStream s) {\n}\n"
        self.assertEqual(self.find(broken_line), {"aclCopy": ""})
        self.assertEqual(self.find("const char* aclName(void) {\n}\n"), {"aclName": ""})
        self.assertEqual(self.find("const char *aclName() noexcept\n{\n}\n"), {"aclName": ""})
        self.assertEqual(self.find("uint32_t\naclNumber(const aclThing*) {\n}\n"), {"aclNumber": ""})

    def test_what_is_none(self):
        for text in (
            "aclError aclCopy(void* d, const void** s, size_t n, aclrtStream t);\n",
            "  aclError aclCopy(void* d) {\n}\n",
            "  return aclName();\n",
            "// aclError aclCopy(void* d) {\n",
            "/*\naclError aclCopy(void* d) {\n*/\n",
            "aclError aclCopyMore(void* d) {\n}\n",
            "aclError code = aclCopy(d, s, n, t);\n",
            'const char* text = "aclError aclCopy(void) {";\n',
        ):
            self.assertEqual(self.find(text), {}, text)

    def test_partly(self):
        marked = "// More.\n// Compatibility: partly: one | two\n//   and three.\naclError aclCopy() {\n}\n"
        self.assertEqual(self.find(marked), {"aclCopy": "one | two and three."})
        empty = api_definitions.find("// Compatibility: no-op: why\naclError aclCopy() {\n}\n", functions(), "a.cc")
        self.assertEqual([(d.status, d.reason) for d in empty], [("no-op", "why")])
        apart = "// Compatibility: partly: far\n\naclError aclCopy() {\n}\n"
        self.assertEqual(self.find(apart), {"aclCopy": ""})
        above = "// Compatibility: partly: its\nvoid aclLog(const char*, ...) {\n}\naclError aclCopy() {\n}\n"
        self.assertEqual(self.find(above), {"aclLog": "its", "aclCopy": ""})

    def test_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / name for name in ("a.cc", "b.cc")]
            for file in files:
                file.write_text("aclError aclCopy() {\n}\n")
            with self.assertRaisesRegex(ValueError, "a.cc and in b.cc"):
                api_definitions.defined_functions(functions(), files)


class Generated(unittest.TestCase):
    def test_refusals(self):
        text = generate_unsupported.source(functions())
        self.assertIn("\naclError aclCopy(void*, const void**, size_t, aclrtStream) {\n", text)
        self.assertIn('  return sampan::acl::NotSupported("aclCopy");\n', text)
        self.assertIn('  static_cast<void>(sampan::acl::NotSupported("aclName"));\n  return nullptr;\n', text)
        self.assertIn("return 0xFFFFFFFFU;", text)
        self.assertIn("void aclLog(const char*, ...) {\n  static_cast<void>", text)
        self.assertIn('#include "acl/acl_test.h"\n', text)

    def test_refusals_of_what_is_not_declared(self):
        text = generate_unsupported.source([], ["aclrtSetTsDevice", "aclrtAllocatorCreateDesc"])
        self.assertIn(' aclError aclrtSetTsDevice() {\n  return sampan::acl::NotSupported("aclrtSetTsDevice");\n', text)
        self.assertIn(' void* aclrtAllocatorCreateDesc() {\n', text)
        names = api_list.undeclared_names(api_functions.declared_functions())
        self.assertEqual(len(names), 110)
        self.assertLessEqual(api_list.GIVES_POINTER, set(names))

    def test_version_script(self):
        script = generate_exports.version_script(["aclA", "aclB"])
        self.assertEqual(script, "{\n  global:\n    aclA;\n    aclB;\n  local:\n    *;\n};\n")

    def test_statuses(self):
        partly = {"aclCopy": ("", ""), "aclName": ("partly", "a | b"), "aclLog": ("no-op", "why")}
        defined = {name: api_definitions.Definition(name, "a.cc", *why) for name, why in partly.items()}
        declared = {function.name for function in functions()}
        groups = [("some", ["aclCopy", "aclName", "aclLog"]), ("rest", ["aclNumber", "aclAbsent"])]
        text = generate_compatibility.document(groups, declared, defined)
        for line in (
            "| supported | 1 |",
            "| partly | 1 |",
            "| no-op | 1 |",
            "| not supported | 1 |",
            "| name only | 1 |",
            "| [`aclCopy`](api/some.md#aclcopy) | supported | |",
            "| [`aclName`](api/some.md#aclname) | partly | a \\| b |",
            "| [`aclLog`](api/some.md#acllog) | no-op | why |",
            "### Some (3 of 3)",
        ):
            self.assertIn(line, text)
        self.assertNotIn("aclAbsent", text)
        absent = generate_compatibility.absent_document(groups, declared, defined, [])
        self.assertIn("\n`aclNumber`\n", absent)
        self.assertIn("\n**Rest** (1): `aclAbsent`\n", absent)
        with self.assertRaises(ValueError):
            generate_compatibility.document(groups[:1], declared, defined)

    def test_every_function_is_listed_once(self):
        groups = api_list.read_groups()
        self.assertEqual(sum(len(names) for _, names in groups), 427)


class Reference(unittest.TestCase):
    COMMENT = """ Copies. More of it,
 * over two lines.
 *
 * Another paragraph.
 * @param dst Room for
 *     the bytes.
 * @param count Bytes.
 * @async queued; sometimes not
 * @error 107000 count is 0.
 * @error other Something else.
 * @example
 *     aclCopy(a,
 *             b);
 """

    def function(self, comment=COMMENT):
        parsed = api_comments.parse(comment)
        return api_comments.Function("aclCopy", "aclError aclCopy(void* dst, size_t count)", "acl/a.h",
                                     ["dst", "count"], True, parsed)

    def findings(self, comment):
        return generate_api_reference.function_findings(self.function(comment), generate_api_reference.code_names())

    def test_a_comment(self):
        comment = self.function().comment
        self.assertEqual(comment.text, ["Copies. More of it, over two lines.", "Another paragraph."])
        self.assertEqual(comment.brief, "Copies.")
        self.assertEqual(comment.parameters, {"dst": "Room for the bytes.", "count": "Bytes."})
        self.assertEqual(comment.errors, [("107000", "count is 0."), ("other", "Something else.")])
        self.assertEqual(comment.example, "aclCopy(a,\n        b);\n")

    def test_what_is_missing_is_found(self):
        self.assertEqual(self.findings(self.COMMENT), [])
        for line in self.COMMENT.splitlines():
            if any(tag in line for tag in ("@param", "@async")):
                self.assertEqual(len(self.findings(self.COMMENT.replace(line, " * "))), 1, line)
        self.assertEqual(len(self.findings(self.COMMENT.replace("@param count", "@param size"))), 2)
        self.assertEqual(len(self.findings(self.COMMENT.replace("107000", "107999"))), 1)
        self.assertEqual(len(self.findings("")), 1)

    def test_a_tag_that_is_there_twice(self):
        for tag in ("@param dst", "@async", "@return", "@threads"):
            with self.assertRaisesRegex(ValueError, "is there twice"):
                api_comments.parse(f"Copies.\n{tag} One thing.\n{tag} Another one.")

    def test_a_tag_that_goes_on_without_an_indent(self):
        with self.assertRaisesRegex(ValueError, "with an indent: 'bytes.'"):
            api_comments.parse("Copies.\n@param size Number of\nbytes.\n@async no")

    def test_members_of_a_class(self):
        body = (" public:\n  /** Does it to size bytes. */\n  void Do(u64 size);\n  void Undo(u64 other);\n\n"
                "  Thing(const Thing& that);\n private:\n  void Hidden();\n")
        groups = api_comments._groups(body)
        self.assertEqual([group.names for group in groups], [{"Do", "Undo"}, {"Thing"}])
        comment = api_comments.parse("A thing.\n@async no\n@threads One.")
        found = generate_api_reference.class_findings(api_comments.Class("Thing", "a.h", comment, groups))
        self.assertEqual(len(found), 2)  # nothing about `other`, no comment at all

    def test_every_supported_function_has_a_page(self):
        groups, classes = generate_api_reference.supported_functions()
        names = {function.name for _, members in groups for function in members}
        self.assertLessEqual(set(generate_api_reference.SEEDS), names)
        self.assertEqual(len(names & {f.name for f in api_functions.declared_functions()}), 232)
        self.assertEqual(len(classes), 7)
        pages = generate_api_reference.manuals(groups, classes)
        self.assertIn("attrsIndexes[k]", pages["aclrtMemcpyBatchAsync.3"])


class Documents(unittest.TestCase):
    def test_links(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "other.md").write_text("# A page: with `code`, and more\n")
            good = "[a](other.md) [b](other.md#a-page-with-code-and-more) [c](#here) [d](https://e.org)\n\n## Here\n"
            code = "```\n[a](gone.md)\n```\n\n    [a](gone.md)\n\n`[a](gone.md)`\n"
            page = root / "page.md"
            page.write_text(good + code)
            self.assertEqual(list(check_documents.link_findings(page, root)), [])
            page.write_text(good + "[a](gone.md) [b](other.md#gone) [c](#gone)\n")
            self.assertEqual(len(list(check_documents.link_findings(page, root))), 3)

    def test_glossary(self):
        page = "<!-- glossary -->\n- **use**: a claim of `n` bytes.\n<!-- end of glossary -->\n"
        header = "// The words.\n//\n// use: a claim of n bytes.\n#pragma once\n// other: no.\n"
        self.assertEqual(check_documents.glossary_of_page(page), check_documents.glossary_of_header(header))

    def test_readme_of_a_folder(self):
        with tempfile.TemporaryDirectory() as path:
            root = pathlib.Path(path).resolve()
            folder = root / "src" / "room"
            folder.mkdir(parents=True)
            for name in ("a.h", "a.cc", "b_one.cc", "b_two.cc", "c.h"):
                (folder / name).touch()

            def findings():
                return list(check_documents.readme_findings(folder, root))

            self.assertEqual(findings(), [])
            (folder / "d.h").touch()
            self.assertEqual(findings(), ["src/room has 6 files and no README.md"])
            readme = folder / "README.md"
            readme.write_text("Read `a.*`, `b_*.cc`, `c`.\n")
            self.assertEqual(findings(), ["src/room/README.md does not name d.h"])
            readme.write_text("Read `a.*`, `b_*.cc`, `c.h`, `d.h`.\n\n    Walk   room/a.cc   gone.cc\n")
            self.assertEqual(findings(), ["src/room/README.md names gone.cc, which does not exist"])
            readme.write_text("Read `a.*`, `b_*.cc`, `c.h`, `d.h`." + 40 * "\n.")
            self.assertEqual(findings(), ["src/room/README.md has 41 lines, 40 are the limit"])

    def test_vague_words(self):
        with tempfile.TemporaryDirectory() as path:
            root = pathlib.Path(path).resolve()
            file = root / "a.h"
            file.write_text("// The caller frees it.\n// " + "Who" + "ever frees it.\nint no" + "body = 0;\nint any_body = 1;\n"
                            "TEST(Queue, EndsForEvery" + "bodyAtOnce) {}\nint is_some" + "bodys;\nint kMo" + "stBytes;\n")
            lines = [line.split(": ")[0] for line in check_documents.vague_findings(file, root)]
            self.assertEqual(lines, ["a.h:2", "a.h:3", "a.h:5", "a.h:6", "a.h:7"])

    def test_headings(self):
        with tempfile.TemporaryDirectory() as path:
            root = pathlib.Path(path).resolve()
            page = root / "README.md"
            page.write_text("# A room\n")
            self.assertEqual(list(check_documents.heading_findings(page, root)), [])
            page.write_text("#A / room\n")
            self.assertEqual(list(check_documents.heading_findings(page, root)), ["README.md: the first line is no heading"])

    def test_marks_of_merges(self):
        with tempfile.TemporaryDirectory() as path:
            root = pathlib.Path(path).resolve()
            page = root / "README.md"
            page.write_text("# A\n\n<<<<<<< ours\na < b\n=======\na > b\n>>>>>>> theirs\n")
            self.assertEqual(list(check_documents.merge_findings(page, root)), [f"README.md:{n}: a mark of a merge" for n in (3, 7)])

    def test_long_sentences(self):
        words = "one two three four five six seven eight nine ten"
        text = (f"// {words} {words}.\n// {words}:\n//\n// {words}\n// - {words}; {words}\n"
                f"int a;  // {words}\n// {words}, {words}\nint b;\n"
                f"/** @param a {words}\n * {words}. And\n * {words} {words}. */\nconst char* c = \"// {words} {words} 21\";\n")
        found = [each.split(" has ")[0] for each in check_sentences.findings("a.h", text)]
        self.assertEqual(found, ["a.h:9: a sentence"])
        self.assertEqual(len(list(check_sentences.findings("a.h", text.replace("ten", "ten eleven")))), 4)

    def test_long_sentences_of_pages(self):
        words = "one two three four five six seven eight nine ten"
        text = (f"# {words} {words} 21\n\n{words} {words}.\n{words}: {words}\n{words} 21\n\n"
                f"- **rule-1** {words} {words}\n- {words}\n  {words} [21](a_page.md)\n\n"
                f"| {words} | {words} 21 |\n\n    {words} {words} 21\n\n```\n{words} {words} 21\n```\n{words} · {words} 21\n")
        found = [each.split(" has ")[0] for each in check_sentences.page_findings("a.md", text)]
        self.assertEqual(found, ["a.md:3: a sentence", "a.md:8: a sentence"])

    def test_picture(self):
        table = {"acl": {"core", "base"}, "core": {"base"}, "base": set()}
        self.assertEqual(draw_layers.arrows(table), [("acl", "core"), ("core", "base")])
        self.assertEqual(draw_layers.levels(table), [["acl"], ["core"], ["base"]])
        self.assertEqual(draw_layers.picture(table).count("<rect"), 4)


class Behaviour(unittest.TestCase):
    RULES = "- **copy-1** one\n- **copy-2** two\n  goes on\n- **event-1** three\n"

    def test_ids(self):
        self.assertEqual(check_behaviour.rules(self.RULES), (["copy-1", "copy-2", "event-1"], []))
        twice = check_behaviour.rules(self.RULES + "- **copy-2** again\n")
        self.assertEqual(twice[1], ["docs/BEHAVIOUR.md: the id copy-2 is there more than once"])

    def test_uses(self):
        known = {"copy-1", "copy-2", "event-1"}
        for good in ("// copy-1, copy-2: both", "x = copy - 3;", "// seed-7 copy-", "gpu-1", "pre-copy-9"):
            self.assertEqual(check_behaviour.findings_of("a.cc", good, known), [], good)
        for bad in ("// copy-3", "// see docs/BEHAVIOUR.md, stream-1", "// hazards" + ".md 4"):
            self.assertEqual(len(check_behaviour.findings_of("a.cc", bad, known)), 1, bad)

    def test_proofs(self):
        self.assertEqual(list(check_behaviour.proof_findings(self.RULES, {"copy-1", "copy-2", "event-1"})), [])
        reasoned = self.RULES.replace("  goes on\n", "  goes on (not tested: needs\n  two GPUs)\n\n## Other\n")
        self.assertEqual(list(check_behaviour.proof_findings(reasoned, {"copy-1", "event-1"})), [])
        for text, used, name in ((self.RULES, {"copy-1", "event-1"}, "copy-2"), (reasoned, {"copy-1", "copy-2", "event-1"}, "copy-2"),
                                 (reasoned, {"copy-1"}, "event-1"), (self.RULES.replace("two", "two (not tested: )"), {"copy-1", "event-1"}, "copy-2")):
            [finding] = check_behaviour.proof_findings(text, used)
            self.assertIn(name, finding)


if __name__ == "__main__":
    unittest.main()
