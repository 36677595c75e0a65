import { accessOptions, objectName } from "../../../apps/kubernetes/access-options.ts";
import { besideFile } from "../../../config/read/files.ts";
import { readSecret, secretReference } from "../../../config/read/secret.ts";
import { section, writtenOf } from "../../../config/schema/section.ts";
import type { ConfigAround, Section } from "../../../config/section.ts";
import { lineOfText, z } from "../../../core/contract/options.ts";
import type { Secret } from "../../../core/contract/secret.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import { time } from "../../../core/settings/row.ts";
import { SECRET_WORDS } from "../../../core/state/prefix-hash.ts";
import { type ClusterPlace, kubernetesStore } from "./kubernetes-link.ts";
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
  readonly kubernetes: ClusterPlace | undefined;
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

const KUBERNETES = {
  // One write may fail, and the router has not gone yet: it is silent for less than four seconds.
  everyMs: time(1_000, "A router writes its ConfigMap at most once in this time.", 250, 1_500),
};

const kubernetes = section({
  ...accessOptions,
  namespace: objectName.describe("Where the ConfigMaps are. Default the context's, or the pod's own.").optional(),
  ...KUBERNETES,
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
  kubernetes: kubernetes
    .describe(
      "A cluster whose API server carries the messages, in a ConfigMap for each router; up to a second late (docs/several-routers.md).",
    )
    .optional(),
});

type Written = z.infer<typeof shared> | undefined;
type Config = SharedConfig | undefined;

const AT = ["spec", "shared"] as const;
const STORES = ["redis", "nats", "kubernetes"] as const;

/** `spec.shared`. */
export const sharedSection = {
  key: "shared",
  schema: shared
    .describe("Several routers in front of one pool know of each other's requests, prompts and ejections. Default each is alone.")
    .optional() as z.ZodType<Written>,
  async read(written: Written, around: ConfigAround): Promise<Config> {
    if (written === undefined) return undefined;
    const { report, wasCut } = around.router;
    const given = STORES.filter((key) => written[key] !== undefined);
    if (given.length !== 1 && !wasCut(AT)) {
      report(AT, { found: given.join(" beside ") || "no store", wanted: `one of: ${STORES.join(", ")}` }, "key");
      return undefined;
    }
    const secret = await readSecret(written.secret, [...AT, "secret"], around.router, around.files);
    if (secret !== undefined && secret.reveal().length < LEAST_SECRET_CHARS) {
      report([...AT, "secret"], { found: "a secret that is short", wanted: `at least ${LEAST_SECRET_CHARS} characters` });
      return undefined;
    }
    const redis = await readPlace(written.redis, "redis", loadRedis, around);
    const nats = await readPlace(written.nats, "nats", loadNats, around);
    const kubernetes = written.kubernetes && clusterPlace(written.kubernetes, around);
    return secret && { secret, group: written.group, redis, nats, kubernetes };
  },
  settings: (config, settings) =>
    config === undefined ? settings : { ...settings, prefixSecret: prefixSecretOf(config.secret.reveal(), SECRET_WORDS) },
  written: (config) =>
    config && {
      secret: config.secret.from,
      ...(config.group !== undefined && { group: config.group }),
      ...(config.redis && { redis: writtenPlace(config.redis) }),
      ...(config.nats && { nats: writtenPlace(config.nats) }),
      ...(config.kubernetes && { kubernetes: writtenCluster(config.kubernetes) }),
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

function clusterPlace(written: z.infer<typeof kubernetes>, { router }: ConfigAround): ClusterPlace {
  const { kubeconfig, context, namespace, everyMs } = written;
  const { file } = router.positionOf([...AT, "kubernetes", "kubeconfig"]);
  return { credentials: { kubeconfig: kubeconfig && besideFile(file, kubeconfig), context }, namespace, everyMs };
}

function writtenCluster({ credentials, namespace, everyMs }: ClusterPlace) {
  const { kubeconfig, context } = credentials;
  return {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(namespace !== undefined && { namespace }),
    ...writtenOf(KUBERNETES, { everyMs }),
  };
}

export function storeOf({ redis, nats, kubernetes }: SharedConfig): Store {
  if (redis !== undefined) return redisStore(redis);
  return nats === undefined ? kubernetesStore(kubernetes!) : natsStore(nats);
}

/** Whether a change between them leaves the connections as they are. */
export function isSameStore(one: SharedConfig | undefined, other: SharedConfig | undefined): boolean {
  const textOf = (config: SharedConfig | undefined) => {
    if (config === undefined) return "";
    const { secret, redis, nats, kubernetes } = config;
    const place = redis ?? nats;
    const ofPlace = [redis !== undefined, place?.url, place?.username, place?.password?.reveal()];
    return JSON.stringify([secret.reveal(), ...ofPlace, kubernetes]);
  };
  return textOf(one) === textOf(other);
}
