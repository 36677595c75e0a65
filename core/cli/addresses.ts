import type { RouterConfig } from "../../config/config.ts";
import { DEFAULT_ADMIN } from "../../config/defaults.ts";
import type { StartArguments } from "./arguments.ts";

/** The config with the addresses of the command line in the place of the files'. A port for admin opens it in any case. */
export function withAddresses(
  config: RouterConfig,
  { host, port, adminPort }: Pick<StartArguments, "host" | "port" | "adminPort">,
): RouterConfig {
  const { listen, admin } = config;
  return {
    ...config,
    listen: { ...listen, host: host ?? listen.host, port: port ?? listen.port },
    admin: adminPort === undefined ? admin : { ...(admin ?? DEFAULT_ADMIN), port: adminPort },
  };
}
