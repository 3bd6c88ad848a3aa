// Charts of the device's sensors over the launches of a case.

/** How the readings of a unit are drawn: title, unit, and from millionths to it. */
const TRACE_UNITS = {
  celsius: { title: "Temperature", unit: "°C", scale: 1e-6 },
  hz: { title: "Frequency", unit: "GHz", scale: 1e-15 },
  watts: { title: "Power", unit: "W", scale: 1e-6 },
};

/** Readings as [seconds since the process started, value]. */
function readingsOf(trace, startNs, scale) {
  return trace.times_ns.map((ns, i) => [(ns - startNs) / 1e9, trace.micros[i] * scale]);
}

/** The mean power between two readings of a counter of energy, at the middle of them. */
function powersOf(trace, startNs) {
  const energies = readingsOf(trace, startNs, 1e-6);
  return energies.slice(1).flatMap(([at, joules], i) => {
    const [before, joulesBefore] = energies[i];
    return at > before ? [[(at + before) / 2, (joules - joulesBefore) / (at - before)]] : [];
  });
}

/** Points of all launches by unit; energies are shown as power. */
function tracePoints(launches) {
  const points = { celsius: [], hz: [], watts: [] };
  for (const launch of launches) {
    const { channels, start_ns: startNs } = launch.traces;
    for (const trace of channels) {
      const unit = trace.unit === "joules" ? "watts" : trace.unit;
      const readings =
        trace.unit === "joules"
          ? powersOf(trace, startNs)
          : readingsOf(trace, startNs, TRACE_UNITS[unit].scale);
      for (const [at, value] of readings)
        points[unit].push({
          at,
          value,
          channel: trace.channel.replace(/^[a-z]+:/, ""),
          launch: launch.index + 1,
        });
    }
  }
  return points;
}

/** One line for each channel of each launch. */
function traceChart(unitName, points) {
  const { title, unit } = TRACE_UNITS[unitName];
  return chart(title, "", (width) => ({
    description: `${title} of the device while launches ran`,
    height: 130,
    data: { values: points },
    mark: { type: "line", strokeWidth: 1.2, point: points.length < 60, interpolate: "linear" },
    encoding: {
      x: { field: "at", type: "quantitative", title: "s since the process started" },
      y: {
        field: "value",
        type: "quantitative",
        title: unit,
        scale: { zero: false },
        axis: { tickCount: 4 },
      },
      color: {
        field: "channel",
        title: null,
        legend: { orient: "bottom", columns: legendColumns(width) },
      },
      detail: { field: "launch" },
      tooltip: [
        { field: "launch" },
        { field: "channel" },
        { field: "at", title: "s", format: ".2f" },
        { field: "value", title: unit, format: ".4" },
      ],
    },
  }), points.length);
}

/** What the sensors of the device told while the case was timed. */
function sensorsPart(cell) {
  const launches = cell.launches.filter((launch) => launch.traces);
  if (!launches.length) return null;
  const points = tracePoints(launches);
  const figures = Object.keys(TRACE_UNITS)
    .filter((unit) => points[unit].length)
    .map((unit) => traceChart(unit, points[unit]));
  const missing = new Map(
    launches.flatMap(({ traces }) =>
      traces.unavailable.map(({ channel, reason }) => [channel, reason]),
    ),
  );
  if (!figures.length && !missing.size) return null;
  const { period_ns: periodNs } = launches[0].traces;
  return part(
    "Sensors",
    { isWide: true },
    figures,
    h("p", { class: "muted note" }, `Read every ${textFromQuantity("ns", periodNs)}.`),
    [...missing].map(([channel, reason]) =>
      h("p", { class: "muted note" }, `${channel}: ${reason}`),
    ),
  );
}
