#!/usr/bin/env python3
# Writes the API reference from the comments of the public headers: docs/api/*.md, and manual pages.

import argparse
import pathlib
import re
import sys

import api_comments
import api_definitions
import api_functions
import api_list
import generated_file
import hccl_list

FOLDER = api_functions.ROOT / "docs" / "api"
RULES = FOLDER / "COMMON.md"
SEEDS = ("aclrtMemcpy2dAsync", "aclrtMemcpyAsyncWithDesc", "aclrtMemcpyBatchAsync", "HcclD2DMemcpyAsync")
PLATFORM = "hccl platform functions"
COLLECTIVES = "hccl communicators and operators"
TITLES = {PLATFORM: "HCCL's platform functions", COLLECTIVES: "HCCL's communicators and operators"}
WORDS_FOR_CODES = ("none", "other", "later")
UNIT = re.compile(r"\b(?:milli|micro)?seconds?\b", re.I)


def code_names():
    """Number to name, for ACL; the names of HCCL stand for themselves."""
    names = {}
    for path in (api_functions.HEADERS / "acl_base_rt.h", *sorted((api_functions.HEADERS / "error_codes").glob("*.h"))):
        text = path.read_text()
        for name, number in re.findall(r"\b(ACL_ERROR_\w+)\s*(?:=\s*)?(\d{6})\b", text):
            names.setdefault(number, name)
    return names


# ---- what is to be documented


def supported_functions():
    """(group, functions) for everything that is supported, and the classes of HCCL."""
    functions = api_comments.acl_functions()
    defined = api_definitions.defined_functions(api_functions.declared_functions(), api_definitions.source_files())
    groups = []
    for group, names in api_list.read_groups():
        members = [functions[name] for name in names if name in defined and defined[name].status != "not supported"]
        if members:
            groups.append((group, members))
    statuses = ("supported", "partly", "no-op", "not supported")
    listed = {name: status for _, entries in hccl_list.read_groups(statuses) for name, status, _ in entries}
    platform = [f for f in api_comments.platform_functions().values() if listed[f.name] != "not supported"]
    groups.append((COLLECTIVES, list(api_comments.public_functions().values())))
    groups.append((PLATFORM, platform))
    return groups, api_comments.platform_classes()


def function_findings(function, codes):
    comment, name = function.comment, function.name
    if not comment.text:
        return [f"{name}: has no comment that begins with /**"]
    found = []
    for each in function.parameters:
        if not comment.parameters.get(each):
            found.append(f"{name}: says nothing about the parameter {each}")
        elif "timeout" in each.lower() and not UNIT.search(comment.parameters[each]):
            found.append(f"{name}: the unit of {each} is missing")
    found += [f"{name}: has no parameter {each}" for each in comment.parameters if each not in function.parameters]
    if not comment.asynchronous:
        found.append(f"{name}: does not say whether it is asynchronous")
    if function.gives_code and not comment.errors:
        found.append(f"{name}: names no codes")
    for code, when in comment.errors:
        known = code in WORDS_FOR_CODES or code in codes or code.startswith("HCCL_E_")
        if not known or (code != "none" and not when):
            found.append(f"{name}: the error {code!r} is unknown, or says nothing")
    if not function.gives_code and not comment.returns and not function.prototype.startswith("void "):
        found.append(f"{name}: does not say what it returns")
    if name in SEEDS and not comment.example:
        found.append(f"{name}: has no example")
    return found


def class_findings(described):
    if not (described.comment.text and described.comment.threads and described.comment.asynchronous):
        return [f"{described.name}: has no comment with @threads and @async"]
    found = []
    for group in described.groups:
        text = " ".join(group.comment.text)
        if not text:
            found.append(f"{described.name}: no comment says what {', '.join(sorted(group.names))} does")
            continue
        if "HCCL_E_NOT_SUPPORT" in text and not group.comment.errors:
            continue  # refused whatever its parameters are
        for declaration in group.declarations:
            for name in api_comments.member_parameters(declaration):
                if not re.search(rf"\b{name}\b", text):
                    found.append(f"{described.name}: {declaration!r} has a parameter {name} that nothing is said about")
    return found


def findings(groups, classes):
    codes = code_names()
    found = [each for _, members in groups for function in members for each in function_findings(function, codes)]
    return found + [each for described in classes for each in class_findings(described)]


# ---- Markdown


def timing(text):
    if text == "no":
        return "Synchronous: complete when the call returns."
    if text.startswith("queued"):
        rest = text[len("queued") :].lstrip("; ")
        return "Asynchronous: queues a task and returns." + (f" Exception: {rest}." if rest else "")
    return text


def wrapped(prototype):
    """A declaration, with a line for each parameter where it is long."""
    if len(prototype) < 78:
        return prototype + ";"
    opening = prototype.index("(")
    inside = api_comments.split_parameters(prototype[opening + 1 : prototype.rindex(")")])
    return prototype[: opening + 1] + "\n    " + ",\n    ".join(inside) + ");"


def plain(text):
    """Text in which Markdown changes nothing."""
    return text.replace("*", "\\*").replace("|", "\\|")


def error_name(code, names):
    return f"{code} {names[code]}" if code in names else code


def function_lines(function, names):
    comment = function.comment
    lines = [f"## {function.name}", "", "```c", wrapped(function.prototype), "```", ""]
    for paragraph in comment.text:
        lines += [plain(paragraph), ""]
    if comment.parameters:
        lines += ["| parameter | |", "|---|---|"]
        lines += [f"| `{name}` | {plain(text)} |" for name, text in comment.parameters.items()]
        lines.append("")
    if comment.returns:
        lines += [f"**Returns** {comment.returns}", ""]
    lines += [f"**When** {timing(comment.asynchronous)}", ""]
    threads = comment.threads or "Any thread; see the [common rules](COMMON.md#threads)."
    lines += [f"**Threads** {threads}", ""]
    if comment.errors == [("none", "")]:
        lines += ["**Errors** None of its own.", ""]
    elif comment.errors:
        lines += ["**Errors**, in the order of the checks:", ""]
        for number, (code, when) in enumerate(comment.errors, 1):
            lines.append(f"{number}. `{error_name(code, names)}` {plain(when)}")
        lines.append("")
    if comment.example:
        lines += ["```c", comment.example.rstrip(), "```", ""]
    lines += [f"Header: `{function.header}`", ""]
    return lines


def title(group):
    return TITLES.get(group, group[0].upper() + group[1:])


def heading(text):
    return ["<!-- Generated by scripts/generate_api_reference.py from the comments of include/. -->", f"# {text}", ""]


def group_page(group, members, names):
    lines = heading(title(group))
    lines += ["Which codes any call may return, and how threads share objects: [common rules](COMMON.md).", ""]
    lines += [f"- [`{f.name}`](#{f.name.lower()}) {f.comment.brief}" for f in members] + [""]
    for function in members:
        lines += function_lines(function, names)
    return "\n".join(lines).rstrip() + "\n"


def class_page(described, names):
    lines = heading(f"hccl::{described.name}") + [p for text in described.comment.text for p in (text, "")]
    lines += [f"**When** {timing(described.comment.asynchronous)}", ""]
    lines += [f"**Threads** {described.comment.threads}", "", f"Header: `{described.header}`", ""]
    for group in described.groups:
        lines += ["```cpp"] + [each + ";" for each in group.declarations] + ["```", ""]
        for paragraph in group.comment.text:
            lines += [plain(paragraph), ""]
        lines += [f"- `{error_name(code, names)}` {when}" for code, when in group.comment.errors]
        lines += [""] if group.comment.errors else []
    return "\n".join(lines).rstrip() + "\n"


def index_page(groups, classes):
    functions = sum(len(members) for _, members in groups)
    lines = heading("API reference") + [
        f"{functions} functions and {len(classes)} classes. The [common rules](COMMON.md) hold for all of them.",
        "After `make install` each function has a manual page: `man aclrtMemcpyBatchAsync`.",
        "",
    ]
    for group, members in groups:
        page = api_list.page_of(group)
        lines += [f"## [{title(group)}]({page})", ""]
        lines += [f"- [`{f.name}`]({page}#{f.name.lower()}) {f.comment.brief}" for f in members] + [""]
    lines += ["## Classes of HCCL's platform layer", ""]
    lines += [f"- [`hccl::{c.name}`](hccl_{c.name.lower()}.md) {c.comment.brief}" for c in classes]
    return "\n".join(lines) + "\n"


def markdown(groups, classes):
    """Name of the file to its text."""
    names = code_names()
    pages = {"README.md": index_page(groups, classes)}
    for group, members in groups:
        pages[api_list.page_of(group)] = group_page(group, members, names)
    for described in classes:
        pages[f"hccl_{described.name.lower()}.md"] = class_page(described, names)
    return pages


# ---- manual pages


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def verbatim(code):
    return [".EX"] + [roff(line) or "\\&" for line in code.rstrip().splitlines()] + [".EE"]


def manual_head(name, brief):
    return [f'.TH {name} 3 "" "Sampan" "AscendCL and HCCL"', ".nh", ".SH NAME", f"{roff(name)} \\- {roff(brief.rstrip('.'))}"]


def manual_errors(comment, names):
    lines = [".SH ERRORS"]
    if comment.errors in ([], [("none", "")]):
        return lines + ["None of its own."]
    lines.append("In the order of the checks:")
    for number, (code, when) in enumerate(comment.errors, 1):
        lines += [".TP", f".B {number}. {roff(error_name(code, names))}", roff(when)]
    return lines


def function_manual(function, names):
    comment = function.comment
    lines = manual_head(function.name, comment.brief) + [".SH SYNOPSIS"]
    lines += verbatim(f"#include <{function.header}>\n\n{wrapped(function.prototype)}") + [".SH DESCRIPTION"]
    lines += [each for paragraph in comment.text for each in (roff(paragraph), ".PP")][:-1]
    if comment.parameters:
        lines.append(".SH PARAMETERS")
        for name, text in comment.parameters.items():
            lines += [".TP", f".I {name}", roff(text)]
    if comment.returns:
        lines += [".SH RETURN VALUE", roff(comment.returns)]
    lines += [".SH TIMING", roff(timing(comment.asynchronous))]
    lines += [".SH THREADS", roff(comment.threads or "Any thread.")]
    if function.gives_code:
        lines += manual_errors(comment, names)
    if comment.example:
        lines += [".SH EXAMPLE"] + verbatim(comment.example)
    return "\n".join(lines + [".SH SEE ALSO", ".BR sampan_api (3)"]) + "\n"


def class_manual(described, names):
    lines = manual_head(f"hccl_{described.name}", described.comment.brief) + [".SH SYNOPSIS"]
    lines += verbatim(f"#include <{described.header}>\n\nclass hccl::{described.name};") + [".SH DESCRIPTION"]
    lines += [roff(" ".join(described.comment.text)), ".SH TIMING", roff(timing(described.comment.asynchronous))]
    lines += [".SH THREADS", roff(described.comment.threads), ".SH MEMBERS"]
    for group in described.groups:
        lines += verbatim("\n".join(each + ";" for each in group.declarations)) + [roff(" ".join(group.comment.text))]
        for code, when in group.comment.errors:
            lines += [".TP", f".B {roff(error_name(code, names))}", roff(when)]
        lines.append(".PP")
    return "\n".join(lines + [".SH SEE ALSO", ".BR sampan_api (3)"]) + "\n"


def rules_manual(text):
    """docs/api/COMMON.md as a manual page."""
    lines = manual_head("sampan_api", "rules that hold for every function") + [".SH DESCRIPTION"]
    text = re.sub(r"^\|.*\n(?=\|-)", "", text, flags=re.M)  # the headings of tables
    for line in text.splitlines():
        if line.startswith("## "):
            lines += [".SH " + roff(line[3:]).upper()]
        elif line.startswith("- "):
            lines += [".IP \\(bu 2", roff(line[2:])]
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not set(cells[0]) <= {"-", ":"}:
                lines += [".TP", f".B {roff(cells[0])}", roff(" ".join(cells[1:]))]
        elif line.startswith("#") or not line:
            lines += [".PP"] if not line else []
        else:
            lines += [roff(line.strip())]
    return "\n".join(lines) + "\n"


def manuals(groups, classes):
    names = code_names()
    pages = {"sampan_api.3": rules_manual(RULES.read_text())}
    for _, members in groups:
        pages.update({f"{f.name}.3": function_manual(f, names) for f in members})
    pages.update({f"hccl_{c.name}.3": class_manual(c, names) for c in classes})
    return pages


# ---- the command


def check(pages):
    """Whether docs/api is what the headers say."""
    problems = [f"docs/api/{name} is out of date" for name, text in pages.items() if not same(FOLDER / name, text)]
    stray = {path.name for path in FOLDER.glob("*.md")} - pages.keys() - {RULES.name}
    return problems + [f"docs/api/{name} is not generated" for name in sorted(stray)]


def same(path, text):
    return path.is_file() and path.read_text() == text


def examples(groups):
    """File name to a whole program, for each example."""
    programs = {}
    for group, members in groups:
        for function in members:
            if not function.comment.example:
                continue
            platform = group == PLATFORM
            head = '#include <acl/acl.h>\n' + ('#include "dispatcher.h"\n' if platform else "#include <stdio.h>\n")
            body = "".join(f"  {line}\n" for line in function.comment.example.splitlines())
            last = "  return aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS ? 0 : 1;\n"
            programs[function.name + (".cc" if platform else ".c")] = f"{head}\nint main() {{\n{body}{last}}}\n"
    return programs


def main():
    parser = argparse.ArgumentParser(description="Generates the API reference.")
    parser.add_argument("--check", action="store_true", help="fail when something is missing or out of date")
    parser.add_argument("--man", type=pathlib.Path, help="write manual pages into this folder, and nothing else")
    parser.add_argument("--examples", type=pathlib.Path, help="write the examples into this folder, and nothing else")
    arguments = parser.parse_args()
    groups, classes = supported_functions()
    problems = findings(groups, classes)
    if not problems and arguments.check:
        problems = check(markdown(groups, classes))
        if problems:
            problems.append("run scripts/generate_api_reference.py")
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems or arguments.check:
        return 1 if problems else 0
    folder = arguments.man or arguments.examples or FOLDER
    if arguments.man:
        texts = manuals(groups, classes)
    elif arguments.examples:
        texts = examples(groups)
    else:
        texts = markdown(groups, classes)
    for name, text in texts.items():
        generated_file.write_if_changed(folder / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
