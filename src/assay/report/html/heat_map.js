// Operator by dtype, coloured by the worst verdict; a cell says how many of its cases pass.

const BACKEND_FAULTS = [
  "crashed",
  "fail_nondeterministic",
  "fail_numeric",
  "fail_delegation",
  "out_of_memory",
  "timed_out",
  "run_error",
  "load_error",
  "aot_error",
];
const DOUBTS = ["harness_error", "vacuous", "unsupported", "not_run"];

/** The class of the page's colours that a verdict has. */
function colourOf(verdict) {
  if (verdict === "pass") return "pass";
  return BACKEND_FAULTS.includes(verdict) ? "fail" : "inconclusive";
}

/** The verdict to be looked at first: faults before doubts before a pass. */
function worstOf(results) {
  const found = new Set(results.map((result) => result.verdict));
  return [...BACKEND_FAULTS, ...DOUBTS].find((verdict) => found.has(verdict)) ?? "pass";
}

/** Whether it is listed with a reason: a failure that is known, and no news. */
const isKnownGap = (result) => ["known_failure", "unsupported"].includes(result.known);

/** Whether a result is neither a pass as expected nor a known gap. */
const isFresh = (result) =>
  result.known === "unexpected_pass" ||
  (!["pass", "not_run"].includes(result.verdict) && !isKnownGap(result));

/** Results by a field, in the order of their first appearance. */
function groupedBy(results, key) {
  const groups = new Map();
  for (const result of results) {
    if (!groups.has(result[key])) groups.set(result[key], []);
    groups.get(result[key]).push(result);
  }
  return groups;
}

/**
 * Results with `setting`, what tells those of one case apart: the recipe, and where results of the
 * recipe differ in them, its options and its engine. `beside` is what a list says beside a case.
 */
function withSettings(results) {
  const byRecipe = [...groupedBy(results, "recipe")];
  const recipesWithSeveral = (field, isTold = () => true) => {
    const hasSeveral = ([, own]) => groupedBy(own.filter(isTold), field).size > 1;
    return new Set(byRecipe.filter(hasSeveral).map(([recipe]) => recipe));
  };
  const severalOptions = recipesWithSeveral("options");
  const severalEngines = recipesWithSeveral("engine", (result) => result.engine);
  const joined = (...words) => words.filter(Boolean).join(" ");
  return results.map((result) => {
    const engine = severalEngines.has(result.recipe) ? result.engine : "";
    const options = severalOptions.has(result.recipe) ? result.options : "";
    return {
      ...result,
      setting: joined(result.recipe, options, engine),
      beside: joined(result.recipe, result.options, engine),
    };
  });
}

function heatCell(results, onOpen) {
  if (!results?.length) return h("td", {}, "");
  const fresh = results.filter(isFresh);
  const verdict = worstOf(fresh.length ? fresh : results);
  const passed = results.filter((result) => result.verdict === "pass").length;
  const text = verdict === "pass" ? `${passed}` : `${passed}/${results.length} ${wordsOf(verdict)}`;
  const title = results.map((result) => `${result.name}: ${wordsOf(result.verdict)}`).join("\n");
  const content =
    verdict === "pass"
      ? text
      : h("a", { href: "#failures", onclick: () => onOpen(results[0]) }, text);
  const isKnown = verdict !== "pass" && !fresh.length;
  return h("td", { class: isKnown ? "known" : colourOf(verdict), title }, content);
}

/** A table of all operators; `onOpen` hears which operator's failures are asked for. */
function heatMap(results, onOpen) {
  const dtypes = [...groupedBy(results, "dtype").keys()].sort();
  const rows = [...groupedBy(results, "operator_name")].sort(([a], [b]) => a.localeCompare(b));
  return scrollBox(
    "Operators by type",
    h(
      "table",
      { class: "heat" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, ""),
          dtypes.map((dtype) => h("th", { scope: "col" }, dtype || "any type")),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map(([name, own]) => {
          const byDtype = groupedBy(own, "dtype");
          return h(
            "tr",
            {},
            h("th", { scope: "row" }, name),
            dtypes.map((dtype) => heatCell(byDtype.get(dtype), onOpen)),
          );
        }),
      ),
    ),
  );
}
