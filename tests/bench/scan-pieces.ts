/**
 * The longest piece of event-loop time that a body of 32 MiB takes, over all its reads and turns, best of several bodies:
 *
 *     node --import tsx tests/bench/scan-pieces.ts     deno run -A tests/bench/scan-pieces.ts     bun tests/bench/scan-pieces.ts
 */
import { ScanTurns } from "../../core/body/scan-turns.ts";
import { systemClock } from "../../core/contract/clock.ts";
import { intake } from "../../core/intake/intake.ts";
import { MemoryParts } from "../support/memory-parts.ts";
import { RecordedResponse } from "../support/recorded-response.ts";
import { requestHead } from "../support/wire-heads.ts";

const BYTES = 32 * 2 ** 20;
const READ_BYTES = 64 * 1024;
const ROUNDS = 8;

const filled = (head: string, piece: string, tail: string) =>
  Buffer.from(head + piece.repeat(Math.floor((BYTES - 100) / piece.length)) + tail);
const BODIES: Readonly<Record<string, Buffer>> = {
  'members ,"\\u006d":1': filled('{"model":"m","messages":[{"role":"user","content":"x"}]', ',"\\u006d":1', "}"),
  "short turns": filled('{"model":"m","messages":[', '{"role":"user","content":"yes"},', '{"role":"user","content":"x"}]}'),
  "plain text": filled('{"model":"m","messages":[{"role":"user","content":"', "Some words of a long text. ", '"}]}'),
};

for (const [name, body] of Object.entries(BODIES)) {
  const longest: number[] = [];
  for (let round = 0; round < ROUNDS; round++) longest.push(longestPieceMs(body));
  const [best = 0] = longest.toSorted((a, b) => a - b);
  console.log(`${name.padEnd(22)} longest piece ${best.toFixed(1)} ms (the first body: ${longest[0]?.toFixed(1)} ms)`);
}

function longestPieceMs(body: Buffer): number {
  const plane = new MemoryParts();
  const turns: (() => void)[] = [];
  Object.assign(plane, { scanTurns: new ScanTurns(systemClock, (run) => void turns.push(run)) });
  const response = new RecordedResponse();
  const head = requestHead(["Content-Type: application/json"], "POST /v1/chat/completions HTTP/1.1");
  const receiver = intake(plane)(head, body.length, response, "192.0.2.1");
  let longestMs = 0;
  const piece = (run: () => void) => {
    const fromMs = performance.now();
    const before = process.cpuUsage();
    run();
    const wallMs = performance.now() - fromMs;
    const { user, system } = process.cpuUsage(before);
    // On a busy machine the process waits for a processor, which is nobody's piece.
    longestMs = Math.max(longestMs, Math.min(wallMs, (user + system) / 1000));
  };
  for (let at = 0; at < body.length; at += READ_BYTES) {
    piece(() => receiver.body(body, at, Math.min(body.length, at + READ_BYTES)));
    while (response.isBodyHeld) piece(turns.shift()!);
  }
  piece(() => receiver.bodyEnd());
  while (turns.length > 0) piece(turns.shift()!);
  receiver.clientGone();
  return longestMs;
}
