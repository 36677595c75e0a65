import type { Run } from "../../../core/run.ts";
import { type AdmissionSettings, MOST_PRIORITY } from "./admission-config.ts";
import { standingOf } from "./standing.ts";

/** The member of bodies that vLLM and SGLang read. */
export const PRIORITY_KEY = "priority";
/** The APIs whose bodies have the member. Engines ignore it in others, such as Anthropic's. */
const APIS: ReadonlySet<string> = new Set(["chat-completions", "completions", "responses", "embeddings", "generate"]);
const UTF8 = new TextEncoder();

/**
 * From now on the request has its priority where its engine reads it. What the client sent there stays, unless the config says that the
 * router's takes its place. (The header that vLLM believes before the body, x-vllm-priority, no client may send.)
 */
export function tellEngine(run: Run, settings: AdmissionSettings): void {
  const { ticket, head, body } = run;
  const parsed = run.parsed!;
  if (!APIS.has(ticket.api)) return;
  const kind = body!.kind(PRIORITY_KEY);
  // Engines refuse null, so it is nobody's wish.
  const isInBody = kind !== "missing" && kind !== "null";
  if (isInBody && !settings.overridesPriority) return;
  const { priority } = standingOf(ticket.principal, parsed.model, head, settings);
  const value = UTF8.encode(String(settings.enginePriority === "lower-first" ? opposite(priority) : priority));
  run.write("admission", PRIORITY_KEY, value);
}

/** The least priority has none in 32 bits, which is all that some engines read. */
const opposite = (priority: number) => Math.min(MOST_PRIORITY, 0 - priority);
