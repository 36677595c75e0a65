// What the line of a replica opens into: all that is known, and buttons.

import { Kept, keepChildren, make, makeButton, setText } from "./dom.js";
import { ageS, duration, labelTexts, listed, number, whole } from "./format.js";
import { change, mayChange, reason } from "./operate.js";

const CLASS = { ready: "good", "not-ready": "bad", ejected: "bad" };
const MODELS_SHOWN = 20;
const DONE = { drain: "is drained: no new requests go there", cordon: "is cordoned", undrain: "serves again" };

export const stateClass = ({ phase }) => CLASS[phase] ?? "wait";

/** `figuresOf(endpoint)`: what narrow screens leave out of the line; `all()`: every endpoint. */
export function makeDetails(figuresOf, all) {
  let endpoint;
  const list = make("dl", "facts");
  const buttons = ["Drain", "Cordon", "Undrain"].map((word) => makeButton(word, () => act(endpoint, word.toLowerCase(), all())));
  const [drain, cordon, undrain] = buttons;
  const actions = make("p", "actions", ...buttons);
  const facts = new Kept(makeFact);
  return {
    element: make("div", "explanation", list, actions),
    update(next, { now }) {
      endpoint = next;
      const shown = [...factsOf(next, now).filter(([, text]) => text !== ""), ...figuresOf(next)];
      keepChildren(
        list,
        facts.of(shown, ([title]) => title),
      );
      const { name, intent } = next;
      actions.hidden = !mayChange();
      drain.hidden = intent?.kind === "drain";
      cordon.hidden = intent !== null;
      undrain.hidden = intent === null;
      for (const button of buttons) button.ariaLabel = `${button.textContent} ${name}`;
    },
  };
}

function makeFact([title]) {
  const value = make("dd");
  return { element: make("div", "", make("dt", "", title), value), update: ([, text]) => setText(value, text) };
}

function factsOf(endpoint, now) {
  const { url, phase, since, why, models, running, waiting, scrapedAgoMs, figures } = endpoint;
  const reported = running === null && waiting === null ? "" : `${whole(running)} running, ${whole(waiting)} waiting`;
  return [
    ["address", url],
    ["state", `${phase}${since === null ? "" : ` for ${duration(ageS(since, now))}`}${why === "" ? "" : `: ${why}`}`],
    ["probes", checkText(endpoint)],
    ["it reports", scrapedAgoMs === null ? reported : `${reported || "nothing of use"}, read ${tenths(scrapedAgoMs)} ago`],
    ["clients that left", whole(figures.clientsLeft)],
    ["tokens/s of a stream", number(figures.streamTokensPerS)],
    ["labels", listed(labelTexts(endpoint), MODELS_SHOWN)],
    ["models", listed(models, MODELS_SHOWN)],
  ];
}

function checkText({ lastCheckAgoMs, nextCheckInMs }) {
  const last = lastCheckAgoMs === null ? "not checked yet" : `checked ${tenths(lastCheckAgoMs)} ago`;
  if (nextCheckInMs === null) return last;
  return nextCheckInMs === 0 ? `${last}, next now` : `${last}, next in ${tenths(nextCheckInMs)}`;
}

const tenths = (ms) => (ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms / 1000));

async function act({ name, isAvailable }, action, all) {
  const isLast = action !== "undrain" && isAvailable && all.filter((each) => each.isAvailable).length === 1;
  if (isLast && !confirm(`${name} is the last replica that serves: without it, requests get 503. Go on?`)) return;
  const body = action === "undrain" || reason() === "" ? {} : { reason: reason() };
  await change("POST", `endpoints/${encodeURIComponent(name)}/${action}`, body, `${name} ${DONE[action]}.`);
}
