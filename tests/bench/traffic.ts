import { Buffer } from "node:buffer";

/** A whole request as bytes, with a place to write a number into that makes its prompt differ from all others. */
export interface Message {
  readonly bytes: Buffer;
  readonly numberAt: number;
}

export interface BodyShape {
  readonly bytes: number;
  /** Requests of one conversation share their first part. */
  readonly conversation: number;
  readonly isStream?: boolean;
  /** An escape every few characters, as in code inside of JSON, rather than every line. */
  readonly hasDenseEscapes?: boolean;
}

/** How the upstream streams. */
export interface Pace {
  readonly events: number;
  readonly intervalMs: number;
}

/** In each event of a stream once, and nowhere else: whoever counts events counts these. */
export const EVENT_MARK = 0x7e;

/** What clients ask for; the router makes it one of TARGETS. */
export const ASKED_MODEL = "food-review";
export const TARGETS: readonly string[] = ["food-review-v1", "food-review-v2"];

const NUMBER = "00000000";
const SYSTEM =
  'You review restaurants for a city guide.\nBe fair, be brief, and quote the guest ("like this").\nNever name a guest.\n' +
  "Answer in the guest's language; prices stay in €.\n";
const LINES: readonly string[] = [
  'The soup came late, and it was cold; the waiter said "that\'s how it is done here".\n',
  "On the second evening we ordered the menu of the house: five courses, all of them worth the walk.\n",
  "\tTable 4, by the window, is where you want to sit. Ask for Zoë, she knows the wines.\n",
  "We paid 64 € for two, which is little for what it was, and came back the week after with friends.\n",
];
const DENSE_LINE = 'if (c == "\\n") { print("\\t\\"x\\""); }\n';

/** A chat completion of about this size, after its head. */
export function chatMessage(shape: BodyShape): Message {
  const body = Buffer.from(chatBody(shape));
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nUser-Agent: bench/1\r\nAuthorization: Bearer sk-0123456789abcdef0123456789abcdef\r\nContent-Length: ${body.length}\r\n\r\n`;
  const bytes = Buffer.concat([Buffer.from(head), body]);
  return { bytes, numberAt: bytes.indexOf(NUMBER) };
}

/** Writes a number into the message, so that no two prompts are the same. */
export function renumber({ bytes, numberAt }: Message, number: number): void {
  bytes.write(String(number % 1e8).padStart(NUMBER.length, "0"), numberAt, "latin1");
}

/** The first 60 percent are the conversation so far, the number begins the rest. */
function chatBody({ bytes, conversation, isStream = false, hasDenseEscapes = false }: BodyShape): string {
  const history = `Conversation ${conversation}. ${text(bytes * 0.6, hasDenseEscapes)}`;
  const question = `Visit ${NUMBER}. ${text(bytes * 0.4, hasDenseEscapes)}`;
  return JSON.stringify({
    stream: isStream,
    model: ASKED_MODEL,
    messages: [
      { role: "system", content: SYSTEM },
      { role: "user", content: fitted(history, bytes * 0.6 - 260) },
      { role: "user", content: fitted(question, bytes * 0.4 - 160) },
    ],
    max_tokens: 100,
    temperature: 0.7,
  });
}

function text(bytes: number, hasDenseEscapes: boolean): string {
  const block = hasDenseEscapes ? DENSE_LINE : LINES.join("");
  return block.repeat(Math.ceil(bytes / block.length));
}

/** The text cut so that it takes about this many bytes inside of JSON. */
function fitted(whole: string, bytes: number): string {
  const sample = whole.slice(0, 2000);
  const bytesPerCharacter = Buffer.byteLength(JSON.stringify(sample)) / sample.length;
  return whole.slice(0, Math.max(24, Math.floor(bytes / bytesPerCharacter)));
}
