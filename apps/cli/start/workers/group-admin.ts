import { systemClock } from "../../../../core/contract/clock.ts";
import type { Log } from "../../../../core/contract/log.ts";
import type { AdminAddress } from "../../../../core/router-config.ts";
import type { Limits } from "../../../../core/settings.ts";
import { allowedHosts } from "../../../admin/allowed-hosts.ts";
import { ApiExchange } from "../../../admin/api-exchange.ts";
import { PageExchange } from "../../../admin/page-exchange.ts";
import { unknownHost } from "../../../admin/requests.ts";
import { listenForAdmin } from "../../../admin/server.ts";
import { turns } from "../../../admin/turns.ts";
import { addressOf, type OpenAdmin, openedAdmin, withPortError } from "../open-admin.ts";
import type { GroupApi } from "./group-api.ts";

/** Opens the admin port of all workers; undefined if there is to be none. */
export async function openGroupAdmin(
  address: AdminAddress | undefined,
  limits: Limits,
  api: GroupApi,
  log: Log,
): Promise<OpenAdmin | undefined> {
  if (address === undefined) return undefined;
  const isAllowed = allowedHosts([address.host, ...address.hosts]);
  const turn = turns();
  const admin = await withPortError(
    address,
    listenForAdmin(
      { ...addressOf(address, limits), clock: systemClock, log },
      {
        start(head, bodyLength, response, caller) {
          if (!isAllowed(head.get("host"))) return new PageExchange(response, turn, unknownHost);
          // The workers' responses have the header lines of the admin port.
          return new ApiExchange({ head, bodyLength, response, api: api.answer, caller, lines: "" });
        },
        close: () => api.close(),
      },
    ),
  );
  return openedAdmin(admin, address, log);
}
