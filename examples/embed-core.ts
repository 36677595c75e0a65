import { createCore } from "signalbox/core";
import modelList from "signalbox/plugins/features/models/feature.ts";
import ready from "signalbox/plugins/filters/ready.ts";
import servesModel from "signalbox/plugins/filters/serves-model.ts";
import chatCompletions from "signalbox/plugins/parsers/chat-completions.ts";
import maxScore from "signalbox/plugins/pickers/max-score.ts";
import outstandingWork from "signalbox/plugins/scorers/outstanding-work.ts";
import prefixCache from "signalbox/plugins/scorers/prefix-cache.ts";
import models from "signalbox/plugins/sources/model-list.ts";

/** The router with a list of modules of your own: no config file, no status page, nothing that is not listed here. */
export async function startCore(urls: readonly string[], port: number) {
  const core = await createCore({
    endpoints: urls,
    modules: [
      chatCompletions,
      ready,
      servesModel,
      outstandingWork,
      { use: prefixCache, weight: 2, options: { blockBytes: 512 } },
      maxScore,
      models,
      modelList,
    ],
    limits: { bodyBytes: 1024 * 1024 },
  });
  await core.whenReady(5_000);
  return { ...core, port: await core.listen({ host: "127.0.0.1", port }) };
}
