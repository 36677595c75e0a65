import { RouterError } from "../../core/contract/errors.ts";
import { labelSelector, matches } from "../../core/contract/label-selector.ts";
import { defineFilter } from "../../core/contract/plugin.ts";

export default defineFilter({
  type: "label-selector",
  summary: "Keeps endpoints whose labels match a selector.",
  options: labelSelector,
  needs: (selector) => [{ labelled: matches(selector), lack: "no replica has labels that it selects, so requests get 503" }],
  create(selector, host) {
    const isMatch = matches(selector);
    const message = `No ready replica has the labels that the filter "${host.name}" needs; label one in the config, or change the filter.`;
    return {
      expresses: "need",
      filter: (_request, candidates) => candidates.filter(({ labels }) => isMatch(labels)),
      refuse: () => new RouterError("no_ready_endpoint", message, { retryAfterS: 1 }),
    };
  },
});
