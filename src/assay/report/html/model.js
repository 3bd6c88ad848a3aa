// What the page derives from the data: names, groups and the sentences of its findings.

const DATA = JSON.parse(document.getElementById("assay-data").textContent);
const CASES = DATA.cases.map((cell, index) => ({ ...cell, index, id: `case-${index}` }));
const METRICS = new Map(DATA.metrics.map((metric) => [metric.name, metric]));

/** Inferences of a launch after the first one; the page may have some of them only. */
const inferencesIn = (launch) => launch.inferences ?? launch.execute_ns.length;

const RECIPE_PREFIX = recipePrefixOf(CASES);

const recipeOf = (cell) => cell.recipe.slice(RECIPE_PREFIX.length);
const varies = (cells, field) => new Set(cells.map((cell) => cell[field])).size > 1;
const titleOf = (cell) => cell.label || `${cell.model} ${cell.recipe} ${cell.options}`;

/** Shapes stand beside the model's name, unless one model has several. */
const HAS_SHAPES = [...casesByModel(CASES).values()].some((cells) => varies(cells, "shapes"));

/** Parts that cases have in common, looked up once for all names among them. */
const commonParts = new WeakMap();

function commonOf(cells) {
  if (!commonParts.has(cells)) commonParts.set(cells, findCommon(cells));
  return commonParts.get(cells);
}

function findCommon(cells) {
  const counts = new Map();
  const builds = new Map();
  for (const cell of cells) {
    for (const option of new Set(cell.options.split(" "))) counts.set(option, (counts.get(option) ?? 0) + 1);
    builds.set(cell.recipe, (builds.get(cell.recipe) ?? new Set()).add(cell.engine));
  }
  return {
    isShared: (option) => counts.get(option) === cells.length,
    hasBuilds: (recipe) => builds.get(recipe).size > 1,
    isOneEngine: new Set(cells.map((cell) => cell.engine.split("@")[0])).size === 1,
    prefix: recipePrefixOf(cells),
    hasShapes: varies(cells, "shapes"),
    hasDevices: varies(cells, "device"),
  };
}

/** The options that not all of the cases have. */
function optionsWithin(cells, cell) {
  const { isShared } = commonOf(cells);
  return cell.options
    .split(" ")
    .filter((option) => !isShared(option))
    .join(" ");
}

/** The engine where the recipe does not tell it, and only its build where all have one engine. */
function buildWithin(cells, cell) {
  const { hasBuilds, isOneEngine } = commonOf(cells);
  if (!hasBuilds(cell.recipe)) return "";
  return isOneEngine ? `@${cell.engine.split("@")[1]}` : cell.engine;
}

/** "executorch/" when the recipes of all cells begin so. */
function recipePrefixOf(cells) {
  const first = cells[0]?.recipe ?? "";
  const prefix = first.slice(0, first.indexOf("/") + 1);
  return cells.length > 1 && cells.every((cell) => cell.recipe.startsWith(prefix)) ? prefix : "";
}

/** What tells a case from its neighbours under the same model. */
function nameWithin(cells, cell) {
  const { prefix, hasShapes, hasDevices } = commonOf(cells);
  return [
    cell.recipe.slice((prefix || RECIPE_PREFIX).length),
    optionsWithin(cells, cell),
    hasShapes ? cell.shapes : "",
    hasDevices ? cell.device : "",
    buildWithin(cells, cell),
  ]
    .filter(Boolean)
    .join("  ");
}

/** Items by a key of theirs, in the order of its first appearance. */
function groupsOf(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}

function casesByModel(cases) {
  return groupsOf(cases, (cell) => cell.model);
}

/** Whether something was asked for and not done. */
const isUnfinished = (cell) => cell.outcome === "skipped" && cell.reason_code === "unfinished";

/** Why the verdict is not a plain pass, in a word or two. */
function causeOf(cell) {
  if (cell.verdict === "pass") return ["emulated", "unsteady"].includes(cell.timing) ? cell.timing : "";
  if (isUnfinished(cell) && cell.verdict !== "fail") return "unfinished";
  const isRefused = ["unsupported", "skipped"].includes(cell.outcome);
  if (cell.outcome !== "completed" && !(isRefused && cell.verdict === "fail")) return wordsOf(cell.outcome);
  if (cell.accuracy === "fail_numeric") return "accuracy";
  if (cell.accuracy === "fail_nondeterministic") return "nondeterministic";
  if (cell.gates.some((gate) => !gate.is_met && !gate.is_undecided)) return "gate";
  if (cell.accuracy === "vacuous") return "vacuous";
  if (cell.accuracy_tables.some((table) => table.accuracy === "not_checked")) return "not checked";
  if (cell.gates.some((gate) => gate.is_undecided)) return "gate undecided";
  if (["unsteady", "inconclusive"].includes(cell.timing)) return wordsOf(cell.timing);
  return cell.verdict === "inconclusive" ? "not checked" : "";
}

const resultOf = (cell) => causeOf(cell) || cell.verdict;

/** "timing inconclusive: 4.91 ms, 75 % interval [3.88, 6.25], 3 launches". */
function timingSentence(cell) {
  const steady = cell.metrics.steady_ns;
  if (!steady) return `timing ${cell.timing}`;
  const interval = textFromInterval(steady, unitFor("ns", [steady.value]));
  return (
    `timing ${cell.timing}: ${textFromQuantity("ns", valueOf(steady))}` +
    `${interval ? `, ${textFromCoverage(steady.confidence)} % interval ${interval}` : ""}, ${counted(steady.count, "launch", "launches")}`
  );
}

/** Everything that keeps a case from a plain pass, one sentence each. */
function findingsOf(cell) {
  const findings = [];
  if (isUnfinished(cell)) {
    findings.push(`unfinished: ${printable(cell.text)}`);
  } else if (cell.outcome !== "completed") {
    findings.push(
      `${wordsOf(cell.outcome)}${cell.stage === "none" ? "" : ` at ${cell.stage}`}` +
        `${cell.reason_code ? ` (${cell.reason_code})` : ""}${cell.text ? `: ${printable(cell.text)}` : ""}`,
    );
  } else if (cell.text) {
    findings.push(printable(cell.text));
  }
  for (const table of cell.accuracy_tables) {
    if (table.accuracy !== "pass") {
      findings.push(
        `accuracy against ${table.against}: ${wordsOf(table.accuracy)}` +
          `${table.reason ? `: ${table.reason}` : ""}`,
      );
    }
  }
  findings.push(...cell.gates.filter((gate) => !gate.is_met).map((gate) => `gate${gate.is_undecided ? " undecided" : ""}: ${gate.text}`));
  const isOpen = ["unsteady", "inconclusive"].includes(cell.timing);
  if (isOpen && cell.verdict !== "pass") findings.push(timingSentence(cell));
  return findings;
}

/** The worst value of a metric over all outputs against one reference; NaN is worst. */
function worstOf(cell, against, name) {
  const isHigherBetter = METRICS.get(name)?.better === "higher";
  const badness = (value) => (Number.isNaN(value) ? Infinity : isHigherBetter ? -value : value);
  const values = cell.accuracy_tables
    .filter((table) => table.against === against)
    .flatMap((table) => table.outputs)
    .map((output) => valueOf(output.metrics[name]))
    .filter((value) => value !== undefined);
  return values.length ? values.reduce((a, b) => (badness(b) > badness(a) ? b : a)) : undefined;
}

/** One error of an output, by the metric's unit and sense. */
function textFromError(metric) {
  const { unit, better } = METRICS.get(metric.name) ?? {};
  const value = valueOf(metric);
  if (unit === "count" && Number.isFinite(value)) return String(value);
  return unit === "ratio" && better === "higher"
    ? textFromSimilarity(value)
    : textFromNumber(value);
}

const dateText = (unixNs) =>
  new Date(unixNs / 1e6).toISOString().slice(0, 16).replace("T", " ") + " UTC";

function durationText(ns) {
  return ns < 120e9 ? textFromQuantity("ns", ns) : `${textFromNumber(ns / 60e9)} min`;
}
