export { createPlugin, issuesOf, makeHost } from "../../core/contract/test-kit.ts";
