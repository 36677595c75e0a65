import type { Span } from "../../../core/contract/span.ts";
import { imageSpan, PromptWriter } from "./prompt-bytes.ts";
import type { TraceRequest } from "./trace.ts";

const FRONT = '{"model":';
const MIDDLE = ',"prompt":"';
const BACK = Buffer.from('"}');

/** Writes bodies of completion requests: the model and the prompt, and nothing else. */
export class BodyWriter {
  readonly #prompts: PromptWriter;
  readonly #fronts = new Map<string, Buffer>();
  #bytes = new Uint8Array(0);

  /** For the prompts of these requests. One body is held at a time. */
  constructor(requests: readonly TraceRequest[]) {
    this.#prompts = new PromptWriter(requests);
  }

  /** Returns the body's bytes; the next call overwrites them. */
  write(request: TraceRequest): Uint8Array {
    const front = this.#frontOf(request.model);
    const prompt = this.#prompts.write(request);
    const length = front.length + prompt.length + BACK.length;
    if (this.#bytes.length < length) this.#bytes = new Uint8Array(2 * length);
    this.#bytes.set(front);
    this.#bytes.set(prompt, front.length);
    this.#bytes.set(BACK, length - BACK.length);
    return this.#bytes.subarray(0, length);
  }

  /** Where the model's name is in the body, as a JSON string. */
  modelSpan({ model }: TraceRequest): Span {
    return [FRONT.length, this.#frontOf(model).length - MIDDLE.length];
  }

  /** Where the prompt is in the body of so many bytes, without its quotes. */
  promptSpan({ model }: TraceRequest, bodyBytes: number): Span {
    return [this.#frontOf(model).length, bodyBytes - BACK.length];
  }

  /** Where the prompt's image is in the body. */
  imageSpan(request: TraceRequest): Span {
    const before = this.#frontOf(request.model).length;
    const [start, end] = imageSpan(request);
    return [before + start, before + end];
  }

  #frontOf(model: string): Buffer {
    const known = this.#fronts.get(model);
    if (known !== undefined) return known;
    const front = Buffer.from(`${FRONT}${JSON.stringify(model)}${MIDDLE}`);
    this.#fronts.set(model, front);
    return front;
  }
}
