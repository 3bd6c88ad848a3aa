// Numbers and names as people read them; the same rules as src/assay/report/format.cpp.

const NOT_MEASURED = "–";

const SCALES = {
  ns: [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]],
  bytes: [["B", 1], ["kB", 1e3], ["MB", 1e6], ["GB", 1e9]],
};

const MARKS = { pass: "✓", fail: "✗", inconclusive: "?", skipped: "–" };

/** "3190", "11.6", "0.0412": three significant digits, none invented. */
function textFromNumber(value, digits = 3) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(digits - 1);
  if (Number.isInteger(value) && size < 1e4) return String(Number(value.toPrecision(digits)));
  const rounded = Number(value.toPrecision(digits));
  const decimals = digits - 1 - Math.floor(Math.log10(Math.abs(rounded)));
  return rounded.toFixed(Math.max(0, decimals));
}

/** One unit for many values, by their median: {unit, divisor}. */
function scaleFor(unit, values) {
  const steps = SCALES[unit];
  if (!steps) return { unit: unit === "ratio" || unit === "count" ? "" : unit, divisor: 1 };
  const sizes = values.filter((v) => Number.isFinite(v) && v !== 0).map(Math.abs).sort((a, b) => a - b);
  const middle = sizes.length ? sizes[Math.floor(sizes.length / 2)] : 0;
  let best = steps[0];
  for (const step of steps) if (middle >= step[1]) best = step;
  return { unit: best[0], divisor: best[1] };
}

/** The number of an estimate or metric, NaN and infinities included. */
function valueOf(estimate) {
  if (!estimate) return undefined;
  if (!estimate.special) return estimate.value;
  return { nan: NaN, inf: Infinity, "-inf": -Infinity }[estimate.special];
}

/** "[11.4, 12.0]" with as many decimals as the value shows; empty without an interval. */
function textFromInterval(estimate, scale) {
  if (!estimate || estimate.special || estimate.low == null || estimate.high == null) return "";
  const value = textFromNumber(estimate.value / scale.divisor);
  const point = value.indexOf(".");
  const ends = [estimate.low, estimate.high].map((end) => end / scale.divisor);
  if (value.includes("e")) return `[${ends.map((end) => textFromNumber(end)).join(", ")}]`;
  const decimals = point < 0 ? 0 : value.length - point - 1;
  const step = point < 0 ? 10 ** Math.max(0, value.replace("-", "").length - 3) : 1;
  const text = (end) => (decimals ? end.toFixed(decimals) : String(Math.round(end / step) * step));
  return `[${ends.map(text).join(", ")}]`;
}

/** Percent; what is not all or nothing never reads as such. */
function textFromShare(ratio) {
  const percent = ratio * 100;
  if (percent > 99.9 && percent < 100) return ">99.9";
  if (percent > 0 && percent < 0.1) return "<0.1";
  return textFromNumber(percent);
}

/** "11.6 ms": a raw value with the unit that suits it. */
function textFromQuantity(unit, value) {
  const scale = scaleFor(unit, [value]);
  return `${textFromNumber(value / scale.divisor)}${scale.unit ? " " + scale.unit : ""}`;
}

const wordsOf = (name) => name.replaceAll("_", " ");
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const isPresent = (value) => value !== undefined && value !== null && value !== "";

/** Lines without terminal colours and other control characters. */
function printable(text) {
  return text.replace(/\x1b\[[0-9;]*m/g, "").replace(/[^\P{Cc}\n\t]/gu, "·");
}

const lastLine = (text) => printable(text).split("\n").filter((line) => line.trim()).at(-1) ?? "";
