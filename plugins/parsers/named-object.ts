import type { BodyView } from "../../core/contract/body-view.ts";
import { RouterError } from "../../core/contract/errors.ts";
import type { KeptObject, ParsedBody } from "../../core/contract/request.ts";

const RESPONSE = "previous_response_id";
const CONVERSATION = "conversation";

/** Keys of a body that name what a replica keeps, and the request continues. */
export const CONTINUED_KEYS: readonly string[] = [RESPONSE, CONVERSATION];

/** What a request continues. */
type Continued = Pick<ParsedBody, "names" | "alsoNames" | "isFollowUp">;

/**
 * The response and the conversation that the request continues. An engine may find an id where the router finds none, and would give out
 * another client's: so it throws RouterError for a value that is no id.
 */
export function continuedIn(body: BodyView): Continued {
  const response = idIn(body, RESPONSE, "the id of the response before");
  const conversation = conversationIn(body);
  const found: KeptObject[] = [];
  if (response !== undefined) found.push({ kind: "responses", id: response });
  if (conversation !== undefined) found.push({ kind: "conversations", id: conversation });
  const [names, alsoNames] = found;
  return { names, alsoNames, isFollowUp: names !== undefined };
}

/** The id at the key; undefined where the body has none, or null. Throws RouterError for a value that is no string. */
export function idIn(body: BodyView, key: string, meaning: string): string | undefined {
  const kind = body.kind(key);
  if (kind !== "string" && kind !== "missing" && kind !== "null") throw notAnId(key, meaning);
  return body.text(key);
}

function conversationIn(body: BodyView): string | undefined {
  if (body.kind(CONVERSATION) !== "object") return idIn(body, CONVERSATION, "a conversation's id, or an object that has it");
  const id = body.textIn(CONVERSATION, "id");
  if (id === undefined) throw notAnId(`${CONVERSATION}.id`, "a conversation's id");
  return id;
}

function notAnId(key: string, meaning: string): RouterError {
  return new RouterError("invalid_value", `The value of "${key}" must be a string: ${meaning}.`);
}
