import type { ActiveConfig } from "../../../core/active-config.ts";
import type { CacheTestimony, CacheWitness, HashedChain } from "../../../core/contract/cache-witness.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import { thrownText } from "../../../core/contract/thrown-text.ts";
import { makeDraft } from "../../../core/request/draft.ts";
import type { RouterHost } from "../../../core/router-host.ts";
import type { Run } from "../../../core/run.ts";
import { PromptPrefix } from "../../../core/state/prefix-index.ts";
import type { KvEventsSettings } from "./kv-events-config.ts";
import { Promises } from "./promises.ts";
import { KnownPrompts } from "./prompts/known-prompts.ts";
import { MOST_BODY_BYTES, Rendering } from "./prompts/rendering.ts";
import type { ReplicaCache } from "./replica-cache.ts";
import { ReplicaCaches } from "./replica-caches.ts";
import { postTo } from "./replica-requests.ts";
import { Testimony } from "./testimony.ts";

/** A request on its way. */
interface Sent {
  readonly testimony: Testimony | undefined;
  /** The slot that it was sent to first. */
  readonly slot: number;
}

/** Follows what replicas publish of their caches, and tells the prefix index what it knows better. */
export class KvEvents implements CacheWitness {
  readonly known = new KnownPrompts();
  readonly rendering: Rendering;
  readonly caches: ReplicaCaches;
  readonly promises: Promises;
  settings: KvEventsSettings | undefined;
  readonly #host: RouterHost;
  #config: ActiveConfig | undefined;
  #index: ReturnType<RouterHost["prefixIndex"]>;
  readonly #sent = new Map<Outcome, Sent>();

  constructor(host: RouterHost) {
    const { clock } = host;
    this.#host = host;
    const settings = () => this.#config?.settings;
    this.rendering = new Rendering(host.engines?.post ?? postTo(settings), () => clock.now());
    this.caches = new ReplicaCaches(host, settings, (cache) => this.#emptied(cache));
    this.promises = new Promises(host);
  }

  /** `settings` is undefined where nobody wants events. */
  use(config: ActiveConfig, settings: KvEventsSettings | undefined): void {
    const index = this.#host.prefixIndex();
    // Another index hashes prompts otherwise.
    if (index !== this.#index) {
      this.known.clear();
      for (const cache of this.caches.all()) cache.toldTokens = undefined;
    }
    this.#index = index;
    this.#config = config;
    this.settings = settings;
    this.caches.use(settings);
    if (index !== undefined) index.witness = settings && this;
    if (settings !== undefined) return;
    this.known.clear();
    this.rendering.clear();
    this.#sent.clear();
  }

  /** Whether prompts are hashed: otherwise nobody asks what caches hold of them. */
  get hasIndex(): boolean {
    return this.#index !== undefined;
  }

  about(chain: HashedChain): CacheTestimony | undefined {
    const known = this.known.find(chain);
    if (known === undefined) return undefined;
    return new Testimony(known, (slot) => this.caches.at(slot), this.settings?.believe === true);
  }

  /** The request is on its way to a replica. Nothing that goes wrong here concerns it. */
  sent(run: Run, request: InferenceRequest): void {
    try {
      this.#forget(run.ticket);
      this.#follow(run, request);
    } catch (thrown) {
      const { log } = this.#host.services;
      log.error("The tokens of a prompt were not asked for, by a fault inside the router", {
        id: request.id,
        cause: thrownText(thrown),
      });
    }
  }

  #follow(run: Run, request: InferenceRequest): void {
    const { prefix } = request;
    const endpoint = run.ticket.decision?.legs[0]?.order[0];
    if (!(prefix instanceof PromptPrefix) || prefix.blocks === 0 || endpoint === undefined) return;
    const testimony = prefix.testimony instanceof Testimony ? prefix.testimony : undefined;
    const { slot } = endpoint;
    if (testimony !== undefined) {
      this.known.used(testimony.known.prompt);
      testimony.known.prompt.pending.push(slot);
    }
    this.#sent.set(run.ticket, { testimony, slot });
    const cache = this.caches.at(slot);
    if (cache === undefined || !this.#isNews(prefix, testimony)) return;
    this.#learn(run, request, prefix, endpoint);
  }

  settled(outcome: Outcome): void {
    const sent = this.#forget(outcome);
    if (sent === undefined) return;
    const { testimony } = sent;
    const last = outcome.attempts.at(-1);
    if (last?.result !== 200) return;
    const cache = this.caches.named(last.endpoint);
    if (cache === undefined) return;
    this.promises.settled(outcome, cache, testimony);
    this.#learnSize(cache);
  }

  close(): void {
    this.caches.close();
    this.rendering.clear();
    this.promises.close();
  }

  /** It is not on its way any more; or once more, after it had to wait. */
  #forget(outcome: Outcome): Sent | undefined {
    const sent = this.#sent.get(outcome);
    if (sent === undefined) return undefined;
    this.#sent.delete(outcome);
    const pending = sent.testimony?.known.prompt.pending;
    const at = pending?.indexOf(sent.slot) ?? -1;
    if (at >= 0) pending!.splice(at, 1);
    return sent;
  }

  /** Whether the tokens of the prompt are not all known yet, for every block size there is. */
  #isNews(prefix: PromptPrefix, testimony: Testimony | undefined): boolean {
    if (testimony === undefined || testimony.known.blocks < prefix.blocks) return true;
    const { keys } = testimony.known.prompt;
    for (const size of this.caches.blockSizes()) if (!keys.has(size)) return true;
    return false;
  }

  #learn(run: Run, request: InferenceRequest, prefix: PromptPrefix, endpoint: Endpoint): void {
    const { settings, rendering } = this;
    const { path, promptParts, isFollowUp, body, target, cacheSalt } = request;
    const isOwn = path.endsWith("/generate");
    if (settings === undefined || (!settings.renderPrompts && !isOwn) || promptParts.length > 0 || isFollowUp) return;
    if (body.length > MOST_BODY_BYTES || !rendering.knows(path, endpoint)) return;
    const draft = makeDraft(request, run, undefined);
    const adapter = this.#isAdapter(endpoint, target) ? target : "";
    const extras = { adapter, salt: cacheSalt };
    rendering.ask({
      endpoint,
      path,
      body: Buffer.concat(draft.body).toString("utf8"),
      learned: (tokens) => {
        const sizes = this.caches.blockSizes();
        if (sizes.size > 0 && this.#host.prefixIndex() === this.#index) this.known.learn(prefix, tokens, sizes, extras);
      },
    });
  }

  /** For prompts whose tokens nobody knows, the index then knows at least how much the cache can hold of what was sent there. */
  #learnSize(cache: ReplicaCache): void {
    const fullTokens = this.settings?.believe === true ? cache.fullTokens : undefined;
    if (fullTokens === cache.toldTokens) return;
    const { slot } = cache.endpoint;
    cache.toldTokens = fullTokens;
    this.#host.prefixIndex()?.setCapacity(slot, fullTokens ?? this.#host.load.cacheTokens[slot]);
  }

  #isAdapter({ slot, modelCards }: Endpoint, target: string): boolean {
    const { load, clock } = this.#host;
    return load.at(clock.now()).adapters(slot)?.names?.has(target) ?? typeof modelCards?.[target]?.parent === "string";
  }

  /** What the index believes of that cache is gone too. */
  #emptied({ endpoint, voice, publishers }: ReplicaCache): void {
    if (voice.isLost || publishers.length > 1 || this.settings?.believe !== true) return;
    this.#host.prefixIndex()?.forget(endpoint.slot);
  }
}
