/** Agents: programs that ask a model again and again until it calls no more tools. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ClientRun, inHome, runClient, withClients } from "./client.ts";
import { assertServed, linesSince, type ServedLine, type Stack, stacks } from "./stack.ts";

export interface Agent {
  readonly name: string;
  /** The path that it asks. */
  readonly path: string;
  /** A prompt with the name of one of its tools, which the mock then calls. */
  readonly toolPrompt: string;
  /** How many requests it makes for an answer without tools. */
  readonly requests: number;
  /** Writes its settings into the home, and says how it is run for a prompt. */
  run(dir: string, home: string, url: string, prompt: string): ClientRun;
  /** The model's last words in what it printed. */
  answerIn(out: string): string;
  /** Declares more tests. */
  more?(dir: string, stack: Stack): void;
}

/** Declares what holds for every agent: it prints the answer, and with the mock, which does as it is told, a tool's result goes back. */
export function agentTests(agent: Agent): void {
  withClients(agent.name, (dir) => {
    for (const stack of stacks()) {
      describe(`${agent.name}, through the router to ${stack.name}`, () => {
        it("prints the answer", async () => {
          const lines = await answered(agent, { dir, stack, prompt: "Say hello", hasWords: stack.isMock });
          assertServed(servedBy(agent, lines), agent.path);
        });
        if (stack.isMock) {
          it("uses a tool that the model calls, and prints the answer to its result", async () => {
            const lines = await answered(agent, { dir, stack, prompt: agent.toolPrompt, hasWords: true }, agent.requests + 1);
            const served = servedBy(agent, lines);
            assertServed(served, agent.path);
            assert.ok(served.length >= 2, "No result of a tool came back");
          });
        }
        agent.more?.(dir, stack);
      });
    }
  });
}

interface Question {
  readonly dir: string;
  readonly stack: Stack;
  readonly prompt: string;
  /** The answer must have words of the mock. */
  readonly hasWords: boolean;
}

/** Runs the agent with a prompt; what it printed is checked, what the router logged of it, `count` lines or more, is returned. */
export async function answered(
  agent: Agent,
  { dir, stack, prompt, hasWords }: Question,
  count = agent.requests,
): Promise<readonly ServedLine[]> {
  const from = stack.lines().length;
  const { code, out, err } = await inHome((home) => runClient(home, agent.run(dir, home, stack.url, prompt)));
  const said = `${agent.name} ended with ${code}:\n${out.slice(-2000)}\n${err.slice(-2000)}`;
  assert.equal(code, 0, said);
  const answer = agent.answerIn(out);
  assert.ok(answer.length > 0, said);
  if (hasWords) assert.match(answer, /\b(platform|train|signal|stop|doors|mile|north)\b/, said);
  return linesSince(stack, from, count);
}

function servedBy({ path }: Agent, lines: readonly ServedLine[]): readonly ServedLine[] {
  const others = lines.filter((line) => line.path !== path || line.method !== "POST");
  for (const { status, ...line } of others) assert.ok([200, 426].includes(status), JSON.stringify(line));
  return lines.filter((line) => !others.includes(line));
}
