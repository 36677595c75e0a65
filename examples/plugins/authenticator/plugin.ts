import { defineAuthenticator, RouterError, z } from "signalbox/plugin";

/** What `parameters` may hold in the config; a mistake there is reported with its line. */
const options = z.strictObject({
  teams: z.array(z.string().min(1)).min(1).describe("Teams whose passes are let in."),
  requestsPerMinute: z.int().positive().default(600).describe("Of each team."),
});

/** A pass is "pass:TEAM:LAST DAY". Yours would be checked: this one anybody can write. */
const PASS = /^pass:([a-z]+):(\d{4}-\d\d-\d\d)$/;

export default defineAuthenticator({
  type: "my-authenticator",
  summary: "Lets in who shows a pass of a team, until its last day.",
  contract: "1.0",
  options,
  create: ({ teams, requestsPerMinute }, { clock }) => ({
    // Undefined for what is no pass: the next authenticator is asked. An error refuses a pass that is known, and says why.
    authenticate(credential) {
      const [, team = "", lastDay = ""] = PASS.exec(credential) ?? [];
      if (!teams.includes(team)) return undefined;
      const today = new Date(clock.wall()).toISOString().slice(0, 10);
      if (lastDay < today) throw new RouterError("invalid_api_key", `The pass was valid until ${lastDay}; ask for a new one.`);
      return { name: team, tenant: team, priority: 0, models: undefined, limits: { requestsPerMinute } };
    },
  }),
});
