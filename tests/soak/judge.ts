/** How one request of a client ended. */
export type Result =
  | "served" // whole, and its own
  | "refused" // an error response
  | "broken" // a stream that ended with an error event or a cut connection
  | "plugin fault" // 500, because its filter fails on purpose
  | "left" // the client left on purpose
  | "wrong" // served, although its filter fails
  | "damaged" // complete, but not what the replica sent
  | "mixed up" // another request's content
  | "hung"; // no end in time

/** A request, as far as its response can be judged by it. */
export interface Sent {
  /** Part of its prompt, and of no other. */
  readonly tag: string;
  readonly isStream: boolean;
  /** The body that a replica gets. Replicas repeat what they were sent. */
  readonly delivered: string;
  /** Its filter fails. */
  readonly isFiltered: boolean;
}

/** What came. `isCut`: the connection ended before the response did. */
export interface Received {
  readonly status: number;
  readonly text: string;
  readonly isCut: boolean;
}

const TAG = /tag-\d+-[a-z]+/g;

export function judge(sent: Sent, { status, text, isCut }: Received): Result {
  try {
    if (isCut) return hasOtherTag(text, sent) ? "mixed up" : "broken";
    if (status !== 200) return judgeError(sent, status, errorCode(text));
    if (sent.isFiltered) return "wrong";
    const content = sent.isStream ? streamContent(text) : unaryContent(text);
    if (content === undefined) return "broken";
    if (hasOtherTag(content, sent)) return "mixed up";
    const { body } = JSON.parse(content) as { readonly body: string };
    return body === sent.delivered ? "served" : "damaged";
  } catch {
    return "damaged";
  }
}

function judgeError(sent: Sent, status: number, code: unknown): Result {
  return sent.isFiltered && status === 500 && code === "plugin_fault" ? "plugin fault" : "refused";
}

function hasOtherTag(text: string, sent: Sent): boolean {
  return (text.match(TAG) ?? []).some((tag) => tag !== sent.tag);
}

/** Throws where the text has no error's shape. */
function errorCode(text: string): unknown {
  const { error } = JSON.parse(text) as { readonly error: { readonly code: unknown } };
  return error.code;
}

function unaryContent(text: string): string {
  const { choices } = JSON.parse(text) as { readonly choices: readonly { readonly message: { readonly content: string } }[] };
  return choices[0]!.message.content;
}

/** The generated text; undefined where the stream ends with an error event. Throws where it is not a whole stream. */
function streamContent(text: string): string | undefined {
  const events = text.split("\n\n").filter((event) => event.startsWith("data: "));
  const last = events.at(-1)?.slice(6) ?? "";
  if (last !== "[DONE]") {
    errorCode(last);
    return undefined;
  }
  let content = "";
  for (const event of events.slice(0, -1)) {
    const { choices } = JSON.parse(event.slice(6)) as { choices: { delta?: { content?: string } }[] };
    content += choices[0]?.delta?.content ?? "";
  }
  return content;
}
