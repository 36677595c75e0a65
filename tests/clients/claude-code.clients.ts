/** `claude -p`, with the router's key as a bearer token, as `x-api-key`, and beside one of another server. */
import { join } from "node:path";
import { it } from "node:test";
import { type Agent, agentTests, answered } from "./agent.ts";
import { binOf } from "./client.ts";
import { assertServed, KEY, MODEL } from "./stack.ts";

const OTHER = "sk-left-of-another-server";
const PATH = "/v1/messages";

const KEYS = [
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
    command: [binOf(dir, "claude"), "-p", prompt, "--model", MODEL, "--output-format", "json"],
    env: {
      ...keys,
      ANTHROPIC_BASE_URL: url,
      CLAUDE_CONFIG_DIR: join(home, "claude"),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  }),
  answerIn(out) {
    const { result, is_error: isError } = JSON.parse(out) as { result: string; is_error: boolean };
    return isError ? "" : result;
  },
  more(dir, engine, stackOf) {
    for (const [how, shown] of KEYS) {
      it(`shows its key ${how}`, async () => {
        const question = { dir, stack: stackOf(), prompt: "Say hello", hasWords: engine.isMock };
        assertServed(await answered(claudeCode(shown), question), PATH);
      });
    }
  },
});

agentTests(claudeCode(KEYS[0][1]));
