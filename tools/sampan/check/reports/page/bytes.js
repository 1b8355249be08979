// The bytes of a buffer as a strip: what each access touches, and what both do.
const countBytes = (count) => `${count.toLocaleString("en-US")} ${count === 1 ? "byte" : "bytes"}`;

function stripRow(name, begin, end, scale, kind) {
  const row = make("div", "strip-row");
  const bar = make("div", `strip-bar ${kind}`);
  const [left, right] = [scale(begin), scale(end)];
  bar.style.left = `${left}%`;
  bar.style.width = `max(3px, ${Math.max(0, right - left)}%)`;
  row.append(make("span", "strip-name", name), make("div", "strip-track", bar), make("span", "strip-range", showRange(begin, end)));
  return row;
}

// Accesses lie close together in long buffers: then the strip shows the part around them.
function stripOf(finding) {
  const { buffer, overlap, accesses } = finding;
  const ranges = accesses.filter(hasBytes);
  if (!buffer || ranges.length === 0) return null;
  const first = Math.min(...ranges.map((range) => range.begin), overlap?.begin ?? Infinity);
  const last = Math.max(...ranges.map((range) => range.end));
  const wholeEnd = Math.max(buffer.bytes, last);
  const isPart = last - first < wholeEnd / 12;
  const margin = Math.max(1, (last - first) * 0.6);
  const [begin, end] = isPart ? [Math.max(0, first - margin), Math.min(wholeEnd, last + margin)] : [0, wholeEnd];
  const scale = (at) => Math.min(100, Math.max(0, (at - begin) / Math.max(1, end - begin) * 100));
  const strip = make("div", "strip");
  strip.append(stripRow("buffer", 0, buffer.bytes, scale, "whole"));
  accesses.forEach((access, index) => {
    if (hasBytes(access)) strip.append(stripRow(`${index + 1} ${access.does}`, access.begin, access.end, scale, access.does));
  });
  const isNews = ranges.length > 1 || ranges[0].begin !== overlap?.begin || ranges[0].end !== overlap.end;
  if (overlap && isNews) strip.append(stripRow(ranges.length > 1 ? "both" : "wrong", overlap.begin, overlap.end, scale, "both"));
  if (isPart) strip.append(make("p", "faint", `The part around the accesses; the buffer has ${countBytes(buffer.bytes)}.`));
  return strip;
}
