import { isObject, type JsonObject } from "./fields.ts";
import { badRequest } from "./problem.ts";
import { valueFor } from "./schema-value.ts";

/** An output whose form the request prescribes: a call of a tool, or JSON. */
export interface Dictated {
  readonly text: string;
  /** The name of the tool that is called; "" for JSON as text. */
  readonly tool: string;
  /** The client chose the tool itself. */
  readonly isNamed: boolean;
}

/** A tool as the request describes it, the same for all APIs. */
export interface Tool {
  readonly name: string;
  readonly schema: unknown;
}

/** Which tool must be called: none, any of them, one by its name, or whichever the model thinks right. */
export type ToolChoice = "none" | "auto" | "any" | { readonly name: string };

/**
 * The call of a tool; undefined where there is none. A mock can't think: with "auto" it calls a tool whose name is in the last words of
 * the user, so that an application can have it called, and gets text once it has sent the result.
 */
export function dictatedCall(tools: readonly Tool[], choice: ToolChoice, lastWords: string): Dictated | undefined {
  if (choice === "none") return undefined;
  if (tools.length === 0 && choice !== "auto") throw badRequest("When using `tool_choice`, `tools` must be set.", "tool_choice");
  const tool = chosen(tools, choice, lastWords);
  if (tool === undefined) return undefined;
  const value = tool.schema === undefined ? {} : valueFor(tool.schema);
  return { text: JSON.stringify(value ?? {}), tool: tool.name, isNamed: typeof choice === "object" };
}

function chosen(tools: readonly Tool[], choice: ToolChoice, lastWords: string): Tool | undefined {
  if (choice === "any") return tools[0];
  if (typeof choice === "string") return tools.find(({ name }) => lastWords.includes(name));
  const named = tools.find(({ name }) => name === choice.name);
  if (named === undefined)
    throw badRequest("The tool specified in `tool_choice` does not match any of the specified `tools`", "tool_choice");
  return named;
}

/** JSON that fits the format of a request: { type, schema }; undefined for plain text. */
export function dictatedJson(type: unknown, schema: unknown): Dictated | undefined {
  if (type !== "json_object" && type !== "json_schema") return undefined;
  const value = type === "json_schema" ? valueFor(schema) : { text: "a mock has nothing to say" };
  return { text: JSON.stringify(value), tool: "", isNamed: false };
}

/**
 * What a user said last; "" where a tool or the model had the last word. What agents add is left out: instructions behind the user's
 * message, and parts in front of the last text.
 */
export function lastWordsOf(messages: unknown): string {
  const last: unknown = Array.isArray(messages) ? messages.findLast((message) => !isInstruction(message)) : messages;
  if (typeof last === "string") return last;
  if (!isObject(last) || last["role"] !== "user") return "";
  const { content } = last;
  if (typeof content === "string") return content;
  if (!Array.isArray(content) || content.some((part) => isObject(part) && part["type"] === "tool_result")) return "";
  const words: unknown = content.filter(isObject).findLast((part) => typeof part["text"] === "string")?.["text"];
  return typeof words === "string" ? words : "";
}

function isInstruction(message: unknown): boolean {
  return isObject(message) && (message["role"] === "system" || message["role"] === "developer");
}

/** The tools of a request; `of` finds the description of one in its entry. What has no name is no tool. */
export function toolsOf(body: JsonObject, of: (entry: JsonObject) => readonly [name: unknown, schema: unknown]): readonly Tool[] {
  const entries = Array.isArray(body["tools"]) ? body["tools"].filter(isObject) : [];
  return entries.map(of).flatMap(([name, schema]) => (typeof name === "string" ? [{ name, schema }] : []));
}
