import type { Registry } from "../../../config/plugins/instances.ts";
import { type JsonSchema, jsonSchemaOf } from "../../../config/read/json-schema.ts";
import { isMapping } from "../../../config/read/problems.ts";
import { OF_FILES } from "../../../config/router/resource.ts";
import { routerDocument } from "../../../config/router/schema.ts";
import { structural } from "./structural.ts";

/** The CustomResourceDefinition of Router, so that a cluster's API server checks and explains what the files' schema does. */
export function routerCrd(registry: Registry): JsonSchema {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "routers.signalbox.dev" },
    spec: {
      group: "signalbox.dev",
      scope: "Namespaced",
      names: { kind: "Router", listKind: "RouterList", plural: "routers", singular: "router" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: "Pool", type: "string", jsonPath: ".spec.pool.name" },
            { name: "Accepted", type: "string", jsonPath: `.status.conditions[?(@.type=="Accepted")].status` },
            { name: "Reason", type: "string", jsonPath: `.status.conditions[?(@.type=="Accepted")].reason`, priority: 1 },
            { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
          ],
          schema: { openAPIV3Schema: documentSchema(registry) },
        },
      ],
    },
  };
}

function documentSchema(registry: Registry): JsonSchema {
  return {
    type: "object",
    description: "What a router does that names this resource in its file, beside what the file says.",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: specSchema(registry),
      status: STATUS,
    },
  };
}

/** The spec without the sections that stay in files. */
function specSchema(registry: Registry): JsonSchema {
  const { spec } = propertiesOf(jsonSchemaOf(routerDocument(registry)) ?? {});
  const schema = structural(isMapping(spec) ? spec : {});
  const sections = Object.entries(propertiesOf(schema)).filter(([key]) => !OF_FILES.includes(key));
  return {
    ...schema,
    description: `The sections of a Router document, but for ${OF_FILES.join(", ")}, which are in the router's file. Each section is in one of the two.`,
    properties: Object.fromEntries(sections),
    "x-kubernetes-validations": [
      {
        rule: "!has(self.profiles) || size(self.profiles) <= 1",
        message: "one profile decides: spec.profiles has one entry",
      },
      {
        rule: "!has(self.plugins) || self.plugins.all(one, has(one.type) != has(one.from))",
        message: "each plugin has a type, or a module that it comes from, and not both",
      },
    ],
  };
}

const propertiesOf = ({ properties }: JsonSchema): JsonSchema => (isMapping(properties) ? properties : {});

const text = (description: string) => ({ type: "string", description });
const count = (description: string) => ({ type: "integer", format: "int64", description });

/** What a router writes: what became of the spec, and how many requests its rules' targets got. */
const STATUS: JsonSchema = {
  type: "object",
  description: "What became of the spec, as the router says that holds the Lease.",
  properties: {
    conditions: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      items: {
        type: "object",
        required: ["type", "status", "reason", "message", "lastTransitionTime"],
        properties: {
          type: text("Accepted: whether it runs. ResolvedRefs: whether what it names is there."),
          status: { type: "string", enum: ["True", "False", "Unknown"] },
          reason: text("In one word."),
          message: text("What is wrong, each on one line, with its path."),
          observedGeneration: count("The metadata.generation that this is about."),
          lastTransitionTime: { type: "string", format: "date-time" },
        },
      },
    },
    reportedBy: text("The router that counts what is below: each knows only its own requests."),
    targets: {
      type: "array",
      description: "Requests to targets of rewrites since that router began.",
      items: {
        type: "object",
        required: ["rule", "target", "requests", "errors"],
        properties: {
          rule: text("The name of the resource and the index of its rule."),
          target: text("The model or adapter name."),
          requests: count("Since the target got its share."),
          errors: count("Of those: failures that are not the client's."),
        },
      },
    },
  },
};
