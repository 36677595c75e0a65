import { CommandError, type Input, print } from "../../../config/command.ts";
import type { z } from "../../../core/contract/options.ts";
import type { historySchema, rolledBackSchema } from "../../admin/api/config-history.ts";
import { askAdmin, changeThroughAdmin } from "../admin/ask-admin.ts";
import { numberArgument } from "../frame/usage.ts";
import { colouredChanges } from "../show/colour.ts";

type History = z.infer<typeof historySchema>;
type RolledBack = z.infer<typeof rolledBackSchema>;

/** `signalbox config history`. Returns the exit code. */
export async function configHistory(input: Input): Promise<number> {
  const history = await askAdmin<History>(input, "/api/v1/config/history");
  return print(input, history, () => colouredChanges(input.asCalled(historyText(history))));
}

/** `signalbox config rollback`. Returns the exit code. */
export async function configRollback(input: Input, word: string | undefined): Promise<number> {
  const history = await askAdmin<History>(input, "/api/v1/config/history");
  const generation = word === undefined ? generationBefore(history) : numberArgument("GENERATION", word, 1, 1e9, true);
  const body = { generation, write: input.has("write") };
  // Somebody else's change since then is not undone unseen.
  const version = String(history.generation);
  const result = await changeThroughAdmin<RolledBack>(input, "POST", "/api/v1/config/rollback", body, version);
  return print(input, result, () => colouredChanges(input.asCalled(resultText(generation, body.write, result))));
}

/**
 * The one before that which runs; after a rollback, the one before that which came back, so that one more goes one further back. Throws a
 * CommandError where none is kept.
 */
export function generationBefore({ generations, generation }: History): number {
  const restoredBy = (one: number) => generations.find((each) => each.generation === one)?.restored ?? undefined;
  let own = generation;
  for (let from = restoredBy(own); from !== undefined; from = restoredBy(own)) own = from;
  const before = generations.find((each) => each.generation < own);
  if (before === undefined) throw new CommandError(1, NO_EARLIER);
  return before.generation;
}

const NO_EARLIER = "No earlier config is kept; a router remembers the last ones since its start (signalbox config history).";

function historyText({ generation, restored, generations }: History): string {
  const lines = generations.flatMap((each) => [
    `${each.generation === generation ? "*" : " "} ${each.generation}  ${each.time}  ${originText(each)}`,
    ...each.changes.map((change) => `      ${change}`),
  ]);
  const note = `Generation ${restored} runs instead of what the files say; signalbox config rollback ${generation} --write puts it into them, signalbox reload ends it.`;
  return `${[...lines, ...(restored === null ? [] : [note])].join("\n")}\n`;
}

function originText({ cause, by, restored }: History["generations"][number]): string {
  const what = restored === null ? cause : `back to ${restored}`;
  return by === "" ? what : `${what}, by ${by}`;
}

function resultText(asked: number, isWrite: boolean, { generation, changes, written }: RolledBack): string {
  const what =
    changes.length === 0
      ? "nothing was different"
      : `it is generation ${generation} now${changes.map((each) => `\n  ${each}`).join("")}`;
  const where = written.length === 0 ? "" : `\nwritten to ${written.join(", ")}`;
  const note = isWrite ? "" : "\nThe files stay as they are, and apply when they are read again: --write puts it into them.";
  return `Generation ${asked} runs: ${what}${where}${note}\n`;
}
