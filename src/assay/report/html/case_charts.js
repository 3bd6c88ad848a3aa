// Charts of one case: each inference, and where the time goes.

/** Points of the drawn inferences in order, and where each launch begins and ends. */
function inferencesOf(launches, divisor, unit) {
  const points = [];
  const spans = [];
  let at = 0;
  const add = (launch, place, phase, ns, iteration) =>
    points.push({
      at: place,
      time: ns / divisor,
      phase,
      iteration,
      launch: launch.index + 1,
      text: `${textFromNumber(ns / divisor)} ${unit}`,
    });
  for (const launch of launches) {
    const start = at;
    if (launch.first.execute_ns) add(launch, start, "first", launch.first.execute_ns, 0);
    launch.execute_ns.forEach((ns, i) => {
      const place = launch.drawn?.[i] ?? i;
      add(launch, start + 1 + place, place < launch.warmup_iterations ? "warm-up" : "steady", ns, place + 1);
    });
    at = start + 1 + inferencesIn(launch);
    spans.push({
      start: start - 0.5,
      end: at - 0.5,
      middle: (start + at - 1) / 2,
      median: launch.median_ns / divisor,
      label: `launch ${launch.index + 1}`,
    });
    at += Math.max(2, Math.round(inferencesIn(launch) * 0.06));
  }
  return { points, spans, end: at };
}

/** One point an inference; its phase is told by shape, fill and colour. */
function phaseMarks(x, y) {
  const domain = ["first", "warm-up", "steady"];
  const colours = (range) => ({ field: "phase", scale: { domain, range }, legend: null });
  const onFirst = (value, otherwise) => ({
    condition: { test: "datum.phase === 'first'", value },
    value: otherwise,
  });
  return {
    mark: { type: "point", opacity: 0.85, strokeWidth: 1.2 },
    encoding: {
      x,
      y,
      color: colours([colourOf("first"), colourOf("muted"), colourOf("accent")]),
      fill: colours([colourOf("first"), "transparent", colourOf("accent")]),
      shape: onFirst("diamond", "circle"),
      size: onFirst(70, 18),
      tooltip: [
        { field: "launch" },
        { field: "phase" },
        { field: "iteration" },
        { field: "text", title: "time" },
      ],
    },
  };
}

/** The inferences of every launch in order: first, warm-up, steady; a line at each launch's median. */
function inferenceChart(cells, cell) {
  const launches = cell.launches.filter(
    (launch) => launch.execute_ns.length || launch.first.execute_ns,
  );
  if (!launches.length) return null;
  const { unit, divisor } = unitFor(
    "ns",
    launches.map((launch) => launch.median_ns || launch.first.execute_ns),
  );
  const { points, spans, end } = inferencesOf(launches, divisor, unit);
  const { isLog, scale } = pointScale(points.map((point) => point.time));
  const axis = (field) => ({ field, type: "quantitative" });
  const x = { ...axis("at"), axis: null, scale: { nice: false, domain: [-1, end] } };
  const y = {
    ...axis("time"),
    scale,
    title: `${unit}${isLog ? ", log" : ""}`,
    axis: { tickCount: 4, labelLimit: 60 },
  };
  const spec = () => ({
    description: `Latency of each inference of ${titleOf(cell)}`,
    height: 150,
    data: { values: points },
    layer: [
      {
        data: { values: spans.filter((span) => span.median > 0) },
        mark: { type: "rule", color: colourOf("text"), strokeWidth: 1.2, tooltip: false },
        encoding: {
          x: { ...x, field: "start" },
          x2: { field: "end" },
          y: { ...y, field: "median" },
        },
      },
      {
        data: { values: spans },
        mark: {
          type: "text",
          baseline: "top",
          dy: 4,
          color: colourOf("muted"),
          fontSize: 11,
          tooltip: false,
        },
        encoding: {
          x: { ...x, field: "middle" },
          y: { value: "height" },
          text: { field: "label" },
        },
      },
      phaseMarks(x, y),
    ],
  });
  return chart(nameWithin(cells, cell), "", spec, points.length);
}

/** How many parts of a profile are drawn. */
const MOST_PARTS = 20;

/** What takes most of an inference: operators, delegates that tell none of theirs, and the rest. */
function profileChart(breakdown) {
  const { parts, method_ns: methodNs, iterations } = breakdown;
  const largest = parts.slice(0, MOST_PARTS).filter((part) => part.time_ns > 0);
  if (!largest.length) return null;
  const { unit, divisor } = unitFor(
    "ns",
    largest.slice(0, 3).map((part) => part.time_ns),
  );
  const share = (part) => (methodNs > 0 ? `${textFromShare(part.share_ratio)} %` : NOT_MEASURED);
  const values = largest.map((part, row) => ({
    row,
    name: part.name,
    kind: part.kind === "rest" ? "no operator" : wordsOf(part.kind),
    value: part.time_ns / divisor,
    calls: part.calls,
    text: `${textFromNumber(part.time_ns / divisor)} ${unit} (${share(part)})`,
  }));
  const names = values.map((value) => value.name);
  const kinds = [...new Set(values.map((value) => value.kind))];
  const note = `${values.length} of ${counted(parts.length, "part")}, over ${counted(iterations, "profiled inference")}; share of the method's ${textFromQuantity("ns", methodNs)}`;
  const x = (width) => ({
    field: "value",
    type: "quantitative",
    title: `${unit} per inference`,
    scale: barScale(values[0].value, width, 115),
  });
  return chart("Where the time goes", note, (width) => ({
    description: "Time by operator",
    height: values.length * rowHeight(names, width, 22),
    data: { values },
    encoding: { y: rowAxis(names, width), x: x(width) },
    layer: [
      {
        mark: { type: "bar", height: 12, cornerRadiusEnd: 3 },
        encoding: {
          color: {
            field: "kind",
            title: null,
            legend:
              kinds.length > 1 ? { orient: "bottom", columns: legendColumns(width) } : null,
            scale: {
              domain: kinds,
              range: ["accent", "first", "muted", "left"].map(colourOf).slice(0, kinds.length),
            },
          },
          tooltip: [
            { field: "name" },
            { field: "kind" },
            { field: "text", title: "time" },
            { field: "calls", title: "calls per inference" },
          ],
        },
      },
      {
        mark: { type: "text", align: "left", dx: 6, fontSize: 11 },
        encoding: { text: { field: "text" } },
      },
    ],
  }));
}
