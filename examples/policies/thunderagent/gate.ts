import { defineFeature } from "signalbox/plugin";
import { type Program, programsOf } from "./programs.ts";

const CHECK_MS = 5_000;

export default defineFeature({
  type: "thunderagent-gate",
  summary: "Lets the turns of agents' programs wait while they are paused, as ThunderAgent does.",
  uses: ["thunderagent/programs"],
  create(_options, host) {
    const programs = programsOf(host);
    /** By the request's id, until it has ended. */
    const turns = host.keep(1, () => new Map<string, Program>());
    let stop = () => {};
    return {
      configured() {
        stop = host.clock.every(CHECK_MS, () => programs.check(host.clock.now()));
      },
      endpointsChanged: (endpoints) => programs.follow(endpoints),
      admit({ head, parsed, ticket }, owner) {
        const id = head.get(programs.header);
        const nowMs = host.clock.now();
        const program = id === undefined ? undefined : programs.arrive(id, parsed?.promptTokens ?? 0, nowMs);
        if (program === undefined) return undefined;
        turns.set(ticket.id, program);
        if (!program.isPaused) return undefined;
        const waiter = { sinceMs: nowMs, goOn: () => owner.admitted() };
        program.waiters.add(waiter);
        return { leave: () => void program.waiters.delete(waiter) };
      },
      settled({ id, usage, outputTokens }) {
        const program = turns.get(id);
        turns.delete(id);
        if (program === undefined) return;
        programs.ended(program, (usage?.promptTokens || program.tokens) + (outputTokens || 0), host.clock.now());
      },
      dispose: () => stop(),
    };
  },
});
