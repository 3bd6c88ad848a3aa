// The page from top to bottom.

function masthead() {
  const { run, environment } = DATA;
  const isFinished = run.finished_unix_ns > run.started_unix_ns;
  const facts_ = [
    counted(DATA.page?.items ?? CASES.length, "case"),
    run.started_unix_ns ? dateText(run.started_unix_ns) : "",
    isFinished ? durationText(run.finished_unix_ns - run.started_unix_ns) : "not finished",
    ...(DATA.devices
      ? [Object.keys(DATA.devices).join(", ")]
      : [environment.cpu_model, environment.cpus ? counted(environment.cpus, "CPU") : ""]),
    ...new Set(CASES.map((cell) => cell.engine)),
  ].filter(Boolean);
  const found = CASES.filter((cell) => cell.verdict !== "pass").length;
  const models = [...casesByModel(CASES).keys()];
  document.getElementById("masthead").append(
    h("p", { class: "brand" }, "Assay", h("span", {}, DATA.verb)),
    h("h1", {}, DATA.title),
    h(
      "p",
      { class: "lede" },
      facts_.map((fact) => h("span", {}, fact)),
      found ? h("a", { href: "#findings" }, counted(found, "finding")) : null,
    ),
    models.length > 1
      ? h(
          "nav",
          { "aria-label": "Models" },
          models.map((model, index) => h("a", { href: `#model-${index}` }, model)),
          h("a", { href: "#run" }, "Run and machine"),
        )
      : "",
  );
}

function emptyNotice() {
  return h(
    "section",
    {},
    h("h2", {}, "Nothing was measured"),
    h(
      "p",
      {},
      "This run has no cases. Check the spec's filters and exclusions; ",
      h("code", {}, "assay run --dry-run"),
      " prints the plan.",
    ),
  );
}

function chartsNotice() {
  if (HAS_CHARTS || !CASES.length) return null;
  return h(
    "p",
    { class: "notice" },
    "The charts are missing: this installation has no Vega-Lite bundle. ",
    "Install vl-convert-python and build again, or point ASSAY_DATA_DIR to a folder with vega.js; everything else is here.",
  );
}

/** Which inferences are drawn; null where all are. */
function thinnedNote(cells) {
  const launches = cells.flatMap((cell) => cell.launches).filter((launch) => launch.drawn?.length);
  if (!launches.length) return null;
  const sum = (of) => launches.reduce((all, launch) => all + of(launch), 0);
  const drawn = sum((launch) => launch.drawn.length).toLocaleString("en");
  return h(
    "p",
    { class: "legend muted" },
    `Thinned: ${drawn} of ${sum(inferencesIn).toLocaleString("en")} inferences are drawn, of each launch the first, ` +
      "the last, and of each stretch the smallest, the largest and the quartiles. All numbers are those of all inferences.",
  );
}

function findingItem({ cell, findings }) {
  const words = lastLine(cell.last_words ?? "");
  return h(
    "li",
    { class: cell.verdict },
    pill(cell.verdict, resultOf(cell)),
    h(
      "div",
      {},
      h("a", { href: `#${cell.id}` }, titleOf(cell)),
      findings.map((finding) => h("p", {}, finding)),
      words
        ? h(
            "p",
            { class: "words" },
            h("span", { class: "muted" }, "last words "),
            h("code", {}, words),
          )
        : null,
    ),
  );
}

/** What the times are good for. */
const timesNotice = () => (DATA.times ? h("p", { class: "muted" }, DATA.times) : null);

/** Many times that are no answer: their intervals stand in the tables. */
function timingsItem(cells) {
  return h(
    "li",
    { class: "inconclusive" },
    pill("inconclusive", causeOf(cells[0])),
    h(
      "div",
      {},
      h("b", {}, concernedBy(cells)),
      h("p", {}, `timing ${cells[0].timing}: intervals in the tables, causes in the notes`),
    ),
  );
}

function findingsSection() {
  const found = CASES.filter((cell) => cell.verdict !== "pass").map((cell) => ({
    cell,
    findings: findingsOf(cell),
  }));
  if (!found.length) return null;
  found.sort(
    (a, b) => VERDICT_ORDER.indexOf(a.cell.verdict) - VERDICT_ORDER.indexOf(b.cell.verdict),
  );
  const timings = groupsOf(
    found.filter(isTimingOnly).map(({ cell }) => cell),
    (cell) => cell.timing,
  );
  const isOneOfMany = (one) => isTimingOnly(one) && timings.get(one.cell.timing).length >= MANY;
  const [worst, ...others] = [
    ...found.filter((one) => !isOneOfMany(one)).map(findingItem),
    ...[...timings.values()].filter((cells) => cells.length >= MANY).map(timingsItem),
  ];
  return h(
    "section",
    { id: "findings" },
    h("h2", {}, "Findings", h("span", { class: "shape" }, counted(found.length, "case"))),
    h("ul", { class: "findings" }, worst),
    others.length
      ? h(
          "details",
          { class: "fold" },
          h("summary", {}, `${others.length} more, the worse ones first`),
          h("ul", { class: "findings" }, others),
        )
      : null,
  );
}

/** Whether nothing but its time keeps the case from passing. */
const isTimingOnly = ({ cell, findings }) =>
  cell.verdict === "inconclusive" &&
  cell.outcome === "completed" &&
  cell.timing !== "steady" &&
  findings.length === 1 &&
  !cell.last_words;

/** "all cases", the recipes when it is all cases of theirs, one or two by name, else "6 of 9 cases". */
function concernedBy(cells) {
  if (cells.length === CASES.length && cells.length > 1) return "all cases";
  if (cells.length <= 2) return cells.map(titleOf).join(", ");
  const recipes = new Set(cells.map((cell) => cell.recipe));
  const isAllOfThem = CASES.filter((cell) => recipes.has(cell.recipe)).length === cells.length;
  return isAllOfThem
    ? `all of ${[...recipes].join(", ")}`
    : `${cells.length} of ${counted(CASES.length, "case")}`;
}

/** So many that differ by numbers alone are told as one. */
const MANY = 4;
const NUMBER = /\b\d+(\.\d+)?\b/g;

/** One of the texts, with "5 to 12" for numbers that differ. */
function withRanges(texts) {
  const numbers = texts.map((text) => text.match(NUMBER) ?? []);
  let index = 0;
  return texts[0].replace(NUMBER, () => {
    const sorted = numbers.map((ofText) => ofText[index]).sort((a, b) => a - b);
    index += 1;
    const [least, most] = [sorted[0], sorted.at(-1)];
    return least === most ? least : `${least} to ${most}`;
  });
}

/** Same sentences once, with whom they concern; many that differ by numbers only are one. */
function sharedSection(id, heading, textsOf) {
  const found = CASES.flatMap((cell) => textsOf(cell).map((text) => ({ text, cell })));
  if (!found.length) return null;
  // As many numbers, or a text that has this sign itself would be taken for one with a number there.
  const families = groupsOf(found, ({ text }) => `${text.match(NUMBER)?.length} ${text.replace(NUMBER, "#")}`);
  const shared = [...families.values()].flatMap((family) => {
    const texts = [...new Set(family.map(({ text }) => text))];
    const cellsOf = (wanted) =>
      family.filter(({ text }) => wanted.includes(text)).map(({ cell }) => cell);
    return texts.length >= MANY
      ? [[withRanges(texts), cellsOf(texts)]]
      : texts.map((text) => [text, cellsOf([text])]);
  });
  return h(
    "section",
    { id },
    h("h2", {}, heading),
    h(
      "ul",
      { class: "plainlist" },
      shared.map(([text, cells]) =>
        h("li", {}, text, " ", h("span", { class: "muted" }, `(${concernedBy(cells)})`)),
      ),
    ),
  );
}

const warningsSection = () => sharedSection("warnings", "Warnings", (cell) => cell.warnings);
const notesSection = () => sharedSection("notes", "Notes", (cell) => cell.notes);

function modelSection(model, cells, index) {
  const thinned = thinnedNote(cells);
  const strips = cells.map((cell) => inferenceChart(cells, cell)).filter(Boolean);
  const tradeOffs = TRADE_OFFS.filter((one) => one.model === model);
  const engines = new Set(cells.map((cell) => cell.engine));
  const charts = [
    steadyChart(cells),
    delegationChart(cells),
    barChart(cells, "peak_rss_bytes", "Memory", "peak resident set of the process"),
    barChart(cells, "program_bytes", "Size", "of the program's files"),
  ].filter(Boolean);
  const left = cells.filter((cell) => cell.manifest?.program?.operators_left?.length);
  const legend = h(
    "p",
    { class: "legend muted" },
    h("span", { class: "key first" }, "◆"),
    "first",
    h("span", { class: "key warm" }, "○"),
    "warm-up",
    h("span", { class: "key steady" }, "●"),
    "steady",
    h("span", { class: "key line" }, "—"),
    "median of the launch",
  );
  return h(
    "section",
    { id: `model-${index}`, class: "model" },
    h(
      "h2",
      {},
      breakable(model),
      !HAS_SHAPES && cells[0].shapes ? h("span", { class: "shape" }, cells[0].shapes) : null,
      engines.size === 1 ? h("span", { class: "shape" }, cells[0].engine) : null,
    ),
    tradeOffs.map(tradeOffPart),
    charts.length ? h("div", { class: "charts" }, charts) : null,
    left.length
      ? h(
          "details",
          { class: "fold" },
          h("summary", {}, `Operators left to the engine in ${counted(left.length, "case")}`),
          left.map((cell) =>
            h(
              "div",
              { class: "fold-part" },
              h("h4", {}, nameWithin(cells, cell)),
              operatorsLeftTable(cell),
            ),
          ),
        )
      : null,
    strips.length
      ? [h("h3", {}, thinned ? "Inferences" : "Every inference"), legend, thinned, h("div", { class: "charts strips" }, strips)]
      : null,
    h("h3", {}, "Cases in full"),
    cells.map((cell) => caseDetails(cells, cell)),
  );
}

/** "1.3 % in 10 s, 0.6 % in 60 s": the smallest differences that showed when it was calibrated. */
function toldApart(calibration) {
  const shown = (calibration?.detectable ?? [])
    .filter((found) => found.ratio >= 0)
    .map(
      (found) =>
        `${Number((found.ratio * 100).toPrecision(2))} % in ${durationText(found.budget_ns)}`,
    )
    .join(", ");
  return shown && `${shown} (${calibration.program})`;
}

function machineFacts(environment) {
  return [
    ["Processor", environment.cpu_model],
    ["CPUs", environment.cpus ? String(environment.cpus) : ""],
    [
      "Memory",
      environment.memory_bytes ? textFromQuantity("bytes", environment.memory_bytes) : "",
    ],
    ["System", environment.os],
    ["Kernel", environment.kernel],
    ["Hypervisor", environment.hypervisor],
    ["CPU features", (environment.cpu_flags ?? []).join("  ")],
    ["Device class", environment.device_class],
  ];
}

function runSection() {
  const { run, environment } = DATA;
  const labels = Object.entries(run.labels ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join("  ");
  return h(
    "section",
    { id: "run" },
    h("h2", {}, "Run and machine"),
    facts([
      ["Run", h("code", { class: "long" }, run.id)],
      ["Labels", labels],
      ["Seed", String(run.seed)],
      ["Spec", run.spec_digest && h("code", { class: "long" }, run.spec_digest)],
      ...(DATA.devices ? [] : machineFacts(environment)),
      ["Tells apart", toldApart(DATA.calibration)],
    ]),
    Object.entries(DATA.devices ?? {}).map(([name, machine]) =>
      h("div", { class: "part" }, h("h4", {}, name), facts(machineFacts(machine))),
    ),
    run.argv?.length
      ? h("div", { class: "part" }, h("h4", {}, "Command"), commandLine(shellCommand(run.argv)))
      : null,
  );
}

function definitionsSection() {
  const used = [...METRICS.values()].filter((metric) =>
    CASES.some(
      (cell) =>
        cell.metrics[metric.name] ||
        cell.accuracy_tables.some((table) =>
          table.outputs.some((output) => output.metrics[metric.name]),
        ),
    ),
  );
  if (!used.length) return null;
  return h(
    "section",
    { id: "metrics" },
    h(
      "details",
      { class: "fold" },
      h("summary", {}, "What the metrics are called"),
      simpleTable(
        "Formulas stand in docs/reference/metrics.md",
        [
          { title: "Shown as", isHead: true, text: (metric) => metric.title },
          { title: "Name", text: (metric) => h("code", {}, metric.name) },
          { title: "Unit", text: (metric) => metric.unit || "of the value" },
          { title: "Better", text: (metric) => metric.better },
          { title: "Version", numeric: true, text: (metric) => String(metric.version) },
        ],
        used,
      ),
    ),
  );
}

/** Opens the case that the address names. */
function openTarget() {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}

function start() {
  masthead();
  const models = [...casesByModel(CASES)].map(([model, cells], index) => ({
    cells,
    element: modelSection(model, cells, index),
  }));
  const onFilter = (ids) => {
    for (const { cells, element } of models)
      element.hidden = !cells.some((cell) => ids.has(cell.id));
  };
  const sections = CASES.length || DATA.page
    ? [
        chartsNotice(),
        boundNotice(DATA),
        comparisonsSection(),
        answersSection(),
        casesSection(onFilter),
        timesNotice(),
        findingsSection(),
        warningsSection(),
        ...models.map((model) => model.element),
        notesSection(),
      ]
    : [emptyNotice()];
  document
    .getElementById("main")
    .replaceChildren(...[...sections, runSection(), definitionsSection()].filter(Boolean));
  document
    .getElementById("footer")
    .append(
      h(
        "p",
        { class: "muted" },
        `Assay report, ${DATA.schema}. `,
        HAS_CHARTS
          ? "Charts by Vega-Lite; the licences of what draws them stand at the head of its script in this file."
          : "",
      ),
    );
  addEventListener("hashchange", openTarget);
  prepareForPaper(redrawCharts);
  openTarget();
}

start();
