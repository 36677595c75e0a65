import type { Span } from "./span.ts";

/**
 * Where the names in braces of `pattern` are in `path`; undefined if the path does not fit. A name stands for at least one character of one
 * segment, and what follows it in the segment may be fixed.
 *
 * @example
 * if (pathPlaces("/v1/models/{model}:generate", "/v1/models/llama:generate")?.[0]?.[1] !== 16) throw new Error("no such place");
 */
export function pathPlaces(pattern: string, path: string): readonly Span[] | undefined {
  const places: Span[] = [];
  let at = 0;
  for (let from = 0; ; ) {
    const open = pattern.indexOf("{", from);
    const fixed = open < 0 ? pattern.slice(from) : pattern.slice(from, open);
    if (!path.startsWith(fixed, at)) return undefined;
    at += fixed.length;
    if (open < 0) return at === path.length ? places : undefined;
    from = pattern.indexOf("}", open) + 1;
    if (from === 0) return undefined;
    const next = pattern[from];
    const slash = path.indexOf("/", at);
    const segmentEnd = slash < 0 ? path.length : slash;
    const end = next === undefined || next === "/" ? segmentEnd : path.lastIndexOf(next, segmentEnd - 1);
    if (end <= at) return undefined;
    places.push([at, end]);
    at = end;
  }
}
