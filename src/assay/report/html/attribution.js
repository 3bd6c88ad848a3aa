// Whose fault the error is: SQNR layer by layer, of quantization and of the backend.

const NOISE_PARTS = { quantization: "Quantization", backend: "Backend" };

/** Of the results as they come, and of layers that are fed exact inputs. */
const NOISE_MEASURES = { noise: "", alone: " alone" };

/** What is exact is drawn so far above the best of the others. */
const EXACT_ABOVE_DB = 5;

const sqnrOfNoise = (noise) => (noise > 0 ? -10 * Math.log10(noise) : Infinity);

const textOfSqnr = (noise) =>
  !isPresent(noise) ? undefined : noise > 0 ? textFromNumber(sqnrOfNoise(noise)) : "exact";

const nameOfLayer = ({ origin }) => origin.module || origin.name;

/** What is measured of a layer: "Backend alone" and the like, with where it stands. */
const noiseSeries = (layers) =>
  Object.entries(NOISE_PARTS).flatMap(([part, title]) =>
    Object.entries(NOISE_MEASURES)
      .map(([measure, suffix]) => ({ measure, part, title: title + suffix }))
      .filter(({ measure }) => layers.some((layer) => isPresent(layer[measure]?.[part]))),
  );

/** One line for each series over the layers in the order in which they are computed. */
function attributionChart(attribution) {
  const series = noiseSeries(attribution.layers);
  const values = attribution.layers.flatMap((layer, index) =>
    series
      .filter(({ measure, part }) => isPresent(layer[measure]?.[part]))
      .map(({ measure, part, title }) => ({
        at: index + 1,
        part: NOISE_PARTS[part],
        how: measure === "alone" ? "fed exact inputs" : "followed through",
        series: title,
        layer: nameOfLayer(layer),
        operator: layer.origin.operator,
        sqnr: sqnrOfNoise(layer[measure][part]),
        text: `${textOfSqnr(layer[measure][part])} dB`,
      })),
  );
  if (!values.length) return null;
  const parts = [...new Set(values.map((value) => value.part))];
  const hows = [...new Set(values.map((value) => value.how))];
  const best = Math.max(0, ...values.map((value) => value.sqnr).filter(Number.isFinite));
  for (const value of values) value.sqnr = Math.min(value.sqnr, best + EXACT_ABOVE_DB);
  return chart(
    "SQNR by layer",
    "each part by itself; lower is worse",
    (width) => ({
      description: "SQNR of the result of each layer",
      height: 220,
      data: { values },
      encoding: {
        x: {
          field: "at",
          type: "quantitative",
          title: "layer, in the order in which they are computed",
          scale: { nice: false, domain: [0.5, attribution.layers.length + 0.5] },
        },
        y: { field: "sqnr", type: "quantitative", title: "dB", scale: { zero: false } },
        color: {
          field: "part",
          title: null,
          scale: { domain: parts, range: [colourOf("first"), colourOf("accent")].slice(-parts.length) },
          legend: parts.length > 1 ? { orient: "top", columns: legendColumns(width) } : null,
        },
        strokeDash: {
          field: "how",
          title: null,
          scale: { domain: hows, range: [[1, 0], [4, 3]].slice(0, hows.length) },
          legend:
            hows.length > 1
              ? { orient: "top", columns: legendColumns(width), symbolType: "stroke" }
              : null,
        },
        tooltip: [
          { field: "layer" },
          { field: "operator" },
          { field: "series" },
          { field: "text", title: "SQNR" },
        ],
      },
      layer: [
        { mark: { type: "line", strokeWidth: 1.5, tooltip: false } },
        { mark: { type: "point", filled: true, size: 32, opacity: 1 } },
      ],
    }),
    values.length,
  );
}

/** What a layer adds of a part, as a share of what all of them add. */
function sharesOf(attribution, part) {
  const sum = attribution.layers.reduce((all, layer) => all + (layer.added[part] ?? 0), 0);
  return (layer) =>
    sum > 0 && isPresent(layer.added[part]) ? layer.added[part] / sum : undefined;
}

function attributionTable(attribution) {
  const measured = Object.keys(NOISE_PARTS).filter((part) =>
    attribution.layers.some((layer) => isPresent(layer.noise[part])),
  );
  const alone = noiseSeries(attribution.layers).filter(({ measure }) => measure === "alone");
  const shares = Object.fromEntries(measured.map((part) => [part, sharesOf(attribution, part)]));
  const columns = [
    { title: "Layer", isHead: true, text: nameOfLayer },
    { title: "Operator", text: (layer) => layer.origin.operator },
    ...measured.map((part) => ({
      title: NOISE_PARTS[part],
      unit: "dB",
      numeric: true,
      text: (layer) => textOfSqnr(layer.noise[part]),
    })),
    ...alone.map(({ part, title }) => ({
      title,
      unit: "dB",
      numeric: true,
      text: (layer) => textOfSqnr(layer.alone[part]),
    })),
    { title: "Total", unit: "dB", numeric: true, text: (layer) => textOfSqnr(layer.noise.total) },
    ...measured.map((part) => ({
      title: `${NOISE_PARTS[part]} adds`,
      unit: "%",
      numeric: true,
      text: (layer) => {
        const share = shares[part](layer);
        return isPresent(share) && textFromShare(share);
      },
    })),
  ];
  const worst = (layer) => Math.max(...measured.map((part) => shares[part](layer) ?? 0));
  const rows = [...attribution.layers].sort((a, b) => worst(b) - worst(a));
  return simpleTable("Layers, those that add most of the error first", columns, rows);
}

function attributionPart(cell) {
  if (!cell.attribution) return null;
  const { whole, notes } = cell.attribution;
  const parts = { ...NOISE_PARTS, total: "Total" };
  return part(
    "Where the error arises",
    { isWide: true },
    facts(
      Object.entries(parts)
        .filter(([name]) => isPresent(whole[name]))
        .map(([name, title]) => [`${title}, at the outputs`, `${textOfSqnr(whole[name])} dB`]),
    ),
    notes.map((note) => h("p", { class: "muted note" }, note)),
    attributionChart(cell.attribution),
    attributionTable(cell.attribution),
  );
}
