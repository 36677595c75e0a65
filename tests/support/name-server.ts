import { createSocket } from "node:dgram";

interface SrvRecord {
  readonly target: string;
  readonly port: number;
}

/** What the name server knows of one name; a name without an entry does not exist. */
interface Records {
  readonly ttl: number;
  readonly A?: readonly string[];
  /** As eight groups of hexadecimal digits. */
  readonly AAAA?: readonly string[];
  readonly SRV?: readonly SrvRecord[];
}

export interface NameServer {
  /** "127.0.0.1:PORT". */
  readonly address: string;
  /** By name, in lower case; the test changes it at will. */
  readonly names: Map<string, Records>;
  /** What it does with questions: gives the records, says that it failed, or says nothing. */
  mode: "answer" | "fail" | "silent";
  /** Questions so far, as "A name". */
  readonly asked: readonly string[];
  close(): void;
}

const TYPES = { A: 1, AAAA: 28, SRV: 33 } as const;
type Type = keyof typeof TYPES;
const SERVER_FAILURE = 2;
const NO_SUCH_NAME = 3;

/** A name server on loopback (RFC 1035, RFC 2782): one question in a message, answers over UDP only. */
export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket("udp4");
  const names = new Map<string, Records>();
  const asked: string[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(0, "127.0.0.1", () => resolve(socket.address().port));
  });
  const server = {
    address: `127.0.0.1:${port}`,
    names,
    mode: "answer" as NameServer["mode"],
    asked,
    close: () => void socket.close(),
  };
  socket.on("message", (message, from) => {
    const { name, type, end } = readQuestion(message);
    asked.push(`${type ?? "other"} ${name}`);
    if (server.mode === "silent") return;
    const records = names.get(name.toLowerCase());
    const answers = server.mode === "fail" || records === undefined || type === undefined ? [] : answersOf(records, type);
    const code = server.mode === "fail" ? SERVER_FAILURE : records === undefined ? NO_SUCH_NAME : 0;
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8580 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answers.length, 6);
    socket.send(Buffer.concat([head, message.subarray(12, end), ...answers]), from.port, from.address);
  });
  return server;
}

function readQuestion(message: Buffer): { name: string; type: Type | undefined; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const code = message.readUInt16BE(at + 1);
  const type = (Object.keys(TYPES) as Type[]).find((each) => TYPES[each] === code);
  return { name: labels.join("."), type, end: at + 5 };
}

function answersOf({ ttl, A = [], AAAA = [], SRV = [] }: Records, type: Type): Buffer[] {
  const data = {
    A: () => A.map((address) => Buffer.from(address.split(".").map(Number))),
    AAAA: () =>
      AAAA.map((address) =>
        Buffer.from(
          address
            .split(":")
            .map((group) => group.padStart(4, "0"))
            .join(""),
          "hex",
        ),
      ),
    SRV: () =>
      SRV.map(({ target, port }) => Buffer.concat([Buffer.from([0, 0, 0, 0, port >> 8, port & 255]), nameBytes(target)])),
  }[type]();
  return data.map((bytes) => {
    const head = Buffer.alloc(12);
    // The name of the question, by a pointer to it.
    head.writeUInt16BE(0xc00c, 0);
    head.writeUInt16BE(TYPES[type], 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt32BE(ttl, 6);
    head.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([head, bytes]);
  });
}

function nameBytes(name: string): Buffer {
  return Buffer.concat([
    ...name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, "latin1")])),
    Buffer.from([0]),
  ]);
}
