import { CommandError, type Input, print, UsageError } from "../../../config/command.ts";
import type { EndpointUrl } from "../../../core/contract/endpoint.ts";
import { printable } from "../../../core/contract/printable.ts";
import { counted } from "../../../core/report/number-text.ts";
import { columnTable } from "../../../core/report/table.ts";
import { GetError, NOBODY_THERE } from "../../../core/wire/get-error.ts";
import { httpSend } from "../../../core/wire/http-get.ts";
import type { RewriteStatus } from "../../admin/rewrite-status.ts";
import type { Status } from "../../admin/status.ts";
import { askAdmin } from "../admin/ask-admin.ts";
import { onlyWord } from "../frame/command.ts";
import { CLIENTS_URL_WANTED, numberArgument, urlArgument } from "../frame/usage.ts";
import { urlOf } from "../start/ports.ts";

const TIMEOUT_MS = 600_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** A rounding is less than 1; sums of shares are off by less than this. */
const LEAST_DIFFERENCE = 1e-6;
const PROMPT = "Say one word.";

/** The smallest request of each API whose responses name the model that served. */
const BODIES: Readonly<Record<string, object>> = {
  "/v1/chat/completions": { messages: [{ role: "user", content: PROMPT }], max_tokens: 1 },
  "/v1/completions": { prompt: PROMPT, max_tokens: 1 },
  "/v1/responses": { input: PROMPT, max_output_tokens: 1 },
  "/v1/messages": { messages: [{ role: "user", content: [{ type: "text", text: PROMPT }] }], max_tokens: 1 },
  "/v1/embeddings": { input: PROMPT },
};

/**
 * `signalbox split-test`: sends requests for a model and compares who served them with the weights. Returns the exit code: 1 if
 * they are off.
 */
export async function splitTest(input: Input): Promise<number> {
  const name = onlyWord(input, "a model that clients ask for, or a rewrite", "signalbox split-test food-review");
  const requests = numberArgument("--requests", input.text("requests") ?? "20", 1, 100_000, true);
  const path = input.text("path") ?? "/v1/chat/completions";
  const body = BODIES[path];
  if (body === undefined)
    throw new UsageError(`--path wants one of ${Object.keys(BODIES).join(", ")}: their responses name the model that served.`);
  const status = await askAdmin<Status>(input, "/status");
  const { rule, model } = ruleFor(name, status.rewrites);
  const url = clientUrl(input, status);
  const served: string[] = [];
  for (let sent = 0; sent < requests; sent++) served.push(await servedBy(url, path, JSON.stringify({ model, ...body })));
  const after = await askAdmin<Status>(input, "/status");
  const report = splitReport(model, rule.targets, served, isDrawExact(rule, after.rewrites, requests));
  print(input, report, () => splitText(report));
  return report.isAsWeighted ? 0 : 1;
}

/** Whether the router drew for this test alone, and in order: a guard has its targets drawn in a random order. */
function isDrawExact(before: RewriteStatus, rules: readonly RewriteStatus[], requests: number): boolean {
  const after = rules.find(({ name }) => name === before.name);
  if (after === undefined || guardedTargets(after).some(({ guard }) => guard !== null && guard !== undefined)) return false;
  return drawn(after) - drawn(before) === requests;
}

function drawn(rule: RewriteStatus): number {
  return guardedTargets(rule).reduce((sum, { figures }) => sum + (figures?.requests ?? 0), 0);
}

/** What guards add to a target of the status document. */
interface GuardedTarget {
  readonly figures?: { readonly requests: number } | null;
  readonly guard?: unknown;
}

function guardedTargets({ targets }: RewriteStatus): readonly GuardedTarget[] {
  return targets as readonly GuardedTarget[];
}

/** The rule of a model name, or the first one of a rewrite, and a model that it matches. */
function ruleFor(name: string, rules: readonly RewriteStatus[]): { readonly rule: RewriteStatus; readonly model: string } {
  const ofModel = rules.find(({ models }) => models.includes(name));
  if (ofModel !== undefined) return { rule: ofModel, model: name };
  const rule = rules.find((each) => each.name === name || each.name.startsWith(`${name}/`));
  const [model] = rule?.models ?? [];
  if (rule !== undefined && model !== undefined) return { rule, model };
  const names = rules.flatMap(({ models }) => models).join(", ");
  throw new UsageError(`No rewrite matches the model "${name}"; there are rewrites for ${names || "no model"}.`);
}

function clientUrl(input: Input, { listen }: Status): EndpointUrl {
  const text = input.text("url");
  const isEverywhere = listen.host === "0.0.0.0" || listen.host === "::";
  const host = isEverywhere ? input.admin.hostname : listen.host;
  return urlArgument(text ?? urlOf(host, listen.port), CLIENTS_URL_WANTED);
}

/** The response's model, or in words why there is none. */
async function servedBy(url: EndpointUrl, path: string, body: string): Promise<string> {
  const options = { method: "POST", body, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
  const result = await httpSend(url, path, options).catch((thrown: unknown) => {
    if (!(thrown instanceof GetError)) throw thrown;
    if (NOBODY_THERE.has(thrown.reason))
      throw new CommandError(
        4,
        `Nobody responds at ${url.href} (${thrown.reason}); name the address for clients with --url URL.`,
      );
    return { status: 0, body: "" };
  });
  if (result.status === 0) return "(no response)";
  return result.status === 200 ? modelIn(result.body) : `(status ${result.status})`;
}

function modelIn(body: string): string {
  try {
    const { model } = JSON.parse(body) as { model?: unknown };
    return typeof model === "string" ? printable(model) : "(no model)";
  } catch {
    return "(no JSON)";
  }
}

type SplitReport = ReturnType<typeof splitReport>;
type TargetCount = SplitReport["targets"][number];

/**
 * Counts who served. The router's own draw is exact: of any requests in a row the first target has its share, rounded up or down, and
 * each further one a rounding more (see `drawShare` of the plugin model-rewrite). Where other clients took a part of it, or a guard has
 * it shuffled, what is left for this test is never worse than chance, so three standard deviations are allowed.
 */
export function splitReport(
  model: string,
  targets: readonly { readonly name: string; readonly weight: number }[],
  served: readonly string[],
  isExact: boolean,
) {
  const sum = targets.reduce((total, { weight }) => total + weight, 0);
  const shares = targets.filter(({ weight }) => weight > 0);
  const counts = targets.map(({ name, weight }) => {
    const share = sum === 0 ? 0 : weight / sum;
    // As many as the weights say, and how far `count` may be from it.
    const expected = served.length * share;
    // The last one has what the others left.
    const roundings =
      Math.min(
        shares.findIndex((each) => each.name === name),
        shares.length - 2,
      ) + 1;
    const deviation = 3 * Math.sqrt(served.length * share * (1 - share));
    const tolerance = isExact ? Math.max(0, roundings - LEAST_DIFFERENCE) : deviation;
    const count = served.filter((each) => each === name).length;
    return { name, weight, expected, tolerance, count, isAsWeighted: Math.abs(count - expected) <= tolerance };
  });
  const names = new Set(targets.map(({ name }) => name));
  const unexpected = new Map<string, number>();
  for (const name of served) if (!names.has(name)) unexpected.set(name, (unexpected.get(name) ?? 0) + 1);
  return {
    model,
    requests: served.length,
    isExact,
    targets: counts,
    /** What responses named instead, with their counts: other models, or why there was no model. */
    unexpected: Object.fromEntries(unexpected),
    isAsWeighted: unexpected.size === 0 && counts.every(({ isAsWeighted }) => isAsWeighted),
  };
}

/** The report as text for people. */
export function splitText({ model, requests, isExact, targets, unexpected, isAsWeighted }: SplitReport): string {
  const lines = columnTable<TargetCount>(
    [
      ["target", ({ name }) => name, "left"],
      ["weight", ({ weight }) => String(weight)],
      ["expected", expectedText],
      ["served", ({ count }) => String(count)],
      ["", (target) => (target.isAsWeighted ? "" : "off"), "left"],
    ],
    targets,
  );
  const strangers = Object.entries(unexpected).map(([name, count]) => `unexpected: ${name}, ${counted(count, "time")}`);
  const others = isExact ? [] : ["Others sent requests too, or a guard shuffles the split: it is compared by chance."];
  const verdict = isAsWeighted ? "The split is as the weights say." : "The split is not as the weights say.";
  return `${[`${counted(requests, "request")} for "${model}"`, ...lines, ...strangers, ...others, verdict].join("\n")}\n`;
}

function expectedText({ expected, tolerance }: TargetCount): string {
  const rounded = Math.round(expected * 10) / 10;
  return tolerance < 1 ? String(rounded) : `${rounded} ± ${Math.floor(tolerance)}`;
}
