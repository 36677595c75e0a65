/** `codex exec`: it tries a WebSocket first, unless its provider is one of the user's own. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { type Agent, agentTests, answered } from "./agent.ts";
import { binOf, type ClientRun } from "./client.ts";
import { documentedSettings } from "./documented.ts";
import { KEY, MODEL, type Stack } from "./stack.ts";

/** The provider that Codex has by itself, at another address: WebSocket first. */
const OWN = { requests: 2, settings: (url: string) => `model = "${MODEL}"\nopenai_base_url = "${url}/v1"\n` };
/** A provider of the user's. */
const USERS = { requests: 1, settings: (url: string) => `${documentedSettings('model = "food-review"', url)}\n` };

/** With these on, it waits for seconds at its end where it can't reach anyone. */
const QUIET = "[analytics]\nenabled = false\n";

const codex = ({ requests, settings }: typeof OWN): Agent => ({
  name: "Codex",
  requests,
  path: "/v1/responses",
  toolPrompt: "Use exec_command",
  run: (dir, home, url, prompt) => runOf(dir, home, settings(url) + QUIET, prompt),
  answerIn: lastMessage,
  more(dir, stack) {
    if (!stack.isMock) return;
    const ask = (stack: Stack, agent: Agent) => answered(agent, { dir, stack, prompt: "Say hello", hasWords: true });

    it("tries a WebSocket once: 426 has it ask over HTTP at once", async () => {
      const lines = await ask(stack, codex(OWN));
      assert.deepEqual(
        lines.map(({ method, path, status, error }) => [method, path, status, error]),
        [
          ["GET", "/v1/responses", 426, "upgrade_required"],
          ["POST", "/v1/responses", 200, ""],
        ],
      );
    });

    it("asks over HTTP alone as a provider of the user's", async () => {
      const lines = await ask(stack, codex(USERS));
      assert.deepEqual(
        lines.map(({ method, path, status }) => [method, path, status]),
        [["POST", "/v1/responses", 200]],
      );
    });
  },
});

agentTests(codex(OWN));

function runOf(dir: string, home: string, config: string, prompt: string): ClientRun {
  const codexHome = join(home, "codex");
  mkdirSync(codexHome);
  writeFileSync(join(codexHome, "config.toml"), config);
  return {
    command: [binOf(dir, "codex"), "exec", "--json", "--skip-git-repo-check", prompt],
    env: { CODEX_HOME: codexHome, CODEX_API_KEY: KEY, SIGNALBOX_KEY: KEY },
  };
}

interface CodexEvent {
  readonly type: string;
  readonly item?: { readonly type: string; readonly text?: string };
}

function lastMessage(out: string): string {
  const events = out
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as CodexEvent);
  assert.ok(events.some(({ type }) => type === "turn.completed"));
  return events.findLast(({ item }) => item?.type === "agent_message")?.item?.text ?? "";
}
