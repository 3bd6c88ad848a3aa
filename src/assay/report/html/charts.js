// Vega-Lite charts. Colours come from the style sheet, so they follow the reader's light or dark
// choice; a chart is drawn when it first comes near the screen.

const HAS_CHARTS = typeof window.vegaEmbed === "function";
const drawn = new Map();

/** Paper is light whatever the reader's choice. */
const isDark = () =>
  matchMedia("(prefers-color-scheme: dark)").matches && !document.documentElement.classList.contains("paper");

const colourOf = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function chartConfig(width) {
  const text = colourOf("text");
  const muted = colourOf("muted");
  const font = getComputedStyle(document.body).fontFamily;
  return {
    background: "transparent",
    font,
    view: { stroke: null },
    axis: {
      labelColor: muted,
      titleColor: muted,
      titleFontWeight: 500,
      titleFontSize: 12,
      labelFontSize: 12,
      gridColor: colourOf("line"),
      domain: false,
      ticks: false,
      labelPadding: 6,
      titlePadding: 8,
    },
    axisX: { tickCount: Math.ceil(width / 90) },
    axisY: { labelColor: text },
    legend: { labelColor: text, titleColor: muted, labelFontSize: 12, labelLimit: 0, symbolStrokeWidth: 2 },
    text: { color: text, fontSize: 12 },
    mark: { tooltip: true },
  };
}

async function drawOnce(element, spec, isWanted) {
  element.drawnWidth = element.clientWidth;
  element.isDrawnDark = isDark();
  const full = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: "container",
    ...spec(element.clientWidth),
    config: chartConfig(element.clientWidth),
  };
  const tooltip = { theme: isDark() ? "dark" : "light" };
  try {
    drawn.get(element)?.finalize();
    drawn.set(
      element,
      await window.vegaEmbed(element, full, {
        actions: false,
        ast: true,
        renderer: element.renderer,
        tooltip,
      }),
    );
    if (isWanted()) element.dataset.drawn = "";
    widthObserver.observe(element);
  } catch (error) {
    element.replaceChildren(
      h("p", { class: "muted" }, `This chart could not be drawn: ${error.message}`),
    );
    console.error(error);
  }
}

/**
 * Draws a chart, after those that are being drawn in its place; of several that wait the last. The
 * element has `data-drawn` while what it shows is what was last asked for.
 */
function draw(element, spec) {
  delete element.dataset.drawn;
  const turn = (element.turn = (element.turn ?? 0) + 1);
  const isWanted = () => turn === element.turn;
  element.drawing = (element.drawing ?? Promise.resolve()).then(() =>
    isWanted() ? drawOnce(element, spec, isWanted) : undefined,
  );
  return element.drawing;
}

/** Draws a chart that is seen again where its colours or its width are others now. */
function redrawStale(element) {
  const isOtherWidth = Math.abs(element.clientWidth - element.drawnWidth) > 1;
  const isStale = isOtherWidth || element.isDrawnDark !== isDark();
  if (element.clientWidth && isStale) draw(element, element.spec);
}

const redrawCharts = () => [...drawn.keys()].forEach(redrawStale);

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawCharts);

/** Labels are broken for a width; another one, as on a phone that is turned, takes other lines. */
const widthObserver = new ResizeObserver((entries) => {
  for (const { target } of entries) redrawStale(target);
});

/** A figure with a caption; `spec` is a function, called again when colours change. */
function chart(title, note, spec, pointCount = 0) {
  if (!HAS_CHARTS) return null;
  const canvas = h("div", { class: "canvas" });
  canvas.spec = spec;
  // Thousands of SVG elements make a page slow.
  canvas.renderer = pointCount > 2000 ? "canvas" : "svg";
  whenNear(canvas, () => draw(canvas, spec));
  return h(
    "figure",
    { class: "chart", "aria-label": title },
    h("figcaption", {}, h("strong", {}, title), note ? h("span", { class: "muted" }, note) : null),
    canvas,
  );
}

/** One entry a line where a line holds no more. */
const legendColumns = (width) => (width < 480 ? 1 : undefined);

const labelRoom = (width) => Math.max(110, Math.round(width * 0.36));

const LABEL_LINE = 14;
const LABEL_GAP = 12;

/** How wide a text is as a label of a chart. */
const labelWidth = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text) => {
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    return context.measureText(text).width;
  };
})();

/** A name as lines of at most `width` pixels, broken after a separator where there is one. */
function labelLines(name, width) {
  const lines = [""];
  const add = (piece) => {
    if (labelWidth(lines.at(-1) + piece.trimEnd()) <= width) lines[lines.length - 1] += piece;
    else if (lines.at(-1)) lines.push(piece);
    else lines[0] = piece;
  };
  for (const piece of name.match(/[^\s/_.,;-]*[\s/_.,;-]*/g)) {
    if (labelWidth(piece.trimEnd()) <= width) add(piece);
    else [...piece].forEach(add);
  }
  return lines.map((line) => line.trim()).filter(Boolean);
}

/** The height of a row that holds the longest of the names, at least `least`. */
function rowHeight(names, width, least) {
  const counts = names.map((name) => labelLines(name, labelRoom(width)).length);
  return Math.max(least, Math.max(...counts) * LABEL_LINE + LABEL_GAP);
}

/** A scale from zero that leaves `textWidth` pixels behind the longest bar for its number. */
function barScale(most, width, textWidth) {
  const plot = width - labelRoom(width);
  return { domain: [0, (most * plot) / Math.max(plot - textWidth, plot * 0.35)], nice: false };
}

/** Rows by their field `row`, so that two of the same name stay two; `names` are their labels. */
function rowAxis(names, width) {
  const room = labelRoom(width);
  const labels = Object.fromEntries(names.map((name, row) => [row, labelLines(name, room)]));
  return {
    field: "row",
    type: "nominal",
    sort: null,
    title: null,
    scale: { domain: names.map((_, row) => row) },
    axis: {
      labelExpr: `${JSON.stringify(labels)}[datum.value]`,
      labelLimit: 0,
      labelLineHeight: LABEL_LINE,
      minExtent: room,
      maxExtent: room + LABEL_GAP,
      labelOverlap: false,
    },
  };
}

/** Says in its row why a case has no value, so that the rows of all charts of a model line up. */
function absentMarks(rows) {
  return {
    data: { values: rows },
    mark: {
      type: "text",
      align: "left",
      dx: 6,
      color: colourOf("muted"),
      fontStyle: "italic",
      tooltip: false,
    },
    encoding: { x: { value: 0 }, text: { field: "why" } },
  };
}

/** Least and most of any number of values. */
const extentOf = (values) =>
  values.reduce(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Infinity, -Infinity],
  );

/** Log when the largest is more than 20 times the smallest, or short rows could not be told apart. */
function spreadScale(values) {
  const positive = values.filter((value) => value > 0);
  const [least, most] = extentOf(positive);
  const isLog = positive.length > 1 && most / least > 20;
  return { isLog, scale: isLog ? { type: "log", nice: true } : { zero: true, nice: true } };
}

/** A scale around points, with a little air; log when the largest is more than 5 times the smallest. */
function pointScale(values) {
  const [least, most] = extentOf(values);
  const isLog = least > 0 && most / least > 5;
  const air = isLog ? (most / least) ** 0.06 : (most - least || most || 1) * 0.06;
  const domain = isLog ? [least / air, most * air] : [Math.max(0, least - air), most + air];
  const scale = { domain, nice: false };
  return { isLog, scale: isLog ? { type: "log", ...scale } : { zero: false, ...scale } };
}
