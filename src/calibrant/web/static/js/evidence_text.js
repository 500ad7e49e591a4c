// From words that are selected on the page to the words that stand in the item.
// What is shown has lost the marks of Markdown; a quotation must be what was written.

const SPACE = /\s/;
const MARKS = new Set("*_`~#>|\\[]!-+=:<");
const LONGEST_SEARCH = 2_000_000;

/** The place of the words in a source, white space aside; null where they do not stand there. */
export function findPlain(source, words) {
  const bare = [];
  for (let at = 0; at < source.length; at += 1) if (!SPACE.test(source[at])) bare.push(at);
  const text = bare.map((at) => source[at]).join("");
  const wanted = words.replace(/\s+/g, "");
  const found = wanted ? text.indexOf(wanted) : -1;
  return found < 0 ? null : [bare[found], bare[found + wanted.length - 1] + 1];
}

/** The shortest piece of a source that shows as these words, marks of Markdown aside; or null. */
export function findDrawn(source, words) {
  const wanted = words.replace(/\s+/g, "");
  if (!wanted || source.length * wanted.length > LONGEST_SEARCH * 50) return null;
  let best = null;
  for (let start = 0; start < source.length; start += 1) {
    if (source[start] !== wanted[0] && source[start] !== "&") continue;
    const end = walk(source, start, wanted);
    if (end !== null && (best === null || end - start < best[1] - best[0])) best = [start, end];
  }
  return best;
}

/** Where the words end that begin at a place of the source; null where other words stand there. */
function walk(source, start, wanted) {
  let at = start;
  let done = 0;
  while (done < wanted.length) {
    if (at >= source.length) return null;
    const entity = source[at] === "&" ? entityAt(source, at) : null;
    if (entity && wanted.startsWith(entity.sign, done)) {
      at += entity.length;
      done += entity.sign.length;
    } else if (source[at] === wanted[done]) {
      at += 1;
      done += 1;
    } else {
      const skipped = skip(source, at);
      if (!skipped) return null;
      at += skipped;
    }
  }
  return at;
}

/** How many signs of the source are drawn as nothing here. */
function skip(source, at) {
  const rest = source.slice(at, at + 2_000);
  const beginsLine = at === 0 || /\n[ \t>]*$/.test(source.slice(Math.max(0, at - 40), at));
  const tail = /^\]\((?:[^()\\]|\\.|\([^()]*\))*\)/.exec(rest) || /^\]\[[^\]]*\]/.exec(rest);
  if (tail) return tail[0].length;
  const number = beginsLine && /^\d{1,9}[.)]\s/.exec(rest);
  if (number) return number[0].length;
  const fence = beginsLine && /^(?:`{3,}|~{3,})[^\n]*/.exec(rest);
  if (fence) return fence[0].length;
  return SPACE.test(source[at]) || MARKS.has(source[at]) ? 1 : 0;
}

function entityAt(source, at) {
  const found = /^&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});/i.exec(source.slice(at, at + 40));
  if (!found) return null;
  const sign = new DOMParser().parseFromString(found[0], "text/html").documentElement.textContent;
  return { sign, length: found[0].length };
}

/** A piece of the source with the other half of marks that it cuts in two, where that stands next to it. */
function closed(source, [start, end]) {
  for (const mark of ["**", "__", "~~", "*", "_", "`"]) {
    if (source.slice(start, end).split(mark).length % 2) continue;
    if (source.startsWith(mark, end)) end += mark.length;
    else if (source.slice(0, start).endsWith(mark)) start -= mark.length;
  }
  if (/^[^[\]]*\]\(/.test(source.slice(start, end)) && source[start - 1] === "[") start -= 1;
  return [start, end];
}

/** The words as they stand in the source. `whole` is false where only their longest run does. */
export function quoteFrom(source, words, runs = [words]) {
  const found = findPlain(source, words) ?? findDrawn(source, words);
  if (found) return { text: source.slice(...closed(source, found)).trim(), whole: true };
  const candidates = runs.flatMap((run) => run.split("\n")).map((run) => run.trim()).filter((run) => run.length >= 8);
  candidates.sort((one, two) => two.length - one.length);
  for (const run of candidates) {
    const part = findPlain(source, run);
    if (part) return { text: source.slice(...part).trim(), whole: false };
  }
  return null;
}
