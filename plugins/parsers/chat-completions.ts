import { CHOICES, defineJsonParser } from "./shared-fields.ts";

/** Chat templates put the tools before the messages, so the prompt's spans have the same order. */
export default defineJsonParser({
  type: "chat-completions",
  summary: "Reads chat requests (/v1/chat/completions).",
  paths: ["/v1/chat/completions"],
  dialect: "openai",
  promptKeys: ["tools", "messages"],
  partKeys: ["messages"],
  choicesKey: "n",
  limitKeys: ["max_completion_tokens", "max_tokens"],
  response: CHOICES,
});
