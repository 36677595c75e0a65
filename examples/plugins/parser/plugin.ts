import { defineParser } from "signalbox/plugin";

const BYTES_PER_TOKEN = 4;

export default defineParser({
  type: "my-parser",
  summary: "Reads the rerank API: a query, and documents to put in order.",
  contract: "1.0",
  create: () => ({
    routes: [
      { method: "POST", path: "/v1/rerank" },
      { method: "POST", path: "/rerank" },
    ],
    // In whose shape clients get errors.
    dialect: "openai",
    // The top-level keys that it reads; a value is decoded only when it is read.
    keys: ["model", "query", "documents"],
    parse(body) {
      const promptSpans = ["query", "documents"].map((key) => body.span(key)).filter((span) => span !== undefined);
      const bytes = promptSpans.reduce((sum, [start, end]) => sum + end - start, 0);
      return {
        model: body.text("model") ?? "",
        modelSpan: body.span("model") ?? [-1, -1],
        isStream: false,
        promptSpans,
        promptTokens: Math.ceil(bytes / BYTES_PER_TOKEN),
        maxOutputTokens: 0,
        cacheSalt: "",
        isRepeatable: true,
      };
    },
  }),
});
