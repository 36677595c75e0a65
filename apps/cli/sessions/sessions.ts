import { CommandError, type Input, print } from "../../../config/command.ts";
import { printable } from "../../../core/contract/printable.ts";
import { whole } from "../../../core/report/number-text.ts";
import { columnTable } from "../../../core/report/table.ts";
import { askAdmin } from "../admin/ask-admin.ts";
import { noWords } from "../frame/command.ts";

/** One session of the status, as far as it is shown. */
export interface SessionRow {
  readonly name: string;
  readonly tenant: string;
  readonly model: string;
  readonly source: string;
  readonly turns: number;
  readonly underWay: number;
  readonly endpoint: string;
  readonly tokens: number | null;
  readonly idleMs: number;
}

/** The part of the status that has sessions; another router, or one without them, has none. */
export interface SessionsDocument {
  readonly known: number;
  readonly underWay: number;
  readonly byEndpoint: readonly { readonly endpoint: string; readonly sessions: number; readonly tokens: number }[];
  readonly latest: readonly SessionRow[];
}

/** `signalbox sessions`: shows which session is on which replica. Returns the exit code. */
export async function sessions(input: Input): Promise<number> {
  noWords(input, "sessions");
  const { sessions = null } = await askAdmin<{ readonly sessions?: SessionsDocument | null }>(input, "/status");
  if (sessions === null)
    throw new CommandError(1, "The router looks for no sessions: write `sessions: {}` below spec in its config.");
  return print(input, sessions, () => `${sessionsText(sessions)}\n`);
}

/** Sessions by replica, and those that had a turn last. */
export function sessionsText({ known, underWay, byEndpoint, latest }: SessionsDocument): string {
  if (known === 0) return "No session is known.";
  const more = known - latest.length;
  return [
    `${whole(known)} ${known === 1 ? "session" : "sessions"}, ${whole(underWay)} with a turn under way`,
    ...byEndpoint.map(
      ({ endpoint, sessions, tokens }) => `  ${printable(endpoint)}: ${whole(sessions)}, ${whole(tokens)} tokens`,
    ),
    "",
    ...columnTable<SessionRow>(
      [
        ["SESSION", ({ name }) => printable(name), "left"],
        ["TENANT", ({ tenant }) => printable(tenant) || "-", "left"],
        ["MODEL", ({ model }) => printable(model), "left"],
        ["REPLICA", ({ endpoint }) => printable(endpoint) || "-", "left"],
        ["TURNS", ({ turns }) => whole(turns)],
        ["TOKENS", ({ tokens }) => (tokens === null ? "-" : whole(tokens))],
        ["IDLE", idleText],
        ["KNOWN BY", ({ source }) => printable(source), "left"],
      ],
      latest,
    ),
    ...(more > 0 ? [`… and ${whole(more)} more, whose last turns were before these`] : []),
  ].join("\n");
}

function idleText({ underWay, idleMs }: SessionRow): string {
  if (underWay > 0) return underWay === 1 ? "under way" : `${underWay} under way`;
  const seconds = Math.round(idleMs / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}
