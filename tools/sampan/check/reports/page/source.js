// Elements, and the source lines around a place.
function make(tag, name, ...contents) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...contents.filter((content) => content !== null && content !== ""));
  return element;
}

const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);
const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
// [begin, end) as people count: both ends are inside.
const showRange = (begin, end) => end <= begin + 1 ? begin.toLocaleString("en-US") : `${begin.toLocaleString("en-US")} \u2013 ${(end - 1).toLocaleString("en-US")}`;
const hexadecimal = (number) => `0x${number.toString(16)}`;

function placeOf(frame) {
  if (!frame) return "unknown place";
  if (frame.file) return `${baseName(frame.file)}:${frame.line}`;
  return `${baseName(frame.module)}+${hexadecimal(frame.offset)}`;
}

// Comments and words of the language, told apart by one expression; the rest stays plain.
const kWords = new RegExp(
  [
    /(\/\/.*$|\/\*.*?(?:\*\/|$))/,
    /("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/,
    /\b(alignas|auto|bool|break|case|catch|char|class|const|constexpr|continue|default|delete|do|double|else|enum|false|float|for|if|inline|int|long|namespace|new|nullptr|return|short|signed|sizeof|static|struct|switch|template|this|throw|true|try|typedef|typename|unsigned|using|virtual|void|while|def|import|with|None)\b/,
    /\b((?:acl|Hccl|hccl)\w+)/,
  ].map((part) => part.source).join("|"), "g");

function highlighted(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(kWords)) {
    const kind = ["comment", "string", "keyword", "call"].find((_, index) => match[index + 1] !== undefined);
    parts.push(text.slice(end, match.index), make("span", kind, match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

// The lines around a frame's place; what there is to say instead if they cannot be shown.
function sourceOf(frame, sources, isBad) {
  if (!frame || !frame.file) {
    return make("p", "nosource", frame ? `No debug information in ${baseName(frame.module)}: build it with -g to see files and lines.` : "No stack.");
  }
  const lines = sources[frame.file] ?? {};
  const numbers = Object.keys(lines).map(Number).filter((number) => Math.abs(number - frame.line) <= 4);
  if (numbers.length === 0) return make("p", "nosource", `${frame.file} could not be read here.`);
  const indent = Math.min(...numbers.map((number) => lines[number]).filter((text) => text.trim()).map((text) => text.match(/^ */)[0].length));
  const code = make("pre", "source");
  for (const number of numbers) {
    const text = lines[number].slice(Number.isFinite(indent) ? indent : 0);
    const row = make("span", number === frame.line ? `line here${isBad ? " bad" : ""}` : "line", make("span", "number", String(number)), ...highlighted(text), "\n");
    if (number === frame.line) row.setAttribute("aria-current", "true");
    code.append(row);
  }
  return code;
}

// A stack whose frames show their source when they are chosen.
function stackOf(stack, sources, isBad) {
  const box = make("div", "stack");
  let shown = sourceOf(stack[0], sources, isBad);
  const list = make("ol");
  stack.forEach((frame, index) => {
    const button = make("button", "frame", make("b", "", frame.function ?? "unknown function"), make("span", "", placeOf(frame)));
    button.type = "button";
    button.title = frame.file ? `${frame.file}:${frame.line}` : `${frame.module}+${hexadecimal(frame.offset)}`;
    button.setAttribute("aria-pressed", String(index === 0));
    button.addEventListener("click", () => {
      const next = sourceOf(frame, sources, isBad && index === 0);
      shown.replaceWith(next);
      shown = next;
      for (const other of list.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
    });
    list.append(make("li", "", button));
  });
  box.append(shown, list);
  return box;
}
