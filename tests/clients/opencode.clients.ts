/** `opencode run`, with the router as a provider of the user's. It asks for a title beside the answer. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentTests } from "./agent.ts";
import { binOf } from "./client.ts";
import { documentedSettings } from "./documented.ts";

agentTests({
  name: "OpenCode",
  requests: 2,
  path: "/v1/chat/completions",
  toolPrompt: "Use glob",
  run(dir, home, url, prompt) {
    writeFileSync(join(home, "work", "opencode.json"), documentedSettings("{", url));
    return {
      command: [binOf(dir, "opencode"), "run", prompt],
      env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    };
  },
  answerIn: (out) => out.trim(),
});
