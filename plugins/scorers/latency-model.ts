import type { Endpoint } from "../../core/contract/endpoint.ts";
import { Recent } from "./recent.ts";
import { RobustFit } from "./robust-fit.ts";

/** After so many further samples one counts a third as much. */
const POOL_MEMORY = 512;
const OWN_MEMORY = 128;
/** What the first estimate is worth to the pool's fit, and the pool's fit to an endpoint's, in samples. */
const FIRST_SAMPLES = 8;
const POOL_SAMPLES = 16;
/** A feature that was 0 so far counts as if its mean square had been this part of the first feature's. */
const LEAST_SQUARE = 0.01;
/** Latest errors at an endpoint that are looked at, and the zeros that they begin with. */
const WINDOW = 15;
const ZEROS = 4;
/** Smaller errors are no reason to believe one fit more than the other. */
const TOLERANCE = 0.2;
/** An endpoint's own fit counts fully where its error is this part of the pool's, and not at all from the second one on. */
const BETTER = 0.4;
const AS_GOOD = 0.8;
/** While nothing comes from an endpoint, its own fit counts half as much after so long: it may have recovered. */
const HALF_LIFE_MS = 60_000;
/** Latest errors of the pool, which show how far off a time may be. */
const POOL_WINDOW = 127;
const LATE_SHARE = 0.9;

/** What is known of one endpoint. */
interface Own {
  readonly name: string;
  /** Another one is another machine under the same name. */
  readonly url: Endpoint["url"];
  readonly fit: RobustFit;
  /** How far times were above this fit, and the factor by which they are now: it follows a change sooner than the fit does. */
  readonly residuals: Recent;
  level: number;
  /** How far off the pool's fit was here. */
  readonly poolErrors: Recent;
  /** How much its own fit counts beside the pool's, in [0, 1]. */
  trust: number;
  learnedAtMs: number;
}

/**
 * Learns one kind of time of a pool's endpoints: a fit for the pool, and for each endpoint one that begins with the pool's. An
 * endpoint's own counts as far as it was the better one lately, so replicas that are alike do not differ by chance.
 */
export class LatencyModel {
  readonly #size: number;
  readonly #floorMs: number;
  readonly #pool: RobustFit;
  readonly #own: (Own | undefined)[] = [];
  readonly #errors = new Recent(POOL_WINDOW);
  /** The factor above what was expected that most times stay below: 90 of 100. */
  lateFactor = 1;

  /** For samples of `size` features, the first of which is always 1. Below `floorMs` relative errors mean little. */
  constructor(size: number, floorMs: number) {
    this.#size = size;
    this.#floorMs = floorMs;
    this.#pool = new RobustFit(size, POOL_MEMORY, floorMs);
  }

  /** Expected milliseconds; `firstMs` before anything was learned. */
  predict(features: ArrayLike<number>, endpoint: Endpoint, nowMs: number, firstMs: number): number {
    if (this.#pool.samples === 0) return firstMs;
    const poolMs = this.#pool.predict(features);
    const own = this.#own[endpoint.slot];
    if (own === undefined || own.trust === 0 || own.name !== endpoint.name || own.url !== endpoint.url) return poolMs;
    const trust = own.trust * 0.5 ** (Math.max(0, nowMs - own.learnedAtMs) / HALF_LIFE_MS);
    return poolMs + trust * (own.fit.predict(features) * own.level - poolMs);
  }

  /** One request took `ms` where `expectedMs` was predicted. `first` are the coefficients of the first estimate. */
  learn(
    features: ArrayLike<number>,
    endpoint: Endpoint,
    nowMs: number,
    ms: number,
    expectedMs: number,
    first: ArrayLike<number>,
  ): void {
    const pool = this.#pool;
    const own = this.#ownOf(endpoint);
    const poolMs = pool.samples === 0 ? expectedMs : pool.predict(features);
    const ownMs = own.fit.samples === 0 ? poolMs : own.fit.predict(features);
    pool.learn(features, ms, poolMs, (moments, cross) => pullTo(first, FIRST_SAMPLES / pool.samples, moments, cross));
    own.fit.learn(features, ms, ownMs, (moments, cross) => {
      addSamplesOf(pool, POOL_SAMPLES, moments, cross);
      pullTo(pool.coefficients, 1 / (own.fit.samples + POOL_SAMPLES), moments, cross);
    });
    this.#judge(own, this.#residual(ms, poolMs), this.#residual(ms, ownMs));
    own.learnedAtMs = nowMs;
    this.#errors.add(this.#residual(ms, expectedMs));
    this.lateFactor = Math.exp(this.#errors.quantile(LATE_SHARE));
  }

  #judge(own: Own, poolResidual: number, residual: number): void {
    own.poolErrors.add(Math.abs(poolResidual));
    own.residuals.add(residual);
    const level = own.residuals.quantile(0.5);
    own.level = Math.exp(level);
    const ratio = (own.residuals.distance(level) + TOLERANCE) / (own.poolErrors.quantile(0.5) + TOLERANCE);
    own.trust = Math.min(1, Math.max(0, (AS_GOOD - ratio) / (AS_GOOD - BETTER)));
  }

  #residual(ms: number, expectedMs: number): number {
    return Math.log((ms + this.#floorMs) / (expectedMs + this.#floorMs));
  }

  #ownOf({ slot, name, url }: Endpoint): Own {
    const known = this.#own[slot];
    if (known?.name === name && known.url === url) return known;
    const own = {
      ...{ name, url, fit: new RobustFit(this.#size, OWN_MEMORY, this.#floorMs), residuals: new Recent(WINDOW, ZEROS), level: 1 },
      ...{ poolErrors: new Recent(WINDOW, ZEROS), trust: 0, learnedAtMs: 0 },
    };
    this.#own[slot] = own;
    return own;
  }
}

/** Adds the pool's moments as if they were those of `samples` further samples that its coefficients explain exactly. */
function addSamplesOf(pool: RobustFit, samples: number, moments: Float64Array, cross: Float64Array): void {
  const size = cross.length;
  const part = samples / pool.samples;
  for (let at = 0; at < moments.length; at++) {
    const moment = part * pool.moments[at]!;
    moments[at]! += moment;
    cross[Math.floor(at / size)]! += moment * pool.coefficients[at % size]!;
  }
}

/** Pulls each coefficient towards `center`, by that part of what all samples say of its feature. */
function pullTo(center: ArrayLike<number>, part: number, moments: Float64Array, cross: Float64Array): void {
  const size = cross.length;
  const least = LEAST_SQUARE * moments[0]!;
  for (let row = 0; row < size; row++) {
    const pull = part * Math.max(moments[row * size + row]!, least);
    moments[row * size + row]! += pull;
    cross[row]! += pull * center[row]!;
  }
}
