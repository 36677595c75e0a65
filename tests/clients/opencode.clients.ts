/** `opencode run`, with the router as a provider of the user's. It asks for a title beside the answer. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentTests } from "./agent.ts";
import { binOf } from "./client.ts";
import { KEY, MODEL } from "./stack.ts";

agentTests({
  name: "OpenCode",
  requests: 2,
  path: "/v1/chat/completions",
  toolPrompt: "Use glob",
  run(dir, home, url, prompt) {
    writeFileSync(join(home, "work", "opencode.json"), JSON.stringify(configOf(url)));
    return {
      command: [binOf(dir, "opencode"), "run", prompt],
      env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    };
  },
  answerIn: (out) => out.trim(),
});

function configOf(url: string) {
  const model = `signalbox/${MODEL}`;
  const options = { baseURL: `${url}/v1`, apiKey: KEY };
  const provider = { npm: "@ai-sdk/openai-compatible", name: "Signalbox", options, models: { [MODEL]: { name: MODEL } } };
  return { autoupdate: false, share: "disabled", model, small_model: model, provider: { signalbox: provider } };
}
