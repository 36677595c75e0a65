import { defineFilter } from "signalbox/plugin";
import { programsOf } from "./programs.ts";

export default defineFilter({
  type: "thunderagent-place",
  summary: "Keeps a program at the replica where it is active, while that may be used.",
  uses: ["thunderagent/programs"],
  create(_options, host) {
    const programs = programsOf(host);
    return {
      expresses: "wish",
      filter({ headers }, candidates) {
        const id = headers.get(programs.header);
        const place = id === undefined ? undefined : programs.placeOf(id);
        const there = candidates.filter(({ name }) => name === place);
        return there.length === 0 ? candidates : there;
      },
    };
  },
});
