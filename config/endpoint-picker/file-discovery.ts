import { dirname, resolve } from "node:path";
import { z } from "../../core/options.ts";
import { readDocuments } from "../documents.ts";
import { readFiles } from "../files.ts";
import type { EndpointEntry } from "../pool.ts";
import type { Complain, Problem } from "../problems.ts";
import { fit } from "../resources.ts";
import { lineOfText } from "../schema.ts";

const port = z
  .union([z.string(), z.number()])
  .refine((value) => /^\d{1,5}$/.test(String(value)) && Number(value) >= 1 && Number(value) <= 65_535, "a port from 1 to 65535");

/** The reference's endpoints file. */
const endpointsFile = z.strictObject({
  endpoints: z.array(
    z.strictObject({
      name: lineOfText,
      namespace: lineOfText.optional(),
      address: lineOfText,
      port,
      labels: z.record(z.string(), z.string()).optional(),
    }),
  ),
});

type FileEndpoint = z.infer<typeof endpointsFile>["endpoints"][number];

/** Reads the endpoints file of a file-discovery; a relative path starts at the config file. */
export async function readEndpointsFile(
  path: string,
  configFile: string,
  problems: Problem[],
): Promise<readonly EndpointEntry[]> {
  const texts = await readFiles([resolve(dirname(configFile), path)], problems);
  return texts
    .flatMap(({ file, text }) => readDocuments(file, text, problems))
    .flatMap((document) => {
      const fitted = fit(document, endpointsFile, () => undefined);
      if (fitted === undefined) return [];
      const complainAt =
        (index: number): Complain =>
        (path, finding, part) =>
          fitted.complain(["endpoints", index, ...path.map((step) => (step === "url" ? "address" : step))], finding, part);
      return fitted.document.endpoints.map((endpoint, index) => ({ spec: specOf(endpoint), complain: complainAt(index) }));
    });
}

function specOf({ name, namespace, address, port: portText, labels }: FileEndpoint): EndpointEntry["spec"] {
  const host = address.includes(":") ? `[${address}]` : address;
  const hasDefaultNamespace = namespace === undefined || namespace === "default";
  return { name: hasDefaultNamespace ? name : `${namespace}.${name}`, url: `http://${host}:${portText}`, labels };
}
