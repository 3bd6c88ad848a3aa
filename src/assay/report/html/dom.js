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

/** A result as mark and word; never by colour alone. */
function pill(verdict, text) {
  return h(
    "span",
    { class: `pill ${verdict}` },
    h("span", { class: "mark", "aria-hidden": "true" }, MARKS[verdict]),
    text,
  );
}

/** A table from columns {title, unit, numeric, text(row)} that scrolls on its own when too wide. */
function simpleTable(caption, columns, rows, footer = []) {
  const cell = (column, row) => {
    const content = column.text(row);
    const attributes = { class: column.numeric ? "number" : undefined };
    return column.isHead
      ? h("th", { scope: "row", ...attributes }, content)
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
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
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

/** Fills `element` when it first comes near the screen. */
const whenNear = (() => {
  const pending = new Map();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries.filter((one) => one.isIntersecting)) {
        observer.unobserve(entry.target);
        const fill = pending.get(entry.target);
        pending.delete(entry.target);
        fill(entry.target);
      }
    },
    { rootMargin: "600px" },
  );
  return (element, fill) => {
    pending.set(element, fill);
    observer.observe(element);
    return element;
  };
})();
