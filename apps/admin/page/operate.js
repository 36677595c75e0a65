// Changes through the admin API, where they are allowed. The token is kept in this page's memory only.

import { at, setText } from "./dom.js";

const NOTHING = { mayChange: false, needsToken: false, needsTokenToRead: false, reason: "" };
let permission = NOTHING;
let changed;

/** `redraw` is awaited after each change. */
export function onChange(redraw) {
  changed = redraw;
}

export const mayChange = () => permission.mayChange;

/** Asks what is allowed; an older router, or one without the API, allows nothing. */
export async function askPermission() {
  const response = await fetch("api/v1/access", { signal: AbortSignal.timeout(5000) }).catch(() => undefined);
  permission = response?.ok ? await response.json() : NOTHING;
  at("token-field").hidden = !permission.needsToken && !permission.needsTokenToRead;
  at("reason-field").hidden = !permission.mayChange;
  setText(at("read-only"), permission.reason);
  at("read-only").hidden = permission.reason === "";
}

/** Sends one change and says how it ended: `done` as a sentence, or why it was refused. Returns whether it was made. */
export async function change(method, path, body, done, headers = {}) {
  say("", false);
  try {
    const response = await fetch(`api/v1/${path}`, {
      method,
      headers: { "content-type": "application/json", ...tokenHeader(), ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
    if (!response.ok) throw new Error(await refusalText(response));
    say(done, false);
  } catch (error) {
    say(`Nothing was changed: ${error.message}`, true);
    void askPermission();
    return false;
  }
  await changed();
  return true;
}

/** Why the operator takes something out; "" if nothing was entered. */
export const reason = () => at("reason").value.trim();

export const needsTokenToRead = () => permission.needsTokenToRead;

/** Fetches what is shown. */
export function read(path) {
  return fetch(path, { headers: tokenHeader(), signal: AbortSignal.timeout(5000) });
}

/** Throws why it can't be read. */
export async function readJson(path) {
  const response = await read(path);
  if (response.status === 401) throw new Error("it asks for a token: enter one above");
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

function tokenHeader() {
  const token = at("token").value.trim();
  const isAsked = permission.needsToken || permission.needsTokenToRead;
  return isAsked && token !== "" ? { authorization: `Bearer ${token}` } : {};
}

async function refusalText(response) {
  const problem = await response.json().catch(() => ({}));
  const faults = Array.isArray(problem.faults) ? ` ${problem.faults.join(" ")}` : "";
  return `${problem.detail ?? `the router answered with status ${response.status}.`}${faults}`;
}

/** Shows a text until it is closed or replaced. */
export function say(text, isProblem) {
  const result = at("result");
  result.classList.toggle("problem", isProblem);
  setText(at("result-text"), text);
  result.hidden = text === "";
}

at("result-close").addEventListener("click", () => say("", false));
