import type { EventStream } from "./event-stream.ts";
import type { Member } from "./member.ts";

/**
 * How an event stream ended, as its last bytes say. whole: with the event that its API has at the end. said: it says why the generation
 * ended, and that last event may follow. missing: neither. unknown: they do not show it.
 */
export type StreamEnd = "whole" | "said" | "missing" | "unknown";

const LINE_END = /\r\n|\n|\r/;
const FINISH_REASON = '"finish_reason"';
/** Where the end begins inside of a long event: the reason that stands last in it. */
const LAST_REASON = /^.*"finish_reason"\s*:\s*(null|"[^"]+")/s;

interface Choice {
  readonly index?: unknown;
  readonly finish_reason?: unknown;
}

/** `isAll`: the bytes are the whole stream; else their first line has no beginning. */
export function streamEnd(endings: readonly Member[], bytes: Uint8Array, isAll: boolean, stream: EventStream): StreamEnd {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1").split(LINE_END);
  const cut = isAll ? "" : lines.shift()!;
  if (endings.some((ending) => !ending.isMember && lines.some((line) => dataOf(line) === ending.name))) return "whole";
  // A client reads no event without an empty line behind it; but what is whole by itself may lack that line at the end of a stream.
  if (!stream.isBetween && !isLastWhole(lines, cut)) return "missing";
  const isNamed = (ending: Member) => ending.isMember && !ending.isOpen;
  if (endings.some((ending) => isNamed(ending) && (stream.lastBegins(ending.value) || ending.standsIn(bytes)))) return "whole";
  if (endings.some(({ name, isOpen }) => isOpen && name === FINISH_REASON)) return choicesEnd(lines, cut);
  return endings.some((ending) => ending.isOpen && ending.standsIn(bytes)) ? "said" : "missing";
}

/** Each choice ends by itself: all that are seen must have their reason. */
function choicesEnd(lines: readonly string[], cut: string): StreamEnd {
  const ended = new Map<unknown, boolean>();
  for (const line of lines) {
    for (const { index = 0, finish_reason } of choicesOf(line))
      ended.set(index, ended.get(index) === true || Boolean(finish_reason));
  }
  if (ended.size > 0) return [...ended.values()].every(Boolean) ? "said" : "missing";
  const reason = LAST_REASON.exec(cut)?.[1];
  if (reason !== undefined) return reason === "null" ? "missing" : "said";
  return cut === "" ? "missing" : "unknown";
}

function choicesOf(line: string): readonly Choice[] {
  const event = read(dataOf(line)) as { readonly choices?: unknown } | null | undefined;
  return Array.isArray(event?.choices) ? event.choices.filter((choice) => typeof choice === "object" && choice !== null) : [];
}

function isLastWhole(lines: readonly string[], cut: string): boolean {
  const last = lines.findLast((line) => line !== "");
  if (last === undefined) return cut.trimEnd().endsWith("}");
  const data = dataOf(last);
  return data !== undefined && read(data) !== undefined;
}

function read(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a line of data says; undefined for any other line. */
function dataOf(line: string): string | undefined {
  return line.startsWith("data:") ? line.slice(5).trim() : undefined;
}
