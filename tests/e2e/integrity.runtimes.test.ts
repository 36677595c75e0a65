import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { openClient, postBytes } from "../support/raw-client.ts";
import { assertIdle, CHAT, chatPost, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const LANES = 16;
const PER_LANE = 8;
const SIZES = [50, 5_000, 20_000, 70_000, 300_000, 1_000_000];
/** More than the kernel takes from a sender whose reader stands still, so that the router must keep some of it. */
const HUGE = 9_000_000;
const STANDSTILL_MS = 500;
/** Each of the first lanes has one of these, at this place in its turn. */
const HUGE_LANES = 6;
const HUGE_TURN = 5;
const SEED = 7;

/** Text that belongs to one request and no other. */
const textOf = (id: string, bytes: number) => `${id};`.repeat(Math.ceil(bytes / (id.length + 1))).slice(0, bytes);
const eventsOf = (id: string, bytes: number) => {
  const events: string[] = [];
  for (let left = bytes; left > 0; left -= 9_000)
    events.push(`data: ${textOf(`${id}.${events.length}`, Math.min(left, 9_000))}\n\n`);
  return events;
};

describe("a stream of events that comes byte by byte", () => {
  const framings: readonly { readonly name: string; readonly head: string; readonly piece: (byte: string) => string }[] = [
    { name: "each a chunk", head: STREAM_HEAD, piece: chunkOf },
    {
      name: "a body that ends with the connection",
      head: STREAM_HEAD.replace(/Transfer-Encoding.*\r\n/, ""),
      piece: (byte) => byte,
    },
  ];
  for (const { name, head, piece } of framings) {
    it(`${name}: is handed on event by event`, { timeout: 30_000 }, async () => {
      const sockets: Socket[] = [];
      const { router } = await setUp([
        (_request, socket) => {
          sockets.push(socket);
          socket.write(head);
        },
      ]);
      const client = await openClient(router.port);
      client.send(chatPost(STREAM));
      await client.until((text) => text.includes("\r\n\r\n"));
      let sent = "";
      for (const byte of "event: é\r\ndata: 1\n\n: ping\n\ndata: [DONE]\n\n") {
        sockets[0]!.write(piece(byte));
        sent += Buffer.from(byte).toString("latin1");
        // The next event is sent only when this one has come.
        if (sent.endsWith("\n\n")) await client.until((text) => wholeAnswer(text).body === sent);
      }
      client.destroy();
    });
  }
});

describe("many requests and streams at once, with ends that read by fits and starts", () => {
  it("each get their own bytes, all of them, in order", { timeout: 120_000 }, async () => {
    const random = seededRandom(SEED);
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
    /** Every now and then the socket does not read for a moment, and once for long. */
    const hesitate = (socket: Socket) => {
      let reads = 0;
      socket.on("data", () => {
        reads += 1;
        if (reads !== 50 && random() > 0.15) return;
        socket.pause();
        setTimeout(() => socket.resume(), reads === 50 ? STANDSTILL_MS : random() * 10);
      });
    };
    const hesitant = new Set<Socket>();
    const wrong: string[] = [];
    const script: Script = (request, socket) => {
      if (!hesitant.has(socket)) hesitate(socket);
      hesitant.add(socket);
      const id = request.headers.get("x-request-id") ?? "";
      const [asked, answered] = (request.headers.get("x-sizes") ?? "").split(",").map(Number);
      if (request.body.toString("latin1") !== bodyOf(id, asked!)) wrong.push(`the body of ${id}`);
      const events = eventsOf(id, answered!);
      const pieces = random() < 0.5 ? wholeChunks(events) : anyPieces(events, random);
      // Each as one read of the router's, or nearly so.
      const more = () => {
        const piece = pieces.shift();
        if (piece === undefined) return;
        socket.write(piece);
        setImmediate(more);
      };
      more();
    };
    const { router } = await setUp([script, script]);

    const lane = async (number: number) => {
      const socket = connect({ port: router.port, host: "127.0.0.1", noDelay: true });
      socket.on("error", () => {});
      hesitate(socket);
      for (let i = 0; i < PER_LANE; i++) {
        const id = `lane${number}-${i}`;
        const isHuge = number < HUGE_LANES && i === HUGE_TURN;
        const asked = isHuge && number % 2 === 0 ? HUGE : pick(SIZES);
        const answered = isHuge && number % 2 === 1 ? HUGE : pick(SIZES);
        const answer = answerOn(socket);
        socket.write(postBytes(CHAT, bodyOf(id, asked), `X-Request-Id: ${id}\r\nX-Sizes: ${asked},${answered}\r\n`));
        const { status, body, isComplete } = wholeAnswer(await answer);
        if (status !== 200 || !isComplete || body !== eventsOf(id, answered).join("")) wrong.push(`the answer of ${id}`);
      }
      socket.destroy();
    };
    await Promise.all(Array.from({ length: LANES }, (_, n) => lane(n)));
    assert.deepEqual(wrong, []);
    assert.equal(router.log.length, LANES * PER_LANE);
    await assertIdle(router);
  });
});

/** A stream in pieces that begin and end where chunks do. */
function wholeChunks(events: readonly string[]): string[] {
  return [STREAM_HEAD, ...events.map(chunkOf), LAST_CHUNK];
}

/** The same in pieces that know nothing of chunks. */
function anyPieces(events: readonly string[], random: () => number): string[] {
  const framed = STREAM_HEAD + events.map(chunkOf).join("") + LAST_CHUNK;
  const pieces: string[] = [];
  for (let at = 0; at < framed.length; at += pieces.at(-1)!.length)
    pieces.push(framed.slice(at, at + 1 + Math.floor(random() * 20_000)));
  return pieces;
}

function bodyOf(id: string, bytes: number): string {
  return `{"model":"m","stream":true,"messages":[{"role":"user","content":"${textOf(id, bytes)}"}]}`;
}

/** Everything up to the last chunk, or to the end of the connection. */
function answerOn(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const settle = () => {
      socket.removeListener("data", read);
      socket.removeListener("close", settle);
      resolve(Buffer.concat(chunks).toString("latin1"));
    };
    const read = (chunk: Buffer) => {
      chunks.push(chunk);
      const tail =
        chunk.length >= LAST_CHUNK.length || chunks.length === 1 ? chunk : Buffer.concat(chunks.slice(-LAST_CHUNK.length));
      if (tail.toString("latin1", Math.max(0, tail.length - LAST_CHUNK.length)) === LAST_CHUNK) settle();
    };
    socket.on("data", read);
    socket.on("close", settle);
  });
}
