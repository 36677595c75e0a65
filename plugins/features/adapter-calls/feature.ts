import { defineFeature } from "../../../core/contract/plugin.ts";
import type { RouterHost } from "../../../core/router-host.ts";
import type { Run } from "../../../core/run.ts";
import { AdapterCalls } from "./adapter-calls.ts";

/** A name and a path are short. */
const BODY_BYTES = 64 * 1024;

/** The engines' paths for adapters: clients have all replicas load and unload them, where the config lets them. */
export default defineFeature({
  type: "adapter-calls",
  summary: "Lets clients load and unload adapters on all replicas by the engines' own paths, where the config allows it.",
  runsByDefault: true,
  create(_options, host) {
    const { adapters, log } = host as RouterHost;
    const calls = host.keep(1, () => new AdapterCalls(adapters, log));
    const route = (action: "load" | "unload") => ({
      method: "POST" as const,
      path: `/v1/${action}_lora_adapter`,
      bodyBytes: BODY_BYTES,
      answer: (run: Run) => calls.answer(action, run),
    });
    return { routes: [route("load"), route("unload")] };
  },
});
