/**
 * A replica that refuses long requests early: it reads a little, writes a whole 413 and closes while the rest of the body is
 * under way; or it answers 200 to what it has not read. It is a process of its own, so that the close can come in the middle of a write. Prints its port; a request's
 * X-Way header says how it closes.
 */
import { createServer, type Socket } from "node:net";
import { jsonAnswer } from "./scripted-replica.ts";

const MODELS = jsonAnswer('{"object":"list","data":[{"id":"m","object":"model","created":1,"owned_by":"test"}]}');
const REFUSAL = jsonAnswer('{"error":{"code":"replica_refuses"}}', "413 Payload Too Large", "Connection: close\r\n");
const OK = jsonAnswer('{"object":"chat.completion","choices":[{"index":0}],"model":"m"}');
const HEAD_BYTES = REFUSAL.indexOf("\r\n\r\n");

const WAYS: Readonly<Record<string, (socket: Socket) => void>> = {
  early_ok(socket) {
    socket.pause();
    socket.write(OK);
  },
  close(socket) {
    socket.write(REFUSAL);
    socket.destroy();
  },
  half_close(socket) {
    socket.end(REFUSAL);
    setImmediate(() => socket.destroy());
  },
  in_two_pieces(socket) {
    socket.write(REFUSAL.slice(0, HEAD_BYTES));
    setImmediate(() => {
      socket.write(REFUSAL.slice(HEAD_BYTES));
      socket.destroy();
    });
  },
};

const server = createServer({ noDelay: true }, (socket) => {
  let isRefused = false;
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    if (isRefused) return;
    if (chunk.toString("latin1", 0, 4) === "GET ") return void socket.write(MODELS);
    isRefused = true;
    const way = /^x-way: (\w+)\r$/im.exec(chunk.toString("latin1", 0, 4_096))?.[1] ?? "";
    WAYS[way]?.(socket);
  });
});
server.listen({ host: "127.0.0.1", port: 0 }, () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" && address !== null ? address.port : 0}\n`);
});
