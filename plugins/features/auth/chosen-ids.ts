import { RouterError } from "../../../core/contract/errors.ts";
import type { Run } from "../../../core/run.ts";
import { sha256 } from "../../../core/runtime/sha256.ts";

/** A member of bodies by which engines let clients choose the id of what is made of their request. */
interface ChosenId {
  readonly key: string;
  /** The parsers in whose bodies engines read it. */
  readonly apis: ReadonlySet<string>;
  /** What engines want the id to begin with. */
  readonly prefix: string;
}

const UTF8 = new TextEncoder();

const CHOSEN: readonly ChosenId[] = [
  // vLLM and SGLang keep the response under it, and replace what another request has made under it.
  { key: "request_id", apis: new Set(["responses"]), prefix: "resp_" },
  // SGLang hands what is generated to the last request of that id.
  {
    key: "rid",
    apis: new Set(["chat-completions", "completions", "embeddings", "generate", "messages", "responses"]),
    prefix: "",
  },
];

/** Top-level keys of bodies that `separateIds` reads. */
export const CHOSEN_ID_KEYS = CHOSEN.map(({ key }) => key);

/**
 * Replicas get another id in place of one that the client has chosen, always the same one for the same tenant, and never that of another
 * tenant. Throws RouterError for a value that is no string.
 */
export function separateIds(run: Run, tenant: string): void {
  const { ticket, body } = run;
  for (const { key, apis, prefix } of CHOSEN) {
    if (!apis.has(ticket.api)) continue;
    const kind = body!.kind(key);
    if (kind === "missing" || kind === "null") continue;
    if (kind !== "string")
      throw new RouterError("invalid_value", `The value of "${key}" must be a string: the id of one request.`);
    const id = prefix + sha256(JSON.stringify([key, tenant, body!.text(key)]));
    run.write("auth", key, UTF8.encode(JSON.stringify(id)));
  }
}
