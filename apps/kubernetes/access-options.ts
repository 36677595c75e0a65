import { lineOfText, z } from "../../core/contract/options.ts";

// What sections of a config say of a cluster.

export const objectName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'a name as Kubernetes has them: small letters, digits, "-" and "."');

/** Which credentials are wanted. */
export const accessOptions = {
  kubeconfig: lineOfText
    .describe("Relative to this file. Default: what KUBECONFIG names, else the pod's service account, else ~/.kube/config.")
    .optional(),
  context: lineOfText.describe("A context of the kubeconfig. Default its current one.").optional(),
};
