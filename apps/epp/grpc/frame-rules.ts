import { checkSize, FLAG, protocolError, TYPE } from "./frames.ts";

/** Whose frames they are, and how long they are. */
interface FrameRule {
  readonly of: "connection" | "stream" | "both";
  /** Exactly so many bytes, if the type says so; otherwise at least so many. */
  readonly bytes?: number;
  readonly leastBytes?: number;
}

const RULES: Readonly<Record<number, FrameRule>> = {
  [TYPE.data]: { of: "stream" },
  [TYPE.headers]: { of: "stream" },
  [TYPE.priority]: { of: "stream", bytes: 5 },
  [TYPE.rstStream]: { of: "stream", bytes: 4 },
  [TYPE.settings]: { of: "connection" },
  [TYPE.ping]: { of: "connection", bytes: 8 },
  [TYPE.goaway]: { of: "connection", leastBytes: 8 },
  [TYPE.windowUpdate]: { of: "both", bytes: 4 },
  [TYPE.continuation]: { of: "stream" },
};

/** Throws ConnectionError for a frame that no peer may send, whatever went before (RFC 9113, 6). */
export function checkFrame(type: number, flags: number, stream: number, bytes: number): void {
  if (type === TYPE.pushPromise) throw protocolError("A client can't push");
  const rule = RULES[type];
  if (rule === undefined) return;
  if (rule.of !== "both" && (rule.of === "connection") !== (stream === 0))
    throw protocolError(`A frame that may only be of a ${rule.of}`);
  checkSize(rule.bytes === undefined ? bytes >= (rule.leastBytes ?? 0) : bytes === rule.bytes);
  if (type === TYPE.settings && flags & FLAG.ack) checkSize(bytes === 0);
}
