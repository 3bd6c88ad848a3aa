// The page of a conformance run from top to bottom.

const DATA = JSON.parse(document.getElementById("assay-data").textContent);
const RESULTS = withSettings(DATA.results);
const SETTINGS = groupedBy(RESULTS, "setting");
const FRESH = RESULTS.filter(isFresh);
const KNOWN = RESULTS.filter((result) => isKnownGap(result) && result.verdict !== "not_run");

function masthead() {
  const { run, environment } = DATA;
  const facts_ = [
    counted(DATA.page?.items ?? RESULTS.length, "result"),
    `${DATA.tier} tier`,
    DATA.shard ? `shard ${DATA.shard}` : "",
    run.started_unix_ns ? new Date(run.started_unix_ns / 1e6).toISOString().slice(0, 19) + "Z" : "",
    `${textFromNumber(DATA.seconds)} s`,
    environment.cpu_model,
    ...new Set(RESULTS.map((result) => result.engine)),
  ].filter(Boolean);
  document.getElementById("masthead").append(
    h("p", { class: "brand" }, "Assay", h("span", {}, "conform")),
    h("h1", {}, `Conformance: ${DATA.suite}`),
    h(
      "p",
      { class: "lede" },
      facts_.map((fact) => h("span", {}, fact)),
    ),
  );
}

function verdictSection() {
  const verdicts = [...new Set(RESULTS.map((result) => result.verdict))].sort();
  const count = ([, results], field, value) =>
    results.filter((result) => result[field] === value).length;
  const numeric = (title, text) => ({ title, numeric: true, text });
  const loud = (number) => number && h("strong", { class: "loud" }, String(number));
  return h(
    "section",
    { id: "cases" },
    h("h2", {}, "Verdicts"),
    simpleTable(
      "Results by recipe and verdict",
      [
        { title: "recipe", isHead: true, text: ([setting]) => setting },
        numeric("new", (row) => loud(count(row, "known", "new_failure"))),
        numeric("known", (row) => count(row, "known", "known_failure") || ""),
        ...verdicts.map((verdict) =>
          numeric(wordsOf(verdict), (row) => count(row, "verdict", verdict) || ""),
        ),
        numeric("fully delegated", (row) => count(row, "delegation", "full") || ""),
        numeric("in part", (row) => count(row, "delegation", "partial") || ""),
        numeric("not delegated", (row) => count(row, "delegation", "none") || ""),
      ],
      [...SETTINGS],
    ),
  );
}

/** One heat map at a time, a button for each setting; paper has all. */
function heatSection(onOpen) {
  const maps = [...SETTINGS].map(([setting, results]) =>
    fillLater(h("div", { class: "of-setting" }), (place) =>
      place.append(
        SETTINGS.size > 1 ? h("h3", { class: "on-paper" }, setting) : "",
        heatMap(results, onOpen),
      ),
    ),
  );
  const show = (at) => {
    [...tabs.children].forEach((button, i) => button.setAttribute("aria-pressed", String(i === at)));
    maps.forEach((place, i) => place.classList.toggle("chosen", i === at));
    fillNow(maps[at]);
  };
  const tabs = h(
    "div",
    { class: "tabs" },
    [...SETTINGS.keys()].map((setting, at) =>
      h("button", { type: "button", onclick: () => show(at) }, setting),
    ),
  );
  show(0);
  return h(
    "section",
    { id: "heat" },
    h("h2", {}, "Operators by type"),
    h(
      "p",
      { class: "note" },
      "A cell has the number of cases that pass, or how many of how many and the worst verdict.",
    ),
    tabs,
    maps,
  );
}

/** A result as mark and word: a known gap has no colour. */
function resultPill(result) {
  const isLoud = isFresh(result) && result.known !== "unexpected_pass";
  const colour = isLoud ? colourOf(result.verdict) : "skipped";
  return h("span", { class: `pill ${colour}` }, wordsOf(result.verdict));
}

function failureDetails(result) {
  const listed = result.known.replace("none", "");
  return h(
    "details",
    { class: "failure" },
    h(
      "summary",
      {},
      resultPill(result),
      h("strong", {}, result.name),
      h("span", { class: "muted" }, result.beside),
      listed ? h("span", { class: "muted" }, wordsOf(listed)) : null,
    ),
    h("p", {}, result.text),
    facts([
      ["stage", result.stage],
      ["reason", result.reason_code],
      ["known because", result.known_reason],
      ["issue", result.issue],
      ["judged alone", result.alone.map(wordsOf).join(", ")],
      ["beside others", result.was_in_joint ? wordsOf(result.was_in_joint) : ""],
      ["delegation", wordsOf(result.delegation)],
      ["left to the portable kernels", result.operators_left.join(", ")],
    ]),
    commandLine(result.command),
    result.last_words ? h("pre", { class: "log", tabindex: "0" }, printable(result.last_words)) : null,
  );
}

const matches = (result, text) =>
  `${result.name} ${result.beside} ${result.verdict} ${result.known}`.includes(text);

/** "12 known gaps", or "3 of 12 known gaps" when a filter leaves some. */
const countOfAll = (found, all, noun, plural) =>
  `${found.length === all.length ? "" : `${found.length} of `}${counted(all.length, noun, plural)}`;

/** What is new, then the known gaps folded, with a box that looks for a part of their names. */
function failureSection() {
  const fresh = h("div", { class: "fresh" });
  const known = h("details", { class: "fold known" });
  const show = (text) => {
    const [newOnes, knownOnes] = [FRESH, KNOWN].map((all) =>
      all.filter((result) => matches(result, text)),
    );
    fresh.replaceChildren(
      h("p", { class: "note" }, countOfAll(newOnes, FRESH, "result to look into", "results to look into")),
      ...newOnes.map(failureDetails),
    );
    known.replaceChildren(
      h("summary", {}, countOfAll(knownOnes, KNOWN, "known gap")),
      ...knownOnes.map(failureDetails),
    );
    known.hidden = !KNOWN.length;
    known.open = text !== "" && knownOnes.length > 0;
  };
  const box = h("input", {
    type: "search",
    placeholder: "operator, case, recipe, verdict or new_failure",
    "aria-label": "Filter the failing cases",
    oninput: (event) => show(event.target.value.trim()),
  });
  show("");
  const hasAny = FRESH.length + KNOWN.length > 0;
  const section = h(
    "section",
    { id: "failures" },
    h("h2", {}, "Cases that do not pass"),
    hasAny ? [h("div", { class: "filter" }, box), fresh, known] : h("p", {}, "None."),
  );
  const open = (result) => {
    box.value = result.operator_name;
    show(result.operator_name);
  };
  return { section, open };
}

/** What the list of changes says by being empty; it depends on what the two runs share. */
function sharedSentence() {
  const { results_compared: compared, results_only_now: now, results_only_earlier: before } = DATA;
  if (!isPresent(compared)) return "How many results the two runs share was not recorded.";
  const others = [
    now ? `${counted(now, "result")} of this run ${now === 1 ? "is" : "are"} not in the earlier one` : "",
    before ? `${counted(before, "result")} of the earlier run ${before === 1 ? "is" : "are"} not in this one` : "",
  ].filter(Boolean);
  if (compared === 0) return `The two runs share no result: ${others.join(", ")}.`;
  const changes = DATA.changes.length;
  const share = others.length
    ? `${counted(compared, "result")} that both runs have`
    : `${counted(compared, "result")}, the same in both runs`;
  return (
    `${changes ? counted(changes, "verdict") : "No verdict"} changed among ${share}` +
    `${others.length ? `; ${others.join(", ")}` : ""}.`
  );
}

function changeSection() {
  if (!DATA.earlier_run) return null;
  return h(
    "section",
    {},
    h("h2", {}, "Changes"),
    h("p", { class: "note" }, `Since run ${DATA.earlier_run}. ${sharedSentence()}`),
    DATA.changes.length
      ? simpleTable(
          "Verdicts that changed",
          [
            { title: "case", isHead: true, text: (change) => change.name },
            { title: "recipe", text: (change) => `${change.recipe} ${change.options}` },
            { title: "before", text: (change) => wordsOf(change.before) },
            { title: "now", text: (change) => wordsOf(change.after) },
          ],
          DATA.changes,
        )
      : null,
  );
}

function staleSection() {
  if (!DATA.stale.length) return null;
  return h(
    "section",
    {},
    h("h2", {}, "Known gaps to remove"),
    simpleTable(
      "Entries of the lists that this run speaks against",
      [
        { title: "entry", isHead: true, text: (stale) => stale.entry },
        { title: "recipe", text: (stale) => stale.recipe },
        { title: "why", text: (stale) => stale.why },
      ],
      DATA.stale,
    ),
  );
}

function coverageSection() {
  if (!DATA.coverage.length) return null;
  const covered = DATA.coverage.filter((one) => one.cases > 0).length;
  return h(
    "section",
    { id: "coverage" },
    h("h2", {}, "Coverage"),
    h("p", { class: "note" }, `${covered} of ${counted(DATA.coverage.length, "operator")}`),
    simpleTable(
      "Cases of each operator",
      [
        { title: "operator", isHead: true, text: (one) => one.operator_name },
        { title: "cases", numeric: true, text: (one) => String(one.cases) },
        { title: "why none", text: (one) => one.reason },
      ],
      [...DATA.coverage].sort((a, b) => a.cases - b.cases),
    ),
  );
}

function timeSection() {
  return h(
    "section",
    {},
    h("h2", {}, "Time"),
    simpleTable(
      "Wall time by stage",
      [
        { title: "stage", isHead: true, text: (stage) => stage.name },
        { title: "time", unit: "s", numeric: true, text: (stage) => textFromNumber(stage.seconds) },
        { title: "steps", numeric: true, text: (stage) => String(stage.steps) },
      ],
      DATA.stages,
    ),
    facts([
      ["joint programs", String(DATA.joint_programs)],
      ["programs of one case", String(DATA.alone_programs)],
      ["command", shellCommand(DATA.run.argv ?? [])],
    ]),
  );
}

function start() {
  masthead();
  prepareForPaper();
  const failures = failureSection();
  const sections = RESULTS.length || DATA.page
    ? [
        boundNotice(DATA),
        verdictSection(),
        failures.section,
        changeSection(),
        staleSection(),
        heatSection(failures.open),
        coverageSection(),
        timeSection(),
      ]
    : [h("p", { class: "notice" }, "No case was judged.")];
  document.getElementById("main").replaceChildren(...sections.filter(Boolean));
  document
    .getElementById("footer")
    .append(h("p", { class: "muted" }, `Assay report, ${DATA.schema}.`));
}

start();
