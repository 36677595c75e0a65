/** What tests/support/black-hole.ts starts: a replica with a backlog of one that never answers a POST. */
import { createServer } from "node:net";
import { jsonAnswer } from "./scripted-replica.ts";

const MODELS = jsonAnswer('{"object":"list","data":[{"id":"m","object":"model","created":1,"owned_by":"test"}]}');

const server = createServer((socket) => {
  socket.on("error", () => {});
  socket.on("data", (chunk) => void (chunk.toString("latin1").startsWith("GET ") && socket.write(MODELS)));
});
server.listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" && address !== null ? address.port : 0}\n`);
});
