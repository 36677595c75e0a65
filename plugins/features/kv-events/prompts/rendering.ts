import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import type { PostText } from "../../../../core/pool/engine-wire.ts";

/** A prompt whose tokens are wanted. */
export interface TokenQuestion {
  readonly endpoint: Endpoint;
  /** The path of its request. */
  readonly path: string;
  /** The body that the replica got. */
  readonly body: string;
  learned(tokens: readonly number[]): void;
}

/** APIs of which vLLM renders a request to tokens, with the engine's own chat template, at the same path with "/render" behind it. */
const RENDERED: ReadonlySet<string> = new Set(["/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses"]);
/** Its requests have the tokens. */
const GENERATE = "/inference/v1/generate";

const BOUNDS = { timeoutMs: 5_000, maxBytes: 1024 * 1024 };
/** Longer ones take too long to read in one go. */
export const MOST_BODY_BYTES = 256 * 1024;
/** Questions that wait; what comes beyond it is not asked. */
const MOST_WAITING = 64;
/** To one replica at a time; to all of them. */
const MOST_ASKED = 4;
/** A replica that can't render is not asked again for so long. */
const REST_MS = 300_000;
const CANNOT: ReadonlySet<number> = new Set([404, 405, 501]);
/** One that did not answer, for so long. */
const SHORT_REST_MS = 10_000;

/** Learns the tokens of prompts: from the request itself, or by asking a replica, beside the requests, which never wait for it. */
export class Rendering {
  readonly counts = { learned: 0, failed: 0, dropped: 0 };
  readonly #post: PostText;
  readonly #now: () => number;
  #waiting: TokenQuestion[] = [];
  /** Names of the endpoints that are asked now. */
  readonly #asked = new Set<string>();
  /** By endpoint and path: until when it is not asked. */
  readonly #resting = new Map<string, number>();

  constructor(post: PostText, now: () => number) {
    this.#post = post;
    this.#now = now;
  }

  /** Whether the tokens of such a request can be learned. */
  knows(path: string, endpoint: Endpoint): boolean {
    if (path === GENERATE) return true;
    if (!RENDERED.has(path)) return false;
    const restsUntilMs = this.#resting.get(`${endpoint.name} ${path}`);
    return restsUntilMs === undefined || this.#now() >= restsUntilMs;
  }

  ask(question: TokenQuestion): void {
    if (question.path === GENERATE) return this.#learn(question, () => tokensOfRequest(question.body));
    if (this.#waiting.length >= MOST_WAITING) {
      this.counts.dropped += 1;
      return;
    }
    this.#waiting.push(question);
    this.#next();
  }

  /** Drops what waits, also about replicas that are gone. */
  clear(): void {
    this.#waiting = [];
    this.#resting.clear();
  }

  #next(): void {
    if (this.#asked.size >= MOST_ASKED) return;
    const at = this.#waiting.findIndex(({ endpoint }) => !this.#asked.has(endpoint.name));
    if (at < 0) return;
    const [question] = this.#waiting.splice(at, 1);
    this.#send(question!);
    this.#next();
  }

  #send(question: TokenQuestion): void {
    const { endpoint, path, body } = question;
    this.#asked.add(endpoint.name);
    this.#post(endpoint, `${path}/render`, body, BOUNDS, (result) => {
      if (result?.status === 200) this.#learn(question, () => tokensOfRendered(result.body));
      else {
        this.counts.failed += 1;
        if (result === undefined) this.#rest(endpoint, path, SHORT_REST_MS);
        else if (CANNOT.has(result.status)) this.#rest(endpoint, path, REST_MS);
      }
      this.#asked.delete(endpoint.name);
      this.#next();
    });
  }

  /** What waits for it is not asked either: it would keep the places of others. */
  #rest({ name }: Endpoint, path: string, restMs: number): void {
    if (this.#resting.size > 10_000) this.#resting.clear();
    this.#resting.set(`${name} ${path}`, this.#now() + restMs);
    const left = this.#waiting.filter((question) => this.knows(question.path, question.endpoint));
    this.counts.failed += this.#waiting.length - left.length;
    this.#waiting = left;
  }

  #learn(question: TokenQuestion, read: () => readonly number[]): void {
    try {
      const tokens = read();
      question.learned(tokens);
      this.counts.learned += 1;
    } catch {
      this.counts.failed += 1;
    }
  }
}

/** Throws an Error for what is no rendered prompt, or several. */
function tokensOfRendered(text: string): readonly number[] {
  const document = JSON.parse(text) as unknown;
  const prompts = Array.isArray(document) ? (document as unknown[]) : [document];
  const [prompt] = prompts;
  if (prompts.length !== 1) throw new Error("several prompts");
  // Images are more tokens than there are, and count by what they show.
  if (member(prompt, "features") != null) throw new Error("a prompt with other parts than text");
  return checked(member(prompt, "token_ids"));
}

function tokensOfRequest(text: string): readonly number[] {
  const request = JSON.parse(text) as unknown;
  if (member(request, "features") != null || member(request, "content_parts") != null)
    throw new Error("a prompt with other parts than text");
  return checked(member(request, "token_ids"));
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function checked(tokens: unknown): readonly number[] {
  if (!Array.isArray(tokens) || !tokens.every(isTokenId)) throw new Error("no list of tokens");
  return tokens as number[];
}

/** Of 32 bits, as in events. */
function isTokenId(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= -(2 ** 31) && Number(value) < 2 ** 32;
}
