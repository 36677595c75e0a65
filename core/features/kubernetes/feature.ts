import type { Feature } from "../feature.ts";
import { kubernetesSection } from "./kubernetes-config.ts";

/** Finds the replicas in a Kubernetes cluster. */
export const kubernetes: Feature = { section: kubernetesSection };
