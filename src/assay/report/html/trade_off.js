// Latency against accuracy: one numbered point a case, and the front of those that nothing beats.

// Points name cases of the whole run by their place.
const TRADE_OFFS = DATA.page?.items > CASES.length ? [] : (DATA.trade_offs ?? []);

/** What is exact is drawn so far above the best of the others, in the metric's unit. */
const EXACT_ABOVE_BEST = 8;

const unitOfTradeOff = ({ metric }) => METRICS.get(metric)?.unit ?? "";
const isErrorOf = ({ metric }) => METRICS.get(metric)?.better === "lower";
const titleOfTradeOff = ({ metric }) => METRICS.get(metric)?.title ?? metric;

function textOfAccuracy(tradeOff, value) {
  if (value === (isErrorOf(tradeOff) ? 0 : Infinity)) return "exact";
  return unitOfTradeOff(tradeOff) === "ratio"
    ? `${textFromShare(value)} %`
    : `${textFromNumber(value)} ${unitOfTradeOff(tradeOff)}`;
}

/** Points with their numbers and names, in the order of the table beside the chart. */
function numberedPoints(tradeOff) {
  const cells = tradeOff.points.map((point) => CASES[point.case_index]);
  return tradeOff.points.map((point, index) => ({
    ...point,
    number: index + 1,
    cell: CASES[point.case_index],
    name: nameWithin(cells, CASES[point.case_index]),
    measured: valueOf(point.accuracy),
  }));
}

function tradeOffChart(tradeOff, points) {
  const drawable = points.filter((point) => !Number.isNaN(point.measured));
  if (!drawable.length) return null;
  const finite = drawable.map((point) => point.measured).filter(Number.isFinite);
  const [least, most] = finite.length ? extentOf(finite) : [0, 0];
  const { unit, divisor } = unitFor(
    "ns",
    drawable.map((point) => point.latency_ns.value),
  );
  const air = Math.max((most - least) * 0.12, unitOfTradeOff(tradeOff) === "ratio" ? 0.01 : 2);
  const top = finite.length < drawable.length ? most + EXACT_ABOVE_BEST : most;
  const values = drawable.map((point) => ({
    number: String(point.number),
    name: point.name,
    time: point.latency_ns.value / divisor,
    low: (point.latency_ns.low ?? point.latency_ns.value) / divisor,
    high: (point.latency_ns.high ?? point.latency_ns.value) / divisor,
    accuracy: Math.max(least, Math.min(point.measured, top)),
    keeps: point.keeps_accuracy ? "kept" : "not kept",
    text: textOfAccuracy(tradeOff, point.measured),
    latency: textFromQuantity("ns", point.latency_ns.value),
    isOnFront: point.is_on_front,
  }));
  const [first, last] = extentOf(values.flatMap(({ low, high, time }) => [low || time, high]));
  const x = (field) => ({
    field,
    type: "quantitative",
    title: `steady latency, ${unit}, logarithmic`,
    scale: { type: "log", domain: [first / 1.25, last * 1.25], nice: false },
  });
  const y = {
    field: "accuracy",
    type: "quantitative",
    title: `${titleOfTradeOff(tradeOff)}, ${unitOfTradeOff(tradeOff)}`,
    scale: { domain: [least - air, top + air], nice: false, zero: false, reverse: isErrorOf(tradeOff) },
  };
  const domain = ["kept", "not kept"];
  const tooltip = [
    { field: "name", title: "case" },
    { field: "latency" },
    { field: "text", title: titleOfTradeOff(tradeOff) },
    { field: "keeps", title: "accuracy" },
  ];
  return chart(
    "Latency against accuracy",
    "better: up and to the left; the line joins those that no other beats in both",
    () => ({
      description: "Latency against accuracy, a point for each case",
      height: 300,
      data: { values },
      layer: [
        {
          data: { values: values.filter((value) => value.isOnFront) },
          mark: {
            type: "line",
            interpolate: "step-after",
            color: colourOf("muted"),
            strokeWidth: 1.5,
            tooltip: false,
          },
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
              scale: { domain, range: [colourOf("accent"), colourOf("left")] },
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
            color: {
              condition: { test: "datum.keeps === 'kept'", value: colourOf("page") },
              value: colourOf("text"),
            },
          },
        },
      ],
    }),
  );
}

function tradeOffTable(tradeOff, points) {
  const unit = unitOfTradeOff(tradeOff) === "ratio" ? "" : unitOfTradeOff(tradeOff);
  const required = (point) =>
    isPresent(point.bound) && `${isErrorOf(tradeOff) ? "≤" : "≥"} ${textFromNumber(point.bound)} ${unit}`.trim();
  return simpleTable(
    `${titleOfTradeOff(tradeOff)} against ${tradeOff.against}, of the worst output`,
    [
      {
        title: "Case",
        isHead: true,
        text: (point) => [
          h("strong", {}, `${point.number} `),
          h("a", { href: `#${point.cell.id}` }, breakable(point.name)),
        ],
      },
      {
        title: "Latency",
        numeric: true,
        text: (point) => textFromQuantity("ns", point.latency_ns.value),
      },
      {
        title: titleOfTradeOff(tradeOff),
        numeric: true,
        text: (point) => textOfAccuracy(tradeOff, point.measured),
      },
      { title: "Required", numeric: true, text: required },
      { title: "Accuracy", text: (point) => (point.keeps_accuracy ? "kept" : "not kept") },
      { title: "Front", text: (point) => (point.is_on_front ? "yes" : "no") },
    ],
    points,
  );
}

/** The chart beside its table, for one model. */
function tradeOffPart(tradeOff) {
  const points = numberedPoints(tradeOff);
  return h(
    "div",
    { class: "trade-off" },
    h("p", { class: "answer" }, `${tradeOff.text}.`),
    tradeOffChart(tradeOff, points),
    tradeOffTable(tradeOff, points),
  );
}

/** Few answers stand above the cases; each has its place in its model's section anyway. */
const MOST_ANSWERS = 3;

function answersSection() {
  if (!TRADE_OFFS.length || TRADE_OFFS.length > MOST_ANSWERS) return null;
  return h(
    "section",
    { id: "answers" },
    TRADE_OFFS.map((one) => h("p", { class: "answer" }, h("strong", {}, one.model), `: ${one.text}.`)),
  );
}
