// Vega-Lite charts. Colours come from the style sheet, so they follow the reader's light or dark
// choice; a chart is drawn when it first comes near the screen.

const HAS_CHARTS = typeof window.vegaEmbed === "function";
const drawn = new Map();

const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function chartConfig() {
  const text = colourOf("text");
  const muted = colourOf("muted");
  const font = getComputedStyle(document.body).fontFamily;
  return {
    background: "transparent",
    font,
    view: { stroke: null },
    axis: {
      labelColor: muted, titleColor: muted, titleFontWeight: 500, titleFontSize: 12, labelFontSize: 12,
      gridColor: colourOf("line"), domain: false, ticks: false, labelPadding: 6, titlePadding: 8,
      labelLimit: 190,
    },
    axisY: { labelColor: text },
    legend: { labelColor: text, titleColor: muted, labelFontSize: 12, symbolStrokeWidth: 2 },
    text: { color: text, fontSize: 12 },
    mark: { tooltip: true },
  };
}

async function draw(element, spec) {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const full = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json", width: "container",
    autosize: { type: "fit-x", contains: "padding" }, ...spec(), config: chartConfig(),
  };
  const tooltip = { theme: isDark ? "dark" : "light" };
  try {
    drawn.get(element)?.finalize();
    drawn.set(element, await window.vegaEmbed(element, full, { actions: false, ast: true, renderer: "svg", tooltip }));
    element.dataset.drawn = "";
  } catch (error) {
    element.replaceChildren(h("p", { class: "muted" }, `This chart could not be drawn: ${error.message}`));
    console.error(error);
  }
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const [element] of drawn) draw(element, element.spec);
});

/** A figure with a caption; `spec` is a function, called again when colours change. */
function chart(title, note, spec, className = "") {
  if (!HAS_CHARTS) return null;
  const canvas = h("div", { class: "canvas" });
  canvas.spec = spec;
  whenNear(canvas, () => draw(canvas, spec));
  return h("figure", { class: `chart ${className}`, "aria-label": title },
    h("figcaption", {}, h("strong", {}, title), note ? h("span", { class: "muted" }, note) : null), canvas);
}

/** Rows by their field `row`, so that two of the same name stay two; `names` are their labels. */
function rowAxis(names, labelLimit = 190) {
  const labels = Object.fromEntries(names.map((name, row) => [row, name]));
  return {
    field: "row", type: "nominal", sort: null, title: null,
    axis: { labelExpr: `${JSON.stringify(labels)}[datum.value]`, labelLimit },
  };
}
const rowStep = (step) => ({ step });

/** Log when the largest is more than 20 times the smallest, or short rows could not be told apart. */
function spreadScale(values) {
  const positive = values.filter((value) => value > 0);
  const isLog = positive.length > 1 && Math.max(...positive) / Math.min(...positive) > 20;
  return { isLog, scale: isLog ? { type: "log", nice: true } : { zero: true, nice: true } };
}

/** Steady medians with their intervals; faint ticks are the medians of single launches. */
function steadyChart(cells) {
  const timed = cells.filter((cell) => cell.metrics.steady_ns && !cell.metrics.steady_ns.special);
  if (!timed.length) return null;
  const { unit, divisor } = scaleFor("ns", timed.map((cell) => cell.metrics.steady_ns.value));
  const names = timed.map((cell) => nameWithin(cells, cell));
  const rows = timed.map((cell, row) => {
    const { value, low, high, count } = cell.metrics.steady_ns;
    return {
      row, name: names[row], value: value / divisor, low: (low ?? value) / divisor, high: (high ?? value) / divisor,
      text: textFromNumber(value / divisor), launches: count, result: resultOf(cell),
      interval: textFromInterval(cell.metrics.steady_ns, { divisor }) || "none",
    };
  });
  const ticks = timed.flatMap((cell, row) => cell.launches.filter((launch) => launch.median_ns > 0)
    .map((launch) => ({ row, value: launch.median_ns / divisor })));
  const { isLog, scale } = spreadScale(rows.map((row) => row.value));
  const x = (field) => ({ field, type: "quantitative", scale, title: `${unit}${isLog ? ", logarithmic" : ""}` });
  const tooltip = [{ field: "name", title: "case" }, { field: "text", title: `median, ${unit}` }, { field: "interval" },
    { field: "launches" }, { field: "result" }];
  return chart("Steady latency", "median with its interval; ticks are single launches", () => ({
    description: "Median steady latency of each case with its interval",
    height: rowStep(34), data: { values: rows }, encoding: { y: rowAxis(names) },
    layer: [
      { data: { values: ticks }, mark: { type: "tick", color: colourOf("muted"), opacity: 0.6, thickness: 1.5, height: 12, tooltip: false }, encoding: { x: x("value") } },
      { mark: { type: "rule", strokeWidth: 5, opacity: 0.3, strokeCap: "round", color: colourOf("accent") }, encoding: { x: x("low"), x2: { field: "high" }, tooltip } },
      { mark: { type: "point", filled: true, size: 70, opacity: 1, color: colourOf("accent") }, encoding: { x: x("value"), tooltip } },
      { mark: { type: "text", dy: -12, fontWeight: 600 }, encoding: { x: x("value"), text: { field: "text" } } },
    ],
  }));
}

/** Bars from zero of one metric, labelled. */
function barChart(cells, metric, title, note) {
  const measured = cells.filter((cell) => cell.metrics[metric] && !cell.metrics[metric].special);
  if (!measured.length) return null;
  const { unit, divisor } = scaleFor(METRICS.get(metric)?.unit ?? "", measured.map((cell) => cell.metrics[metric].value));
  const names = measured.map((cell) => nameWithin(cells, cell));
  const rows = measured.map((cell, row) => {
    const value = cell.metrics[metric].value / divisor;
    return { row, name: names[row], value, text: textFromNumber(value) };
  });
  const most = Math.max(...rows.map((row) => row.value));
  const x = { field: "value", type: "quantitative", title: unit, scale: { domain: [0, most * 1.16], nice: false } };
  return chart(title, note, () => ({
    description: `${title} of each case`, height: rowStep(28), data: { values: rows }, encoding: { y: rowAxis(names), x },
    layer: [
      { mark: { type: "bar", height: 14, cornerRadiusEnd: 3, color: colourOf("accent") }, encoding: { tooltip: [{ field: "name", title: "case" }, { field: "text", title: unit }] } },
      { mark: { type: "text", align: "left", dx: 6, fontWeight: 600 }, encoding: { text: { field: "text" } } },
    ],
  }));
}

/** Share of the graph's nodes in delegates and left to the engine itself. */
function delegationChart(cells) {
  const known = cells.filter((cell) => cell.metrics.delegated_ratio && !cell.metrics.delegated_ratio.special);
  if (!known.length) return null;
  const names = known.map((cell) => nameWithin(cells, cell));
  const rows = known.flatMap((cell, row) => {
    const share = cell.metrics.delegated_ratio.value;
    const program = cell.manifest?.program ?? {};
    const name = names[row];
    return [
      { row, name, part: "delegated", order: 0, share, nodes: program.nodes_delegated ?? NOT_MEASURED, text: `${textFromShare(share)} %` },
      { row, name, part: "left", order: 1, share: 1 - share, nodes: program.nodes_not_delegated ?? NOT_MEASURED, text: `${textFromShare(1 - share)} %` },
    ];
  });
  return chart("Delegation", "share of the graph's nodes", () => ({
    description: "Share of nodes in delegates and left, by case", height: rowStep(28), data: { values: rows },
    mark: { type: "bar", height: 14 },
    encoding: {
      y: rowAxis(names),
      x: { field: "share", type: "quantitative", title: null, axis: { format: "%", tickCount: 5 }, scale: { domain: [0, 1] } },
      order: { field: "order" },
      color: { field: "part", title: null, scale: { domain: ["delegated", "left"], range: [colourOf("accent"), colourOf("left")] }, legend: { orient: "bottom" } },
      tooltip: [{ field: "name", title: "case" }, { field: "part" }, { field: "nodes" }, { field: "text", title: "share" }],
    },
  }));
}

/** Every inference of every launch in order: first, warm-up, steady; a line at each launch's median. */
function inferenceChart(cells, cell) {
  const launches = cell.launches.filter((launch) => launch.execute_ns.length || launch.first.execute_ns);
  if (!launches.length) return null;
  const { unit, divisor } = scaleFor("ns", launches.map((launch) => launch.median_ns));
  const points = [];
  const spans = [];
  let at = 0;
  for (const launch of launches) {
    const start = at;
    const add = (phase, ns, iteration) => points.push({ at: at++, ms: ns / divisor, phase, iteration, launch: launch.index + 1, text: `${textFromNumber(ns / divisor)} ${unit}` });
    if (launch.first.execute_ns) add("first", launch.first.execute_ns, 0);
    launch.execute_ns.forEach((ns, i) => add(i < launch.warmup_iterations ? "warm-up" : "steady", ns, i + 1));
    spans.push({ start: start - 0.5, end: at - 0.5, middle: (start + at - 1) / 2, median: launch.median_ns / divisor, label: `launch ${launch.index + 1}` });
    at += Math.max(2, Math.round(launch.execute_ns.length * 0.06));
  }
  const values = points.map((point) => point.ms);
  const isLog = Math.max(...values) / Math.min(...values) > 5;
  const scale = isLog ? { type: "log", nice: false, padding: 8 } : { zero: false, nice: true, padding: 8 };
  const x = { field: "at", type: "quantitative", axis: null, scale: { nice: false, domain: [-1, at] } };
  const y = { field: "ms", type: "quantitative", scale, title: `${unit}${isLog ? ", log" : ""}`, axis: { tickCount: 4, labelLimit: 60 } };
  const phases = { domain: ["first", "warm-up", "steady"] };
  return chart(nameWithin(cells, cell), "", () => ({
    description: `Latency of each inference of ${titleOf(cell)}`, height: 150, data: { values: points },
    layer: [
      { data: { values: spans }, mark: { type: "rule", color: colourOf("text"), strokeWidth: 1.2, tooltip: false }, encoding: { x: { ...x, field: "start" }, x2: { field: "end" }, y: { ...y, field: "median" } } },
      { data: { values: spans }, mark: { type: "text", baseline: "top", dy: 4, color: colourOf("muted"), fontSize: 11, tooltip: false }, encoding: { x: { ...x, field: "middle" }, y: { value: "height" }, text: { field: "label" } } },
      {
        mark: { type: "point", size: 22, opacity: 0.85, strokeWidth: 1.2 },
        encoding: {
          x, y,
          color: { field: "phase", scale: { ...phases, range: [colourOf("first"), colourOf("muted"), colourOf("accent")] }, legend: null },
          shape: { field: "phase", scale: { ...phases, range: ["diamond", "circle", "circle"] }, legend: null },
          size: { field: "phase", scale: { ...phases, range: [70, 18, 18] }, legend: null },
          fill: { field: "phase", scale: { ...phases, range: [colourOf("first"), "transparent", colourOf("accent")] }, legend: null },
          tooltip: [{ field: "launch" }, { field: "phase" }, { field: "iteration" }, { field: "text", title: "time" }],
        },
      },
    ],
  }));
}

/** The twenty operators that take most of an inference. */
function profileChart(profile) {
  const inner = profile.events.filter((event) => ["operator", "delegate_operator"].includes(event.kind));
  const hasInner = inner.some((event) => event.kind === "delegate_operator");
  const leaves = [...inner, ...profile.events.filter((event) => event.kind === "delegate" && !hasInner)];
  const rows = leaves.map((event) => ({ ...event, each_ns: event.total_ns / Math.max(1, profile.iterations) }))
    .sort((a, b) => b.each_ns - a.each_ns).slice(0, 20);
  if (!rows.length) return null;
  const { unit, divisor } = scaleFor("ns", rows.slice(0, 3).map((row) => row.each_ns));
  const share = (row) => (profile.method_median_ns ? `${textFromShare(row.each_ns / profile.method_median_ns)} %` : NOT_MEASURED);
  const values = rows.map((row, index) => ({
    row: index, name: row.name, kind: wordsOf(row.kind), value: row.each_ns / divisor, count: row.count / Math.max(1, profile.iterations),
    text: `${textFromNumber(row.each_ns / divisor)} ${unit}   ${share(row)}`,
  }));
  const most = Math.max(...values.map((value) => value.value));
  const y = rowAxis(values.map((value) => value.name), 230);
  const x = { field: "value", type: "quantitative", title: `${unit} per inference, mean`, scale: { domain: [0, most * 1.35], nice: false } };
  const note = `${values.length} of ${counted(leaves.length, "entry").replace("entrys", "entries")}, over ${counted(profile.iterations, "profiled inference")}; share of the method's ${textFromQuantity("ns", profile.method_median_ns)}`;
  return chart("Where the time goes", note, () => ({
    description: "Time per operator", height: rowStep(22), data: { values }, encoding: { y, x },
    layer: [
      { mark: { type: "bar", height: 12, cornerRadiusEnd: 3 }, encoding: { color: { field: "kind", title: null, legend: hasInner && inner.some((event) => event.kind === "operator") ? { orient: "bottom" } : null, scale: { range: [colourOf("accent"), colourOf("first"), colourOf("left")] } }, tooltip: [{ field: "name" }, { field: "kind" }, { field: "text", title: "time" }, { field: "count", title: "calls per inference" }] } },
      { mark: { type: "text", align: "left", dx: 6, fontSize: 11 }, encoding: { text: { field: "text" } } },
    ],
  }), "wide");
}
