// One finding as an article.
function sentence(access) {
  const parts = [];
  if (hasBytes(access)) parts.push(`${access.end - access.begin === 1 ? "byte" : "bytes"} ${showRange(access.begin, access.end)}`);
  if (access.entry !== null) parts.push(`entry ${access.entry} of the batch`);
  if (access.stream !== null) parts.push(`stream ${access.stream}` + (access.device === null ? "" : ` of device ${access.device}`));
  if (access.thread !== null) parts.push(`thread ${access.thread}`);
  return parts.join(", ");
}

function accessCard(access, index, all, sources) {
  const isLast = index === all.length - 1;
  const head = make("h3", "", make("span", "badge", String(index + 1)), make("code", "", access.call ?? "the host"), ` ${verbOf(access)}`);
  if (all.length === 2) head.append(make("small", "", index === 0 ? "earlier" : "later"));
  return make("section", "access", head, make("p", "faint", sentence(access)), stackOf(access.stack, sources, isLast));
}

function bufferCard(buffer, sources) {
  const title = `${buffer.what}${buffer.device === null ? "" : ` (device ${buffer.device})`}: ${countBytes(buffer.bytes)} at ${buffer.address}`;
  const made = buffer.call ? `, made by ${buffer.call} at ${placeOf(buffer.stack[0])}` : "";
  const details = make("details", "buffer", make("summary", "", make("b", "", "Buffer "), title + made));
  details.append(stackOf(buffer.stack, sources, false));
  return details;
}

function suppressCard(finding) {
  const details = make("details", "suppress", make("summary", "", "How to suppress it"));
  const place = finding.accesses.at(-1)?.stack[0] ?? finding.buffer?.stack[0];
  const lines = [finding.id, ...(place?.function ? [`kind:${finding.kind} function:${place.function}`] : []), ...(place?.file ? [`kind:${finding.kind} file:${baseName(place.file)}`] : [])];
  details.append(make("p", "faint", "One of these lines, in a file for --suppress:"), make("pre", "", lines.join("\n")));
  return details;
}

function articleOf(finding, model) {
  const article = make("article", finding.severity);
  article.id = finding.id;
  const title = make("h2", "", make("span", "severity", finding.severity), finding.kind);
  title.title = model.kinds[finding.kind] ?? "";
  const head = make("div", "head", title, make("span", "id", finding.id), make("span", "times", finding.count === 1 ? "" : `made ${plural(finding.count, "time")}`));
  article.append(head, make("p", "message", finding.message));
  if (finding.fix) article.append(make("p", "fix", make("b", "", "Fix"), finding.fix));
  const picture = finding.accesses.length > 1 ? make("div", "lanes") : null;
  const strip = stripOf(finding);
  if (picture || strip) article.append(make("div", "pictures", picture, strip));
  if (finding.accesses.length > 0) article.append(make("div", "accesses", ...finding.accesses.map((access, index) => accessCard(access, index, finding.accesses, model.sources))));
  if (finding.buffer) article.append(bufferCard(finding.buffer, model.sources));
  article.append(suppressCard(finding));
  return { article, start: () => picture && new LanePicture(finding, picture) };
}
