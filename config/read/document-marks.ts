import type { Finding } from "./problems.ts";

/** What is looked at of a token of the YAML library. */
interface Token {
  readonly type: string;
  readonly offset?: number;
  readonly source?: string;
  readonly props?: readonly Token[];
  readonly items?: readonly { readonly key?: Token | null | undefined; readonly value?: Token | undefined }[];
  readonly value?: Token | undefined;
}

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
function textsIn({ type, offset = 0, source = "", props = [], items }: Token): readonly Span[] {
  if (items !== undefined)
    return items.flatMap(({ key, value }) => [key, value].flatMap((child) => (child ? textsIn(child) : [])));
  if (type === "double-quoted-scalar" || type === "single-quoted-scalar") return [{ from: offset, to: offset + source.length }];
  const header = props.reduce((sum, prop) => sum + (prop.source ?? "").length, 0);
  return type === "block-scalar" ? [{ from: offset, to: offset + header + source.length }] : [];
}
