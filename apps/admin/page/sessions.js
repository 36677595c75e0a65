// The sessions of agents that had a turn last: who is on which replica, how large, idle since.

import { at, Kept, keepChildren, make, makeCell, makeHead, setText } from "./dom.js";
import { duration, plural, whole } from "./format.js";

const MOST_SHOWN = 20;
const HEADS = [
  ["Session", "text"],
  ["Replica", "text"],
  ["Turns", "number"],
  ["Tokens", "number"],
  ["Idle", "number"],
  ["Known by", "free"],
];

const rows = new Kept(makeRow);

/** `sessions` is null, or absent, where the router looks for none. */
export function drawSessions({ sessions }) {
  at("sessions-section").hidden = !sessions;
  if (!sessions) return;
  const { known, underWay, latest } = sessions;
  setText(at("session-count"), `${plural(known, "session")}, ${whole(underWay)} with a turn under way; the latest are shown`);
  const table = at("sessions");
  if (table.tHead === null) table.append(makeHead(HEADS), make("tbody"));
  keepChildren(
    table.tBodies[0],
    rows.of(latest.slice(0, MOST_SHOWN), ({ tenant, model, name }) => JSON.stringify([tenant, model, name])),
  );
}

function makeRow() {
  const cells = HEADS.map(([title, className]) => makeCell(title, className));
  return {
    element: make("tr", "", ...cells),
    update(session) {
      for (const [index, text] of textsOf(session).entries()) setText(cells[index], text);
      cells[0].title = `${session.model}${session.tenant === "" ? "" : `, tenant ${session.tenant}`}`;
    },
  };
}

const textsOf = ({ name, endpoint, turns, tokens, underWay, idleMs, source }) => [
  name,
  endpoint || "–",
  whole(turns),
  whole(tokens),
  underWay > 0 ? "under way" : duration(idleMs / 1000),
  source,
];
