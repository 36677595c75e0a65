import type { LoadedConfig, RefusedConfig } from "../../../../config/load.ts";
import { formatProblem } from "../../../../config/read/problems.ts";
import type { Overlay } from "../../../../config/rewrites/overlay.ts";
import { systemClock } from "../../../../core/contract/clock.ts";
import type { Definition } from "../../../../core/contract/plugin.ts";
import { defaultMemoryBytes } from "../../../../core/runtime/memory-limit.ts";
import { LOOK_MS } from "../../file-watch.ts";
import { type ConfigSource, configSource, type StartArguments } from "../config-source.ts";
import type { Begin } from "./messages.ts";
import type { ParentEnd } from "./parent-end.ts";

/** A worker's config: the parent reads the files, and lets all workers take them, or none. */
export function workerSource(
  asked: StartArguments,
  begin: Begin,
  end: ParentEnd,
  registry: ReadonlyMap<string, Definition>,
): ConfigSource {
  let { texts } = begin.state;
  let isFirst = true;
  const given = { names: begin.sources, texts: () => texts };
  const source = configSource({ ...asked, urls: begin.urls }, given, registry, systemClock, LOOK_MS);
  const loadWith = async (overlay: Overlay, running?: LoadedConfig) => withShare(await source.load(overlay, running), begin);
  return {
    ...source,
    async load(overlay, running) {
      if (isFirst) {
        isFirst = false;
        return loadWith(begin.state.overlay);
      }
      if (running !== undefined) return loadWith(overlay, running);
      const files = await end.files();
      if (files.problems.length > 0) return { problems: files.problems, warnings: [], files: new Set() };
      texts = files.texts;
      const loaded = await loadWith(overlay);
      const own = loaded.problems === undefined ? "" : loaded.problems.map(formatProblem).join("; ");
      const refusal = await end.vote(files.round, own);
      if (loaded.problems === undefined && refusal !== "") throw new Error(refusal);
      return loaded;
    },
  };
}

/** The config with this worker's part of what the whole program may have. */
function withShare(loaded: LoadedConfig | RefusedConfig, begin: Begin): LoadedConfig | RefusedConfig {
  if (loaded.problems !== undefined) return loaded;
  const { config } = loaded;
  const { limits, prefixSecret = begin.prefixSecret } = config.settings;
  const memoryBytes = Math.max(1, Math.floor((limits.memoryBytes || defaultMemoryBytes()) / begin.count));
  return {
    ...loaded,
    config: {
      ...config,
      listen: { ...config.listen, port: begin.port, isPortShared: begin.isPortShared },
      settings: { ...config.settings, prefixSecret, limits: { ...limits, memoryBytes } },
    },
  };
}
