// Numbers as people read them.
const threeDigits = (value) => (value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2));

function showTime(ns) {
  const size = Math.abs(ns);
  if (size < 1e3) return `${Math.round(ns)} ns`;
  const sign = ns < 0 ? "-" : "";
  if (size < 1e6) return `${sign}${threeDigits(size / 1e3)} us`;
  if (size < 1e9) return `${sign}${threeDigits(size / 1e6)} ms`;
  return `${sign}${threeDigits(size / 1e9)} s`;
}

function showBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (bytes >= 1024 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return `${Number.isInteger(bytes) ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

const showCount = (count) => Math.round(count).toLocaleString("en-US");
const countOf = (count, one, many = `${one}s`) => `${showCount(count)} ${count === 1 ? one : many}`;
const showRate = (bytes, ns) => `${threeDigits(bytes / ns)} GB/s`;

// A power of ten of GB/s on an axis, short however far the axis reaches.
function rateLabel(power) {
  const [unit, least] = [["GB/s", 0], ["MB/s", -3], ["KB/s", -6], ["B/s", -9]].find(([, at]) => power >= at) ?? ["B/s", -9];
  const value = 10 ** (power - least);
  return `${value >= 1e6 || value < 1 ? `1e${power - least}` : Math.round(value).toLocaleString("en-US")} ${unit}`;
}

// A number of bytes as people write them: 4096, 64K, 1.5M, 64KiB. NaN for anything else.
function parseBytes(text) {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text);
  if (!match) return NaN;
  return Number(match[1]) * 1024 ** " kmgt".indexOf(match[2].toLowerCase() || " ");
}

// Steps of 1, 2 or 5 times a power of ten, at least `least`.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least * 0.999999);
}
