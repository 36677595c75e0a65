import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { Need } from "../../core/contract/need.ts";
import { z } from "../../core/contract/options.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";

/** From the tightest to the loosest: who shares one shares all after it. */
export const LEVELS = ["host", "rack", "zone", "region"] as const;

/** Values by level; "" for one that is unknown. */
type Place = readonly string[];

const value = z.string().min(1);
const label = (name: string) => value.default(name);

/** What the filter and the scorer have in common. */
export const placeOptions = z
  .strictObject({
    /** The request header that says where to be near: "host=n12,rack=r7,zone=a,region=eu", any of them. */
    peerTopologyHeader: z
      .string()
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "the name of a header")
      .transform((name) => name.toLowerCase())
      .exactOptional(),
    /** In spec.disaggregation.prefill: near the endpoint that generates the answer, unless the request says where. */
    nearPeer: z.boolean().default(false),
    /** Where to be near if nothing else says it, such as the router's own place. */
    near: z
      .strictObject({
        host: value.exactOptional(),
        rack: value.exactOptional(),
        zone: value.exactOptional(),
        region: value.exactOptional(),
      })
      .exactOptional(),
    /** The endpoints' labels with their places. */
    labels: z
      .strictObject({
        host: label("kubernetes.io/hostname"),
        rack: label("topology.kubernetes.io/rack"),
        zone: label("topology.kubernetes.io/zone"),
        region: label("topology.kubernetes.io/region"),
      })
      .prefault({}),
  })
  .refine(
    ({ peerTopologyHeader, near, nearPeer }) =>
      nearPeer || peerTopologyHeader !== undefined || Object.keys(near ?? {}).length > 0,
    {
      path: ["near"],
      message:
        "near: { zone: NAME } or peerTopologyHeader, because without an earlier choice there is nothing else to be near to",
    },
  );

type PlaceOptions = z.output<typeof placeOptions>;

/** One replica at least must say where it is. */
export function placeNeeds(labels: PlaceOptions["labels"]): readonly Need[] {
  const names = LEVELS.map((level) => labels[level]);
  return [
    {
      labelled: (all) => names.some((name) => Object.hasOwn(all, name)),
      lack: `no replica has any of the labels ${names.join(", ")}, so none is near to anything`,
    },
  ];
}

/** How near each endpoint is to where the request should be. */
export class Nearness {
  readonly #header: string;
  readonly #near: Place | undefined;
  readonly #isNearPeer: boolean;
  readonly #labels: readonly string[];
  /** Labels of an endpoint object never change. */
  readonly #places = new WeakMap<Endpoint, Place>();

  constructor({ peerTopologyHeader = "", near, nearPeer, labels }: PlaceOptions) {
    this.#header = peerTopologyHeader;
    this.#isNearPeer = nearPeer;
    this.#near = near && LEVELS.map((level) => near[level] ?? "");
    this.#labels = LEVELS.map((level) => labels[level]);
  }

  /** Where the request should be; undefined if nothing says so. */
  wantedBy({ headers, peer }: InferenceRequest): Place | undefined {
    const written = this.#header === "" ? undefined : headers.get(this.#header);
    const asked = written === undefined ? undefined : readPlace(written);
    return asked ?? (this.#isNearPeer && peer !== undefined ? this.#placeOf(peer) : this.#near);
  }

  /** Index in LEVELS of the tightest level that the endpoint shares with the place; LEVELS.length for none. */
  levelOf(endpoint: Endpoint, wanted: Place): number {
    const place = this.#placeOf(endpoint);
    for (let level = 0; level < LEVELS.length; level++) {
      if (place[level] !== "" && place[level] === wanted[level]) return level;
    }
    return LEVELS.length;
  }

  #placeOf(endpoint: Endpoint): Place {
    const known = this.#places.get(endpoint);
    if (known !== undefined) return known;
    const { labels } = endpoint;
    const place = this.#labels.map((name) => (Object.hasOwn(labels, name) ? labels[name]! : ""));
    this.#places.set(endpoint, place);
    return place;
  }
}

/** The levels, and some that a later version may add. */
const MOST_PAIRS = 16;

/** Undefined for a text that names no level. */
function readPlace(text: string): Place | undefined {
  const place = LEVELS.map(() => "");
  for (const pair of text.split(",", MOST_PAIRS)) {
    const [name = "", ...rest] = pair.split("=");
    const level = (LEVELS as readonly string[]).indexOf(name.trim());
    if (level !== -1) place[level] = rest.join("=").trim();
  }
  return place.some((each) => each !== "") ? place : undefined;
}
