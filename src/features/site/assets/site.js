// Charts of a site's own pages, and the search of one that is files.

const PAGE_DATA = JSON.parse(document.getElementById("assay-data")?.textContent ?? "null");

/**
 * Draws into the figures that the page has; `kinds`: functions from a chart's data to its spec,
 * `notes`: those from it to what the caption says beside what the page has.
 */
function drawPlaces(kinds, notes) {
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const make = kinds[figure.dataset.chart];
    const data = PAGE_DATA?.charts?.[Number(figure.dataset.number)];
    const canvas = figure.querySelector(".canvas");
    if (!HAS_CHARTS || !make || !data) {
      figure.hidden = true;
      continue;
    }
    canvas.spec = (width) => make(data, width);
    const note = notes[figure.dataset.chart]?.(data);
    if (note) figure.querySelector("figcaption").append(h("span", { class: "muted" }, note));
    canvas.renderer = (data.points?.length ?? 0) > 1000 ? "canvas" : "svg";
    whenNear(canvas, () => draw(canvas, canvas.spec));
  }
}

/** So many engine builds have a colour each; case_page.cpp has the same number. */
const MOST_COLOURS = 12;

/** As many entries of a legend in a row as there is room for, none of them cut. */
function legendOf(names, width) {
  const widest = Math.max(...names.map(labelWidth)) + 30;
  return { orient: "bottom", columns: Math.max(1, Math.floor(width / widest)), labelLimit: Math.max(80, width - 30) };
}

const SECOND = 1e3;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Between two ticks of an axis of time; Vega takes those of one second for one. */
const TIME_STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 28, 91, 182, 364, 1820].map((count) => count * DAY),
];

/** Two ticks at least, and one every 280 pixels at least; within two seconds the only one. */
function timeTicks(first, last, width) {
  const most = (last - first) * Math.min(1 / 2, 280 / width);
  const step = TIME_STEPS.findLast((one) => one <= most) ?? TIME_STEPS[0];
  const count = Math.floor((last - first) / step) + 1;
  const start = Math.ceil(first / step) * step;
  const ticks = Array.from({ length: count }, (_, at) => start + at * step).filter((at) => at <= last);
  return { step, ticks };
}

/** Labels are as fine as the ticks are, so that no two are equal. */
function timeAxis(times, width) {
  const [first, last] = extentOf(times);
  const dayOf = (time) => new Date(time).toISOString().slice(0, 10);
  const isOneDay = dayOf(first) === dayOf(last);
  const { step, ticks } = timeTicks(first, last, width);
  const clock = step < MINUTE ? "%H:%M:%S" : step < DAY ? "%H:%M" : "";
  return {
    title: `when the run began, UTC${isOneDay ? `, ${dayOf(first)}` : ""}`,
    axis: {
      format: [isOneDay ? "" : "%Y-%m-%d", clock].filter(Boolean).join(" "),
      labelOverlap: true,
      // Vega-Lite reads texts here, and takes numbers for none.
      values: (ticks.length ? ticks : [first]).map((time) => new Date(time).toISOString()),
    },
  };
}

const hasFailed = ({ verdict }) => verdict === "fail";

/** What the crosses of the chart over time are. */
const noteOverTime = ({ points }) =>
  points.some(hasFailed) ? `✕: ${counted(points.filter(hasFailed).length, "run")} with a failure` : "";

/** A cross on each run that failed; Vega warns of a layer without any. */
function failureMarks(values, y, tooltip) {
  const failed = values.filter(hasFailed);
  if (!failed.length) return [];
  const look = { shape: { value: "cross" }, color: { value: colourOf("fail") } };
  return [
    {
      data: { values: failed },
      mark: { type: "point", filled: true, size: 130, opacity: 1, angle: 45 },
      encoding: { y, ...look, href: { field: "href" }, tooltip },
    },
  ];
}

/** Steady time of a case over its runs: a point with its interval, a colour for each engine build. */
function overTimeChart({ points }, width) {
  const { unit, divisor } = unitFor("ns", points.map((point) => point.value));
  const values = points.map((point) => ({
    time: point.started_unix_ns / 1e6,
    began: new Date(point.started_unix_ns / 1e6).toISOString().slice(0, 16).replace("T", " "),
    value: point.value / divisor,
    low: point.low / divisor,
    high: point.high / divisor,
    engine: point.engine,
    device: point.device,
    verdict: point.verdict,
    text: textFromQuantity("ns", point.value),
    href: `../runs/${encodeURIComponent(point.run)}.html`,
  }));
  const { scale } = pointScale(values.flatMap(({ low, high }) => [low, high]));
  const tooltip = [
    { field: "text", title: "steady" },
    { field: "engine" },
    { field: "device" },
    { field: "verdict", title: "result" },
    { field: "began", title: "run, UTC" },
  ];
  const devices = new Set(values.map(({ device }) => device));
  const engines = [...new Set(values.map(({ engine }) => engine))];
  const y = { field: "value", type: "quantitative", title: `steady, ${unit}`, scale };
  return {
    description: "Steady time of each run with its interval, over time",
    height: 320,
    data: { values },
    encoding: {
      x: { field: "time", type: "temporal", scale: { type: "utc" }, ...timeAxis(values.map(({ time }) => time), width) },
      color:
        engines.length > 1 && engines.length <= MOST_COLOURS
          ? { field: "engine", type: "nominal", title: "engine build", legend: legendOf(engines, width) }
          : { value: colourOf("accent") },
      ...(devices.size > 1 ? { shape: { field: "device", type: "nominal", legend: legendOf([...devices], width) } } : {}),
    },
    layer: [
      {
        mark: { type: "rule", opacity: 0.45, strokeWidth: 2 },
        encoding: {
          y: { field: "low", type: "quantitative", title: `steady, ${unit}`, scale },
          y2: { field: "high" },
        },
      },
      {
        mark: { type: "point", filled: true, size: 44, opacity: 0.9 },
        encoding: {
          y,
          href: { field: "href" },
          tooltip,
        },
      },
      ...failureMarks(values, y, tooltip),
    ],
  };
}

/** An exact result is drawn so far above the best of the others, in the unit of the metric. */
const EXACT_ABOVE_BEST = 8;

/** Latency against accuracy; the line joins the points that no other beats in both. */
function paretoChart({ points, accuracy, unit: accuracyUnit, better }) {
  const { unit, divisor } = unitFor("ns", points.map((point) => point.latency));
  const inexact = points.map((point) => point.accuracy).filter(isPresent);
  const [least, best] = inexact.length ? extentOf(inexact) : [0, 0];
  const most = inexact.length < points.length ? best + EXACT_ABOVE_BEST : best;
  const values = points.map((point, index) => ({
    ...point,
    accuracy: point.accuracy ?? most,
    number: String(index + 1),
    time: point.latency / divisor,
    low: point.low / divisor,
    high: point.high / divisor,
    keeps: point.keeps ? "kept" : "not kept",
    text: textFromQuantity("ns", point.latency),
  }));
  const air = Math.max((best - least) * 0.12, accuracyUnit === "ratio" ? 0.01 : 2);
  const [first, last] = extentOf(values.flatMap(({ low, high }) => [low, high]));
  const x = (field) => ({
    field,
    type: "quantitative",
    title: `steady latency, ${unit}, logarithmic`,
    scale: { type: "log", domain: [first / 1.25, last * 1.25], nice: false },
  });
  const y = {
    field: "accuracy",
    type: "quantitative",
    title: [accuracy, accuracyUnit].filter(Boolean).join(", "),
    scale: { domain: [least - air, most + air], nice: false, zero: false, reverse: better === "lower" },
  };
  const tooltip = [
    { field: "title", title: "case" },
    { field: "text", title: "steady" },
    { field: "shown", title: accuracy },
    { field: "keeps", title: "accuracy" },
  ];
  return {
    description: "Latency against accuracy, a point for each case",
    height: 320,
    data: { values },
    layer: [
      {
        data: { values: values.filter((value) => value.front) },
        mark: { type: "line", interpolate: "step-after", color: colourOf("muted"), strokeWidth: 1.5, tooltip: false },
        encoding: { x: x("time"), y },
      },
      {
        mark: { type: "rule", strokeWidth: 4, opacity: 0.3, color: colourOf("muted") },
        encoding: { x: x("low"), x2: { field: "high" }, y, tooltip },
      },
      {
        mark: { type: "point", filled: true, size: 330, opacity: 1 },
        encoding: {
          x: x("time"),
          y,
          color: {
            field: "keeps",
            title: "accuracy",
            scale: { domain: ["kept", "not kept"], range: [colourOf("accent"), colourOf("left")] },
            legend: { orient: "bottom", symbolSize: 120 },
          },
          tooltip,
        },
      },
      {
        mark: { type: "text", fontWeight: 700, fontSize: 11, tooltip: false },
        encoding: {
          x: x("time"),
          y,
          text: { field: "number" },
          color: { condition: { test: "datum.keeps === 'kept'", value: colourOf("page") }, value: colourOf("text") },
        },
      },
    ],
  };
}

/** Verdicts of each setting as a bar. */
function verdictsChart({ rows, order: all }) {
  const colours = {
    pass: "pass",
    unsupported: "left",
    vacuous: "skipped",
    not_run: "line",
    ...Object.fromEntries(["aot", "load", "run"].map((stage) => [`${stage}_error`, "inconclusive"])),
    ...Object.fromEntries(["crashed", "timed_out", "out_of_memory"].map((end) => [end, "text"])),
  };
  const names = [...new Set(rows.map((row) => row.setting))];
  const order = all.filter((word) => rows.some((row) => row.verdict === word));
  return {
    description: "How many conformance cases of each setting ended with each verdict",
    height: names.length * 34,
    data: { values: rows },
    mark: { type: "bar", tooltip: true },
    encoding: {
      y: { field: "setting", type: "nominal", sort: names, title: null, axis: { labelLimit: 360 } },
      x: { field: "count", type: "quantitative", title: "cases", stack: "zero", axis: { tickMinStep: 1, format: "d" } },
      order: { field: "rank", type: "quantitative" },
      color: {
        field: "verdict",
        scale: { domain: order, range: order.map((word) => colourOf(colours[word] ?? "fail")) },
        legend: { orient: "bottom", columns: 4, title: null },
      },
      tooltip: [{ field: "setting" }, { field: "verdict" }, { field: "count" }],
    },
  };
}

/** Leaves the entries that have all words; a served site has done so already. */
function filterEntries() {
  const list = document.querySelector("[data-search]");
  if (!list) return;
  const query = new URLSearchParams(location.search).get("q") ?? "";
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  for (const input of document.querySelectorAll("input[name=q]")) input.value = query;
  let count = 0;
  for (const entry of list.querySelectorAll("li")) {
    const text = entry.textContent.toLowerCase();
    entry.hidden = !words.length || !words.every((word) => text.includes(word));
    count += entry.hidden ? 0 : 1;
  }
  document.getElementById("hits").textContent = words.length
    ? counted(count, "hit") + ` for “${query}”`
    : "Words of a run, a label, a case, a model, a recipe or an engine";
}

/** Leaves the runs of a file that the filters name; a served site has done so already. */
function filterRuns() {
  const form = document.getElementById("run-filters");
  const rows = [...document.querySelectorAll("tr:has([data-facets])")].map((row) => ({
    row,
    facets: JSON.parse(row.querySelector("[data-facets]").dataset.facets),
  }));
  if (!form || !form.hasAttribute("data-static")) return;
  const has = ({ facets }) => {
    const { verb, label, model, device, steps, failed } = form.elements;
    const isOf = (select) => !select.value || facets[select.name].includes(select.value);
    if (facets.step && !steps.checked && !verb.value) return false;
    return [verb, label, model, device].every(isOf) && (!failed.checked || facets.failed);
  };
  const show = () => {
    let count = 0;
    for (const one of rows) {
      one.row.hidden = !has(one);
      count += one.row.hidden ? 0 : 1;
    }
    document.getElementById("shown-runs").textContent =
      count === rows.length ? counted(count, "run") : `${count} of ${counted(rows.length, "run")} on this page`;
  };
  form.querySelector("button").hidden = true;
  form.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
}

/** Files cannot compare two runs: the form names the command that does. */
function nameComparison() {
  const form = document.getElementById("compare-runs");
  if (!form || !form.hasAttribute("data-static")) return;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { a, b, metric } = Object.fromEntries(new FormData(form));
    document.getElementById("compare-command").textContent = `assay compare ${a} ${b} --metric ${metric}`;
  });
}

/** A filter that was changed is applied at once; the button is for those without scripts. */
function submitRunFilters() {
  const form = document.getElementById("run-filters");
  if (form && !form.hasAttribute("data-static")) form.addEventListener("change", () => form.submit());
}

/** "/" goes to the search, as in many sites. */
addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const input = document.querySelector("nav.site input");
  if (!input) return;
  event.preventDefault();
  input.focus();
});

/** A table that is too wide says that it scrolls. */
for (const box of document.querySelectorAll(".scroller > .scroll")) {
  const mark = () =>
    box.parentElement.classList.toggle("wide-content", box.scrollWidth > box.clientWidth + 1);
  new ResizeObserver(mark).observe(box);
}

drawPlaces({ "over-time": overTimeChart, pareto: paretoChart, verdicts: verdictsChart }, { "over-time": noteOverTime });
filterEntries();
filterRuns();
submitRunFilters();
nameComparison();
prepareForPaper(redrawCharts);
