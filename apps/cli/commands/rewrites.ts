import { type Input, print, UsageError } from "../../../config/command.ts";
import type { FeatureText } from "../../../config/feature.ts";
import type { z } from "../../../core/contract/options.ts";
import type { RewriteSchemas } from "../../admin/shown-rewrite.ts";
import { apiPath, changeThroughAdmin } from "../admin/ask-admin.ts";
import { numberOf, secondsOf } from "../frame/command.ts";
import { numberArgument } from "../frame/usage.ts";

export type ShownRewrite = z.infer<RewriteSchemas["rewrite"]>;
/** What the admin API says of a changed rewrite. */
export type ChangedRewrite = z.infer<RewriteSchemas["changed"]>;

/** `signalbox weights`: changes weights of a rewrite. Returns the exit code. */
export function weights(input: Input): Promise<number> {
  const [name, ...words] = input.words;
  if (name === undefined || words.length === 0)
    throw new UsageError("Name a rewrite and weights for its targets: signalbox weights food-review v1=90 v2=10");
  const body = { rule: numberOf(input, "rule", 0, 1_000_000, true), targets: words.map(weightOf) };
  return change(input, "PATCH", name, apiPath(["rewrites", name], howOf(input)), body);
}

/** `signalbox delete rewrite`. Returns the exit code. */
export function deleteRewrite(input: Input): Promise<number> {
  const name = rewriteName(input, "delete");
  return change(input, "DELETE", name, apiPath(["rewrites", name], howOf(input)));
}

/** `signalbox revert rewrite`: what the file says applies again. Returns the exit code. */
export function revertRewrite(input: Input): Promise<number> {
  const name = rewriteName(input, "revert");
  return change(input, "POST", name, apiPath(["rewrites", name, "revert"]));
}

/** How long a change lasts, or that it goes into the file. */
export function howOf(input: Input): Readonly<Record<string, string | number | undefined>> {
  return { forSeconds: secondsOf(input, "for"), write: input.has("write") ? "true" : undefined };
}

/** What became of a rewrite, in a line or more. */
export function changedText(name: string, { rewrite, written }: ChangedRewrite): string {
  const where = written === null ? "" : `, written to ${written}`;
  return rewrite === null ? `${name}: deleted${where}` : `${rewriteText(rewrite)}${where}`;
}

/** The same with what became of the requests to each target. */
export function rewriteFiguresText(rewrite: ShownRewrite, texts: readonly FeatureText[]): string {
  const lines = rewrite.rules.flatMap(({ targets }) =>
    targets.flatMap((target) =>
      texts.flatMap((text) => text.target?.(target) ?? []).map((line) => `\n    ${target.name}: ${line}`),
    ),
  );
  return `${rewriteText(rewrite)}${lines.join("")}`;
}

/** A rewrite in a line for each rule. */
export function rewriteText({ name, origin, change, document }: ShownRewrite): string {
  const until = change?.until == null ? "" : `, until ${change.until}`;
  const from = change === null ? origin : `${origin}, by ${change.by} at ${change.since}${until}`;
  const rules = document.spec.rules.map(({ matches = [], targets }) => {
    const models = matches.map(({ model }) => model.value).join(", ") || "every model";
    const shares = targets.map(({ modelRewrite, weight }) => `${modelRewrite}${weight === undefined ? "" : ` ${weight}`}`);
    return `\n  ${models} -> ${shares.join(", ")}`;
  });
  return `${name} (${from})${rules.join("")}`;
}

function weightOf(word: string): { readonly modelRewrite: string; readonly weight: number } {
  const at = word.lastIndexOf("=");
  if (at < 1) throw new UsageError(`A weight is written as TARGET=WEIGHT, such as v1=90, not "${word}".`);
  return { modelRewrite: word.slice(0, at), weight: numberArgument(word.slice(0, at), word.slice(at + 1), 0, 1_000_000, true) };
}

function rewriteName({ words }: Input, command: string): string {
  const [kind, name] = words;
  if (kind === "rewrite" && name !== undefined && words.length === 2) return name;
  throw new UsageError(`Name one rewrite: signalbox ${command} rewrite food-review`);
}

/** Asks for the change and prints what became of the rewrite. */
async function change(
  input: Input,
  method: "POST" | "PATCH" | "DELETE",
  name: string,
  path: string,
  body?: object,
): Promise<number> {
  const changed = await changeThroughAdmin<ChangedRewrite>(input, method, path, body);
  return print(input, changed, () => `${changedText(name, changed)}\n`, 0);
}
