// Search over the timeline: words in names and arguments, sizes, and questions about one argument.

// A test of one item for each word of the query.
function parseQuery(query) {
  return query.trim().toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const question = /^([a-z_ ]+)([:=<>])(.+)$/.exec(word);
    if (question) return askArgument(question[1], question[2], question[3]);
    const bytes = /\d/.test(word) ? parseBytes(word) : NaN;
    return (items, i) => contains(items, i, word) || (!Number.isNaN(bytes) && sizeMatches(items, i, "=", bytes));
  });
}

function contains(items, i, word) {
  if (items.name[i].toLowerCase().includes(word)) return true;
  if (items.tracks[items.track[i]].name.toLowerCase().includes(word)) return true;
  if (items.state(i).includes(word)) return true;
  const group = items.groups.get(i);
  if (group) return group.names.some((name, at) => at % 2 === 0 && items.strings[name].toLowerCase().includes(word));
  return items.argumentsOf(i).some(([, value]) => typeof value === "string" && value.toLowerCase().includes(word));
}

function sizeMatches(items, i, relation, bytes) {
  const group = items.groups.get(i);
  const [least, most] = group ? [group.min, group.max] : Array(2).fill(items.argument(i, kBytes));
  if (least === undefined || (group && group.copies === 0)) return false;
  if (relation === "<") return least < bytes;
  if (relation === ">") return most > bytes;
  return least <= bytes && bytes <= most;
}

function askArgument(asked, relation, wanted) {
  const name = { kind: kKind, size: "bytes" }[asked] ?? asked;
  const number = parseBytes(wanted);
  if (name === "bytes" && !Number.isNaN(number)) return (items, i) => sizeMatches(items, i, relation === ":" ? "=" : relation, number);
  return (items, i) => {
    const group = items.groups.get(i);
    if (group) return groupAnswers(items, group, name, wanted);
    const value = name === "name" ? items.name[i] : name === "track" ? items.tracks[items.track[i]].name
      : items.argumentsOf(i).find(([key]) => key.toLowerCase().startsWith(name))?.[1];
    if (value === undefined) return false;
    if (relation === "<") return Number(value) < number;
    if (relation === ">") return Number(value) > number;
    return typeof value === "number" ? value === Number(wanted) : value.toLowerCase().includes(wanted);
  };
}

// What is known of a group: its stream, the kinds of its copies, its names.
function groupAnswers(items, group, name, wanted) {
  if (name.startsWith("stream")) return group.stream === Number(wanted);
  if (name === "name") return contains(items, group.item, wanted);
  if (name !== kKind) return false;
  return items.tints.some((tint, bit) => ((group.tints >> bit) & 1) === 1 && (kKinds[tint] ?? "").includes(wanted));
}

function startSearch(items, timeline, selection) {
  const input = document.getElementById("query");
  const found = document.getElementById("found");
  const buttons = { [-1]: document.getElementById("previous"), [1]: document.getElementById("next") };
  let matches = [];  // items in the order of time
  let at = -1;

  const tell = () => {
    const any = matches.length > 0;
    buttons[-1].disabled = buttons[1].disabled = !any;
    found.classList.toggle("none", !any && timeline.matches !== null);
    if (timeline.matches === null) found.textContent = "";
    else if (!any) found.textContent = "no matches";
    else found.textContent = (at >= 0 ? `${showCount(at + 1)} of ` : "") + countOf(matches.length, "match", "matches");
    const groups = matches.filter((i) => items.groups.has(i)).length;
    if (groups > 0) found.textContent += `, ${countOf(groups, "group")}`;
    found.title = groups > 0 ? "Groups hold slices that are too short to show one by one; they match when some of those may" : "";
  };
  const search = () => {
    const tests = parseQuery(input.value);
    matches = [];
    at = -1;
    timeline.matches = tests.length > 0 ? new Uint8Array(items.count) : null;
    for (let i = 0; i < items.count && tests.length > 0; ++i) {
      if (!tests.every((test) => test(items, i))) continue;
      timeline.matches[i] = 1;
      matches.push(i);
    }
    matches.sort((a, b) => items.start[a] - items.start[b] || a - b);
    tell();
    timeline.picture.redraw();
  };
  const go = (by) => {
    if (matches.length === 0) return;
    at = at < 0 ? (by > 0 ? 0 : matches.length - 1) : (at + by + matches.length) % matches.length;
    selection.choose(matches[at]);
    timeline.show(matches[at]);
    tell();
  };
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, items.count > 20000 ? 200 : 0);
  });
  document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      input.value = "";
      search();
      timeline.scroller.focus();
    }
  });
  buttons[-1].addEventListener("click", () => go(-1));
  buttons[1].addEventListener("click", () => go(1));
}
