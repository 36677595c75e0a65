/**
 * What a complete response of an API with status 2xx has. One without it counts as a failure of its replica, and teaches nothing.
 *
 * A text that begins with a key in quotes, such as `"choices":[{"`, means that member and how its value begins; white space may stand
 * between its parts. One that ends with a colon means any value but null.
 *
 * A client whose stream ends without its end gets an error event, and the connection is closed: it must not take half an answer for a
 * whole one.
 *
 * @example
 * const rerank = { document: ['"results":[', '"data":['] };
 * const responses = { "/v1/rerank": rerank };
 */
export interface ResponseShape {
  /** A JSON document has one of these members, at any depth, and its end. */
  readonly document: readonly string[];
  /** An event stream has one of these members. Absent: the API has no event streams. */
  readonly events?: readonly string[];
  /**
   * An event stream has one of these in its last 2 KB: a text without a key, such as `[DONE]`, as all the data of an event; a member
   * with its value, of its last event; or a member with any text (`"stop_reason":"`), which says that the generation has ended. Of
   * `"finish_reason":"` each choice must have its own. Absent: its end is not judged.
   */
  readonly endings?: readonly string[];
  /** All its events have types, by which the last one is known, however long it is. Default false. */
  readonly hasTypes?: boolean;
  /** Media types that are no text: such a response is not looked at. */
  readonly unread?: readonly string[];
}

const LONGEST_TEXT = 200;

/** Throws a TypeError that says what is wrong with the shape that a plugin brought. */
export function assertShape(shape: ResponseShape): void {
  const { document, events = [], endings = [], unread = [] } = shape;
  for (const list of [document, events, endings, unread]) {
    if (!Array.isArray(list)) throw new TypeError("A list of what its responses have is missing, or is none");
    for (const text of list as readonly unknown[])
      if (!isMember(text)) throw new TypeError(`${JSON.stringify(text)} can't be looked for`);
  }
  if (document.length === 0) throw new TypeError("It must say what a JSON document of its responses has");
}

/** A text of printable ASCII; if it begins with a quote, that of a key. */
function isMember(text: unknown): boolean {
  return typeof text === "string" && text.length <= LONGEST_TEXT && /^(?:"[ !#-~]+"|[!#-~])[ -~]*$/.test(text);
}
