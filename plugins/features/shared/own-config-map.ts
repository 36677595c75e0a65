import { retryMs } from "../../../apps/kubernetes/back-off.ts";
import type { KubernetesApi, RequestOptions } from "../../../apps/kubernetes/client.ts";
import { isStatus, KubernetesError } from "../../../apps/kubernetes/kubernetes-error.ts";
import { afterAwake } from "../../../core/contract/standstill.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import type { Services } from "../../../core/services.ts";
import { type ConfigMapMetadata, dataOf } from "./config-map.ts";
import { ANSWER_MS, MOST_MESSAGE_CHARS, MOST_UNANSWERED } from "./link.ts";

export interface OwnConfigMapOptions extends Pick<Services, "clock" | "random"> {
  readonly client: KubernetesApi;
  /** Of all ConfigMaps of the namespace. */
  readonly list: string;
  readonly metadata: ConfigMapMetadata;
  readonly everyMs: number;
  /** A write has succeeded, or failed for this reason. */
  readonly written: (fault: string) => void;
  /** A message is not written. */
  readonly lost: () => void;
}

/** Of one write: a ConfigMap has at most 1 MiB. */
const MOST_BYTES = MOST_MESSAGE_CHARS;
/** In the long run. The cluster's store keeps each version of an object for five minutes and more, and has 2 GiB for all that the cluster is. */
const BYTES_PER_MS = 200;

/**
 * Writes messages into the router's own ConfigMap, at most one write each `everyMs`: what comes between two writes goes with the next
 * one. While writes fail it tries on, so that it is known when they succeed again.
 */
export class OwnConfigMap {
  readonly #options: OwnConfigMapOptions;
  #pending: string[] = [];
  #pendingBytes = 0;
  /** How many bytes may be written now, and since when. */
  #bytesLeft = MOST_BYTES;
  #countedAtMs: number;
  #sequence = 0;
  #exists = false;
  #beganMs = Number.NEGATIVE_INFINITY;
  /** Writes in a row that failed. */
  #failures = 0;
  #isClosed = false;
  #cancel: (() => void) | undefined;
  #round: Promise<void> | undefined;

  constructor(options: OwnConfigMapOptions) {
    this.#options = options;
    this.#countedAtMs = options.clock.now();
  }

  /** Until it may be written again. */
  get waitMs(): number {
    return Math.max(0, this.#beganMs + this.#options.everyMs - this.#options.clock.now());
  }

  /** Makes the ConfigMap. */
  start(): void {
    this.#writeAfter(0);
  }

  add(message: string): void {
    const bytes = Buffer.byteLength(message) + 1;
    const isTooMuch = this.#pending.length >= MOST_UNANSWERED || this.#pendingBytes + bytes > MOST_BYTES;
    if (isTooMuch || !this.#mayWrite(bytes)) return this.#options.lost();
    this.#pending.push(message);
    this.#pendingBytes += bytes;
    if (this.#round === undefined && !this.#isClosed) this.#writeAfter(this.waitMs);
  }

  /** Writes what is left, and deletes the ConfigMap. */
  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    void this.#leave();
  }

  #mayWrite(bytes: number): boolean {
    const nowMs = this.#options.clock.now();
    this.#bytesLeft = Math.min(MOST_BYTES, this.#bytesLeft + (nowMs - this.#countedAtMs) * BYTES_PER_MS);
    this.#countedAtMs = nowMs;
    if (bytes > this.#bytesLeft) return false;
    this.#bytesLeft -= bytes;
    return true;
  }

  #writeAfter(ms: number): void {
    this.#cancel ??= this.#options.clock.after(ms, () => {
      this.#cancel = undefined;
      this.#round = this.#write();
    });
  }

  async #write(): Promise<void> {
    const { clock, random } = this.#options;
    this.#beganMs = clock.now();
    const thrown = await this.#putPending();
    this.#round = undefined;
    if (this.#isClosed) return;
    this.#options.written(thrown === undefined ? "" : thrownMessage(thrown));
    if (thrown !== undefined) this.#writeAfter(Math.max(this.waitMs, retryMs(this.#failures, thrown, random)));
    else if (this.#pending.length > 0) this.#writeAfter(this.waitMs);
  }

  /** Resolves to why it can't be written; undefined if it was. */
  async #putPending(): Promise<unknown> {
    const messages = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    try {
      await this.#put(messages);
      this.#failures = 0;
      return undefined;
    } catch (thrown) {
      // What could not be sent at once is out of date.
      for (const _ of messages) this.#options.lost();
      this.#failures += 1;
      return thrown;
    }
  }

  async #put(messages: readonly string[]): Promise<void> {
    const { list, metadata } = this.#options;
    this.#sequence += 1;
    const data = dataOf(this.#sequence, messages);
    if (this.#exists && (await this.#patch(data))) return;
    try {
      await this.#ask("POST", list, { body: { apiVersion: "v1", kind: "ConfigMap", metadata, data } });
    } catch (thrown) {
      // It was made before, by a request whose answer got lost.
      if (!(isStatus(thrown, 409) && (await this.#patch(data)))) throw thrown;
    }
    this.#exists = true;
  }

  /** False if it is not there: somebody has deleted it. */
  async #patch(data: object): Promise<boolean> {
    const { labels } = this.#options.metadata;
    try {
      await this.#ask("PATCH", this.#path, { body: { metadata: { labels }, data }, contentType: "application/merge-patch+json" });
      return true;
    } catch (thrown) {
      if (!isStatus(thrown, 404)) throw thrown;
      this.#exists = false;
      return false;
    }
  }

  async #leave(): Promise<void> {
    // A write under way could make it again.
    await this.#round;
    if (!this.#exists) return;
    if (this.#failures === 0 && this.#pending.length > 0) await this.#putPending();
    await this.#ask("DELETE", this.#path, {}).catch(() => {});
  }

  async #ask(method: "POST" | "PATCH" | "DELETE", path: string, options: RequestOptions): Promise<void> {
    const { client, clock } = this.#options;
    const late = new AbortController();
    const cancel = afterAwake(clock, ANSWER_MS, () => late.abort());
    try {
      await client.request(method, path, { ...options, signal: late.signal });
    } catch (thrown) {
      if (!late.signal.aborted) throw thrown;
      throw new KubernetesError(0, "", `The Kubernetes API has not answered ${method} ${path} in ${ANSWER_MS / 1000} s.`);
    } finally {
      cancel();
    }
  }

  get #path(): string {
    const { list, metadata } = this.#options;
    return `${list}/${metadata.name}`;
  }
}
