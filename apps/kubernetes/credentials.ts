import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { bearerToken, type Credentials, heldFiles, type Surroundings } from "./identity.ts";
import { fromKubeconfig } from "./kubeconfig.ts";
import { readSmallFile } from "./small-file.ts";

/** Which credentials are wanted. */
export interface CredentialChoice {
  /** A kubeconfig file; undefined for the usual places. */
  readonly kubeconfig?: string | undefined;
  /** A context in it; undefined for its current one. */
  readonly context?: string | undefined;
}

const ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";
/**
 * The credentials of the named kubeconfig, else those that KUBECONFIG names, else those of the pod that this runs in, else those of
 * ~/.kube/config. Throws an Error that names the file and what to change.
 */
export function findCredentials(choice: CredentialChoice, surroundings: Surroundings): Credentials {
  const { environment } = surroundings;
  const usual = join(environment["HOME"] ?? homedir(), ".kube", "config");
  const named = environment["KUBECONFIG"] ?? "";
  if (choice.kubeconfig !== undefined) return fromKubeconfig([choice.kubeconfig], choice.context, surroundings);
  if (named !== "") return fromKubeconfig(named.split(delimiter).filter(Boolean), choice.context, surroundings);
  if (environment["KUBERNETES_SERVICE_HOST"] !== undefined && choice.context === undefined) return ofServiceAccount(surroundings);
  if (existsSync(usual)) return fromKubeconfig([usual], choice.context, surroundings);
  throw new Error(
    `There is no way to the Kubernetes API: this is no pod (KUBERNETES_SERVICE_HOST is not set) and there is no ${usual}. Set kubeconfig in the section of the config that names the cluster, or KUBECONFIG.`,
  );
}

function ofServiceAccount({ environment, clock, accountFolder = ACCOUNT_FOLDER }: Surroundings): Credentials {
  const host = environment["KUBERNETES_SERVICE_HOST"] ?? "";
  const port = environment["KUBERNETES_SERVICE_PORT"] ?? "443";
  const address = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (!URL.canParse(address))
    throw new Error(`KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT make no address (${address}): the cluster sets them.`);
  const at = (name: string) => join(accountFolder, name);
  const hint = "the service account's file";
  return {
    server: new URL(address),
    serverName: "",
    isVerified: true,
    namespace: readSmallFile(at("namespace"), hint).trim() || "default",
    from: "the pod's service account",
    ...heldFiles(clock, () => ({
      ca: readSmallFile(at("ca.crt"), hint),
      token: bearerToken(readSmallFile(at("token"), hint), `the file ${at("token")}`),
    })),
  };
}
