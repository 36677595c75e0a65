import { PbfReader, PbfWriter } from "pbf";
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  type ProcessingRequest,
  type ProcessingResponse,
  readHealthCheckRequest,
  readProcessingRequest,
  writeHealthCheckResponse,
  writeProcessingResponse,
} from "./ext-proc.ts";
import { MESSAGE_HEADROOM } from "./grpc/call.ts";

/** What a message takes around its body, mostly. */
const AROUND_BODY_BYTES = 64;
/** A body is sent in pieces of this size: some gateways take no more than 64 KiB in one message. */
export const PIECE_BYTES = 60 * 1024;

/** Throws for bytes that are no message. Byte fields are parts of `bytes`. */
export function readRequest(bytes: Uint8Array): ProcessingRequest {
  return whole(bytes, readProcessingRequest);
}

export function readHealthCheck(bytes: Uint8Array): HealthCheckRequest {
  return whole(bytes, readHealthCheckRequest);
}

/** The reader goes on behind the end, as if there were something, where a length says more than there is. */
function whole<Message>(bytes: Uint8Array, read: (reader: PbfReader) => Message): Message {
  const reader = new PbfReader(bytes);
  const message = read(reader);
  if (reader.pos !== reader.length) throw new RangeError("a message that is cut");
  return message;
}

/** `bodyBytes`: about how long it will be. */
export function responseMessage(response: ProcessingResponse, bodyBytes = 0): Buffer {
  const writer = writerFor(bodyBytes);
  writeProcessingResponse(response, writer);
  return messageOf(writer);
}

export function healthMessage(response: HealthCheckResponse): Buffer {
  const writer = writerFor(0);
  writeHealthCheckResponse(response, writer);
  return messageOf(writer);
}

/** A part of a body that passes through as a stream. */
export function pieceMessage(which: "request_body" | "response_body", body: Uint8Array, isEnd: boolean): Buffer {
  const streamed_response = { body, end_of_stream: isEnd };
  return responseMessage({ [which]: { response: { body_mutation: { streamed_response } } } }, body.length);
}

function writerFor(bodyBytes: number): PbfWriter {
  const writer = new PbfWriter(Buffer.allocUnsafe(MESSAGE_HEADROOM + AROUND_BODY_BYTES + bodyBytes));
  writer.pos = MESSAGE_HEADROOM;
  return writer;
}

function messageOf({ buf, pos }: PbfWriter): Buffer {
  return Buffer.from(buf.buffer, buf.byteOffset, pos);
}
