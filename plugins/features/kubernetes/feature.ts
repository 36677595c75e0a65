import { sectionFeature } from "../../../config/feature.ts";
import { kubernetesSection } from "./kubernetes-config.ts";

/** Finds the replicas in a Kubernetes cluster. */
export default sectionFeature({
  type: "kubernetes",
  summary: "Finds the replicas in a Kubernetes cluster.",
  section: kubernetesSection,
});
