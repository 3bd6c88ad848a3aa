// Elements from data. Text always goes in as text, so nothing that a model, an engine or a file name
// says becomes markup.

/** h("a", {href: "#x", class: "y", onclick: f}, "text", child, [more]) makes an element. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => isPresent(child) && child !== false));
  return element;
}

/** A name that may break after a separator before it breaks anywhere else. */
const breakable = (name) =>
  name.split(/(?<=[\s/_.,;:-])/).flatMap((piece, at) => (at ? [h("wbr"), piece] : [piece]));

/** A result as mark and word; never by colour alone. */
function pill(verdict, text) {
  return h(
    "span",
    { class: `pill ${verdict}` },
    h("span", { class: "mark", "aria-hidden": "true" }, MARKS[verdict]),
    text,
  );
}

/** Shows where a box has more to the side, and takes the keyboard only then. */
function markOverflow(box) {
  const room = box.scrollWidth - box.clientWidth;
  const isWide = room > 1;
  const ends = [
    isWide && box.scrollLeft > 1 && "left",
    isWide && box.scrollLeft < room - 1 && "right",
  ].filter(Boolean);
  box.dataset.more = ends.join(" ");
  box.parentElement.classList.toggle("wide-content", isWide);
  if (isWide) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
}

const overflowObserver = new ResizeObserver((entries) => {
  for (const box of new Set(entries.map(({ target }) => target.closest(".scroll")))) {
    if (box) markOverflow(box);
  }
});

/** A box that scrolls sideways when its content is too wide, and then says so. */
function scrollBox(label, content) {
  const box = h("div", { class: "scroll", role: "region", "aria-label": label }, content);
  box.addEventListener("scroll", () => markOverflow(box), { passive: true });
  const scroller = h(
    "div",
    { class: "scroller" },
    h("p", { class: "hint", "aria-hidden": "true" }, "more columns: scroll sideways →"),
    box,
  );
  overflowObserver.observe(box);
  overflowObserver.observe(content);
  return scroller;
}

/** A table from columns {title, unit, numeric, text(row)} that scrolls on its own when too wide. */
function simpleTable(caption, columns, rows, footer = []) {
  const cell = (column, row) => {
    const content = column.text(row);
    const attributes = { class: column.numeric ? "number" : column.isSentence ? "sentence" : undefined };
    return column.isHead
      ? h("th", { scope: "row", ...attributes }, typeof content === "string" ? breakable(content) : content)
      : h("td", attributes, isPresent(content) && content !== false ? content : NOT_MEASURED);
  };
  const head = columns.map((column) =>
    h(
      "th",
      { scope: "col", class: column.numeric ? "number" : undefined },
      column.title,
      column.unit ? h("span", { class: "unit" }, column.unit) : null,
    ),
  );
  return scrollBox(
    caption,
    h(
      "table",
      { class: "plain" },
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, head)),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            columns.map((column) => cell(column, row)),
          ),
        ),
        footer,
      ),
    ),
  );
}

/** Name and value pairs; empty values are left out. */
function facts(pairs) {
  return h(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => isPresent(value))
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

/** A command with a button that copies it. */
function commandLine(text) {
  const code = h("code", {}, text);
  const button = h(
    "button",
    {
      type: "button",
      class: "copy",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(text);
          button.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren(code);
          button.textContent = "Selected";
        }
        setTimeout(() => {
          button.textContent = "Copy";
        }, 1500);
      },
    },
    "Copy",
  );
  return h("div", { class: "command" }, h("pre", { tabindex: "0" }, code), button);
}

/** A part of a case's details; a wide one takes the whole row. */
function part(title, { isWide = false }, ...children) {
  return h("section", { class: isWide ? "part wide" : "part" }, h("h4", {}, title), children);
}

/** What fills an element that nobody has seen yet. */
const unfilled = new Map();

/** Fills an element that waits for it, once. */
function fillNow(element) {
  const fill = unfilled.get(element);
  unfilled.delete(element);
  fill?.(element);
}

/** Fills `element` when it is asked for, at the latest for paper. */
function fillLater(element, fill) {
  unfilled.set(element, fill);
  return element;
}

const nearObserver = new IntersectionObserver(
  (entries) => {
    for (const { target } of entries.filter((one) => one.isIntersecting)) {
      nearObserver.unobserve(target);
      fillNow(target);
    }
  },
  { rootMargin: "600px" },
);

/** Fills `element` when it first comes near the screen. */
function whenNear(element, fill) {
  nearObserver.observe(element);
  return fillLater(element, fill);
}

/** Fills a <details> when it is first opened. */
function whenOpened(details, fill) {
  details.addEventListener("toggle", () => details.open && fillNow(details));
  return fillLater(details, fill);
}

/** Scales the tables down that are wider than the sheet. */
function fitTables() {
  for (const box of document.querySelectorAll(".scroll")) {
    const content = box.firstElementChild;
    const scale = box.clientWidth / content.offsetWidth;
    if (scale < 1) content.style.zoom = scale;
  }
}

/**
 * Paper cannot be unfolded, scrolled or filled later: before a print all is opened, filled and laid
 * out for a sheet, in light colours; afterwards the page is as the reader left it. `redrawCharts`
 * draws again what was drawn for a screen. A browser prints as soon as the listener and the promises
 * that it made are done, so nothing here may wait for a frame or a timer.
 */
function prepareForPaper(redrawCharts = () => {}) {
  const root = document.documentElement;
  let opened = [];
  let place = 0;
  addEventListener("beforeprint", () => {
    place = scrollY;
    root.classList.add("paper");
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
    redrawCharts();
    // Those that are added meanwhile have their turn, too.
    for (const element of unfilled.keys()) if (element.checkVisibility()) fillNow(element);
    fitTables();
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    for (const content of document.querySelectorAll(".scroll > *")) content.style.zoom = "";
    root.classList.remove("paper");
    redrawCharts();
    scrollTo({ top: place, behavior: "instant" });
  });
}

/** Names the parts that a page does without, because a browser would not open all of it. */
function boundNotice({ page, run }) {
  if (!page) return null;
  return h(
    "p",
    { class: "notice" },
    `This page would be larger than 3 MB with ${page.left_out.join(", ")}, so it leaves them out. Everything is in `,
    h("code", {}, `assay report ${run.id} --format json`),
    ".",
  );
}
