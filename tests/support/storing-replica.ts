/** Replicas that keep responses, files and batches, each its own, for tests of what must find its way back. */
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "./scripted-replica.ts";

const NOT_FOUND = "404 Not Found";
const MISSING = jsonAnswer(
  '{"error":{"message":"not found here","type":"invalid_request_error","param":null,"code":null}}',
  NOT_FOUND,
);

export interface Store {
  readonly script: Script;
  /** Ids by their kinds. */
  readonly kept: Map<string, Set<string>>;
  /** Stops the stream that is open. */
  finish(): void;
}

/** `name` stands in its ids, so that a test sees who made them; "" for ids that others make too. */
export function startStore(name: string): Store {
  const kept = new Map<string, Set<string>>();
  let made = 0;
  let finish = () => {};
  const has = (kind: string, id: string) => kept.get(kind)?.has(id) === true;
  const make = (kind: string) => {
    made += 1;
    const id = `${kind}_${name}${made}`;
    kept.set(kind, (kept.get(kind) ?? new Set()).add(id));
    return id;
  };
  const script: Script = ({ startLine, body }, socket) => {
    const [method, target = ""] = startLine.split(" ");
    const [, , kind = "", id = "", rest = ""] = target.split("?")[0]!.split("/");
    const asked = body.length > 0 && body[0] === 0x7b ? (JSON.parse(body.toString()) as Record<string, unknown>) : {};
    const answer = (document: object) => void socket.write(jsonAnswer(JSON.stringify({ ...document, by: name })));
    if (id !== "") {
      if (!has(kind, id)) return void socket.write(MISSING);
      if (method === "DELETE") {
        kept.get(kind)!.delete(id);
        return answer({ id, deleted: true });
      }
      if (kind !== "batches") return answer({ id, rest });
      kept.set("files", (kept.get("files") ?? new Set()).add(`files_of_${id}`));
      return answer({
        metadata: { output_file_id: "files_of_victim" },
        id,
        rest,
        output_file_id: `files_of_${id}`,
        error_file_id: null,
      });
    }
    const previous = asked["previous_response_id"];
    if (typeof previous === "string" && !has("responses", previous)) return void socket.write(MISSING);
    const file = asked["input_file_id"];
    if (typeof file === "string" && !has("files", file)) return void socket.write(MISSING);
    const made = make(kind);
    if (kind !== "responses") return answer({ object: kind, id: made });
    const response = { id: made, object: "response", status: "completed", output: [{ type: "message" }], by: name };
    if (asked["stream"] !== true) return answer(response);
    const event = (type: string) => chunkOf(`event: ${type}\ndata: ${JSON.stringify({ type, response })}\n\n`);
    socket.write(STREAM_HEAD + event("response.created"));
    finish = () => void socket.write(event("response.completed") + LAST_CHUNK);
  };
  return { script, kept, finish: () => finish() };
}
