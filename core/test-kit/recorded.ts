import { printable } from "../contract/printable.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { makePrefix, makeRequest } from "../contract/test-kit.ts";
import { type DecisionReport, decisionReportSchema } from "../report/report-schema.ts";
import { type TestPool, testPool } from "./pool.ts";

/** A request as a router decided it, for a plugin to decide again. */
export interface RecordedDecision {
  /** The request's id. */
  readonly name: string;
  /** With the prompt's length, and what its endpoints were believed to hold of it. Its text is in no record. */
  readonly request: InferenceRequest;
  /** The endpoints that were there, with the prompt work ahead of each where that was recorded. */
  readonly pool: TestPool;
  /** What the scorers came to, by endpoint: for `explain` with a picker. Empty in an access log. */
  readonly scores: Readonly<Record<string, number>>;
  /** In which order they were to be tried; in an access log, in which they were. */
  readonly order: readonly string[];
}

/**
 * The decisions in what a router said of them: the JSON of `/decisions` or of `signalbox explain --json`, or lines of its access log. Throws
 * an Error for anything else. Requests that were decided for no endpoint are left out.
 *
 * @example
 * for (const { name, request, pool, order } of recordedDecisions(readFileSync("decisions.json", "utf8")))
 *   test(name, () => assert.equal(explain(createPlugin(plugin), request, pool).order[0], order[0]));
 */
export function recordedDecisions(text: string): readonly RecordedDecision[] {
  const documents = documentsOf(text);
  const reports = documents.flatMap((each) => (Array.isArray(each["decisions"]) ? each["decisions"] : [each]));
  const lines = reports.filter(isLogLine);
  const endpoints = [...new Set(lines.flatMap(({ attempts }) => attempts.map(({ endpoint }) => endpoint)))].sort();
  const all = reports.map((each) => (isLogLine(each) ? ofLine(each, endpoints) : ofReport(checked(each))));
  return all.filter(({ order }) => order.length > 0);
}

type Document = Readonly<Record<string, unknown>>;

/** One JSON document, or one in each line. */
function documentsOf(text: string): readonly Document[] {
  try {
    return [JSON.parse(text)];
  } catch {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    return lines.map((line, at) => {
      try {
        return JSON.parse(line);
      } catch {
        throw new Error(
          `Line ${at + 1} is no JSON: ${printable(line.slice(0, 60))}. Give the text of /decisions or of an access log.`,
        );
      }
    });
  }
}

/** The keys of an access log's line that are read here. */
interface LogLine {
  readonly id: string;
  readonly model: string;
  readonly target: string;
  readonly stream: boolean | null;
  readonly promptTokens: number | null;
  readonly predictedCachedTokens: number | null;
  readonly endpoint: string;
  readonly attempts: readonly { readonly endpoint: string }[];
}

function isLogLine(document: Document | LogLine): document is LogLine {
  return Array.isArray(document["attempts" as never]) && "overheadUs" in document;
}

function checked(document: Document): DecisionReport {
  const { data, error } = decisionReportSchema.safeParse(document);
  if (data !== undefined) return data as DecisionReport;
  const [issue] = error.issues;
  throw new Error(`This is neither a decision nor a line of an access log: ${issue?.path.join(".")}: ${issue?.message}`);
}

function ofReport({ id, model, target, api, isStream, promptTokens, candidates, dropped }: DecisionReport): RecordedDecision {
  const lost = dropped.flatMap(({ endpoints }) => endpoints);
  const names = [...candidates.map(({ endpoint }) => endpoint), ...lost].sort();
  const found = new Map(candidates.map((each) => [each.endpoint, each]));
  const members = names.map((name) => [name, { models: [target], prefillTokens: found.get(name)?.waitingTokens ?? 0 }] as const);
  const cached = names.map((name) => found.get(name)?.cachedTokens ?? 0);
  return {
    name: id,
    request: requestOf({ id, model, target, api, isStream, promptTokens }, cached),
    pool: testPool(Object.fromEntries(members)),
    scores: Object.fromEntries(candidates.map(({ endpoint, total }) => [endpoint, total])),
    order: candidates.map(({ endpoint }) => endpoint),
  };
}

function ofLine(line: LogLine, endpoints: readonly string[]): RecordedDecision {
  const { id, model, target, stream, promptTokens, predictedCachedTokens, attempts, endpoint } = line;
  const cached = endpoints.map((name) => (name === endpoint ? (predictedCachedTokens ?? 0) : 0));
  const facts = { id, model, target, isStream: stream ?? false, promptTokens: promptTokens ?? 0 };
  return {
    name: id,
    request: requestOf(facts, cached),
    pool: testPool(Object.fromEntries(endpoints.map((name) => [name, { models: [target] }]))),
    scores: {},
    order: [...new Set(attempts.map((each) => each.endpoint))],
  };
}

/** `cached`: tokens of the prompt, by slot. */
function requestOf(facts: Partial<InferenceRequest>, cached: readonly number[]): InferenceRequest {
  const blocks = Math.round(facts.promptTokens ?? 0);
  const matched = cached.map((tokens) => Math.min(blocks, Math.round(tokens)));
  return makeRequest({ ...facts, prefix: makePrefix(blocks, 1, matched) });
}
