import type { Composer } from "yaml";
import type { Finding } from "./problems.ts";

export type Token = Parameters<Composer["next"]>[0];

export const INDENTED_MARK: Finding = {
  found: 'an indented "---"',
  wanted: "it at the beginning of its line, where it stands between two documents",
};

/** A line that is meant to stand between two documents, but is a part of the one before because it is indented. */
const INDENTED = /^[ \t]+(---)(?=\s|$)/gm;

/** The offsets of each indented "---" that is not inside of a text in quotes or of a text in lines of its own. */
export function indentedMarks(text: string, tokens: readonly Token[]): readonly number[] {
  const offsets = [...text.matchAll(INDENTED)].map(({ index, 0: line }) => index + line.length - "---".length);
  if (offsets.length === 0) return [];
  const texts = tokens.flatMap((token) => (token.type === "document" && token.value ? textsIn(token.value) : []));
  return offsets.filter((offset) => !texts.some(({ from, to }) => from <= offset && offset < to));
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Where texts are in which every line is meant. */
function textsIn(token: Token): readonly Span[] {
  if ("items" in token)
    return token.items.flatMap(({ key, value }) => [key, value].flatMap((child) => (child ? textsIn(child) : [])));
  if (token.type === "block-scalar") {
    const header = token.props.reduce((sum, prop) => sum + ("source" in prop ? prop.source.length : 0), 0);
    return [{ from: token.offset, to: token.offset + header + token.source.length }];
  }
  const isQuoted = token.type === "double-quoted-scalar" || token.type === "single-quoted-scalar";
  return isQuoted ? [{ from: token.offset, to: token.offset + token.source.length }] : [];
}
