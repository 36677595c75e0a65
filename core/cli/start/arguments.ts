import type { RouterConfig } from "../../../config/config.ts";
import type { CommandLine } from "../../../config/show/effective.ts";
import { DEFAULT_ADMIN } from "../../settings/tables.ts";
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

/** The config with the addresses of the command line in the place of the files'. A port for admin opens it in any case. */
export function withAddresses(config: RouterConfig, { host, port, adminPort }: CommandLine): RouterConfig {
  const { listen, admin } = config;
  return {
    ...config,
    listen: { ...listen, host: host ?? listen.host, port: port ?? listen.port },
    admin: adminPort === undefined ? admin : { ...(admin ?? DEFAULT_ADMIN), port: adminPort },
  };
}
