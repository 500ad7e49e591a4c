// Words selected in the item become quotations; quotations are marked where they stand.
import { quoteFrom } from "./evidence_text.js";

const MOST_BLOCKS = 8;

/** The signs of a piece of the page; signs that nobody sees are shown as names, and turned back. */
function textOf(fragment) {
  for (const one of fragment.querySelectorAll(".hidden-sign")) {
    one.replaceWith(String.fromCodePoint(Number.parseInt(one.textContent.slice(2), 16)));
  }
  const beside = fragment.querySelectorAll(".link-address");
  if (fragment.textContent.trim() !== [...beside].map((one) => one.textContent).join("").trim()) {
    for (const one of beside) one.remove();
  }
  for (const one of fragment.querySelectorAll("br")) one.replaceWith("\n");
  for (const one of fragment.querySelectorAll("p, li, tr, pre")) one.append("\n");
  return fragment;
}

function runsOf(fragment) {
  const found = [];
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) found.push(walker.currentNode.data);
  return found;
}

function sourceOf(block) {
  return block.dataset.source ?? textOf(block.cloneNode(true)).textContent;
}

/** The part of a range that lies in a block of the item. */
function within(range, block) {
  const part = document.createRange();
  part.selectNodeContents(block);
  if (range.comparePoint(block, 0) < 0 || block.contains(range.startContainer)) part.setStart(range.startContainer, range.startOffset);
  if (block.contains(range.endContainer)) part.setEnd(range.endContainer, range.endOffset);
  return part;
}

/** Words that are selected in the item, block by block: `{text, whole, part}`, or what failed. */
export function selectedQuotes(pane) {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return [];
  const range = selection.getRangeAt(0);
  if (!pane.contains(range.commonAncestorContainer) && !range.intersectsNode(pane)) return [];
  const found = [];
  for (const block of pane.querySelectorAll("[data-part]")) {
    if (!range.intersectsNode(block) || found.length >= MOST_BLOCKS) continue;
    const piece = textOf(within(range, block).cloneContents());
    const words = piece.textContent.trim();
    if (!words) continue;
    const quote = quoteFrom(sourceOf(block), words, runsOf(piece));
    found.push(quote ? { ...quote, part: block.dataset.part } : { text: "", whole: false, part: block.dataset.part });
  }
  return found;
}

// -- marking

const IGNORED = /[\s*_`~#>|\\[\]]/;
const NOT_DRAWN = /\]\([^()\n]*\)|^[ \t>]*(?:\d{1,9}[.)]|[-+])[ \t]+|^[ \t]*(?:`{3,}|~{3,})[^\n]*/gm;

/** What is left of a quotation when its marks are drawn. */
function drawn(quote) {
  return [...quote.replace(NOT_DRAWN, "")].filter((sign) => !IGNORED.test(sign)).join("");
}

function signsOf(block) {
  const signs = [];
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest(".link-address, .hidden-sign")) continue;
    for (let at = 0; at < node.data.length; at += 1) {
      if (!IGNORED.test(node.data[at])) signs.push({ sign: node.data[at], node, at });
    }
  }
  return signs;
}

/** Mark quotations in the item, where the browser can do so without touching the text. */
export function markQuotes(pane, quotes) {
  if (!globalThis.CSS?.highlights || !globalThis.Highlight) return;
  const ranges = [];
  const wanted = quotes.map(drawn).filter(Boolean);
  if (wanted.length) {
    for (const block of pane.querySelectorAll("[data-part]")) {
      const signs = signsOf(block);
      const text = signs.map((one) => one.sign).join("");
      for (const quote of wanted) {
        const found = text.indexOf(quote);
        if (found < 0) continue;
        const [first, last] = [signs[found], signs[found + quote.length - 1]];
        const range = document.createRange();
        range.setStart(first.node, first.at);
        range.setEnd(last.node, last.at + 1);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("evidence", new Highlight(...ranges));
}
