// Vega-Lite charts. Colours come from the style sheet, so they follow the reader's light or dark
// choice; a chart is drawn when it first comes near the screen.

const HAS_CHARTS = typeof window.vegaEmbed === "function";
const drawn = new Map();

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
    legend: { labelColor: text, titleColor: muted, labelFontSize: 12, symbolStrokeWidth: 2 },
    text: { color: text, fontSize: 12 },
    mark: { tooltip: true },
  };
}

async function draw(element, spec) {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const full = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: "container",
    ...spec(element.clientWidth),
    config: chartConfig(element.clientWidth),
  };
  const tooltip = { theme: isDark ? "dark" : "light" };
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
    element.dataset.drawn = "";
  } catch (error) {
    element.replaceChildren(
      h("p", { class: "muted" }, `This chart could not be drawn: ${error.message}`),
    );
    console.error(error);
  }
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const [element] of drawn) draw(element, element.spec);
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

const labelRoom = (width) => Math.max(110, Math.round(width * 0.36));

/** A scale from zero that leaves `textWidth` pixels behind the longest bar for its number. */
function barScale(most, width, textWidth) {
  const plot = width - labelRoom(width);
  return { domain: [0, (most * plot) / Math.max(plot - textWidth, plot * 0.35)], nice: false };
}

/** Rows by their field `row`, so that two of the same name stay two; `names` are their labels. */
function rowAxis(names, width) {
  const labelLimit = labelRoom(width);
  const labels = Object.fromEntries(names.map((name, row) => [row, name]));
  return {
    field: "row",
    type: "nominal",
    sort: null,
    title: null,
    axis: { labelExpr: `${JSON.stringify(labels)}[datum.value]`, labelLimit },
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
  return { isLog, scale: { type: isLog ? "log" : "linear", domain, nice: false, zero: false } };
}
