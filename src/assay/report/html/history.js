// The page of a history from top to bottom.

const DATA = JSON.parse(document.getElementById("assay-data").textContent);
const COMMITS = DATA.commits;
const SERIES = DATA.series.map((one, index) => ({ ...one, id: `series-${index}` }));
const MANY_SERIES = 8;

const dateOf = (seconds) => (seconds ? new Date(seconds * 1000).toISOString().slice(0, 10) : "");
// A tag or the name of a nightly build differs from others at its end.
const shortOf = (commit) => (/^[0-9a-f]+$/.test(commit) ? commit.slice(0, 10) : commit);
const titleOf = (series) =>
  `${series.name}${series.machine ? ` (${series.machine})` : ""} · ${series.metric}`;

/** "+5.1 %", "-0.41 %", "+0.3 dB": as the console has it. */
function textOfChange(series, change) {
  if (!isPresent(change)) return NOT_MEASURED;
  const sign = change > 0 ? "+" : "";
  if (!series.is_ratio) return `${sign}${textFromNumber(change)} ${series.unit}`;
  return `${sign}${(change * 100).toFixed(Math.abs(change) < 0.01 ? 2 : 1)} %`;
}

const textOfRange = (series, { low, high }) =>
  isPresent(low) && isPresent(high) && low !== high
    ? `between ${textOfChange(series, low)} and ${textOfChange(series, high)}`
    : "";

const wordOf = (direction) => (direction > 0 ? "worse" : direction < 0 ? "better" : "changed");
const asideOf = (direction) => (direction ? `, ${wordOf(direction)},` : "");
const verdictOf = (direction) => (direction > 0 ? "fail" : direction < 0 ? "pass" : "skipped");

function item(verdict, word, title, ...lines) {
  return h(
    "li",
    { class: verdict },
    pill(verdict, word),
    h("div", {}, h("strong", {}, title), lines.filter(Boolean).map((line) => h("p", {}, line))),
  );
}

function stepItem(series, step) {
  const range =
    step.last_before && step.first_after !== step.last_before
      ? `after ${shortOf(step.last_before)}, by ${shortOf(step.first_after)}`
      : "";
  const certainty = [
    step.low === step.high
      ? "values without noise"
      : step.is_firm
        ? "a second method finds it, too"
        : "found by ranks only",
    step.is_gradual ? "gradual rather than at one commit" : "",
    step.is_counted ? "" : "as likely by chance among so many series: not counted",
  ];
  return item(
    step.is_counted ? verdictOf(step.direction) : "skipped",
    wordOf(step.direction),
    `${textOfChange(series, step.change)} at ${shortOf(step.commit)} ${dateOf(COMMITS[step.at][1])}`,
    [textOfRange(series, step), range, ...certainty].filter(Boolean).join("; "),
  );
}

/** Tells if a change is one of the series, on its machine where there are several. */
const isOn = (one, series) =>
  one.series === series.name && (!one.machine || !series.machine || one.machine === series.machine);

const verifiedOf = (series) =>
  DATA.verified.filter(
    (one) => one.is_shown && isOn(one, series) && one.metric === series.metric && one.state !== "rejected",
  );

/** What fresh pairs of both builds said, with the command that says it again. */
function verifiedItem(one) {
  const isOver = ["fixed", "accepted"].includes(one.state);
  const where = one.commit
    ? `${shortOf(one.commit)} ${one.subject}`
    : `between ${shortOf(one.last_before)} and ${shortOf(one.first_after)}`;
  return item(
    one.state === "undecided" ? "inconclusive" : isOver ? "skipped" : verdictOf(one.is_worse ? 1 : -1),
    one.state,
    where,
    one.effect,
    ...one.details,
    one.command && h("code", {}, one.command),
  );
}

function nominationItem(series, one) {
  return item(
    "inconclusive",
    "newest",
    `${textOfChange(series, one.change)}${asideOf(one.direction)} since ${shortOf(one.commit)}`,
    `Too few points to be sure: compare it with ${shortOf(one.last_before)}.`,
  );
}

function otherItems(series) {
  const { drift, silence } = series;
  return [
    drift &&
      item(
        "inconclusive",
        "drift",
        `${textOfChange(series, drift.change)}${asideOf(drift.direction)} in the newest points`,
        `${textOfRange(series, drift)}, and no step explains it`,
      ),
    silence &&
      item(
        "inconclusive",
        "silent",
        `no point for ${counted(silence.commits, "commit")}`,
        silence.days ? counted(silence.days, "day") : "",
      ),
  ].filter(Boolean);
}

const itemsOf = (series) => [
  ...verifiedOf(series).map(verifiedItem),
  ...(series.nomination ? [nominationItem(series, series.nomination)] : []),
  ...series.steps.filter((step) => !step.is_verified).map((step) => stepItem(series, step)).reverse(),
  ...otherItems(series),
];

const saysSomething = (series) =>
  verifiedOf(series).length || series.steps.length || series.nomination || series.drift || series.silence;

/** The data of a chart: points, levels and steps, in the unit of the axis. */
function chartData(series) {
  const { divisor, unit } = unitFor(series.unit, series.drawn.value);
  const outliers = new Set(series.drawn.outlier);
  const points = series.drawn.at.map((at, index) => ({
    at,
    commit: COMMITS[at][0],
    date: dateOf(COMMITS[at][1]),
    y: series.drawn.value[index] / divisor,
    value: textFromQuantity(series.unit, series.drawn.value[index]),
    change: textOfChange(series, series.drawn.change[index]),
    kind: outliers.has(index) ? "outlier" : "point",
  }));
  const levels = series.segments.map((segment) => ({
    from: segment.from,
    to: segment.to,
    y: segment.value / divisor,
    cause: segment.cause,
    environment: segment.environment,
  }));
  const steps = series.steps.map((step) => ({
    at: step.at,
    text: textOfChange(series, step.change),
    commit: shortOf(step.commit),
    direction: wordOf(step.direction),
  }));
  const verified = verifiedOf(series)
    .filter(({ at }) => isPresent(at))
    .map((one) => ({ at: one.at, commit: shortOf(one.commit), subject: one.subject, effect: one.effect, state: one.state }));
  return { points, levels, steps, verified, unit };
}

/** Where the steps' numbers do not stand on each other. */
function labelled(steps, points, width) {
  const span = Math.max(1, points.at(-1).at - points[0].at);
  let last = -Infinity;
  return steps.filter((step) => {
    const x = ((step.at - points[0].at) / span) * width;
    if (x - last < 56) return false;
    last = x;
    return true;
  });
}

/** The axis around the values. One below 0 is a point as any other; where there is none, the axis
 *  suggests none. */
function domainOf(least, most) {
  const air = (most - least || Math.abs(most) || 1) * 0.12;
  return [least < 0 ? least - air : Math.max(0, least - air), most + air];
}

function historyChart(series) {
  if (!series.drawn.at.length) return null;
  const { points, levels, steps, verified, unit } = chartData(series);
  const hasTimes = COMMITS.some(([, seconds]) => seconds);
  const names = COMMITS.map(([commit, seconds]) => (hasTimes ? dateOf(seconds) : commit));
  const [least, most] = extentOf(points.filter(({ kind }) => kind === "point").map(({ y }) => y));
  const domain = domainOf(least, most);
  // Outliers stand at the edge rather than flatten the rest.
  const inset = (domain[1] - domain[0]) * 0.04;
  for (const point of points.filter(({ kind }) => kind === "outlier"))
    point.y = Math.min(Math.max(point.y, domain[0] + inset), domain[1] - inset);
  const y = {
    field: "y",
    type: "quantitative",
    title: unit || series.metric,
    scale: { domain, nice: false, zero: false },
    axis: { tickCount: 4 },
  };
  const spec = (width) => {
    const x = {
      field: "at",
      type: "quantitative",
      title: null,
      scale: { nice: false, domain: [points[0].at - 0.5, points.at(-1).at + 0.5] },
      axis: {
        labelExpr: `${JSON.stringify(Object.fromEntries(tickNames(points, names)))}[datum.value]`,
        values: tickNames(points, names).map(([at]) => at),
        grid: false,
        labelFlush: true,
      },
    };
    return {
      description: `${titleOf(series)} over commits`,
      height: 190,
      data: { values: points },
      layer: [
        {
          data: { values: steps },
          mark: { type: "rule", color: colourOf("first"), strokeDash: [4, 3], strokeWidth: 1.3 },
          encoding: { x, tooltip: [{ field: "commit" }, { field: "text", title: "change" }] },
        },
        {
          data: { values: verified },
          mark: { type: "rule", color: colourOf("fail"), strokeWidth: 1.6, clip: true },
          encoding: { x, tooltip: ["commit", "subject", "effect", "state"].map((field) => ({ field, type: "nominal" })) },
        },
        {
          mark: { type: "point", filled: true, clip: true, size: points.length > 400 ? 12 : 28 },
          encoding: {
            x,
            y,
            shape: {
              field: "kind",
              scale: { domain: ["point", "outlier"], range: ["circle", "cross"] },
              legend: null,
            },
            color: {
              field: "kind",
              scale: { domain: ["point", "outlier"], range: [colourOf("muted"), colourOf("first")] },
              legend: null,
            },
            opacity: { value: 0.75 },
            tooltip: ["commit", "date", "value", "change", "kind"].map((field) => ({
              field,
              type: "nominal",
            })),
          },
        },
        {
          data: { values: levels },
          mark: { type: "rule", color: colourOf("accent"), strokeWidth: 2.2, tooltip: false },
          encoding: { x: { ...x, field: "from" }, x2: { field: "to" }, y },
        },
        {
          data: { values: labelled(steps, points, width) },
          mark: {
            type: "text",
            align: "left",
            baseline: "top",
            dx: 4,
            fontSize: 11,
            color: colourOf("first"),
            tooltip: false,
          },
          encoding: { x, y: { value: 0 }, text: { field: "text" } },
        },
      ],
    };
  };
  const note =
    series.drawn.at.length < series.point_count
      ? `${series.drawn.at.length} of ${series.point_count} points drawn`
      : counted(series.point_count, "point");
  return chart(titleOf(series), note, spec, points.length);
}

/** First, last and a few commits between, with the text of each. */
function tickNames(points, names) {
  const count = Math.min(5, points.length);
  const ticks = Array.from({ length: count }, (_, tick) => {
    const { at } = points[Math.round((tick * (points.length - 1)) / Math.max(1, count - 1))];
    return [at, names[at]];
  });
  return ticks.filter(([at], index) => index === 0 || at !== ticks[index - 1][0]);
}

function seriesSection(series) {
  const items = itemsOf(series);
  const changes = series.segments
    .filter((segment) => !["start", "step", "verified"].includes(segment.cause))
    .map((segment) => `${segment.cause} changes at ${shortOf(segment.first)} ${segment.environment}`);
  return h(
    "section",
    { id: series.id, class: "series" },
    historyChart(series) ?? h("h3", {}, titleOf(series)),
    items.length ? h("ul", { class: "findings" }, items) : null,
    changes.map((text) => h("p", { class: "note" }, text)),
  );
}

function masthead() {
  const changed = SERIES.filter((series) => series.steps.length).length;
  const times = COMMITS.map(([, seconds]) => seconds).filter(Boolean);
  const facts_ = [
    counted(SERIES.length, "series", "series"),
    counted(DATA.commit_count, "commit"),
    times.length ? `${dateOf(Math.min(...times.slice(0, 1)))} to ${dateOf(times.at(-1))}` : "",
    `${changed} with a step`,
    `changes below ${textFromNumber(DATA.rule.min_effect * 100)} % do not count`,
  ].filter(Boolean);
  document.getElementById("masthead").append(
    h("p", { class: "brand" }, "Assay", h("span", {}, "history")),
    h("h1", {}, DATA.source),
    h(
      "p",
      { class: "lede" },
      facts_.map((fact) => h("span", {}, fact)),
    ),
    ...DATA.notes.map((note) => h("p", { class: "notice" }, note)),
  );
}

/** Commits that changed several series; the newest first. */
function incidentsSection() {
  const shown = DATA.incidents.filter((one) => one.is_shown && one.series_count > 1);
  if (!shown.length) return null;
  const stepLink = (step) => [
    h("a", { href: `#${SERIES[step.series].id}` }, titleOf(SERIES[step.series])),
    ` ${textOfChange(SERIES[step.series], step.change)}`,
  ];
  const items = shown.map((one) =>
    item(
      "skipped",
      counted(one.series_count, "series", "series"),
      shortOf(one.likely),
      one.last_before === one.first_after ? "" : `after ${shortOf(one.last_before)}, by ${shortOf(one.first_after)}`,
      ...one.steps.map(stepLink),
    ),
  );
  return h(
    "section",
    { id: "incidents" },
    h("h2", {}, "Commits that changed several series"),
    h("ul", { class: "findings" }, items.slice(0, MANY_SERIES)),
    items.length > MANY_SERIES
      ? h(
          "details",
          { class: "fold" },
          h("summary", {}, `${items.length - MANY_SERIES} more, older ones`),
          h("ul", { class: "findings" }, items.slice(MANY_SERIES)),
        )
      : null,
  );
}

function seriesSections() {
  const sections = SERIES.map((series) => ({ series, element: seriesSection(series) }));
  const count = h("span", { class: "count muted" });
  const input = h("input", { type: "search", "aria-label": "Filter series", placeholder: "Filter series" });
  const changedOnly = h("button", { type: "button", class: "chip", "aria-pressed": "false" }, "changed only");
  const apply = () => {
    const wanted = input.value.toLowerCase();
    const isChangedOnly = changedOnly.getAttribute("aria-pressed") === "true";
    let left = 0;
    for (const { series, element } of sections) {
      const isShown =
        titleOf(series).toLowerCase().includes(wanted) && (!isChangedOnly || saysSomething(series));
      element.hidden = !isShown;
      left += isShown ? 1 : 0;
    }
    count.textContent = `${left} of ${counted(SERIES.length, "series", "series")}`;
  };
  input.addEventListener("input", apply);
  changedOnly.addEventListener("click", () => {
    const isPressed = changedOnly.getAttribute("aria-pressed") === "true";
    changedOnly.setAttribute("aria-pressed", String(!isPressed));
    apply();
  });
  if (SERIES.length > MANY_SERIES && SERIES.some(saysSomething)) changedOnly.setAttribute("aria-pressed", "true");
  apply();
  return h(
    "section",
    { id: "cases" },
    h("h2", {}, "Series"),
    SERIES.length > 1 ? h("div", { class: "tools" }, input, changedOnly, count) : null,
    h(
      "p",
      { class: "legend muted" },
      h("span", { class: "key" }, "●"),
      "measured",
      h("span", { class: "key level" }, "—"),
      "level",
      h("span", { class: "key step" }, "┆"),
      "step",
      h("span", { class: "key step" }, "✚"),
      "outlier",
      DATA.verified.length ? [h("span", { class: "key verified" }, "│"), "verified change"] : null,
    ),
    sections.map(({ element }) => element),
  );
}

function chartsNotice() {
  if (HAS_CHARTS) return null;
  return h(
    "p",
    { class: "notice" },
    "The charts are missing: this installation has no Vega-Lite bundle. Install vl-convert-python and build again, ",
    "or point ASSAY_DATA_DIR to a folder with vega.js; everything else is here.",
  );
}

function start() {
  masthead();
  document
    .getElementById("main")
    .replaceChildren(...[chartsNotice(), incidentsSection(), seriesSections()].filter(Boolean));
  document
    .getElementById("footer")
    .append(
      h(
        "p",
        { class: "muted" },
        `Assay history, ${DATA.schema}. `,
        HAS_CHARTS ? "Charts by Vega-Lite; the licences of what draws them stand at the head of its script in this file." : "",
      ),
    );
  prepareForPaper(redrawCharts);
}

start();
