import type { Timed } from "../../core/wire/deadlines.ts";
import type { EppShared } from "./epp-shared.ts";
import { type Call, type CallReader, GRPC } from "./grpc/call.ts";
import { healthMessage, readHealthCheck } from "./messages.ts";

const SERVING = 1;
const NOT_SERVING = 2;

/** A call of the health service's `Check`, whose one message must come in time. */
export class HealthCheck implements CallReader, Timed {
  readonly #call: Call;
  readonly #shared: EppShared;
  readonly #isServing: (service: string) => boolean | undefined;
  readonly #deadlineMs: number;

  /** `isServing` is undefined for a service that there is not. */
  constructor(call: Call, shared: EppShared, isServing: (service: string) => boolean | undefined) {
    this.#call = call;
    this.#shared = shared;
    this.#isServing = isServing;
    this.#deadlineMs = shared.deadlines.nowMs + shared.limits.bodyTimeoutMs;
    shared.deadlines.add(this);
  }

  message(bytes: Buffer): void {
    const service = serviceIn(bytes);
    const isServing = service === undefined ? undefined : this.#isServing(service);
    if (service === undefined) return this.#end(GRPC.invalidArgument, "This is no message of the health service");
    if (isServing === undefined) return this.#end(GRPC.notFound, "There is no such service here");
    this.#call.send(healthMessage({ status: isServing ? SERVING : NOT_SERVING }));
    this.#end(GRPC.ok);
  }

  failed(): void {
    this.#end(GRPC.invalidArgument);
  }

  ended(): void {
    this.#end(GRPC.invalidArgument);
  }

  gone(): void {
    this.#shared.deadlines.delete(this);
  }

  drained(): void {}

  sweep(nowMs: number): void {
    if (nowMs >= this.#deadlineMs) this.#end(GRPC.deadlineExceeded, "No message came in time");
  }

  #end(status: number, message = ""): void {
    this.#shared.deadlines.delete(this);
    this.#call.end(status, message);
  }
}

function serviceIn(bytes: Buffer): string | undefined {
  try {
    return readHealthCheck(bytes).service ?? "";
  } catch {
    return undefined;
  }
}
