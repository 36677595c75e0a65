import type { RouterConfig } from "../../../config/config.ts";
import { type LoadedConfig, loadConfig, loadTexts, type RefusedConfig } from "../../../config/load.ts";
import type { ConfigText } from "../../../config/read/files.ts";
import type { Overlay } from "../../../config/rewrites/overlay.ts";
import { DEFAULT_ADMIN } from "../../../config/router/addresses.ts";
import type { CommandLine } from "../../../config/show/effective.ts";
import type { Clock } from "../../contract/clock.ts";
import type { Definition } from "../../contract/plugin.ts";
import { FileWatch } from "../file-watch.ts";
import { type Input, numberOf } from "../frame/command.ts";

export interface StartArguments extends CommandLine {
  readonly urls: readonly string[];
  readonly files: readonly string[];
}

/** Throws UsageError. */
export function startArguments(input: Input): StartArguments {
  const port = (name: string) => numberOf(input, name, 0, 65_535, true);
  const addresses = { host: input.text("host"), port: port("port"), adminPort: port("admin-port") };
  return { urls: input.words, files: input.all("file"), ...addresses };
}

export interface ConfigSourceOptions {
  readonly asked: Omit<StartArguments, "files">;
  /** Files and folders; none where the config has other sources. */
  readonly files: readonly string[];
  /** The demo's config. */
  readonly demoText: string | undefined;
  readonly registry: ReadonlyMap<string, Definition>;
  readonly clock: Clock;
}

/** Where the config of this process comes from: files, addresses on the command line, or the demo. */
export class ConfigSource {
  readonly #options: ConfigSourceOptions;
  readonly #watch: FileWatch;
  #changed: () => void = () => {};

  constructor(options: ConfigSourceOptions) {
    const { clock, files } = options;
    this.#options = options;
    this.#watch = new FileWatch({ clock, paths: files, changed: () => this.#changed() });
  }

  /** Its sources in words. */
  get names(): readonly string[] {
    const { files, asked, demoText } = this.#options;
    return [...files, ...(asked.urls.length > 0 ? ["the command line"] : []), ...(demoText === undefined ? [] : ["the demo"])];
  }

  /** Which addresses the command line sets instead of the files. */
  get commandLine(): CommandLine {
    return this.#options.asked;
  }

  /** Loads the config with an overlay, from the files or from `texts`. The command line's addresses are in it. */
  async load(overlay: Overlay, texts?: readonly ConfigText[]): Promise<LoadedConfig | RefusedConfig> {
    const { files, asked, demoText, registry } = this.#options;
    const fixed = texts ?? (demoText === undefined ? undefined : [{ file: "demo", text: demoText }]);
    if (fixed === undefined) await this.#watch.reading();
    const loaded = fixed
      ? await loadTexts(fixed, registry, asked.urls, overlay)
      : await loadConfig(files, registry, asked.urls, overlay);
    await this.#watch.follow(loaded.files);
    return loaded.problems === undefined ? { ...loaded, config: withAddresses(loaded.config, asked) } : loaded;
  }

  /** Calls `changed` whenever files that the config was read from have changed. Returns what ends that. */
  watch(changed: () => void): () => void {
    this.#changed = changed;
    if (this.#options.files.length > 0) this.#watch.start();
    return () => this.#watch.stop();
  }
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
