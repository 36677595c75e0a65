/** `claude -p`, with the router's key as a bearer token, as `x-api-key`, and beside one of another server. */
import { join } from "node:path";
import { it } from "node:test";
import { type Agent, agentTests, answered } from "./agent.ts";
import { binOf } from "./client.ts";
import { documentedSettings } from "./documented.ts";
import { assertServed, KEY } from "./stack.ts";

const OTHER = "sk-left-of-another-server";
const PATH = "/v1/messages";

const KEYS = [
  ["as documented, as a bearer token", {}],
  ["as a bearer token, with another key beside it", { ANTHROPIC_AUTH_TOKEN: KEY, ANTHROPIC_API_KEY: OTHER }],
  ["as x-api-key, with another token beside it", { ANTHROPIC_AUTH_TOKEN: OTHER, ANTHROPIC_API_KEY: KEY }],
  ["as x-api-key alone", { ANTHROPIC_API_KEY: KEY }],
] as const;

const claudeCode = (keys: Readonly<Record<string, string>>): Agent => ({
  name: "Claude Code",
  requests: 1,
  path: PATH,
  toolPrompt: "Use Bash",
  run: (dir, home, url, prompt) => ({
    command: [binOf(dir, "claude"), "-p", prompt, "--output-format", "json"],
    env: {
      ...documentedVariables(url, Object.keys(keys).length > 0),
      ...keys,
      CLAUDE_CONFIG_DIR: join(home, "claude"),
    },
  }),
  answerIn(out) {
    const { result, is_error: isError } = JSON.parse(out) as { result: string; is_error: boolean };
    return isError ? "" : result;
  },
  more(dir, stack) {
    if (!stack.isMock) return;
    for (const [how, shown] of KEYS) {
      it(`shows its key ${how}`, async () => {
        const question = { dir, stack, prompt: "Say hello", hasWords: true };
        assertServed(await answered(claudeCode(shown), question), PATH);
      });
    }
  },
});

/** Without the documented key where a test has keys of its own. */
function documentedVariables(url: string, hasKeys: boolean): Record<string, string> {
  const lines = documentedSettings("ANTHROPIC_BASE_URL=", url).split("\n");
  const variables = lines.map((line) => line.split("=", 2)).filter(([name]) => !hasKeys || name !== "ANTHROPIC_AUTH_TOKEN");
  return Object.fromEntries(variables);
}

agentTests(claudeCode(KEYS[1][1]));
