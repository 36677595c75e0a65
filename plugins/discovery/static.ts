import { z } from "../../core/contract/options.ts";
import { defineDiscovery } from "../../core/contract/plugin.ts";

const endpoint = z.strictObject({
  name: z.string().min(1),
  url: z.url({ protocol: /^https?$/ }),
  labels: z.record(z.string(), z.string()).default({}),
});

export default defineDiscovery({
  type: "static",
  summary: "The endpoints that the config lists.",
  options: z.strictObject({ endpoints: z.array(endpoint) }),
  create: ({ endpoints }) => ({ start: (found) => found(endpoints) }),
});
