# Reads the comments of the public headers: what is said about each function, class and member.
"""A comment that documents something begins with `/**` and stands right above it. Its first sentence says what the
function does. Then, each on lines of its own, which may go on with an indent:

    @param NAME   what is accepted, with unit and limits
    @return       for functions that do not return a code
    @async        "no", "queued", or when the call returns
    @threads      only where the common rule does not hold
    @error CODE   when; in the order of the checks. "none", "other" and "later" stand for themselves
    @example      lines of code, indented; they compile inside a function

In a class a comment holds for all declarations up to the next empty line."""

import dataclasses
import re
import textwrap

import api_functions
import hccl_list

_TAG = re.compile(r"@(param|return|async|threads|error|example)\b ?(.*)")
_DOCUMENTED = re.compile(r"/\*\*(?P<comment>(?:(?!\*/).)*)\*/\s*\Z", re.S)
_PLATFORM_FUNCTION = re.compile(r"^HCCL_PLF_VISIBILITY\s+(?P<type>\w+)\s+(?P<name>\w+)\s*\(", re.M)


@dataclasses.dataclass
class Comment:
    text: list = dataclasses.field(default_factory=list)  # paragraphs
    parameters: dict = dataclasses.field(default_factory=dict)
    returns: str = ""
    asynchronous: str = ""
    threads: str = ""
    errors: list = dataclasses.field(default_factory=list)  # of (code, when)
    example: str = ""

    @property
    def brief(self):
        return re.split(r"(?<=[.:]) (?=[A-Z])", self.text[0], maxsplit=1)[0] if self.text else ""


@dataclasses.dataclass
class Function:
    name: str
    prototype: str
    header: str
    parameters: list  # names
    gives_code: bool
    comment: Comment


@dataclasses.dataclass
class Group:
    """Declarations of a class that one comment holds for."""

    comment: Comment
    declarations: list
    names: set


@dataclasses.dataclass
class Class:
    name: str
    header: str
    comment: Comment
    groups: list


def parse(body):
    """The Comment in the text between /** and */."""
    comment, paragraph, entry, example = Comment(), [], None, None
    entries, in_tag = [], False
    for line in body.strip().splitlines():
        line = re.sub(r"^\s*\* ?", "", line).rstrip()
        if example is not None:
            example.append(line)
            continue
        tag = _TAG.match(line)
        if tag and tag[1] == "example":
            example = []
        elif tag:
            entry = [tag[1], tag[2]]
            entries.append(entry)
        elif entry is not None and line.startswith("    "):
            entry[1] += " " + line.strip()
        elif line and in_tag:
            raise ValueError(f"the text of a tag goes on with an indent: '{line}'")
        elif line:
            paragraph.append(line.strip())
        elif paragraph:
            comment.text.append(" ".join(paragraph))
            paragraph = []
        in_tag = bool(line) and (in_tag or tag is not None)
    if paragraph:
        comment.text.append(" ".join(paragraph))
    for kind, text in entries:
        if kind in ("param", "error"):
            key, _, rest = text.partition(" ")
            if kind == "error":
                comment.errors.append((key, rest))
            elif key in comment.parameters:
                raise ValueError(f"@param {key} is there twice")
            else:
                comment.parameters[key] = rest
        else:
            member = {"return": "returns", "async": "asynchronous", "threads": "threads"}[kind]
            if getattr(comment, member):
                raise ValueError(f"@{kind} is there twice: '{text}'")
            setattr(comment, member, text)
    if example is not None:
        comment.example = textwrap.dedent("\n".join(example)).rstrip() + "\n"
    return comment


def _above(text, start):
    """The Comment that ends right above position `start`; an empty one where there is none."""
    before = re.sub(r'ACL_DEPRECATED_MESSAGE\("[^"]*"\)\s*\Z', "", text[:start])
    found = _DOCUMENTED.search(before)
    return parse(found["comment"]) if found else Comment()


def acl_functions(headers=api_functions.HEADERS):
    """Function of each declaration of the C headers, by name."""
    found = {}
    for declared in api_functions.declared_functions(headers):
        text = (headers.parent / declared.header).read_text()
        start = re.search(rf"^ACL_FUNC_VISIBILITY\b[^;(]*\b{declared.name}\s*\(", text, re.M).start()
        names = [each.name for each in declared.parameters if each.name]
        gives_code = declared.return_type == "aclError"
        found[declared.name] = Function(
            declared.name, declared.prototype(), declared.header, names, gives_code, _above(text, start)
        )
    return found


def split_parameters(text):
    """Cuts a C++ parameter list at its outermost commas."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text + ","):
        if character in "(<{[":
            depth += 1
        elif character in ")>}]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [part for part in parts if part]


def _parameter_names(inside):
    names = []
    for part in split_parameters(inside):
        pointer = re.match(r".*\(\*(\w+)\)\(", part)
        names.append(pointer[1] if pointer else re.search(r"(\w+)\s*(?:=.*)?$", part)[1])
    return names


def _free_functions(headers, pattern, folder):
    found = {}
    for path in sorted(headers.glob("*.h")):
        text = path.read_text()
        for match in pattern.finditer(text):
            closing = api_functions.closing_bracket(text, match.end() - 1)
            inside = " ".join(text[match.end() : closing].split())
            kind = match["type"].strip()
            found[match["name"]] = Function(
                match["name"],
                f"{kind} {match['name']}({inside})",
                f"{folder}/{path.name}",
                [] if inside == "void" else _parameter_names(inside),
                kind == "HcclResult",
                _above(text, match.start()),
            )
    return found


def platform_functions(headers=hccl_list.HEADERS):
    """Function of each free function of HCCL's platform headers, by name."""
    return _free_functions(headers, _PLATFORM_FUNCTION, "hccl/platform")


def public_functions(headers=hccl_list.PUBLIC_HEADERS):
    """Function of each function of libhccl, by name."""
    return _free_functions(headers, hccl_list.PUBLIC_FUNCTION, "hccl")


def _groups(body):
    """The Groups of a class's public part."""
    public = re.split(r"^ (?:private|protected):", body, flags=re.M)[0]
    public = re.sub(r"^  struct \w+ \{.*?^  \};", "", public, flags=re.M | re.S)
    groups, group = [], None
    for block in re.split(r"\n\s*\n", public):
        found = re.search(r"/\*\*((?:(?!\*/).)*)\*/", block, re.S)
        comment = parse(found[1]) if found else Comment()
        code = api_functions.without_comments(block).replace("public:", "")
        code = re.sub(r"\{[^{}]*\}", ";", code)
        declarations = [" ".join(each.split()) for each in code.split(";")]
        declarations = [e for e in declarations if "(" in e and "= delete" not in e and "~" not in e]
        if declarations:
            names = {_member(each) for each in declarations}
            groups.append(Group(comment, declarations, names))
    return groups


def _member(declaration):
    operator = re.search(r"operator\s*(bool|\S+?)\(", declaration)
    if operator:
        return "operator bool" if operator[1] == "bool" else "operator" + operator[1]
    return re.search(r"(\w+)\s*\(", declaration)[1]


def platform_classes(headers=hccl_list.HEADERS):
    """The Classes of HCCL's platform headers."""
    found = []
    for path in sorted(headers.glob("*.h")):
        text = path.read_text()
        for match in re.finditer(r"^class HCCL_PLF_VISIBILITY (\w+)[^{;]*\{(.*?)^\};", text, re.M | re.S):
            groups = _groups(match[2])
            if groups:  # a class without public members is a part of others
                found.append(Class(match[1], f"hccl/platform/{path.name}", _above(text, match.start()), groups))
    return found


def member_parameters(declaration):
    """Names of the parameters of a member; none for operators and for copying and moving."""
    opening = declaration.index("(")
    if "operator" in declaration:
        return []
    inside = declaration[opening + 1 : api_functions.closing_bracket(declaration, opening)]
    return [name for name in _parameter_names(inside) if name != "that"]
