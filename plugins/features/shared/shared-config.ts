import { readSecret, secretReference } from "../../../config/read/secret.ts";
import { section } from "../../../config/schema/section.ts";
import type { ConfigAround, Section } from "../../../config/section.ts";
import { lineOfText, z } from "../../../core/contract/options.ts";
import type { Secret } from "../../../core/contract/secret.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import { SECRET_WORDS } from "../../../core/state/prefix-hash.ts";
import type { Store, StorePlace } from "./link.ts";
import { prefixSecretOf } from "./message.ts";
import { loadNats, natsStore } from "./nats-link.ts";
import { loadRedis, redisStore } from "./redis-link.ts";

/** What routers of one pool share, and by what. */
export interface SharedConfig {
  readonly secret: Secret;
  /** Undefined: the pool's name. */
  readonly group: string | undefined;
  readonly redis: StorePlace | undefined;
  readonly nats: StorePlace | undefined;
}

/** As long as what a person would not guess. */
const LEAST_SECRET_CHARS = 16;

const redis = section({
  url: z
    .string()
    .regex(/^rediss?:\/\/[^/?#@\s]+(\/\d{1,4})?$/, "redis://HOST:PORT or rediss://HOST:PORT, without a user or a password")
    .describe("Its address: redis://HOST:PORT, or rediss://HOST:PORT for TLS."),
  username: lineOfText.describe("Its user. Default that of the store.").optional(),
  password: secretReference.describe("Where its password is: env:NAME or file:PATH. Default none.").optional(),
});

const nats = section({
  url: z
    .string()
    .regex(/^(nats|tls):\/\/[^/?#@\s]+$/, "nats://HOST:PORT or tls://HOST:PORT, without a user or a password")
    .describe("Its address: nats://HOST:PORT, or tls://HOST:PORT for TLS."),
  username: lineOfText.describe("Its user. Default none.").optional(),
  password: secretReference
    .describe("Where its password is, or without a username its token: env:NAME or file:PATH. Default none.")
    .optional(),
});

const shared = section({
  secret: secretReference.describe(
    "Where the secret is that all routers of the pool have and nobody else: env:NAME or file:PATH, at least 16 characters. Messages without it are not read.",
  ),
  group: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'up to 64 letters, digits, "-" and "_"')
    .describe("Routers of the same group agree. Default the pool's name.")
    .optional(),
  redis: redis.describe("A Redis or Valkey that carries the messages; with the package ioredis.").optional(),
  nats: nats.describe("A NATS server that carries the messages; with the package @nats-io/transport-node.").optional(),
});

type Written = z.infer<typeof shared> | undefined;
type Config = SharedConfig | undefined;

const AT = ["spec", "shared"] as const;

/** `spec.shared`. */
export const sharedSection = {
  key: "shared",
  schema: shared
    .describe("Several routers in front of one pool know of each other's requests, prompts and ejections. Default each is alone.")
    .optional() as z.ZodType<Written>,
  async read(written: Written, around: ConfigAround): Promise<Config> {
    if (written === undefined) return undefined;
    const { report, wasCut } = around.router;
    if ((written.redis === undefined) === (written.nats === undefined) && !wasCut(AT)) {
      const found = written.redis === undefined ? "no store" : "redis beside nats";
      report(AT, { found, wanted: "one of: redis, nats" }, "key");
      return undefined;
    }
    const secret = await readSecret(written.secret, [...AT, "secret"], around.router, around.files);
    if (secret !== undefined && secret.reveal().length < LEAST_SECRET_CHARS) {
      report([...AT, "secret"], { found: "a secret that is short", wanted: `at least ${LEAST_SECRET_CHARS} characters` });
      return undefined;
    }
    const redis = await readPlace(written.redis, "redis", loadRedis, around);
    const nats = await readPlace(written.nats, "nats", loadNats, around);
    return secret && { secret, group: written.group, redis, nats };
  },
  settings: (config, settings) =>
    config === undefined ? settings : { ...settings, prefixSecret: prefixSecretOf(config.secret.reveal(), SECRET_WORDS) },
  written: (config) =>
    config && {
      secret: config.secret.from,
      ...(config.group !== undefined && { group: config.group }),
      ...(config.redis && { redis: writtenPlace(config.redis) }),
      ...(config.nats && { nats: writtenPlace(config.nats) }),
    },
  summary: (config) => config && [`shared    by ${storeOf(config).text}`, []],
} satisfies Section<Written, Config>;

/** With its password; loads what speaks to it. */
async function readPlace(
  written: NonNullable<Written>["redis"],
  key: string,
  load: () => Promise<void>,
  { router, files }: ConfigAround,
): Promise<StorePlace | undefined> {
  if (written === undefined) return undefined;
  const { url, username } = written;
  await load().catch((thrown: unknown) => router.report([...AT, key], { found: key, wanted: thrownMessage(thrown) }));
  const path = [...AT, key, "password"];
  const password = written.password === undefined ? undefined : await readSecret(written.password, path, router, files);
  return { url, username, password };
}

function writtenPlace({ url, username, password }: StorePlace) {
  return { url, ...(username !== undefined && { username }), ...(password && { password: password.from }) };
}

export function storeOf({ redis, nats }: SharedConfig): Store {
  if (redis !== undefined) return redisStore(redis);
  return natsStore(nats!);
}

/** Whether a change between them leaves the connections as they are. */
export function isSameStore(one: SharedConfig | undefined, other: SharedConfig | undefined): boolean {
  const textOf = (config: SharedConfig | undefined) => {
    if (config === undefined) return "";
    const { secret, redis, nats } = config;
    const place = redis ?? nats;
    return JSON.stringify([secret.reveal(), redis !== undefined, place?.url, place?.username, place?.password?.reveal()]);
  };
  return textOf(one) === textOf(other);
}
