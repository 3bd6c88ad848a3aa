// The table of all cases: sorted by any column, filtered by text and result.

/** Times that stand side by side in a row, and their common unit where they do not span too much. */
const TIMES_IN_A_ROW = ["first_ns", "steady_ns", "steady_mean_ns", "load_ns"];

function scaleOfColumn(name, measured) {
  if (TIMES_IN_A_ROW.includes(name)) {
    const times = TIMES_IN_A_ROW.flatMap((time) => CASES.map((cell) => valueOf(cell.metrics[time])));
    const scale = scaleFor("ns", times.filter((value) => value !== undefined));
    if (!scale.rawUnit) return scale;
  }
  return scaleFor(METRICS.get(name)?.unit ?? "", measured);
}

/** Columns of numbers: {key, title, unit, text(cell), value(cell)}; those that nobody measured go. */
function numberColumns() {
  const metricColumn = (name, title, extra = {}) => {
    // A program's own metric stands in the column's unit, or not there: another case may have it in
    // another one.
    const unit = METRICS.get(name)?.unit;
    const valueIn = (cell) => {
      const estimate = cell.metrics[name];
      return estimate?.unit && estimate.unit !== unit ? undefined : valueOf(estimate);
    };
    const measured = CASES.map(valueIn).filter((value) => value !== undefined);
    const scale = scaleOfColumn(name, measured);
    return {
      key: name,
      title,
      unit: scale.unit,
      isMeasured: measured.length > 0,
      value: valueIn,
      text: (cell) => textInScale(valueIn(cell), scale),
      scale,
      ...extra,
    };
  };
  const sqnrColumn = (against, unit) => ({
    key: `sqnr_${against}`,
    title: "SQNR",
    unit: `${unit}, dB`,
    isMeasured: CASES.some((cell) => worstOf(cell, against, "sqnr_db") !== undefined),
    value: (cell) => worstOf(cell, against, "sqnr_db"),
    text: (cell) => textFromNumber(worstOf(cell, against, "sqnr_db")),
  });
  const broughtKinds = () =>
    [...new Set(CASES.flatMap((cell) => cell.accuracy_tables.map((table) => table.against)))].filter(
      (kind) => kind === "file" || kind.startsWith("engine:"),
    );
  const accuracyOf = (cell) =>
    cell.accuracy_tables
      .map((table) => worstOf(cell, table.against, "top1_accuracy"))
      .find((value) => value !== undefined);
  const programMetrics = [...METRICS.values()].filter(({ name }) => name.startsWith("program:"));
  const steady = metricColumn("steady_ns", "Steady");
  steady.detail = (cell) => {
    const { count } = cell.metrics.steady_ns;
    const interval = textFromInterval(cell.metrics.steady_ns, steady.scale);
    const ratio = valueOf(cell.metrics.steady_uncertainty_ratio);
    const mark = ratio === undefined ? "" : `±${textFromNumber(Math.max(ratio * 100, 0.1), 2)} %`;
    return [mark, interval, count ? `n=${count}` : ""].filter(Boolean).join("  ");
  };
  return [
    metricColumn("first_ns", "First"),
    steady,
    metricColumn("steady_mean_ns", "Mean"),
    metricColumn("load_ns", "Load"),
    metricColumn("peak_rss_bytes", "Memory"),
    metricColumn("program_bytes", "Size"),
    metricColumn("delegated_ratio", "Delegated", {
      unit: "%",
      text: (cell) => textFromShare(valueOf(cell.metrics.delegated_ratio)),
    }),
    sqnrColumn("float32", "f32"),
    sqnrColumn("qdq", "qdq"),
    ...broughtKinds().map((kind) => sqnrColumn(kind, kind.replace("engine:", ""))),
    ...programMetrics.map(({ name, title }) => metricColumn(name, title)),
    {
      key: "top1_accuracy",
      title: "Accuracy",
      unit: "%",
      isMeasured: CASES.some((cell) => accuracyOf(cell) !== undefined),
      value: accuracyOf,
      text: (cell) => textFromShare(accuracyOf(cell)),
    },
    metricColumn("speedup_ratio", "Speed-up", { unit: "×" }),
  ].filter((column) => column.isMeasured);
}

const VERDICT_ORDER = ["fail", "inconclusive", "skipped", "pass"];

function textColumns() {
  const textColumn = (key, title) => ({
    key,
    title,
    isText: true,
    value: (cell) => cell[key],
    text: (cell) => cell[key] || NOT_MEASURED,
  });
  return [
    {
      ...textColumn("recipe", "Case"),
      isName: true,
      value: (cell) => `${cell.model} ${cell.recipe}`,
    },
    ...(DATA.devices ? [textColumn("device", "Device")] : []),
    {
      key: "verdict",
      title: "Result",
      isText: true,
      value: (cell) => VERDICT_ORDER.indexOf(cell.verdict),
      text: (cell) => pill(cell.verdict, resultOf(cell)),
    },
  ];
}

/** Numbers ascending, what was not measured last either way; text by the reader's alphabet. */
function compare(a, b, direction) {
  const isMissing = (value) => value === undefined || Number.isNaN(value);
  if (isMissing(a) || isMissing(b)) return isMissing(a) - isMissing(b);
  return (
    direction *
    (typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b || 0)
  );
}

const nameOf = (column) => (column.unit ? `${column.title}, ${column.unit}` : column.title);

function caseRow(cell, columns) {
  const below = (text) => (text ? h("span", { class: "sub" }, text) : null);
  const name = () => [
    h("a", { href: `#${cell.id}` }, breakable(recipeOf(cell))),
    below(breakable(HAS_SHAPES ? cell.model : `${cell.model}  ${cell.shapes}`)),
    below([optionsWithin(CASES, cell), buildWithin(CASES, cell)].filter(Boolean).join("  ")),
    below(HAS_SHAPES && cell.shapes),
  ];
  return h(
    "tr",
    { class: cell.verdict, "data-id": cell.id },
    columns.map((column) => {
      if (column.isName) return h("th", { scope: "row", role: "rowheader" }, name());
      const isMissing = column.value(cell) === undefined;
      const content = isMissing ? NOT_MEASURED : column.text(cell);
      const detail = isMissing ? "" : column.detail?.(cell);
      return h(
        "td",
        {
          role: "cell",
          "data-label": nameOf(column),
          class: [column.isText ? "" : "number", isMissing ? "missing" : "", `of-${column.key}`]
            .join(" ")
            .trim(),
        },
        content,
        detail ? h("span", { class: "detail" }, detail) : null,
      );
    }),
  );
}

/** What is shown, and how: the key of a column or null for the run's own order, text, results. */
const newState = () => ({ key: null, direction: 1, text: "", verdicts: new Set() });

function isShown(row, state) {
  const words = state.text.split(/\s+/).filter(Boolean);
  return (
    words.every((word) => row.text.includes(word)) &&
    (state.verdicts.size === 0 || state.verdicts.has(row.cell.verdict))
  );
}

function headCell(column, press) {
  return h(
    "th",
    {
      scope: "col",
      role: "columnheader",
      "aria-sort": "none",
      class: column.isText ? undefined : "number",
    },
    h(
      "button",
      { type: "button", onclick: () => press(column.key) },
      column.title,
      h("span", { class: "arrow", "aria-hidden": "true" }),
      column.unit ? h("span", { class: "unit" }, column.unit) : null,
    ),
  );
}

/** For phones, where the table has no head. */
function sortPicker(columns, sortBy) {
  const picker = h(
    "select",
    {
      "aria-label": "Sort by",
      onchange: () => {
        const [key, direction] = picker.value.split(" ");
        sortBy(key, Number(direction));
      },
    },
    h("option", { value: "" }, "Run order"),
    columns.map((column) => [
      h("option", { value: `${column.key} 1` }, `${nameOf(column)} ↑`),
      h("option", { value: `${column.key} -1` }, `${nameOf(column)} ↓`),
    ]),
  );
  return picker;
}

/** A button per result that occurs; pressed ones are shown, none pressed shows all. */
function verdictChips(state, show) {
  const counts = ["pass", "fail", "inconclusive", "skipped"].map((verdict) => [
    verdict,
    CASES.filter((cell) => cell.verdict === verdict).length,
  ]);
  return counts
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => {
      const toggle = () => {
        const isOn = !state.verdicts.delete(verdict);
        if (isOn) state.verdicts.add(verdict);
        chip.setAttribute("aria-pressed", String(isOn));
        show();
      };
      const chip = h(
        "button",
        { type: "button", class: `chip ${verdict}`, "aria-pressed": "false", onclick: toggle },
        h("span", { class: "mark", "aria-hidden": "true" }, MARKS[verdict]),
        `${count} ${verdict}`,
      );
      return chip;
    });
}

function searchField(state, show) {
  const search = h("input", {
    type: "search",
    placeholder: "Filter: model, recipe, option, result",
    "aria-label": "Filter the cases",
    oninput: () => {
      state.text = search.value.toLowerCase();
      show();
    },
  });
  return search;
}

const searchText = (cell) =>
  `${titleOf(cell)} ${cell.engine} ${cell.options} ${resultOf(cell)} ${cell.verdict}`.toLowerCase();

/** The section; `onFilter(ids)` hears which cases are left. */
function casesSection(onFilter) {
  const columns = [...textColumns(), ...numberColumns()];
  const state = newState();
  const rows = CASES.map((cell) => ({
    cell,
    element: caseRow(cell, columns),
    text: searchText(cell),
  }));
  const body = h("tbody", { role: "rowgroup" });
  const status = h("p", { class: "muted count", role: "status" });

  const show = () => {
    const column = columns.find((one) => one.key === state.key);
    const order = (a, b) => compare(column.value(a.cell), column.value(b.cell), state.direction);
    body.append(...(column ? [...rows].sort(order) : rows).map((row) => row.element));
    for (const row of rows) row.element.hidden = !isShown(row, state);
    for (const [key, head] of heads) {
      const direction = state.direction > 0 ? "ascending" : "descending";
      head.setAttribute("aria-sort", key === state.key ? direction : "none");
    }
    picker.value = state.key ? `${state.key} ${state.direction}` : "";
    const left = rows.filter((row) => !row.element.hidden);
    status.textContent =
      (left.length === rows.length ? "" : `${left.length} of `) + counted(rows.length, "case");
    onFilter(new Set(left.map((row) => row.cell.id)));
  };
  const sortBy = (key, direction) => {
    Object.assign(state, { key: direction ? key : null, direction: direction || 1 });
    show();
  };
  // Third press: back to the run's own order.
  const press = (key) => sortBy(key, state.key !== key ? 1 : state.direction > 0 ? -1 : 0);
  const heads = new Map(columns.map((column) => [column.key, headCell(column, press)]));
  const picker = sortPicker(columns, sortBy);
  show();
  return h(
    "section",
    { id: "cases" },
    h("h2", {}, "Cases"),
    h(
      "div",
      { class: "tools" },
      searchField(state, show),
      h("div", { class: "chips" }, verdictChips(state, show)),
      h("label", { class: "picker" }, "Sort by ", picker),
      status,
    ),
    scrollBox(
      "Cases",
      h(
        "table",
        { class: "cases", role: "table" },
        h("caption", { class: "hidden" }, "All cases; the buttons in the head sort"),
        h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, [...heads.values()])),
        body,
      ),
    ),
    tableNote(),
  );
}

function tableNote() {
  const confidences = new Set(
    CASES.map((cell) => cell.metrics.steady_ns?.confidence).filter(Boolean),
  );
  const common = ["engine", "options"]
    .filter((key) => !varies(CASES, key) && CASES[0]?.[key])
    .map((key) => `${key} ${CASES[0][key]}`);
  const sentences = [
    CASES.some((cell) => cell.metrics.steady_ns)
      ? `Steady: median after warm-up over n launches${confidences.size === 1 ? `, with its ${textFromCoverage([...confidences][0])} % interval` : ""}.`
      : "",
    CASES.some((cell) => cell.metrics.speedup_ratio) && DATA.baseline
      ? `Speed-up: over ${DATA.baseline}.`
      : "",
    CASES.some((cell) => cell.accuracy_tables.length) ? "SQNR: of the worst output." : "",
    common.length ? `All cases: ${common.join(", ")}.` : "",
    `${NOT_MEASURED} means not measured.`,
  ];
  return h("p", { class: "muted note" }, sentences.filter(Boolean).join(" "));
}
