/** Labels of one sample, by name. */
export type SampleLabels = ReadonlyMap<string, string>;

/**
 * Reads a text in the Prometheus format line by line, and calls `found` with the samples whose name is wanted. Of other lines it
 * reads only the name. Throws an Error for a wanted line that it can't read.
 */
export function readSamples(
  text: string,
  isWanted: (name: string) => boolean,
  found: (name: string, labels: SampleLabels, value: number) => void,
): void {
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const nameStart = skipBlanks(text, start, end);
    const nameEnd = endOfName(text, nameStart, end);
    if (nameEnd > nameStart && text.charCodeAt(nameStart) !== HASH) {
      const name = text.slice(nameStart, nameEnd);
      if (isWanted(name)) {
        const sample = readSample(text.slice(nameEnd, end).trim(), name);
        found(name, sample.labels, sample.value);
      }
    }
    start = end + 1;
  }
}

const HASH = 0x23;
const OPEN_BRACE = 0x7b;
const NO_LABELS: SampleLabels = new Map();

/** One label: a name, and a value in quotes, in which a backslash escapes the next character. */
const LABEL = /\s*([a-zA-Z_]\w*)\s*=\s*"([^"\\]*(?:\\.[^"\\]*)*)"\s*,?/y;

function readSample(rest: string, name: string): { labels: SampleLabels; value: number } {
  if (!rest.startsWith("{")) return { labels: NO_LABELS, value: readValue(rest, name) };
  const labels = new Map<string, string>();
  LABEL.lastIndex = 1;
  let labelsEnd = 1;
  for (let label = LABEL.exec(rest); label !== null; label = LABEL.exec(rest)) {
    labels.set(label[1]!, unescaped(label[2]!));
    labelsEnd = LABEL.lastIndex;
  }
  const after = /^\s*\}/.exec(rest.slice(labelsEnd));
  if (after === null) throw unreadable(name);
  return { labels, value: readValue(rest.slice(labelsEnd + after[0].length), name) };
}

/** The number before an optional timestamp. */
function readValue(text: string, name: string): number {
  const word = text.trim().split(/\s/, 1)[0]!;
  if (/^[+-]?inf$/i.test(word)) return word.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(word)) return Number.NaN;
  const value = Number(word);
  if (word === "" || Number.isNaN(value)) throw unreadable(name);
  return value;
}

function unescaped(value: string): string {
  if (!value.includes("\\")) return value;
  return value.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
}

function unreadable(name: string): Error {
  return new Error(`The metrics have a broken line for "${name}"; they must be in the Prometheus text format`);
}

function skipBlanks(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  return at;
}

function endOfName(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && text.charCodeAt(at) !== OPEN_BRACE && !isBlank(text.charCodeAt(at))) at++;
  return at;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d;
}
