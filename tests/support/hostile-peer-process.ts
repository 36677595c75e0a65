/**
 * A peer that sends at full speed, as a process of its own: to the port in its first argument, and to whoever connects to the port that it
 * prints. On the port in its second argument it sends a byte, waits for it to come back, and sends the next one.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

const [floodPort, echoPort] = process.argv.slice(-2).map(Number);
const block = Buffer.alloc(256 * 1024, "x");

function pour(socket: Socket): void {
  const more = () => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on("error", () => socket.destroy());
  socket.on("drain", more);
  more();
}

const echo = connect({ port: echoPort!, host: "127.0.0.1", noDelay: true });
echo.on("data", (bytes) => void echo.write(bytes));
echo.on("error", () => process.exit());
echo.on("close", () => process.exit());
echo.write("x");
const server = createServer(pour);
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
if (floodPort! > 0) pour(connect({ port: floodPort!, host: "127.0.0.1" }));
