import type { Command } from "../../../config/command.ts";

const DETAILS = `KIND is one of
  litellm                  LiteLLM's config.yaml: models with an api_base of your own
  production-stack         the command line of vLLM production-stack's router
  production-stack-values  Helm values of vLLM's production stack
  vllm-router              the command line of vllm-router
  smg                      the command line of SMG (sglang-router, sgl-model-gateway)
  llm-d                    an EndpointPickerConfig
  nginx                    upstream blocks of nginx
FILE is such a config, or a script with such a command; - for the standard input. URLs are further replicas.

`;

/** Its sources are loaded when it is called. */
export const IMPORT: Command = {
  name: "import",
  group: "move in",
  words: "FILE [URL...] | -- COMMAND...",
  summary:
    "Makes a config of another router's: a comment says what became of each setting. Exit code 3 if something was not understood.",
  details: DETAILS,
  switches: [
    { name: "from", value: "KIND", meaning: "what it is (default: it is recognised)" },
    { name: "output", short: "o", value: "FILE", meaning: "a new file for the config (default: the standard output)" },
    { name: "inference-pool", value: "NAME", meaning: "the replicas are those of this InferencePool of the cluster" },
  ],
  run: async (input, registry) => (await import("./import-config.ts")).importConfig(input, registry),
};
