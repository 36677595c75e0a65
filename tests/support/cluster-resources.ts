import { spawn } from "node:child_process";
import { type KubernetesServer, oncePerServer } from "./kubernetes-server.ts";
import { sharedPath } from "./shared.ts";

/** The reference's CustomResourceDefinitions; undefined where they are absent. */
export const CRDS = sharedPath("corpora/crds");
export const NO_CRDS =
  CRDS === undefined
    ? "no CustomResourceDefinitions of the reference are beside the checkout: its resources were NOT tested"
    : "";
if (NO_CRDS !== "") console.error(`SKIPPED: ${NO_CRDS}`);

const LONGEST_MS = 120_000;

/** Runs kubectl to its end as the administrator; the documents are its standard input. Rejects with what it says when it fails. */
export function kubectl(
  { files }: KubernetesServer,
  words: readonly string[],
  documents: readonly (object | string)[] = [],
): Promise<string> {
  const child = spawn("kubectl", ["--kubeconfig", files.kubeconfig, ...words], { stdio: "pipe" });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  const texts = documents.map((document) => (typeof document === "string" ? document : JSON.stringify(document)));
  // What begins with a brace would be taken for JSON, which has no separators.
  child.stdin.end(texts.map((text) => `---\n${text}\n`).join(""));
  const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
  return new Promise((resolve, reject) => {
    child.once("close", (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(out);
      else reject(new Error(`kubectl ${words.join(" ")}: ${err}`));
    });
  });
}

export const apply = (server: KubernetesServer, ...documents: readonly (object | string)[]) =>
  kubectl(server, ["apply", "-f", "-"], documents);

export interface ResourceDocument {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: object;
}

/** The same by the API alone, which takes a tenth of the time. */
export async function put({ admin }: KubernetesServer, ...documents: readonly ResourceDocument[]): Promise<void> {
  for (const document of documents) {
    const { apiVersion, kind, metadata } = document;
    const path = `/apis/${apiVersion}/namespaces/${metadata.namespace}/${kind.toLowerCase()}s/${metadata.name}`;
    const contentType = "application/apply-patch+yaml";
    await admin.request("PATCH", `${path}?fieldManager=kubectl&force=true`, { body: document, contentType });
  }
}

/** Installs the kinds of the reference that routers follow, and the router's own; once on a server. */
export const installKinds = oncePerServer(async (server) => {
  const names = ["inferencemodelrewrites", "inferenceobjectives"].map((plural) => `${CRDS}/llm-d.ai_${plural}.yaml`);
  await kubectl(server, ["apply", ...names.flatMap((name) => ["-f", name]), "-f", "examples/deploy/crd/routers.yaml"]);
  const crds = ["inferencemodelrewrites.llm-d.ai", "inferenceobjectives.llm-d.ai", "routers.signalbox.dev"];
  await kubectl(server, ["wait", "--for=condition=Established", "--timeout=20s", ...crds.map((name) => `crd/${name}`)]);
});

/** A rewrite of one model for the pool "llama". A target without a weight has none. */
export function rewriteOf(
  namespace: string,
  name: string,
  targets: Readonly<Record<string, number | undefined>>,
  pool = "llama",
) {
  return {
    apiVersion: "llm-d.ai/v1alpha2",
    kind: "InferenceModelRewrite",
    metadata: { name, namespace },
    spec: {
      poolRef: { group: "inference.networking.k8s.io", name: pool },
      rules: [
        {
          matches: [{ model: { type: "Exact", value: name } }],
          targets: Object.entries(targets).map(([modelRewrite, weight]) => ({ modelRewrite, weight })),
        },
      ],
    },
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

/** The condition that a rewrite has in its status, and whether that is about its newest generation. */
export async function conditionOf(
  { admin }: KubernetesServer,
  { apiVersion, metadata: { namespace, name } }: ReturnType<typeof rewriteOf>,
  type = "Accepted",
): Promise<(Condition & { readonly isOfNow: boolean }) | undefined> {
  const path = `/apis/${apiVersion}/namespaces/${namespace}/inferencemodelrewrites/${name}`;
  const { metadata, status = {} } = (await admin.request("GET", path)) as {
    readonly metadata: { readonly generation: number };
    readonly status?: { readonly conditions?: readonly Condition[] };
  };
  const found = status.conditions?.find((condition) => condition.type === type);
  return found && { ...found, isOfNow: found.observedGeneration === metadata.generation };
}

/** Waits until `get` gives something; resolves to it. */
export async function eventually<Value>(get: () => Promise<Value | undefined | false>, what: string): Promise<Value> {
  const fromMs = performance.now();
  for (;;) {
    const value = await get().catch(() => undefined);
    if (value !== undefined && value !== false) return value;
    if (performance.now() - fromMs > LONGEST_MS) throw new Error(`It did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The sections of a router's file that follows the resources of a namespace. */
export function followingSpec({ files }: KubernetesServer, namespace: string, more = ""): string {
  return `  pool: { name: llama }
  kubernetes: { kubeconfig: ${files.kubeconfig}, namespace: ${namespace}, resources: true${more} }`;
}
