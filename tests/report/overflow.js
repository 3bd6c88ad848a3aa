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

/** What is seen of a text: the boxes of its lines, without what a scroller around it cuts off. */
function boxesOf(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  let frame = { left: -Infinity, right: Infinity };
  for (let one = node.parentElement; one; one = one.parentElement)
    if (canScroll(one)) {
      const { left, right } = one.getBoundingClientRect();
      frame = { left: Math.max(frame.left, left), right: Math.min(frame.right, right) };
    }
  return [...range.getClientRects()]
    .map(({ left, right, top, bottom }) => ({
      node,
      left: Math.max(left, frame.left),
      right: Math.min(right, frame.right),
      top,
      bottom,
    }))
    .filter((box) => box.right - box.left > SLACK);
}

/** No text of the page, those of charts left out, lies on another one. */
function checkTexts() {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const boxes = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const isText = walker.currentNode.data.trim() && !(element instanceof SVGElement);
    if (isText && !isUnseen(element)) boxes.push(...boxesOf(walker.currentNode));
  }
  boxes.sort((a, b) => a.top - b.top);
  const shared = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);
  boxes.forEach((box, at) => {
    for (let i = at + 1; i < boxes.length && boxes[i].top < box.bottom; ++i) {
      const other = boxes[i];
      const isOn = shared(box, other, "left", "right") > SLACK && shared(box, other, "top", "bottom") > 4 * SLACK;
      if (isOn && other.node !== box.node)
        tell(box.node.parentElement, `lies on "${other.node.data.trim().slice(0, 40)}"`);
    }
  });
}

/** Texts of a chart lie inside of it, whole. */
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
checkTexts();
[...document.querySelectorAll(".canvas svg")].filter((svg) => !isUnseen(svg)).forEach(checkChart);
const charts = [...document.querySelectorAll(".canvas svg")].length;
return { problems, elements: elements.length, charts };
