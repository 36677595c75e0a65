import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readDocuments } from "../../config/read/documents.ts";
import { fit } from "../../config/read/fit.ts";
import { formatProblem, type Problem, quoted } from "../../config/read/problems.ts";
import { z } from "../../core/contract/options.ts";
import { secretOf } from "../../core/contract/secret.ts";
import { execIdentity, execSchema } from "./exec-credential.ts";
import { bearerToken, type Credentials, heldFiles, type Identity, type IdentitySource, type Surroundings } from "./identity.ts";
import { readSmallFile } from "./small-file.ts";

const text = z.string().min(1).optional();

const cluster = z.looseObject({
  server: z.string(),
  "certificate-authority": text,
  "certificate-authority-data": text,
  "insecure-skip-tls-verify": z.boolean().default(false),
  "tls-server-name": z.string().default(""),
  "proxy-url": text,
});

const user = z.looseObject({
  token: text,
  tokenFile: text,
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  exec: execSchema.nullish(),
});

const context = z.looseObject({ cluster: z.string(), user: z.string().default(""), namespace: z.string().default("") });

const listed = <Schema extends z.ZodType>(entry: Schema) => z.array(entry).nullish();

const kubeconfig = z.looseObject({
  "current-context": z.string().nullish(),
  clusters: listed(z.looseObject({ name: z.string(), cluster })),
  contexts: listed(z.looseObject({ name: z.string(), context })),
  users: listed(z.looseObject({ name: z.string(), user: user.nullish() })),
});

type Cluster = z.infer<typeof cluster>;
type User = z.infer<typeof user>;

/** An entry, and the file that it is in: relative paths begin in that file's folder. */
type In<Entry> = Entry & { readonly file: string };

/** What is not read here, so that nobody wonders why it has no effect. */
const UNREAD: readonly string[] = ["username", "password", "auth-provider", "as", "as-uid", "as-groups"];

/** The credentials of a context, by default the current one. In several files the first entry of a name counts. Throws an Error. */
export function fromKubeconfig(paths: readonly string[], wanted: string | undefined, surroundings: Surroundings): Credentials {
  const { name, namespace, file, cluster, user } = choose(paths, wanted);
  return {
    server: serverOf(cluster),
    serverName: cluster["tls-server-name"],
    isVerified: !cluster["insecure-skip-tls-verify"],
    namespace: namespace || "default",
    from: `the context ${quoted(name)} of the kubeconfig ${file}`,
    ...identityOf(cluster, user, () => choose(paths, wanted), surroundings),
  };
}

interface Chosen {
  readonly name: string;
  readonly namespace: string;
  readonly file: string;
  readonly cluster: In<Cluster>;
  readonly user: In<User>;
}

function choose(paths: readonly string[], wanted: string | undefined): Chosen {
  // A variable may list files that are not there.
  const present = paths.filter((path) => existsSync(path));
  const files = (present.length > 0 ? present : paths).map((path) => ({ path: resolve(path), ...read(resolve(path)) }));
  const names = files.map(({ path }) => path).join(", ");
  const current = wanted ?? files.map((file) => file["current-context"] ?? "").find((name) => name !== "");
  if (current === undefined)
    throw new Error(`The kubeconfig ${names} has no current-context: set it, or context beside kubeconfig in the config.`);
  const chosen = find("context", current, files, ({ contexts }) => contexts);
  const { cluster, file } = find("cluster", chosen.context.cluster, files, ({ clusters }) => clusters);
  const { namespace, user } = chosen.context;
  const found = user === "" ? { file: chosen.file } : find("user", user, files, ({ users }) => users);
  const own = { ...("user" in found ? found.user : undefined), file: found.file };
  return { name: current, namespace, file: chosen.file, cluster: { ...cluster, file }, user: own };
}

type File = z.infer<typeof kubeconfig> & { readonly path: string };

function read(path: string): z.infer<typeof kubeconfig> {
  const content = readSmallFile(path, "the kubeconfig");
  const problems: Problem[] = [];
  const [document] = readDocuments(path, content, problems);
  const fitted = document && fit(document, kubeconfig);
  const [problem] = problems;
  if (problem !== undefined) throw new Error(`The kubeconfig can't be used: ${formatProblem(problem)}`);
  if (fitted === undefined) throw new Error(`The kubeconfig ${path} is empty: kubectl config view shows what it needs.`);
  return fitted.document;
}

function find<Entry extends { readonly name: string }>(
  kind: string,
  name: string,
  files: readonly File[],
  listOf: (file: File) => readonly Entry[] | null | undefined,
): In<Entry> {
  const all = files.flatMap((file) => (listOf(file) ?? []).map((entry) => ({ ...entry, file: file.path })));
  const found = all.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  const names = all.map((entry) => quoted(entry.name)).join(", ") || "none";
  throw new Error(`The kubeconfig ${files.map(({ path }) => path).join(", ")} has no ${kind} ${quoted(name)}; it has ${names}.`);
}

function serverOf({ server, "proxy-url": proxy, file }: In<Cluster>): URL {
  if (proxy !== undefined)
    throw new Error(`The kubeconfig ${file} wants a proxy-url, which is not supported: use kubectl proxy.`);
  if (!/^https?:\/\/[^/]/.test(server) || !URL.canParse(server))
    throw new Error(`The kubeconfig ${file} has a server that is no address: write https://HOST:6443.`);
  return new URL(server.replace(/\/+$/, ""));
}

/** `again` reads the files anew: somebody may have renewed what is written in them. */
function identityOf(cluster: In<Cluster>, user: In<User>, again: () => Chosen, surroundings: Surroundings): IdentitySource {
  const unread = UNREAD.find((key) => key in user);
  if (unread !== undefined)
    throw new Error(
      `The kubeconfig ${user.file} has a user with ${unread}, which is not supported: use a token, a client certificate or exec.`,
    );
  const { server } = cluster;
  if (user.exec) {
    const asked = { server, ca: caOf(cluster), isVerified: !cluster["insecure-skip-tls-verify"], folder: dirname(user.file) };
    return execIdentity(user.exec, asked, surroundings);
  }
  return heldFiles(surroundings.clock, () => {
    const now = again();
    return { ca: caOf(now.cluster), ...ownIdentity(now.user) };
  });
}

function caOf(cluster: In<Cluster>): string | undefined {
  return dataOr(cluster["certificate-authority-data"], cluster["certificate-authority"], cluster.file, "the CA file");
}

/** A token, a client certificate, both, or nothing. */
function ownIdentity(user: In<User>): Identity {
  const { file, token, tokenFile } = user;
  const chain = dataOr(user["client-certificate-data"], user["client-certificate"], file, "the client certificate");
  const key = dataOr(user["client-key-data"], user["client-key"], file, "the client key");
  if ((chain === undefined) !== (key === undefined))
    throw new Error(`The kubeconfig ${file} has ${chain === undefined ? "client-key" : "client-certificate"} alone: give both.`);
  const tokenPath = tokenFile && resolve(dirname(file), tokenFile);
  return {
    // As kubectl has it, the file wins.
    ...(tokenPath !== undefined && { token: bearerToken(readSmallFile(tokenPath, "the token file"), `the file ${tokenPath}`) }),
    ...(tokenPath === undefined && token !== undefined && { token: bearerToken(token, `the kubeconfig ${file}`) }),
    ...(chain !== undefined && key !== undefined && { certificate: { chain, key: secretOf(key, file) } }),
  };
}

/** PEM that is written in base64, or in a file of its own; the inline one wins. */
function dataOr(data: string | undefined, path: string | undefined, file: string, what: string): string | undefined {
  if (data === undefined) return path && readSmallFile(resolve(dirname(file), path), what);
  const pem = Buffer.from(data, "base64").toString("utf8");
  if (pem.includes("-----BEGIN ")) return pem;
  throw new Error(`The kubeconfig ${file} has ${what} inline, but it is no PEM in base64.`);
}
