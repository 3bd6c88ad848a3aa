// Charts that compare the cases of one model; each has all of them, in the same rows.

const ROW_HEIGHT = 34;

const namesWithin = (cells) => cells.map((cell) => nameWithin(cells, cell));

const hasValue = (cell, metric) => cell.metrics[metric] && !cell.metrics[metric].special;

/** The rows of the cases without a value. */
function absentRows(cells, metric, why) {
  return cells
    .map((cell, row) => ({ row, why: why(cell), cell }))
    .filter(({ cell }) => !hasValue(cell, metric))
    .map(({ row, why }) => ({ row, why }));
}

const whyNotTimed = (cell) =>
  cell.outcome === "completed" ? "not measured" : wordsOf(cell.outcome);

/** Steady medians with their intervals; faint ticks are the medians of single launches. */
function steadyChart(cells) {
  const timed = cells.filter((cell) => hasValue(cell, "steady_ns"));
  if (!timed.length) return null;
  const { unit, divisor } = unitFor(
    "ns",
    timed.map((cell) => cell.metrics.steady_ns.value),
  );
  const names = namesWithin(cells);
  const rows = timed.map((cell) => {
    const row = cells.indexOf(cell);
    const { value, low, high, count } = cell.metrics.steady_ns;
    return {
      row,
      name: names[row],
      value: value / divisor,
      low: (low ?? value) / divisor,
      high: (high ?? value) / divisor,
      text: textFromNumber(value / divisor),
      launches: count,
      result: resultOf(cell),
      interval: textFromInterval(cell.metrics.steady_ns, { divisor }) || "none",
    };
  });
  const ticks = timed.flatMap((cell) =>
    cell.launches
      .filter((launch) => launch.median_ns > 0)
      .map((launch) => ({ row: cells.indexOf(cell), value: launch.median_ns / divisor })),
  );
  const { isLog, scale } = spreadScale(rows.map((row) => row.value));
  const x = (field) => ({
    field,
    type: "quantitative",
    scale,
    title: `${unit}${isLog ? ", logarithmic" : ""}`,
  });
  const tooltip = [
    { field: "name", title: "case" },
    { field: "text", title: `median, ${unit}` },
    { field: "interval" },
    { field: "launches" },
    { field: "result" },
  ];
  return chart(
    "Steady latency",
    "median with its interval; ticks are single launches",
    (width) => ({
      description: "Median steady latency of each case with its interval",
      height: cells.length * rowHeight(names, width, ROW_HEIGHT),
      data: { values: rows },
      encoding: { y: rowAxis(names, width) },
      layer: [
        {
          data: { values: ticks },
          mark: {
            type: "tick",
            color: colourOf("muted"),
            opacity: 0.6,
            thickness: 1.5,
            height: 12,
            tooltip: false,
          },
          encoding: { x: x("value") },
        },
        {
          mark: {
            type: "rule",
            strokeWidth: 5,
            opacity: 0.3,
            strokeCap: "round",
            color: colourOf("accent"),
          },
          encoding: { x: x("low"), x2: { field: "high" }, tooltip },
        },
        {
          mark: { type: "point", filled: true, size: 70, opacity: 1, color: colourOf("accent") },
          encoding: { x: x("value"), tooltip },
        },
        {
          mark: { type: "text", dy: -12, fontWeight: 600 },
          encoding: { x: x("value"), text: { field: "text" } },
        },
        absentMarks(absentRows(cells, "steady_ns", whyNotTimed)),
      ],
    }),
  );
}

/** Bars from zero of one metric, labelled. */
function barChart(cells, metric, title, note) {
  const measured = cells.filter((cell) => hasValue(cell, metric));
  if (!measured.length) return null;
  const { unit, divisor } = unitFor(
    METRICS.get(metric)?.unit ?? "",
    measured.map((cell) => cell.metrics[metric].value),
  );
  const names = namesWithin(cells);
  const rows = measured.map((cell) => {
    const row = cells.indexOf(cell);
    const value = cell.metrics[metric].value / divisor;
    return { row, name: names[row], value, text: textFromNumber(value) };
  });
  const most = Math.max(...rows.map((row) => row.value));
  const x = (width) => ({
    field: "value",
    type: "quantitative",
    title: unit,
    scale: barScale(most, width, 48),
  });
  return chart(title, note, (width) => ({
    description: `${title} of each case`,
    height: cells.length * rowHeight(names, width, ROW_HEIGHT),
    data: { values: rows },
    encoding: { y: rowAxis(names, width) },
    layer: [
      {
        mark: { type: "bar", height: 14, cornerRadiusEnd: 3, color: colourOf("accent") },
        encoding: {
          x: x(width),
          tooltip: [
            { field: "name", title: "case" },
            { field: "text", title: unit },
          ],
        },
      },
      {
        mark: { type: "text", align: "left", dx: 6, fontWeight: 600 },
        encoding: { x: x(width), text: { field: "text" } },
      },
      absentMarks(absentRows(cells, metric, () => "not measured")),
    ],
  }));
}

/** Share of the graph's nodes in delegates and left to the engine itself. */
function delegationChart(cells) {
  const known = cells.filter((cell) => hasValue(cell, "delegated_ratio"));
  if (!known.length) return null;
  const names = namesWithin(cells);
  const rows = known.flatMap((cell) => {
    const row = cells.indexOf(cell);
    const share = cell.metrics.delegated_ratio.value;
    const program = cell.manifest?.program ?? {};
    const name = names[row];
    return [
      {
        row,
        name,
        part: "delegated",
        order: 0,
        share,
        nodes: program.nodes_delegated ?? NOT_MEASURED,
        text: `${textFromShare(share)} %`,
      },
      {
        row,
        name,
        part: "left",
        order: 1,
        share: 1 - share,
        nodes: program.nodes_not_delegated ?? NOT_MEASURED,
        text: `${textFromShare(1 - share)} %`,
      },
    ];
  });
  const bars = () => ({
    mark: { type: "bar", height: 14 },
    encoding: {
      x: {
        field: "share",
        type: "quantitative",
        title: null,
        axis: { format: "%", tickCount: 5 },
        scale: { domain: [0, 1] },
      },
      order: { field: "order" },
      color: {
        field: "part",
        title: null,
        scale: { domain: ["delegated", "left"], range: [colourOf("accent"), colourOf("left")] },
        legend: { orient: "bottom" },
      },
      tooltip: [
        { field: "name", title: "case" },
        { field: "part" },
        { field: "nodes" },
        { field: "text", title: "share" },
      ],
    },
  });
  return chart("Delegation", "share of the graph's nodes", (width) => ({
    description: "Share of nodes in delegates and left, by case",
    height: cells.length * rowHeight(names, width, ROW_HEIGHT),
    data: { values: rows },
    encoding: { y: rowAxis(names, width) },
    layer: [bars(), absentMarks(absentRows(cells, "delegated_ratio", () => "not known"))],
  }));
}
