// Whose fault the error is: SQNR layer by layer, of quantization and of the backend.

const NOISE_PARTS = { quantization: "Quantization", backend: "Backend" };

/** What is exact is drawn so far above the best of the others. */
const EXACT_ABOVE_DB = 5;

const sqnrOfNoise = (noise) => (noise > 0 ? -10 * Math.log10(noise) : Infinity);

const textOfSqnr = (noise) =>
  !isPresent(noise) ? undefined : noise > 0 ? textFromNumber(sqnrOfNoise(noise)) : "exact";

const nameOfLayer = ({ origin }) => origin.module || origin.name;

/** One line for each part over the layers in the order in which they are computed. */
function attributionChart(attribution) {
  const values = attribution.layers.flatMap((layer, index) =>
    Object.entries(NOISE_PARTS)
      .filter(([part]) => isPresent(layer.noise[part]))
      .map(([part, title]) => ({
        at: index + 1,
        part: title,
        layer: nameOfLayer(layer),
        operator: layer.origin.operator,
        sqnr: sqnrOfNoise(layer.noise[part]),
        text: `${textOfSqnr(layer.noise[part])} dB`,
      })),
  );
  if (!values.length) return null;
  const parts = [...new Set(values.map((value) => value.part))];
  const best = Math.max(0, ...values.map((value) => value.sqnr).filter(Number.isFinite));
  for (const value of values) value.sqnr = Math.min(value.sqnr, best + EXACT_ABOVE_DB);
  return chart(
    "SQNR by layer",
    "each part by itself; lower is worse",
    () => ({
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
          legend: parts.length > 1 ? { orient: "top" } : null,
        },
        tooltip: [
          { field: "layer" },
          { field: "operator" },
          { field: "part" },
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
