import { defineFilter, RouterError, z } from "signalbox/plugin";

/** What `parameters` may hold in the config; a mistake there is reported with its line. */
const options = z.strictObject({
  header: z.string().default("x-tier").describe("The request's header that names a tier."),
  label: z.string().default("tier").describe("The endpoints' label that it is compared with."),
});

export default defineFilter({
  type: "my-filter",
  summary: "Keeps the endpoints of the tier that the request asks for.",
  contract: "1.0",
  options,
  create: ({ header, label }) => ({
    // What it drops must not serve the request, also when another try fails; "wish" would only prefer what it keeps.
    expresses: "need",
    // Some of the candidates, in their order.
    filter(request, candidates) {
      const tier = request.headers.get(header);
      return tier === undefined ? candidates : candidates.filter(({ labels }) => labels[label] === tier);
    },
    // What the client is told when none is left.
    refuse: () => new RouterError("no_ready_endpoint", `No replica has the tier that ${header} asks for; ask for another.`),
  }),
});
