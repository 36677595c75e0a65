import { lineOfText, z } from "../../core/contract/options.ts";
import { readDocuments } from "../read/documents.ts";
import { besideFile, readFiles } from "../read/files.ts";
import { fit } from "../read/fit.ts";
import { reportIssues } from "../read/issues.ts";
import type { Problem, Report } from "../read/problems.ts";
import type { EndpointEntry } from "../router/pool.ts";
import { type Entry, type PickerResource, refuseReference } from "./entries.ts";
import { FILE_DISCOVERY } from "./types.ts";

const port = z
  .union([z.string(), z.number()])
  .refine((value) => /^\d{1,5}$/.test(String(value)) && Number(value) >= 1 && Number(value) <= 65_535, "a port from 1 to 65535");

/** The schema of the reference's endpoints file. */
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

const parameters = z.strictObject({
  path: z.string().min(1),
  watchFile: z.boolean().default(false),
});

/** The endpoints of the file-discovery that the document names; none if it names none. Adds its file to `files` if it is to be watched. */
export async function discoverEndpoints(
  entries: readonly Entry[],
  resource: PickerResource,
  problems: Problem[],
  files: Set<string>,
): Promise<readonly EndpointEntry[]> {
  const discovery = resource.document.dataLayer?.discovery;
  if (discovery === undefined) return [];
  const entry = entries.find(({ name, type }) => name === discovery.pluginRef && type === FILE_DISCOVERY);
  if (entry === undefined) {
    refuseReference(discovery.pluginRef, ["dataLayer", "discovery"], "a file-discovery", entries, resource);
    return [];
  }
  const value = entry.parameters ?? {};
  const base = [...entry.path, "parameters"];
  const { report, file } = resource;
  const read = parameters.safeParse(value);
  if (!read.success) {
    reportIssues(read.error.issues, { schema: parameters, value, base, report });
    return [];
  }
  const before = problems.length;
  const path = besideFile(file, read.data.path);
  if (read.data.watchFile) files.add(path);
  const endpoints = await readEndpointsFile(path, problems);
  const isEmpty = endpoints.length === 0 && problems.length === before;
  if (isEmpty) report([...base, "path"], { found: "a file without endpoints", wanted: "at least one in it" });
  return endpoints;
}

async function readEndpointsFile(path: string, problems: Problem[]): Promise<readonly EndpointEntry[]> {
  const texts = await readFiles([path], problems);
  return texts
    .flatMap(({ file, text }) => readDocuments(file, text, problems))
    .flatMap((document) => {
      const fitted = fit(document, endpointsFile);
      if (fitted === undefined) return [];
      const reportAt =
        (index: number): Report =>
        (path, finding, part) =>
          fitted.report(["endpoints", index, ...path.map((step) => (step === "url" ? "address" : step))], finding, part);
      return fitted.document.endpoints.map((endpoint, index) => ({ spec: specOf(endpoint), report: reportAt(index) }));
    });
}

function specOf({ name, namespace, address, port: portText, labels }: FileEndpoint): EndpointEntry["spec"] {
  const host = address.includes(":") ? `[${address}]` : address;
  const hasDefaultNamespace = namespace === undefined || namespace === "default";
  return { name: hasDefaultNamespace ? name : `${namespace}.${name}`, url: `http://${host}:${portText}`, labels };
}
