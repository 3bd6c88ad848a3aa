// A against B: the answer, every metric with its interval, and each pair.

const ANSWERS = {
  faster: { words: "faster", pill: "pass" },
  slower: { words: "slower", pill: "fail" },
  changed_less: { words: "changed, less than matters", pill: "pass" },
  equivalent: { words: "no difference that matters", pill: "pass" },
  inconclusive: { words: "cannot tell", pill: "inconclusive" },
  identical: { words: "identical", pill: "pass" },
  changed: { words: "changed", pill: "inconclusive" },
};

const percentText = (ratio) => {
  const percent = ratio * 100;
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(Math.abs(percent) < 1 ? 2 : 1)}`;
};

/** A program's own metric brings its unit. */
const unitOfEstimate = ({ metric, unit }) => unit || (METRICS.get(metric)?.unit ?? "");
const titleOfEstimate = ({ metric }) =>
  METRICS.get(metric)?.title ?? metric.replace(/^program:/, "");

/** Differences have no share of an A that is 0: they are in the metric's unit. */
const isRelative = (estimate) => estimate.scale !== "difference" || estimate.base > 0;
const numberText = (estimate, number) =>
  isRelative(estimate) ? percentText(number) : `${number > 0 ? "+" : ""}${textFromNumber(number)}`;
const changeText = (estimate) =>
  `${numberText(estimate, estimate.ratio)} ${isRelative(estimate) ? "" : unitOfEstimate(estimate)}`.trim();

/** The unit of a column of changes; what is no share of A brings its own. */
function unitOfChanges(estimates) {
  const shares = estimates.filter(isRelative);
  if (!shares.length) return "";
  return shares.every((one) => unitOfEstimate(one) === "ns") ? "% time" : "%";
}

const boundsText = (estimate) =>
  isPresent(estimate.low) && isPresent(estimate.high)
    ? `[${numberText(estimate, estimate.low)}, ${numberText(estimate, estimate.high)}]`
    : NOT_MEASURED;

const pText = (p) => (p < 0.0005 ? "<0.001" : p.toFixed(3));

function metricsOfComparison(comparison) {
  const columns = [
    {
      title: "Metric",
      isHead: true,
      text: titleOfEstimate,
    },
    {
      title: "A",
      numeric: true,
      text: (estimate) => textFromQuantity(unitOfEstimate(estimate), estimate.a_median),
    },
    {
      title: "B",
      numeric: true,
      text: (estimate) => textFromQuantity(unitOfEstimate(estimate), estimate.b_median),
    },
    { title: "B vs A", unit: unitOfChanges(comparison.metrics), numeric: true, text: changeText },
    { title: "Interval", unit: "95 %", numeric: true, text: boundsText },
    { title: "p", numeric: true, text: (estimate) => pText(estimate.p_value) },
    {
      title: "Answer",
      text: (estimate) =>
        ANSWERS[estimate.verdict].words +
        (estimate.is_confirmed === false ? ", not found again" : ""),
    },
  ];
  return simpleTable("The first metric decides; the others are shown", columns, comparison.metrics);
}

function looksOfComparison(comparison) {
  const rows = [
    ...comparison.looks.map((look) => ({ name: "Look", ...look })),
    comparison.confirmation && { name: "Confirmation, fresh pairs", ...comparison.confirmation },
    comparison.canary && { name: "Canary, a copy of A", ...comparison.canary },
  ].filter(Boolean);
  if (!rows.length) return null;
  return simpleTable(
    "Every look, at its share of the false alarms",
    [
      { title: "", isHead: true, text: (row) => row.name },
      { title: "Pairs", numeric: true, text: (row) => String(row.pairs) },
      { title: "B vs A", unit: unitOfChanges(rows), numeric: true, text: changeText },
      { title: "Interval", numeric: true, text: boundsText },
      { title: "p", numeric: true, text: (row) => pText(row.p_value) },
      { title: "Limit of p", numeric: true, text: (row) => String(Number(row.alpha.toPrecision(3))) },
    ],
    rows,
  );
}

/** What a pair's point is drawn as. */
const kindOfPair = (pair) =>
  pair.is_replaced ? "replaced" : pair.phase === "confirmation" ? "confirmation" : "search";

/**
 * B against A of one pair: percent of A, of differences percent of the size of A's median, or where
 * nothing is a share of A the difference. An A of 0 has no share.
 */
function differenceOfPair(estimate, { a, b }) {
  if (estimate.scale === "difference")
    return estimate.base > 0 ? ((b - a) / estimate.base) * 100 : b - a;
  return (b / a - 1) * 100;
}

/** Every pair's difference in the order of measuring, with no difference and what matters. */
function pairsChart({ comparison, pairs }) {
  if (!pairs.length) return null;
  const primary = comparison.metrics[0] ?? { metric: comparison.plan.metric, scale: "ratio" };
  const unit = unitOfEstimate(primary);
  const title = ["B vs A", unitOfChanges([primary]) || unit].filter(Boolean).join(", ");
  const all = pairs.map((pair, at) => ({
    at: at + 1,
    difference: differenceOfPair(primary, pair),
    kind: kindOfPair(pair),
    a: textFromQuantity(unit, pair.a),
    b: textFromQuantity(unit, pair.b),
    disturbed: pair.is_disturbed ? "yes" : "no",
  }));
  const values = all.filter(({ difference }) => Number.isFinite(difference));
  const undrawn = all.length - values.length;
  const undrawnText = undrawn ? `not drawn: ${counted(undrawn, "pair")} of which A is 0` : "";
  if (!values.length) return h("p", { class: "note" }, undrawnText);
  const gate = comparison.plan.gate_ratio;
  // As far below as above: what matters of a rate is what matters of the time that it stands for.
  const below = primary.scale === "difference" ? -gate : 1 / (1 + gate) - 1;
  const gates = isRelative(primary) ? [below * 100, gate * 100] : [];
  const [least, most] = extentOf([0, ...values.map((value) => value.difference), ...gates]);
  const air = (most - least) * 0.06;
  const y = {
    field: "difference",
    type: "quantitative",
    title,
    scale: { domain: [least - air, most + air], nice: false, zero: false },
  };
  const x = { field: "at", type: "quantitative", title: "pair", axis: { tickMinStep: 1 } };
  const domain = ["search", "confirmation", "replaced"];
  const range = [colourOf("accent"), colourOf("first"), colourOf("muted")];
  const rule = (at, dash) => ({
    data: { values: [{ difference: at }] },
    mark: { type: "rule", color: colourOf("muted"), strokeDash: dash, tooltip: false },
    encoding: { y },
  });
  const spec = () => ({
    description: "Difference of B from A by pair",
    height: 220,
    data: { values },
    layer: [
      rule(0, [1, 0]),
      ...gates.map((at) => rule(at, [4, 4])),
      {
        mark: { type: "point", filled: true, size: 36, opacity: 0.9 },
        encoding: {
          x,
          y,
          color: { field: "kind", title: null, scale: { domain, range }, legend: { orient: "bottom" } },
          shape: {
            field: "kind",
            title: null,
            scale: { domain, range: ["circle", "diamond", "cross"] },
            legend: { orient: "bottom" },
          },
          tooltip: [
            { field: "at", title: "pair" },
            { field: "difference", title, format: isRelative(primary) ? "+.2f" : "+.3g" },
            { field: "a", title: "A" },
            { field: "b", title: "B" },
            { field: "kind" },
            { field: "disturbed" },
          ],
        },
      },
    ],
  });
  const gateText = `dashed: the ${Number((gate * 100).toPrecision(3))} % that matter`;
  const note = [gates.length ? gateText : "", undrawnText].filter(Boolean).join("; ");
  return chart("Every pair", note, spec, values.length);
}

function comparisonPart(one) {
  const { comparison } = one;
  const answer = ANSWERS[comparison.verdict];
  const replaced = comparison.replaced_pairs.length;
  return h(
    "div",
    { class: "comparison" },
    h(
      "ul",
      { class: "findings" },
      h(
        "li",
        { class: answer.pill },
        pill(answer.pill, answer.words),
        h("div", {}, h("p", {}, comparison.text)),
      ),
    ),
    facts([
      ["A", comparison.a_label],
      ["B", comparison.b_label],
      ["Pairs", String(comparison.metrics[0]?.pairs ?? 0)],
      ["Took", durationText(comparison.wall_ns)],
      ["Matters", `${Number((comparison.plan.gate_ratio * 100).toPrecision(3))} %`],
      ["Disturbed", comparison.pairs_disturbed ? counted(comparison.pairs_disturbed, "pair") : ""],
      ["Left out", comparison.pairs_without ? counted(comparison.pairs_without, "pair") : ""],
      ["Replaced", replaced ? counted(replaced, "pair") : ""],
      ["Never steady", comparison.launches_unsteady ? counted(comparison.launches_unsteady, "launch", "launches") : ""],
      ["Pairing", comparison.pairing === "duet" ? "both at once" : "interleaved"],
    ]),
    pairsChart(one),
    comparison.metrics.length ? metricsOfComparison(comparison) : null,
    looksOfComparison(comparison),
  );
}

function comparisonsSection() {
  const comparisons = DATA.comparisons ?? [];
  if (!comparisons.length) return null;
  return h(
    "section",
    { id: "comparisons" },
    h("h2", {}, comparisons.length === 1 ? "Comparison" : "Comparisons"),
    comparisons.map(comparisonPart),
  );
}
