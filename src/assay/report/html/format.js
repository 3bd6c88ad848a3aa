// Numbers and names as people read them; the same rules as src/assay/report/format.cpp.

const NOT_MEASURED = "–";

const SCALES = {
  ns: [
    ["ns", 1],
    ["µs", 1e3],
    ["ms", 1e6],
    ["s", 1e9],
  ],
  bytes: [
    ["B", 1],
    ["kB", 1e3],
    ["MB", 1e6],
    ["GB", 1e9],
  ],
};

const MARKS = { pass: "✓", fail: "✗", inconclusive: "?", skipped: "–" };

/** "3190", "11.6", "0.0412": three significant digits, none invented. */
function textFromNumber(value, digits = 3) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-3 || size >= 1e7) return value.toExponential(digits - 1);
  const rounded = Number(value.toPrecision(digits));
  const decimals = digits - 1 - Math.floor(Math.log10(Math.abs(rounded)));
  return rounded.toFixed(Math.max(0, decimals));
}

/** What is close to 1 never reads as 1: 0.99998 stays "0.99998". */
function textFromSimilarity(value) {
  const gap = 1 - value;
  if (!(gap > 0) || gap > 0.005) return textFromNumber(value);
  return gap < 1e-7 ? ">0.9999999" : value.toFixed(1 - Math.floor(Math.log10(gap)));
}

/** One unit for many values, by their median: {unit, divisor, isWhole}. */
function unitFor(unit, values) {
  const steps = SCALES[unit];
  if (!steps)
    return {
      unit: unit === "ratio" || unit === "count" ? "" : unit,
      divisor: 1,
      isWhole: unit === "count",
    };
  const sizes = values
    .filter((v) => Number.isFinite(v) && v !== 0)
    .map(Math.abs)
    .sort((a, b) => a - b);
  const middle = sizes.length ? sizes[Math.floor(sizes.length / 2)] : 0;
  const best = steps.findLast((step) => middle >= step[1]) ?? steps[0];
  return { unit: best[0], divisor: best[1], isWhole: best[0] === "B" };
}

/**
 * For a column: as unitFor, but values that span more than four powers of ten, or of which one would
 * have five digits before its point, take each its own.
 */
function scaleFor(unit, values) {
  const sizes = values.filter((v) => Number.isFinite(v) && v !== 0).map(Math.abs);
  if (!SCALES[unit] || !sizes.length) return unitFor(unit, values);
  const most = Math.max(...sizes);
  const one = unitFor(unit, values);
  const isLong = most >= 1e4 * one.divisor && one.divisor < SCALES[unit].at(-1)[1];
  return most > 1e4 * Math.min(...sizes) || isLong ? { unit: "", rawUnit: unit } : one;
}

const scaleOfValue = (scale, value) => (scale.rawUnit ? unitFor(scale.rawUnit, [value]) : scale);

/** A raw value in a scale, with its own unit when the scale has none for all. */
function textInScale(value, scale) {
  const own = scaleOfValue(scale, value);
  const scaled = value / own.divisor;
  const text = own.isWhole && Number.isInteger(scaled) ? String(scaled) : textFromNumber(scaled);
  return scale.rawUnit && own.unit ? `${text} ${own.unit}` : text;
}

/** A command line as a shell reads it back. */
const shellCommand = (words) =>
  words
    .map((word) => (/^[\w./:=,@+%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");

/** The number of an estimate or metric, NaN and infinities included. */
function valueOf(estimate) {
  if (!estimate) return undefined;
  if (!estimate.special) return estimate.value;
  return { nan: NaN, inf: Infinity, "-inf": -Infinity }[estimate.special];
}

/** "[11.4, 12.0]" with as many decimals as the value shows; empty without an interval. */
function textFromInterval(estimate, scale) {
  if (!estimate || estimate.special || estimate.low == null || estimate.high == null) return "";
  const { divisor } = scaleOfValue(scale, estimate.value);
  const value = textFromNumber(estimate.value / divisor);
  const point = value.indexOf(".");
  const ends = [estimate.low, estimate.high].map((end) => end / divisor);
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
  return percent === 100 ? "100" : textFromNumber(percent);
}

/** The coverage of an interval, percent: "75", "95", "93.8". */
const textFromCoverage = (ratio) => String(Number((ratio * 100).toPrecision(3)));

/** "11.6 ms": a raw value with the unit that suits it. */
function textFromQuantity(unit, value) {
  const scale = unitFor(unit, [value]);
  return `${textInScale(value, scale)}${scale.unit ? " " + scale.unit : ""}`;
}

const wordsOf = (name) => name.replaceAll("_", " ");
const counted = (count, noun, plural = `${noun}s`) => `${count} ${count === 1 ? noun : plural}`;
const isPresent = (value) => value !== undefined && value !== null && value !== "";

/** Lines without terminal colours and other control characters. */
function printable(text) {
  return text.replace(/\x1b\[[0-9;]*m/g, "").replace(/[^\P{Cc}\n\t]/gu, "·");
}

const lastLine = (text) =>
  printable(text)
    .split("\n")
    .filter((line) => line.trim())
    .at(-1) ?? "";
