export { createPlugin, issuesOf, makeHost } from "../../core/test-kit.ts";
