import { RouterError } from "../../../core/contract/errors.ts";
import { z } from "../../../core/contract/options.ts";
import { withPlainBody } from "../../../core/intake/dry-run-body.ts";
import { dryRunReport } from "../../../core/report/choice-report.ts";
import {
  type DecisionReport,
  type DryRunReport,
  decisionReportSchema,
  dryRunReportSchema,
} from "../../../core/report/report-schema.ts";
import { factsSchema } from "../../../core/state/facts-document.ts";
import { dryRunNow } from "../dry-run-now.ts";
import { findPage } from "../pages.ts";
import { Problem } from "../problem.ts";
import { viewOf } from "../router-view.ts";
import { savedFacts } from "../saved-facts.ts";
import type { ApiSite } from "../site.ts";
import { type ApiRoute, route } from "./route.ts";

const question = z.strictObject({
  path: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/, "a path")
    .default("/v1/chat/completions")
    .describe("The path of the request, which is a POST."),
  headers: z
    .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/), z.string().regex(/^[^\r\n\0]*$/, "a value on one line"))
    .default({})
    .describe("Its headers, as far as they matter. Content-Type is application/json if it is left out."),
  body: z.string().exactOptional().describe("Its body as text: white space counts, since caches compare bytes."),
  bodyBase64: z.base64().exactOptional().describe("The body in base64 instead, where it is not UTF-8."),
});

/** Explains decisions, and shows what they are made of. Nothing here changes anything. */
export function explainRoutes(site: ApiSite): readonly ApiRoute[] {
  const { router, clock } = site;
  return [
    route({
      method: "POST",
      path: "/explain",
      id: "explainBody",
      isRead: true,
      summary: "What would be decided about a request now, and why: it is not sent and counts nowhere.",
      body: question,
      response: dryRunReportSchema,
      run: async ({ body }) => ({ document: await explained(body, site, new Date(clock.wall()).toISOString()) }),
    }),
    route({
      method: "GET",
      path: "/explain/:id",
      id: "explainRequest",
      summary: "Why a request that has ended went where it went, by its x-request-id; several if clients gave the same id.",
      response: z.object({
        decisions: z.array(decisionReportSchema),
        notes: z
          .array(z.string())
          .describe("What holds now of their rules, for people: which targets guards have stopped, and why."),
      }),
      run({ params }) {
        const decisions = ended(params["id"] ?? "", site);
        const rules = [...new Set(decisions.map(({ rule }) => rule))];
        return { document: { decisions, notes: rules.flatMap((rule) => router.features.notes(rule)) } };
      },
    }),
    route({
      method: "GET",
      path: "/facts",
      id: "saveFacts",
      summary: "What decisions read now, to repeat them elsewhere: no prompts, no headers, no keys, and so not what is cached.",
      response: factsSchema,
      run: () => ({ document: savedFacts(router) }),
    }),
  ];
}

async function explained(
  { path, headers, body, bodyBase64 }: z.infer<typeof question>,
  { router }: ApiSite,
  time: string,
): Promise<DryRunReport> {
  if (body !== undefined && bodyBase64 !== undefined)
    throw new Problem(400, "invalid_body", "Send either body or bodyBase64, not both.");
  const bytes = bodyBase64 === undefined ? Buffer.from(body ?? "", "utf8") : Buffer.from(bodyBase64, "base64");
  try {
    const asked = await withPlainBody({ path, headers: Object.entries(headers), body: bytes }, router.config);
    const { request, decision, place } = dryRunNow(router, asked);
    const report = dryRunReport(request, decision, time);
    const notes = [...(place === undefined ? [] : [place.why]), ...report.notes, ...router.features.notes(decision.rule)];
    return { ...report, ...(place && { pool: place.config.pool }), notes };
  } catch (thrown) {
    if (!(thrown instanceof RouterError)) throw thrown;
    // A fault of the router goes to its log.
    throw thrown.code === "internal_error" ? thrown.cause : problemOf(thrown);
  }
}

/** The status and the code that the client would get. What a plugin did wrong is for operators, who ask here. */
function problemOf({ status, code, message, allow, fault }: RouterError): Problem {
  const faults = fault && [`${fault.plugin}: ${fault.text}`];
  return new Problem(status, code, message, { ...(allow !== "" && { allow }), ...(faults && { faults }) });
}

/** From the page of the observer that keeps them, so its shape is known. Throws Problem for an id that it does not have. */
function ended(id: string, site: ApiSite): readonly DecisionReport[] {
  const page = findPage(site.router.config.observers, "/decisions");
  if (page === undefined)
    throw new Problem(404, "unknown_request", "This router keeps no decisions: no observer has a page for them.");
  const text = page.render(viewOf(site), new URLSearchParams({ id }));
  const { size, decisions } = JSON.parse(text) as { size: number; decisions: readonly DecisionReport[] };
  if (decisions.length > 0) return decisions;
  const detail = `The router does not know this request: it keeps the last ${size} that have ended, and older ones as far as their memory goes, failed and slow ones for longest (the parameters "size" and "memoryBytes" of the plugin "decisions").`;
  throw new Problem(404, "unknown_request", detail);
}
