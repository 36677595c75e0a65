/** Whose turns, by which id. */
export interface SessionKey {
  /** Unique in the router: tenant, model and id. */
  readonly key: string;
  /** "" where the router knows no tenants. */
  readonly tenant: string;
  /** The model that the client asked for. */
  readonly model: string;
  /** The id as people see it: short and printable. */
  readonly name: string;
  /** Where the id was found. */
  readonly source: string;
}

/** Where a prompt ended: the hash of its last whole block, which stands for all before it, and a digest of the bytes behind that block. */
export interface PromptEnd {
  readonly session: Session;
  readonly low: number;
  readonly high: number;
  readonly tailBytes: number;
  readonly digest: number;
}

/** What is known of one session. Its numbers are those of the last turn that a replica served; NaN before it. */
export class Session implements SessionKey {
  readonly key: string;
  readonly tenant: string;
  readonly model: string;
  readonly name: string;
  readonly source: string;
  /** Turns that have come. */
  turns = 0;
  /** Turns that have not ended, here and by the ids of other routers, which have at least one each. */
  underWay = 0;
  readonly elsewhere = new Map<string, number>();
  promptTokens = Number.NaN;
  outputTokens = Number.NaN;
  cachedTokens = Number.NaN;
  finishReason = "";
  /** The endpoint that served it; "" before the first. */
  endpoint = "";
  /** When its last turn came, and when one ended last, on the router's clock. */
  cameAtMs = Number.NaN;
  endedAtMs = Number.NaN;
  /** Where its last prompt ended, if it is known by its prompt. */
  promptEnd: PromptEnd | undefined = undefined;
  /** The key of its last response, by which the next turn may name it. */
  responseKey = "";

  constructor({ key, tenant, model, name, source }: SessionKey) {
    this.key = key;
    this.tenant = tenant;
    this.model = model;
    this.name = name;
    this.source = source;
  }

  /** Tokens that a cache holds of it: of the last prompt and of the response to it. */
  get tokens(): number {
    return this.promptTokens + (this.outputTokens || 0);
  }

  /** Whether a turn is under way, here or at another router. */
  get isBusy(): boolean {
    return this.underWay > 0 || this.elsewhere.size > 0;
  }

  /** How long nothing of it has been under way. */
  idleMs(nowMs: number): number {
    return this.isBusy ? 0 : nowMs - this.endedAtMs;
  }
}
