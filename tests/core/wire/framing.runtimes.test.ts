import assert from "node:assert/strict";
import test from "node:test";
import { isKeptAlive, requestFraming, responseFraming } from "../../../core/wire/framing.ts";
import type { Head } from "../../../core/wire/head.ts";
import { WireError } from "../../../core/wire/wire-error.ts";
import { requestHead, responseHead } from "../../support/wire-heads.ts";

/** The framing in one word, or the code of the error. */
function word(frame: () => { kind: string; length: number }): string {
  try {
    const { kind, length } = frame();
    return kind === "length" ? `length ${length}` : kind;
  } catch (thrown) {
    assert.ok(thrown instanceof WireError);
    return thrown.code;
  }
}

const CL = "Content-Length";
const TE = "Transfer-Encoding";

/** Bodies as both sides judge them: [what, header lines, framing]. */
const declared: readonly (readonly [string, readonly string[], string])[] = [
  ["a length", [`${CL}: 5`], "length 5"],
  ["no length", [`${CL}: 0`], "length 0"],
  ["leading zeros", [`${CL}: 0005`], "length 5"],
  ["white space around the length", [`${CL}: \t5\t `], "length 5"],
  ["the longest length", [`${CL}: 9007199254740991`], "length 9007199254740991"],
  ["one more than the longest", [`${CL}: 9007199254740992`], "bad_framing"],
  ["a length beyond 64 bits", [`${CL}: 18446744073709551621`], "bad_framing"],
  ["a length of a thousand digits", [`${CL}: ${"9".repeat(1000)}`], "bad_framing"],
  ["an empty length", [`${CL}:`], "bad_framing"],
  ["a negative length", [`${CL}: -5`], "bad_framing"],
  ["a length with plus", [`${CL}: +5`], "bad_framing"],
  ["a decimal point", [`${CL}: 5.0`], "bad_framing"],
  ["an exponent", [`${CL}: 5e0`], "bad_framing"],
  ["hexadecimal", [`${CL}: 0x5`], "bad_framing"],
  ["an underscore", [`${CL}: 1_0`], "bad_framing"],
  ["a space between digits", [`${CL}: 5 5`], "bad_framing"],
  ["a no-break space after the digits", [`${CL}: 5\xa0`], "bad_framing"],
  ["a superscript digit", [`${CL}: \xb2`], "bad_framing"],
  ["a list of equal lengths", [`${CL}: 5, 5`], "bad_framing"],
  ["the same length twice", [`${CL}: 5`, `${CL}: 5`], "bad_framing"],
  ["two lengths", [`${CL}: 5`, "content-LENGTH: 6"], "bad_framing"],
  ["a length that only begins so", [`${CL}-X: 5`, `X-${CL}: 5`], "nothing"],
  ["chunked", [`${TE}: chunked`], "chunked"],
  ["chunked in any case", ["tRANSFER-eNCODING: cHUNKED"], "chunked"],
  ["white space around chunked", [`${TE}:  chunked\t`], "chunked"],
  ["chunked with a length", [`${TE}: chunked`, `${CL}: 5`], "bad_framing"],
  ["a length with chunked", [`${CL}: 5`, `${TE}: chunked`], "bad_framing"],
  ["a length with identity", [`${CL}: 5`, `${TE}: identity`], "bad_framing"],
  ["a length with no coding", [`${CL}: 5`, `${TE}:`], "bad_framing"],
  ["chunked twice in two headers", [`${TE}: chunked`, `${TE}: chunked`], "bad_framing"],
  ["chunked twice in one header", [`${TE}: chunked, chunked`], "bad_framing"],
  ["an empty coding", [`${TE}:`], "bad_framing"],
  ["identity", [`${TE}: identity`], "bad_framing"],
  ["gzip alone", [`${TE}: gzip`], "bad_framing"],
  ["gzip after chunked", [`${TE}: chunked, gzip`], "bad_framing"],
  ["gzip before chunked", [`${TE}: gzip, chunked`], "other coding"],
  ["gzip before chunked in two headers", [`${TE}: gzip`, `${TE}: chunked`], "other coding"],
  ["an empty element before chunked", [`${TE}: ,chunked`], "bad_framing"],
  ["chunked with a parameter", [`${TE}: chunked;a=b`], "bad_framing"],
  ["a coding that is no token", [`${TE}: g(zip, chunked`], "bad_framing"],
  ["chunked in quotes", [`${TE}: "chunked"`], "bad_framing"],
  ["chunkedchunked", [`${TE}: chunkedchunked`], "bad_framing"],
  ["a no-break space before chunked", [`${TE}: \xa0chunked`], "bad_framing"],
  ["obs-text in chunked", [`${TE}: chun\xe7ked`], "bad_framing"],
];

test("a repeated Content-Type is refused in a request, and left alone in a response", () => {
  const lines = ["Content-Type: application/json", `${CL}: 5`, "content-type: application/json"];
  assert.throws(() => requestFraming(requestHead(lines)), {
    code: "bad_framing",
    message: /^Content-Type is repeated; send it once/,
  });
  assert.deepEqual(responseFraming(responseHead(lines), "POST"), { kind: "length", length: 5 });
});

test("what the headers declare, in requests", async (t) => {
  const special: Record<string, string> = { nothing: "none", "other coding": "not_implemented" };
  for (const [what, lines, expected] of declared) {
    await t.test(what, () =>
      assert.equal(
        word(() => requestFraming(requestHead(lines))),
        special[expected] ?? expected,
      ),
    );
  }
});

test("what the headers declare, in responses", async (t) => {
  const special: Record<string, string> = { nothing: "close", "other coding": "bad_framing" };
  for (const [what, lines, expected] of declared) {
    await t.test(what, () =>
      assert.equal(
        word(() => responseFraming(responseHead(lines), "POST")),
        special[expected] ?? expected,
      ),
    );
  }
});

test("HTTP/1.0 knows no transfer coding", () => {
  const lines = [`${TE}: chunked`];
  assert.equal(
    word(() => requestFraming(requestHead(lines, "POST / HTTP/1.0"))),
    "bad_framing",
  );
  assert.equal(
    word(() => responseFraming(responseHead(lines, "HTTP/1.0 200 OK"), "POST")),
    "bad_framing",
  );
  assert.equal(
    word(() => requestFraming(requestHead([`${CL}: 5`], "POST / HTTP/1.0"))),
    "length 5",
  );
});

// [status, method of the request, header lines, framing]
const bodiless: readonly (readonly [number, string, readonly string[], string])[] = [
  [200, "HEAD", [], "none"],
  [200, "HEAD", [`${CL}: 5`], "none"],
  [200, "HEAD", [`${TE}: chunked`], "none"],
  [200, "HEAD", [`${CL}: 5`, `${CL}: 5`], "bad_framing"],
  [200, "HEAD", [`${TE}: gzip`], "bad_framing"],
  [304, "GET", [], "none"],
  [304, "GET", [`${CL}: 5`], "none"],
  [304, "GET", [`${TE}: chunked`], "none"],
  [304, "GET", [`${CL}: x`], "bad_framing"],
  [100, "POST", [], "none"],
  [103, "POST", ["Link: </a>"], "none"],
  [100, "POST", [`${CL}: 0`], "bad_framing"],
  [103, "POST", [`${TE}: chunked`], "bad_framing"],
  [101, "GET", ["Connection: upgrade", "Upgrade: h2c"], "bad_framing"],
  [204, "GET", [], "none"],
  [204, "GET", [`${CL}: 0`], "none"],
  [204, "GET", [`${CL}: 4`], "bad_framing"],
  [204, "GET", [`${TE}: chunked`], "bad_framing"],
  [205, "GET", [`${CL}: 0`], "length 0"],
  [500, "POST", [], "close"],
  [599, "POST", [`${CL}: 1`], "length 1"],
];

test("responses without a body", async (t) => {
  for (const [status, method, lines, expected] of bodiless) {
    await t.test(`${status} to ${method}, ${lines.join(", ")}`, () => {
      const head = responseHead(lines, `HTTP/1.1 ${status} X`);
      assert.equal(
        word(() => responseFraming(head, method)),
        expected,
      );
    });
  }
});

// [version's minor, header lines, whether it is kept]
const persistence: readonly (readonly [0 | 1, readonly string[], boolean])[] = [
  [1, [], true],
  [0, [], false],
  [1, ["Connection: close"], false],
  [1, ["Connection: CLOSE"], false],
  [1, ["connection:\tclose\t"], false],
  [1, ["Connection: keep-alive"], true],
  [0, ["Connection: keep-alive"], true],
  [0, ["Connection: Keep-Alive"], true],
  [0, ["Connection: kEEP-aLIVE"], true],
  [0, ["Proxy-Connection: keep-alive"], false],
  [1, ["Connection: keep-alive, close"], false],
  [1, ["Connection: keep-alive", "Connection: close"], false],
  [1, ["Connection: close", "Connection: keep-alive"], false],
  [0, ["Connection: a, ,keep-alive,"], true],
  [1, ["Connection: upgrade, TE"], true],
  [1, ["Connection: not-close"], true],
  [1, ["Connection:"], true],
  [1, ["Connection: ,"], true],
];

test("whether the connection is kept", async (t) => {
  for (const [minor, lines, isKept] of persistence) {
    await t.test(`HTTP/1.${minor} ${lines.join("; ")}`, () => {
      assert.equal(isKeptAlive(requestHead(lines, `GET / HTTP/1.${minor}`)), isKept);
      assert.equal(isKeptAlive(responseHead(lines, `HTTP/1.${minor} 200 OK`)), isKept);
    });
  }
});

const badConnections: readonly (readonly [string, readonly string[]])[] = [
  ["names Content-Length", ["Connection: content-length"]],
  ["names Transfer-Encoding", ["Connection: close, TRANSFER-encoding"]],
  ["names Host in a second line", ["Connection: close", "Connection: Host"]],
  ["names Content-Type", ["Connection: content-type"]],
  ["names Authorization", ["Connection: authorization"]],
  ["names x-api-key", ["Connection: x-api-key"]],
  ["is no token", ["Connection: clo se"]],
  ["is quoted", ['Connection: "close"']],
  ["has a no-break space", ["Connection: close\xa0"]],
  ["has obs-text", ["Connection: cl\xf6se"]],
  ["lists 33 options", [`Connection: ${"a,".repeat(33)}`]],
  ["lists 33 options in 33 lines", Array<string>(33).fill("Connection: a")],
];

test("a Connection header that is refused", async (t) => {
  const uses: readonly ((head: Head) => unknown)[] = [requestFraming, (head) => responseFraming(head, "GET"), isKeptAlive];
  for (const [what, lines] of badConnections) {
    await t.test(what, () => {
      for (const use of uses) {
        assert.throws(() => use(responseHead(lines)), { name: "WireError", code: "bad_framing" });
        assert.throws(() => use(requestHead(lines)), { name: "WireError", code: "bad_framing" });
      }
    });
  }
});

test("32 connection options are enough for everyone", () => {
  assert.equal(isKeptAlive(requestHead([`Connection: ${"a,".repeat(32)}`])), true);
});
