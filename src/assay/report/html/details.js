// One case in full, built when it is opened.

function accuracyPart(cell) {
  if (!cell.accuracy_tables.length) return null;
  return part(
    "Accuracy",
    { isWide: true },
    cell.accuracy_tables.map((table) => {
      const names = [...METRICS.keys()].filter((name) =>
        table.outputs.some((output) => output.metrics[name]),
      );
      const columns = [
        { title: "Output", isHead: true, text: (output) => output.output },
        ...names.map((name) => {
          const { title, unit } = METRICS.get(name);
          return {
            title,
            unit: ["ratio", "count"].includes(unit) ? "" : unit,
            numeric: true,
            text: (output) => output.metrics[name] && textFromError(output.metrics[name]),
          };
        }),
      ];
      return [
        simpleTable(`Against ${table.against}: ${wordsOf(table.accuracy)}`, columns, table.outputs),
        table.reason ? h("p", { class: "muted note" }, table.reason) : null,
        table.controls.length
          ? h(
              "p",
              { class: "muted note" },
              `Controls: ${table.controls.join("; ")}.`,
            )
          : null,
      ];
    }),
  );
}

function gatesPart(cell) {
  if (!cell.gates.length) return null;
  return part(
    "Gates",
    {},
    h(
      "ul",
      { class: "bare" },
      cell.gates.map((gate) =>
        h(
          "li",
          {},
          pill(
            gate.is_met ? "pass" : gate.is_undecided ? "inconclusive" : "fail",
            gate.is_met ? "met" : gate.is_undecided ? "undecided" : "broken",
          ),
          " ",
          gate.text,
        ),
      ),
    ),
  );
}

function memoryPart(cell) {
  if (!cell.memory) return null;
  const bytes = (field) => (stage) => textFromQuantity("bytes", stage[field]);
  const columns = [
    { title: "Stage", isHead: true, text: (stage) => stage.name },
    { title: "RSS", numeric: true, text: bytes("rss_bytes") },
    { title: "PSS", numeric: true, text: bytes("pss_bytes") },
    { title: "Private dirty", numeric: true, text: bytes("private_dirty_bytes") },
    { title: "Peak RSS", numeric: true, text: bytes("peak_rss_bytes") },
    {
      title: "Page faults",
      numeric: true,
      text: (stage) =>
        `${stage.minor_faults}${stage.major_faults ? ` + ${stage.major_faults} major` : ""}`,
    },
  ];
  return part(
    "Memory",
    {},
    simpleTable("Of the runner process, by stage", columns, cell.memory.stages),
    memoryPartsTable(cell.memory),
    cell.memory.allocations_unavailable
      ? h("p", { class: "muted note" }, `malloc: ${cell.memory.allocations_unavailable}`)
      : null,
    (cell.leaks ?? []).map((leak) => h("p", { class: "muted note" }, leak.text)),
    h(
      "p",
      { class: "muted note" },
      `A reading costs ${textFromQuantity("ns", cell.memory.probe_ns)}` +
        (isPresent(cell.memory.probe_bytes)
          ? ` and ${textFromQuantity("bytes", cell.memory.probe_bytes)} of malloc.`
          : "."),
    ),
  );
}

const MEMORY_PARTS = {
  program_files: "Program files, mapped",
  libraries: "Executable and libraries",
  other_files: "Other files, mapped",
  shared_memory: "Shared memory",
  stack: "Stack of the main thread",
  malloc: "malloc, live",
  malloc_other: "malloc, live, not declared",
  never_touched: "Of live malloc, never touched",
  malloc_unused: "malloc, free and overhead",
  unattributed: "Unattributed",
};

/** Parts of the resident set, a row each, and their sum; null where they are not told. */
function memoryPartsTable(memory) {
  const stages = memory.stages.filter((stage) => stage.parts?.length);
  if (!stages.length) return null;
  const most = stages.reduce((a, b) => (b.parts.length > a.parts.length ? b : a));
  const names = [...new Set([most, ...stages].flatMap((stage) => stage.parts ?? []).map((p) => p.name))];
  const bytesOf = (stage, name) => stage.parts.find((p) => p.name === name)?.bytes;
  const columns = [
    { title: "Part", isHead: true, text: (row) => row.title },
    ...stages.map((stage) => ({
      title: stage.name,
      numeric: true,
      text: (row) => {
        const bytes = row.name ? bytesOf(stage, row.name) : stage.rss_bytes;
        return isPresent(bytes) ? textFromQuantity("bytes", bytes) : "";
      },
    })),
  ];
  const rows = names.map((name) => ({
    name,
    title: MEMORY_PARTS[name] ?? name.replace(/^declared\./, "Declared: "),
  }));
  return simpleTable("Resident set by part: the parts add up to it", columns, [
    ...rows,
    { name: "", title: "Sum: resident set" },
  ]);
}

function operatorsLeftTable(cell) {
  const left = cell.manifest?.program?.operators_left ?? [];
  if (!left.length) return null;
  const rows = [...left].sort((a, b) => b.count - a.count);
  return simpleTable(
    `Operators left to the engine: ${rows.reduce((sum, row) => sum + row.count, 0)} nodes`,
    [
      { title: "Operator", isHead: true, text: (row) => row.name },
      { title: "Nodes", numeric: true, text: (row) => String(row.count) },
      { title: "Reason", text: (row) => row.reason ?? "not told" },
    ],
    rows,
  );
}

function delegationPart(cell) {
  const program = cell.manifest?.program;
  if (!program) return null;
  const delegates = program.delegates ?? [];
  return part(
    "Delegation",
    {},
    delegates.length
      ? simpleTable(
          "Delegates",
          [
            { title: "Backend", isHead: true, text: (row) => row.backend },
            {
              title: "Calls",
              numeric: true,
              text: (row) => isPresent(row.count) && String(row.count),
            },
            {
              title: "Processed",
              numeric: true,
              text: (row) =>
                isPresent(row.processed_bytes) && textFromQuantity("bytes", row.processed_bytes),
            },
            {
              title: "Weights",
              numeric: true,
              text: (row) =>
                isPresent(row.named_data_bytes) && textFromQuantity("bytes", row.named_data_bytes),
            },
          ],
          delegates,
        )
      : h("p", {}, "Nothing was delegated."),
    operatorsLeftTable(cell),
  );
}

/** Ticks stolen by the hypervisor between the two readings, as a share of all. */
function conditionsPart(cell) {
  if (!cell.launches.length) return null;
  const pair = (field, show) => (launch) => {
    const [before, after] = [launch.before?.[field], launch.after?.[field]];
    if (isPresent(before) && isPresent(after) && show(before) === show(after)) return show(before);
    return isPresent(before) || isPresent(after)
      ? `${isPresent(before) ? show(before) : NOT_MEASURED} → ${isPresent(after) ? show(after) : NOT_MEASURED}`
      : undefined;
  };
  const number = (value) => textFromNumber(value);
  const columns = [
    {
      title: "Median",
      numeric: true,
      text: (launch) => launch.median_ns > 0 && textFromQuantity("ns", launch.median_ns),
    },
    {
      title: "Iterations",
      numeric: true,
      text: (launch) =>
        `${launch.warmup_iterations} + ${inferencesIn(launch) - launch.warmup_iterations}` +
        (["unsteady", "too_few"].includes(launch.warmup) ? ` (${wordsOf(launch.warmup)})` : ""),
    },
    { title: "Stopped by", text: (launch) => wordsOf(launch.stopped_by ?? "") },
    {
      title: "Disturbed",
      isSentence: true,
      text: (launch) => (launch.disturbances ?? []).map(({ text }) => text).join("; ") || undefined,
    },
    { title: "Load average", numeric: true, text: pair("load_average_1min", number) },
    { title: "CPU pressure, %", numeric: true, text: pair("cpu_pressure_avg10", number) },
    { title: "Steal, ticks", numeric: true, text: pair("steal_ticks", String) },
    {
      title: "Frequency",
      numeric: true,
      text: pair("frequency_hz", (hz) => `${textFromNumber(hz / 1e9)} GHz`),
    },
    { title: "Temperature, °C", numeric: true, text: pair("temperature_celsius", number) },
    { title: "Governor", text: pair("governor", String) },
    {
      title: "Memory free",
      numeric: true,
      text: pair("memory_available_bytes", (bytes) => textFromQuantity("bytes", bytes)),
    },
  ].filter((column) =>
    cell.launches.some((launch) => isPresent(column.text(launch)) && column.text(launch) !== false),
  );
  return part(
    "Launches and conditions",
    { isWide: true },
    simpleTable(
      "Each launch is a process of its own; before → after",
      [{ title: "Launch", isHead: true, text: (launch) => String(launch.index + 1) }, ...columns],
      cell.launches,
    ),
  );
}

function metricsPart(cell) {
  const names = Object.keys(cell.metrics);
  if (!names.length) return null;
  const order = [...METRICS.keys()];
  names.sort((a, b) => order.indexOf(a) - order.indexOf(b));
  // A program's own metric brings its unit: another case may have the name in another one.
  const show = (name, value) =>
    name.endsWith("_ratio") && !name.includes("speedup")
      ? `${textFromShare(value)} %`
      : textFromQuantity(cell.metrics[name].unit || (METRICS.get(name)?.unit ?? ""), value);
  return part(
    "All metrics",
    {},
    simpleTable(
      "As measured",
      [
        { title: "Metric", isHead: true, text: (name) => h("code", {}, name) },
        { title: "Value", numeric: true, text: (name) => show(name, valueOf(cell.metrics[name])) },
        {
          title: "Interval",
          numeric: true,
          text: (name) => {
            const { low, high } = cell.metrics[name];
            return low != null && high != null && `${show(name, low)} to ${show(name, high)}`;
          },
        },
        {
          title: "Coverage",
          numeric: true,
          text: (name) =>
            cell.metrics[name].confidence > 0 &&
            `${textFromCoverage(cell.metrics[name].confidence)} %`,
        },
        {
          title: "n",
          numeric: true,
          text: (name) => cell.metrics[name].count > 0 && String(cell.metrics[name].count),
        },
      ],
      names,
    ),
  );
}

function buildPart(cell) {
  const stages = cell.manifest?.stages ?? [];
  if (!stages.length) return null;
  return part(
    "Ahead of time",
    {},
    simpleTable(
      "What making the program cost",
      [
        { title: "Stage", isHead: true, text: (stage) => stage.name },
        {
          title: "Time",
          numeric: true,
          text: (stage) => isPresent(stage.wall_ns) && textFromQuantity("ns", stage.wall_ns),
        },
        {
          title: "Peak memory",
          numeric: true,
          text: (stage) =>
            isPresent(stage.peak_rss_bytes) && textFromQuantity("bytes", stage.peak_rss_bytes),
        },
      ],
      stages,
    ),
  );
}

function textsPart(heading, texts) {
  if (!texts.length) return null;
  return part(
    heading,
    { isWide: true },
    h(
      "ul",
      { class: "plainlist" },
      texts.map((text) => h("li", {}, text)),
    ),
  );
}

function failurePart(cell) {
  const findings = findingsOf(cell);
  if (!findings.length && !cell.last_words) return null;
  return part(
    cell.verdict === "pass" ? "Findings" : "Why",
    { isWide: true },
    h(
      "ul",
      { class: "plainlist" },
      findings.map((finding) => h("li", {}, finding)),
    ),
    cell.last_words
      ? [
          h("p", { class: "muted note" }, "Last words of the process:"),
          h("pre", { class: "words", tabindex: "0" }, printable(cell.last_words).trim()),
        ]
      : null,
  );
}

function profilePart(cell) {
  if (!cell.profile) return null;
  const figure = cell.breakdown ? profileChart(cell.breakdown) : null;
  const notes = cell.profile.notes.map((note) => h("p", { class: "muted note" }, note));
  if (figure) return part("Profile", { isWide: true }, figure, notes);
  const rows = [...cell.profile.events].sort((a, b) => b.total_ns - a.total_ns).slice(0, 20);
  return part(
    "Profile",
    { isWide: true },
    simpleTable(
      "The twenty entries that take most",
      [
        { title: "Entry", isHead: true, text: (event) => event.name },
        { title: "Kind", text: (event) => wordsOf(event.kind) },
        {
          title: "Median",
          numeric: true,
          text: (event) => textFromQuantity("ns", event.median_ns),
        },
        { title: "Total", numeric: true, text: (event) => textFromQuantity("ns", event.total_ns) },
      ],
      rows,
    ),
    notes,
  );
}

function identityPart(cell) {
  const options = Object.entries(cell.effective_options ?? {}).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return part(
    "Identity",
    {},
    facts(
      [
        ["Engine", cell.engine],
        ["Device", DATA.devices && cell.device],
        ["Input", cell.shapes],
        ["Asked for", cell.options],
        ["In effect", options.join("  ")],
        ["Case", h("code", { class: "long" }, cell.case_key)],
        ["Subject", isPresent(cell.subject) && h("code", { class: "long" }, cell.subject)],
      ].filter(([, value]) => value),
    ),
  );
}

/** <details> of one case; its content is made when it first opens. */
function caseDetails(cells, cell) {
  const steady = cell.metrics.steady_ns;
  const body = h("div", { class: "body" });
  const fill = () =>
    body.append(
      ...[
        failurePart(cell),
        textsPart("Warnings", cell.warnings),
        textsPart("Notes", cell.notes),
        gatesPart(cell),
        accuracyPart(cell),
        attributionPart(cell),
        delegationPart(cell),
        memoryPart(cell),
        profilePart(cell),
        conditionsPart(cell),
        sensorsPart(cell),
        buildPart(cell),
        metricsPart(cell),
        identityPart(cell),
        cell.reproduce ? part("Reproduce", { isWide: true }, commandLine(cell.reproduce)) : null,
      ].filter(Boolean),
    );
  const details = h(
    "details",
    { id: cell.id, class: `case ${cell.verdict}` },
    h(
      "summary",
      {},
      h("span", { class: "name" }, nameWithin(cells, cell)),
      pill(cell.verdict, resultOf(cell)),
      steady ? h("span", { class: "figure" }, textFromQuantity("ns", valueOf(steady))) : null,
    ),
    body,
  );
  return whenOpened(details, fill);
}
