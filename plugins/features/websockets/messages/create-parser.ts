import type { RouteParser } from "../../../../core/active-config.ts";
import type { BodyView } from "../../../../core/contract/body-view.ts";
import { RouterError } from "../../../../core/contract/errors.ts";
import type { Parser } from "../../../../core/contract/parser.ts";

/** The one message that asks for something, and has the request's members beside its type. */
const CREATE = "response.create";
const KEYS = ["type", "response"] as const;

const made = new WeakMap<RouteParser, RouteParser>();

/**
 * Reads messages as the path's parser reads requests. What comes back are always events; and the replica keeps a response for the next
 * message of the same WebSocket, also where it is not to store it.
 */
export function createParser(parser: RouteParser): RouteParser {
  const known = made.get(parser);
  if (known !== undefined) return known;
  const { plugin } = parser;
  const keys = [...new Set([...parser.keys, ...KEYS])];
  const { routes, dialect, partKeys, openingEvents, responses } = plugin;
  const wrapped: Parser = {
    ...{ routes, dialect, keys },
    ...(partKeys && { partKeys }),
    ...(openingEvents && { openingEvents }),
    ...(responses && { responses }),
    parse(body, path, query) {
      checkMessage(body);
      return { ...plugin.parse(body, path, query), isStream: true, makes: "responses" };
    },
  };
  const own = { ...parser, plugin: wrapped, keys };
  made.set(parser, own);
  return own;
}

/** Throws RouterError for another message, which nobody would have judged. */
function checkMessage(body: BodyView): void {
  if (body.kind("type") !== "string" || body.text("type") !== CREATE)
    throw new RouterError("invalid_value", `The "type" of a message here is "${CREATE}"; send no other one.`);
  if (body.kind("response") === "object")
    throw new RouterError(
      "invalid_value",
      'Write "model", "input" and the rest beside the message\'s "type", without "response".',
    );
}
