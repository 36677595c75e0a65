/**
 * The rooms from the bottom up: each may import those of the layers below it, within the rules of tests/layout.test.ts. Layers with one
 * purpose make a floor, which is one box of the picture in ARCHITECTURE.md.
 */
export const FLOORS: readonly { readonly title: string; readonly layers: readonly (readonly string[])[] }[] = [
  {
    title: "Contracts and words",
    layers: [
      ["core/contract", "core/runtime", "core/settings"],
      [
        "core/settings.ts",
        "core/report",
        "core/services.ts",
        "core/slots.ts",
        "core/tell-features.ts",
        "core/ticket.ts",
        "core/plugin.ts",
      ],
    ],
  },
  { title: "Bytes and live numbers", layers: [["core/body", "core/stream", "core/state", "core/wire", "core/own-routes.ts"]] },
  {
    title: "The pool, and what is watched",
    layers: [
      ["core/active-config.ts", "core/pool"],
      ["core/host", "core/judge.ts", "core/plugin-watch", "core/running-features.ts"],
    ],
  },
  {
    title: "The decision",
    layers: [["core/decide", "core/errors", "core/router-config.ts", "core/router-host.ts", "core/router-parts.ts"]],
  },
  { title: "Hosts and the control plane", layers: [["core/run.ts", "core/control", "core/server", "core/fetch"]] },
  {
    title: "The way of a request",
    layers: [["core/request", "core/test-kit"], ["core/forward", "core/test-kit.ts"], ["core/pipeline.ts"], ["core/intake"]],
  },
  {
    title: "A router",
    layers: [
      ["core/live-parts.ts", "core/router.ts"],
      ["core/fetch-face.ts", "core/listen.ts", "core/run-router.ts", "core/core-plan.ts", "core/pools-feature.ts"],
      ["core/create-core.ts"],
    ],
  },
  {
    title: "Reading a config",
    layers: [
      ["config/command.ts", "config/schema", "config/read"],
      ["config/plugins", "config/rewrites"],
      ["config/objectives", "config/section.ts"],
      ["config/feature.ts"],
      ["config/router"],
      ["config/endpoint-picker", "config/pools"],
      ["config/load.ts"],
    ],
  },
  { title: "Showing and running a config", layers: [["config/show"], ["config/running"]] },
  { title: "The API of Kubernetes", layers: [["apps/kubernetes"]] },
  { title: "Plugins", layers: [["plugins/features"], ["plugins"]] },
  { title: "Apps", layers: [["apps/admin", "apps/epp", "apps/lab", "apps/import"]] },
  { title: "Programs", layers: [["apps/cli", "apps/fetch.ts"]] },
];
