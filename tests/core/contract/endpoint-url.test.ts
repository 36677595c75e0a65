import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseEndpointUrl } from "../../../core/contract/endpoint-url.ts";

describe("a replica's address", () => {
  const rows: readonly (readonly [
    text: string,
    href: string,
    hostname: string,
    port: number,
    basePath: string,
    hostHeader: string,
  ])[] = [
    ["http://gpu1:8000", "http://gpu1:8000", "gpu1", 8000, "", "gpu1:8000"],
    ["http://gpu1:8000/", "http://gpu1:8000", "gpu1", 8000, "", "gpu1:8000"],
    ["http://gpu1", "http://gpu1", "gpu1", 80, "", "gpu1"],
    ["http://gpu1:80", "http://gpu1", "gpu1", 80, "", "gpu1"],
    ["https://gpu1", "https://gpu1", "gpu1", 443, "", "gpu1"],
    ["https://gpu1:80", "https://gpu1:80", "gpu1", 80, "", "gpu1:80"],
    ["HTTP://GPU1:8000", "http://gpu1:8000", "gpu1", 8000, "", "gpu1:8000"],
    ["http://127.0.0.1:8000", "http://127.0.0.1:8000", "127.0.0.1", 8000, "", "127.0.0.1:8000"],
    ["http://[::1]:8000", "http://[::1]:8000", "::1", 8000, "", "[::1]:8000"],
    ["http://gpu1:8000/v1", "http://gpu1:8000", "gpu1", 8000, "", "gpu1:8000"],
    ["http://gpu1:8000/v1/", "http://gpu1:8000", "gpu1", 8000, "", "gpu1:8000"],
    ["http://gpu1/llm", "http://gpu1/llm", "gpu1", 80, "/llm", "gpu1"],
    ["http://gpu1/llm//", "http://gpu1/llm", "gpu1", 80, "/llm", "gpu1"],
    ["http://gpu1/llm/v1", "http://gpu1/llm", "gpu1", 80, "/llm", "gpu1"],
    ["http://gpu1/llmv1", "http://gpu1/llmv1", "gpu1", 80, "/llmv1", "gpu1"],
    ["http://gpu1/v1/llm", "http://gpu1/v1/llm", "gpu1", 80, "/v1/llm", "gpu1"],
  ];
  for (const [text, href, hostname, port, basePath, hostHeader] of rows) {
    test(text, () => {
      const isTls = href.startsWith("https:");
      assert.deepEqual(parseEndpointUrl(text), { href, hostname, port, isTls, hostHeader, basePath });
    });
  }

  test("its own href means the same address", () => {
    for (const [text] of rows) {
      const url = parseEndpointUrl(text);
      assert.deepEqual(parseEndpointUrl(url.href), url);
    }
  });
});

describe("a refused address, with the fix in the message", () => {
  const rows: readonly (readonly [text: string, message: RegExp])[] = [
    ["", /starts with http/],
    ["gpu1:8000", /starts with http:\/\/ or https:\/\//],
    ["//gpu1:8000", /starts with http/],
    ["ftp://gpu1", /starts with http/],
    ["http://", /starts with http/],
    ["http:///models", /starts with http/],
    ["http://user:secret@gpu1:8000", /leave out everything up to the @/],
    ["http://user@gpu1:8000", /leave out everything up to the @/],
    ["http://gpu1:8000/?key=secret", /leave out the query/],
    ["http://gpu1:8000/?", /leave out the query/],
    ["http://gpu1:8000/#top", /the fragment/],
    ["http://gpu1:0", /Port 0/],
    ["http://gpu1:99999", /port of a URL is a number from 1 to 65535/],
    ["http://[::1]:65536/v1", /port of a URL is a number from 1 to 65535/],
    ["http://gpu1:port", /not a URL/],
    ["http://[::1", /not a URL/],
    ["http://gpu1:8000/a b", /no spaces/],
    ["http://gpu1:8000\r\nx", /no spaces, line breaks/],
    ["http://gpu1\\models", /backslashes/],
  ];
  for (const [text, message] of rows) {
    test(JSON.stringify(text), () => {
      assert.throws(() => parseEndpointUrl(text), { name: "Error", message });
      assert.throws(
        () => parseEndpointUrl(text),
        (error: Error) => !error.message.includes("secret"),
      );
    });
  }
});
