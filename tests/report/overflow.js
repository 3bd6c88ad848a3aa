// What does not fit: every element of the page against its own box, the window and its chart.
const SLACK = 1.5;
const problems = [];
const nameOf = (element) => {
  const classes = typeof element.className === "string" ? element.className : "";
  const text = element.textContent.trim().replace(/\s+/g, " ").slice(0, 40);
  const path = [];
  for (let one = element; one && path.length < 4; one = one.parentElement)
    path.unshift(one.tagName.toLowerCase() + (one.id ? `#${one.id}` : ""));
  return `${path.join(">")}.${classes.replaceAll(" ", ".")} "${text}"`;
};
const tell = (element, what) => problems.push(`${nameOf(element)}: ${what}`);

const canScroll = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
const isInScroller = (element) => {
  for (let one = element.parentElement; one; one = one.parentElement) if (canScroll(one)) return true;
  return false;
};
const isUnseen = (element) =>
  element.closest(".hidden, .skip, [hidden]") !== null || !element.checkVisibility();

function checkElement(element) {
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const isCut = element.scrollWidth > element.clientWidth + SLACK && element.clientWidth > 0;
  if (style.textOverflow === "ellipsis" && isCut && !element.title)
    tell(element, "is cut by an ellipsis and has no title");
  if (canScroll(element) && isCut) {
    const hint = element.parentElement.querySelector(".hint");
    if (!hint || !hint.checkVisibility()) tell(element, "scrolls and does not say so");
    if (element.tabIndex !== 0) tell(element, "scrolls and takes no keyboard");
  } else if (isCut && style.display !== "inline" && !["INPUT", "SELECT"].includes(element.tagName)) {
    tell(element, `is ${element.scrollWidth} wide in a box of ${element.clientWidth}`);
  }
  if (!isInScroller(element) && (box.right > innerWidth + SLACK || box.left < -SLACK))
    tell(element, `spans ${Math.round(box.left)} to ${Math.round(box.right)} of ${innerWidth}`);
}

/** Texts of a chart lie inside of it, whole, and do not cover each other. */
function checkChart(svg) {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter(
    (text) => text.textContent.trim() && text.getAttribute("opacity") !== "0",
  );
  for (const text of texts) {
    const box = text.getBoundingClientRect();
    const isOut =
      box.left < frame.left - SLACK ||
      box.right > frame.right + SLACK ||
      box.top < frame.top - SLACK ||
      box.bottom > frame.bottom + SLACK;
    if (isOut) tell(text, `leaves its chart, ${Math.round(frame.width)} wide`);
    if (text.textContent.endsWith("…")) tell(text, "is cut");
  }
}

const elements = [...document.body.querySelectorAll("*")].filter(
  (element) => !(element instanceof SVGElement) && !isUnseen(element),
);
elements.forEach(checkElement);
[...document.querySelectorAll(".canvas svg")].filter((svg) => !isUnseen(svg)).forEach(checkChart);
const charts = [...document.querySelectorAll(".canvas svg")].length;
return { problems, elements: elements.length, charts };
