import type { Input } from "../../../config/command.ts";
import { type LoadedConfig, loadTexts, type RefusedConfig } from "../../../config/load.ts";
import { type ConfigText, readFiles } from "../../../config/read/files.ts";
import type { Problem } from "../../../config/read/problems.ts";
import type { Overlay } from "../../../config/rewrites/overlay.ts";
import { TlsFiles } from "../../../config/router/tls-files.ts";
import type { CommandLine } from "../../../config/show/effective.ts";
import type { Clock } from "../../../core/contract/clock.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import type { RouterConfig } from "../../../core/router-config.ts";
import { DEFAULT_ADMIN } from "../../../core/settings/default-admin.ts";
import type { ClusterResources } from "../../kubernetes/resources/cluster-resources.ts";
import { FileWatch } from "../file-watch.ts";
import { numberOf } from "../frame/command.ts";
import { defaultFiles } from "../frame/default-file.ts";

export interface StartArguments extends CommandLine {
  readonly urls: readonly string[];
  readonly files: readonly string[];
  /** Types of plugins that do not run in this process, whatever the files say. */
  readonly leftOut?: readonly string[];
}

/** Throws UsageError. */
export function startArguments(input: Input): StartArguments {
  const port = (name: string) => numberOf(input, name, 0, 65_535, true);
  const addresses = { host: input.text("host"), port: port("port"), adminPort: port("admin-port") };
  return { urls: input.words, files: input.all("file"), ...addresses };
}

/** The config files that are named; where nothing is, those of this folder. Throws UsageError. */
export async function filesOf({ files, urls }: StartArguments): Promise<readonly string[]> {
  return files.length === 0 && urls.length === 0 ? defaultFiles() : files;
}

export type ConfigSource = ReturnType<typeof configSource>;

/** Texts in place of the files'. */
export interface GivenTexts {
  /** What they come from, in words. */
  readonly names: readonly string[];
  /** As they are now. */
  texts(): readonly ConfigText[];
}

/** Where the config of this process comes from: files and addresses on the command line, or texts that it is given. */
export function configSource(
  asked: StartArguments,
  given: GivenTexts | undefined,
  registry: ReadonlyMap<string, Definition>,
  clock: Clock,
  lookMs: number,
) {
  const { files, urls } = asked;
  const tlsFiles = new TlsFiles();
  let changed = () => {};
  let resources: ClusterResources | undefined;
  const fileWatch = new FileWatch({ clock, lookMs, paths: files, changed: () => changed() });
  return {
    /** Its sources in words. */
    names: given?.names ?? [
      ...files.map((file) => (file === "-" ? "the standard input" : file)),
      ...(urls.length > 0 ? ["the command line"] : []),
    ],
    /** Which addresses the command line sets instead of the files. */
    commandLine: asked as CommandLine,
    /** From now on they are a part of the config. */
    add(cluster: ClusterResources): void {
      resources = cluster;
    },
    /**
     * Loads the config with an overlay, from the files or over what runs; resources are in it as they are now. The command line's
     * addresses are in it.
     */
    async load(overlay: Overlay, running?: LoadedConfig): Promise<LoadedConfig | RefusedConfig> {
      const fixed = running?.texts ?? given?.texts();
      if (fixed === undefined) await fileWatch.reading();
      const problems: Problem[] = [];
      const all = fixed ?? (await readFiles(files, problems));
      const own = all.filter(({ resource }) => resource === undefined);
      const loadWith = (more: readonly ConfigText[]): Promise<LoadedConfig | RefusedConfig> =>
        loadTexts([...own, ...more], registry, urls, overlay, true, [...problems], tlsFiles, running);
      const loaded = await (resources === undefined ? loadWith([]) : resources.load(loadWith));
      await fileWatch.follow(loaded.files);
      return loaded.problems === undefined
        ? { ...loaded, config: without(withAddresses(loaded.config, asked), asked.leftOut) }
        : loaded;
    },
    /** Calls `run` whenever files that the config was read from have changed. Returns what ends that. */
    watch(run: () => void): () => void {
      changed = run;
      if (files.length > 0) fileWatch.start();
      return () => fileWatch.stop();
    },
  };
}

/** The config without the plugins of these types. */
function without(config: RouterConfig, types: readonly string[] = []): RouterConfig {
  return types.length === 0 ? config : { ...config, plugins: config.plugins.filter(({ type }) => !types.includes(type)) };
}

/** The config with the addresses of the command line in the place of the files'. A port for admin opens it in any case. */
function withAddresses(config: RouterConfig, { host, port, adminPort }: CommandLine): RouterConfig {
  const { listen, admin } = config;
  return {
    ...config,
    listen: { ...listen, host: host ?? listen.host, port: port ?? listen.port },
    admin: adminPort === undefined ? admin : { ...(admin ?? DEFAULT_ADMIN), port: adminPort },
  };
}
