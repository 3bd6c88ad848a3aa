// Charts of one case: each inference, and where the time goes.

/** Points of every inference in order, and where each launch begins and ends. */
function inferencesOf(launches, divisor, unit) {
  const points = [];
  const spans = [];
  let at = 0;
  const add = (launch, phase, ns, iteration) =>
    points.push({
      at: at++,
      time: ns / divisor,
      phase,
      iteration,
      launch: launch.index + 1,
      text: `${textFromNumber(ns / divisor)} ${unit}`,
    });
  for (const launch of launches) {
    const start = at;
    if (launch.first.execute_ns) add(launch, "first", launch.first.execute_ns, 0);
    launch.execute_ns.forEach((ns, i) =>
      add(launch, i < launch.warmup_iterations ? "warm-up" : "steady", ns, i + 1),
    );
    spans.push({
      start: start - 0.5,
      end: at - 0.5,
      middle: (start + at - 1) / 2,
      median: launch.median_ns / divisor,
      label: `launch ${launch.index + 1}`,
    });
    at += Math.max(2, Math.round(launch.execute_ns.length * 0.06));
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

/** Every inference of every launch in order: first, warm-up, steady; a line at each launch's median. */
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

/** The twenty operators that take most of an inference. */
function profileChart(profile) {
  const inner = profile.events.filter((event) =>
    ["operator", "delegate_operator"].includes(event.kind),
  );
  const hasInner = inner.some((event) => event.kind === "delegate_operator");
  const leaves = [
    ...inner,
    ...profile.events.filter((event) => event.kind === "delegate" && !hasInner),
  ];
  const rows = leaves
    .map((event) => ({ ...event, each_ns: event.total_ns / Math.max(1, profile.iterations) }))
    .sort((a, b) => b.each_ns - a.each_ns)
    .slice(0, 20);
  if (!rows.length) return null;
  const { unit, divisor } = unitFor(
    "ns",
    rows.slice(0, 3).map((row) => row.each_ns),
  );
  const share = (row) =>
    profile.method_median_ns
      ? `${textFromShare(row.each_ns / profile.method_median_ns)} %`
      : NOT_MEASURED;
  const values = rows.map((row, index) => ({
    row: index,
    name: row.name,
    kind: wordsOf(row.kind),
    value: row.each_ns / divisor,
    count: row.count / Math.max(1, profile.iterations),
    text: `${textFromNumber(row.each_ns / divisor)} ${unit} (${share(row)})`,
  }));
  const most = Math.max(...values.map((value) => value.value));
  const x = (width) => ({
    field: "value",
    type: "quantitative",
    title: `${unit} per inference, mean`,
    scale: barScale(most, width, 115),
  });
  const note = `${values.length} of ${counted(leaves.length, "entry", "entries")}, over ${counted(profile.iterations, "profiled inference")}; share of the method's ${textFromQuantity("ns", profile.method_median_ns)}`;
  return chart("Where the time goes", note, (width) => ({
    description: "Time per operator",
    height: values.length * 22,
    data: { values },
    encoding: {
      y: rowAxis(
        values.map((value) => value.name),
        width,
      ),
      x: x(width),
    },
    layer: [
      {
        mark: { type: "bar", height: 12, cornerRadiusEnd: 3 },
        encoding: {
          color: {
            field: "kind",
            title: null,
            legend:
              hasInner && inner.some((event) => event.kind === "operator")
                ? { orient: "bottom" }
                : null,
            scale: { range: [colourOf("accent"), colourOf("first"), colourOf("left")] },
          },
          tooltip: [
            { field: "name" },
            { field: "kind" },
            { field: "text", title: "time" },
            { field: "count", title: "calls per inference" },
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
