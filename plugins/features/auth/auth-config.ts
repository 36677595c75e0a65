import type { ListedPlugins } from "../../../config/plugins/listed.ts";
import { listed as differences, named } from "../../../config/read/differences.ts";
import { type PlacedItem, readListFile } from "../../../config/read/list-file.ts";
import { problemAt, quoted } from "../../../config/read/problems.ts";
import { setting } from "../../../config/schema/section.ts";
import type { ConfigAround, Section } from "../../../config/section.ts";
import { lineOfText, z } from "../../../core/contract/options.ts";
import { onOff } from "../../../core/settings/row.ts";
import type { FeatureConfigs, Settings } from "../../../core/settings.ts";
import { type KeyEntry, keyEntry, keyParameters } from "./key-entry.ts";

/** Who may ask, and for what. */
export interface AuthSettings {
  /** Undefined where the section says nothing of keys. */
  readonly keys: readonly KeyEntry[] | undefined;
  /** As it is written, relative to the Router document. */
  readonly keysFile: string | undefined;
  readonly fileKeys: readonly KeyEntry[];
  readonly saltByTenant: boolean;
}

const SALT = onOff(
  false,
  "Whether prompts of different tenants share nothing in the replicas' caches, so that times tell nobody what others have asked: the router writes a salt of the tenant's own into the body's cache_salt.",
);

const auth = z.strictObject({
  keys: z.array(keyEntry).describe("The clients' keys.").optional(),
  keysFile: lineOfText
    .describe("A file with a list of keys, relative to this file. It is watched; one that is broken changes nothing.")
    .optional(),
  saltByTenant: setting(SALT),
});

type Written = z.infer<typeof auth> | undefined;
type Config = AuthSettings | undefined;

/** `spec.auth`. */
export const authSection = {
  key: "auth",
  schema: auth.describe("Who may ask, and for what. Default everybody, for everything.").optional() as z.ZodType<Written>,
  of: (features: FeatureConfigs) => features.get("auth") as Config,
  async read(written: Written, around: ConfigAround): Promise<Config> {
    const { router, files, problems, listed } = around;
    if (written === undefined) return hasAuthenticator(listed) ? NO_KEYS : undefined;
    const { keys, keysFile, saltByTenant } = written;
    const place = (index: number) => router.positionOf(["spec", "auth", "keys", index]);
    const inline = (keys ?? []).map((key, index) => ({
      item: key,
      position: place(index),
      path: ["spec", "auth", "keys", index],
    }));
    const ofFile =
      keysFile === undefined ? [] : await readListFile(keysFile, keyEntry, router, ["spec", "auth", "keysFile"], files, problems);
    refuseTwins([...inline, ...ofFile], around);
    if (keys === undefined && keysFile === undefined && !hasAuthenticator(listed) && !listed.hasNamelessBroken)
      router.report(["spec", "auth"], { found: "no way to show who asks", wanted: "keys, keysFile, or a plugin such as jwt" });
    return { keys, keysFile, fileKeys: ofFile.map(({ item }) => item), saltByTenant };
  },
  builtIns(config) {
    if (config === undefined || (config.keys === undefined && config.keysFile === undefined)) return [];
    return [{ type: "keys", parameters: { keys: [...(config.keys ?? []), ...config.fileKeys].map(keyParameters) } }];
  },
  settings: (config, settings) => (config === undefined ? settings : withoutClientKeys(settings)),
  written: (config) => config && shown(config),
  summary(config) {
    if (config === undefined) return undefined;
    const { keys, fileKeys, keysFile, saltByTenant } = config;
    return [
      "auth      clients show who they are",
      [
        ...(keys === undefined ? [] : [`keys: ${keys.length}`]),
        ...(keysFile === undefined ? [] : [`keys in ${keysFile}: ${fileKeys.length}`]),
        ...(saltByTenant ? ["tenants share no prompts in caches"] : []),
      ],
    ];
  },
  changes(before, after) {
    const all = (config: Config) => [...(config?.keys ?? []), ...(config?.fileKeys ?? [])];
    const isSwitched = (before === undefined) !== (after === undefined);
    return [
      ...(isSwitched ? [`auth: ${after === undefined ? "everybody may ask" : "clients show who they are"}`] : []),
      ...differences("key", all(before), all(after)),
      ...(before && after ? named("auth", plain(before), plain(after)) : []),
    ];
  },
} satisfies Section<Written, Config> & { readonly of: unknown };

const NO_KEYS: AuthSettings = { keys: undefined, keysFile: undefined, fileKeys: [], saltByTenant: false };

/** What has no line of its own. */
const plain = ({ keysFile, saltByTenant }: AuthSettings) => ({ keysFile, saltByTenant });

function hasAuthenticator({ instances, brokenNames }: ListedPlugins): boolean {
  return brokenNames.size > 0 || [...instances.values()].some(({ definition }) => definition.kind === "authenticator");
}

/** A name is one account, and a digest one key. */
function refuseTwins(keys: readonly PlacedItem<KeyEntry>[], { problems }: ConfigAround): void {
  const names = new Set<string>();
  const owners = new Map<string, string>();
  for (const { item, position, path } of keys) {
    const { name, sha256 } = item;
    const refuse = (step: string, found: string, wanted: string) =>
      problems.push(problemAt(position, [...path, step], { found, wanted }));
    if (names.has(name)) refuse("name", `the key name ${quoted(name)} a second time`, "a name of its own for each key");
    const owner = owners.get(sha256);
    if (owner !== undefined)
      refuse("sha256", `the digest of the key ${quoted(owner)} a second time`, "a key of its own for each name");
    names.add(name);
    owners.set(sha256, name);
  }
}

/** What a client shows to this router is no replica's business. */
function withoutClientKeys(settings: Settings): Settings {
  const { credentials } = settings;
  const ofRouter = { ofPool: credentials?.ofPool, ofEndpoint: credentials?.ofEndpoint ?? new Map() };
  return { ...settings, credentials: { ...ofRouter, isForwarded: false } };
}

function shown({ keys, keysFile, saltByTenant }: AuthSettings) {
  return {
    ...(keys && { keys: keys.map((key) => ({ ...key, sha256: "(hidden)" })) }),
    ...(keysFile !== undefined && { keysFile }),
    saltByTenant,
  };
}
