import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { boundaryOf, fieldText, MultipartReader } from "../../../plugins/parsers/multipart-reader.ts";

const B = "x-boundary";
const field = (name: string, value: string) => `--${B}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const END = `--${B}--\r\n`;
const FILE = `--${B}\r\nContent-Disposition: form-data; name="file"; filename="a \\"b\\".wav"\r\nContent-Type: audio/wav\r\n\r\n\r\n\r\n--x-bound\r\n\0\xff--\r\n`;

/** What the fields hold that were read of the form, when it comes `step` bytes at a time. */
function read(form: string, step: number): readonly (string | undefined)[] {
  const bytes = Buffer.from(form, "latin1");
  const reader = new MultipartReader(B, ["model", "stream"]);
  for (let length = step; length < bytes.length; length += step) reader.push(bytes, length);
  reader.finish(bytes, bytes.length);
  return ["model", "stream"].map((name) => {
    const span = reader.spanOf(name);
    return span && fieldText(bytes, span);
  });
}

/** RFC 2046 5.1.1: text that is for nobody, before the first boundary and behind the last one, and blanks behind each. */
const SENTENCE = "This is a multi-part message in MIME format.\r\n";
const PADDED = (field("model", "m") + FILE + END).replaceAll(`${B}\r`, `${B} \t\r`).replace(`${B}--\r`, `${B}-- \t\r`);

const READ = [
  { name: "a preamble", form: SENTENCE + field("model", "m") + END, wants: ["m", undefined] },
  { name: "a preamble of an empty line", form: `\r\n${field("model", "m")}${END}`, wants: ["m", undefined] },
  {
    name: "a preamble of several lines",
    form: `a\nb\r\n\r\n--\r\n--x-bound\r\n${field("model", "m")}${END}`,
    wants: ["m", undefined],
  },
  { name: "a preamble of 8 KiB", form: `${"a".repeat(8190)}\r\n${field("model", "m")}${END}`, wants: ["m", undefined] },
  { name: "a preamble before the end", form: SENTENCE + END, wants: [undefined, undefined] },
  { name: "an epilogue", form: `${field("model", "m")}${END}That was it.`, wants: ["m", undefined] },
  { name: "no line end behind it", form: field("model", "m") + END.trimEnd(), wants: ["m", undefined] },
  { name: "half a line end behind it", form: `${field("model", "m")}${END.trimEnd()}\r`, wants: ["m", undefined] },
  { name: "blanks behind the end", form: `${field("model", "m")}${END.trimEnd()} \t`, wants: ["m", undefined] },
  { name: "blanks behind all boundaries", form: SENTENCE + PADDED, wants: ["m", undefined] },
  { name: "a value of several lines", form: field("model", "m\r\n\r\n--n\r\n") + END, wants: ["m\r\n\r\n--n\r\n", undefined] },
  { name: "the model before the file", form: field("model", "m") + FILE + END, wants: ["m", undefined] },
  { name: "the model behind the file", form: FILE + field("model", "m") + field("stream", "true") + END, wants: ["m", "true"] },
  { name: "an empty field", form: field("model", "") + END, wants: ["", undefined] },
  { name: "no field", form: END, wants: [undefined, undefined] },
  { name: "a name without quotes", form: field("model", "m").replace('"model"', "model") + END, wants: ["m", undefined] },
  {
    name: "a name behind a file's name",
    form: field("model", "m").replace("name=", 'filename="n"; name=') + END,
    wants: ["m", undefined],
  },
  {
    name: "headers in other letters",
    form: field("model", "m").replace("Content-D", "content-d") + END,
    wants: ["m", undefined],
  },
  { name: "something behind the end", form: field("model", "m") + END + field("model", "n"), wants: ["m", undefined] },
  {
    name: "a file's name with name= in it",
    form: FILE.replace("a \\", "; name=model \\") + field("model", "m") + END,
    wants: ["m", undefined],
  },
] as const;

const REFUSED = [
  { name: "a field twice", form: field("model", "m") + field("model", "n") + END, says: /twice/ },
  { name: "no end", form: field("model", "m"), says: /last boundary/ },
  { name: "another boundary", form: "--y\r\n\r\n", says: /does not have the boundary/ },
  { name: "nothing", form: "", says: /last boundary/ },
  { name: "a preamble alone", form: SENTENCE, says: /does not have the boundary/ },
  { name: "a long preamble", form: `${"a".repeat(9_000)}\r\n${field("model", "m")}${END}`, says: /too late/ },
  { name: "a preamble without end", form: "a".repeat(99_000), says: /too late/ },
  {
    name: "a boundary behind LF alone",
    form: `hi\n${field("model", "n")}\r\n${field("model", "m")}${END}`,
    says: /inside of a line/,
  },
  { name: "a boundary behind CR alone", form: `hi\r${field("model", "m")}${END}`, says: /inside of a line/ },
  { name: "a boundary inside of a line", form: `a${field("model", "n")}${field("model", "m")}${END}`, says: /inside of a line/ },
  { name: "JSON in front", form: ` {"model":"n"}\r\n${field("model", "m")}${END}`, says: /as JSON does/ },
  { name: "a longer boundary in front", form: `--${B}x\r\n${field("model", "m")}${END}`, says: /behind a boundary/ },
  { name: "something behind a boundary", form: field("model", "m").replace(B, `${B} a`) + END, says: /behind a boundary/ },
  { name: "LF alone behind a boundary", form: field("model", "m").replace(`${B}\r`, B) + END, says: /behind a boundary/ },
  {
    name: "something behind the last boundary",
    form: `${END.trimEnd()}x\r\n${field("model", "m")}${END}`,
    says: /behind a boundary/,
  },
  { name: "very many blanks", form: field("model", "m").replace(B, B + " ".repeat(999)) + END, says: /blanks/ },
  { name: "an end that is cut", form: field("model", "m") + END.slice(0, -3), says: /last boundary/ },
  {
    name: "headers without an empty line",
    form: `--${B}\r\nContent-Disposition: form-data; name="a"\r\n${field("model", "m")}${END}`,
    says: /no empty line/,
  },
  {
    name: "a boundary in place of a value",
    form: `--${B}\r\nContent-Disposition: form-data; name="a"\r\n\r\n${field("model", "m")}${END}`,
    says: /directly behind a part's headers/,
  },
  { name: "a part without a name", form: `--${B}\r\nContent-Type: text/plain\r\n\r\nm\r\n${END}`, says: /Content-Disposition/ },
  {
    name: "two names",
    form: field("model", "m").replace('name="model"', 'name="file"; name="model"') + END,
    says: /Content-Disposition/,
  },
  { name: "an encoded name", form: field("model", "m").replace("name=", "name*=utf-8''") + END, says: /Content-Disposition/ },
  { name: "a name with a backslash", form: field("mod\\el", "m") + END, says: /Content-Disposition/ },
  { name: "a name that is cut", form: field("model", "m").replace('"model"', '"model') + END, says: /Content-Disposition/ },
  { name: "a folded header", form: field("model", "m").replace("; name", ";\r\n name") + END, says: /Content-Disposition/ },
  {
    name: "a value in base64",
    form: field("model", "m").replace("\r\n\r\n", "\r\nContent-Transfer-Encoding: base64\r\n\r\n") + END,
    says: /once more/,
  },
  { name: "long headers", form: field("model", "m").replace("model", "m".repeat(9_000)) + END, says: /too long/ },
  { name: "a long model", form: field("model", "m".repeat(5_000)) + END, says: /too long/ },
  { name: "very many parts", form: field("a", "").repeat(1_001) + END, says: /1000 parts/ },
  { name: "a model that is not UTF-8", form: field("model", "\xff") + END, says: /UTF-8/ },
] as const;

describe("a form", () => {
  for (const { name, form, wants } of READ) {
    it(`is read: ${name}`, () => {
      for (const step of [1, 2, 3, 7, 100_000]) assert.deepEqual(read(form, step), wants);
    });
  }
  for (const { name, form, says } of REFUSED) {
    it(`is refused: ${name}`, () => {
      for (const step of [1, 100_000]) assert.throws(() => read(form, step), { code: "bad_request", message: says });
    });
  }
});

it("is read in the same way wherever it is cut", () => {
  const form = SENTENCE + PADDED;
  const bytes = Buffer.from(form, "latin1");
  for (let cut = 1; cut < bytes.length; cut++) {
    const reader = new MultipartReader(B, ["model"]);
    reader.push(bytes, cut);
    reader.finish(bytes, bytes.length);
    assert.equal(fieldText(bytes, reader.spanOf("model")!), "m");
  }
});

describe("the boundary", () => {
  const TYPES = [
    ["multipart/form-data; boundary=abc", "abc"],
    ['Multipart/Form-Data;charset=utf-8;boundary="a b"', "a b"],
    ["multipart/form-data; boundary=abc; charset=UTF-8", "abc"],
    [`multipart/form-data; boundary="a'()+_,-./:=? b"`, "a'()+_,-./:=? b"],
    ["multipart/form-data; boundary=----=_Part_1_2.3", "----=_Part_1_2.3"],
  ] as const;
  for (const [type, boundary] of TYPES) it(`of ${type}`, () => assert.equal(boundaryOf(type), boundary));
  const BAD = [
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/form-data; boundary=a; boundary=b",
    ...['" a"', '"a "', '""', '"a\\\\b"', '"a'].map((value) => `multipart/form-data; boundary=${value}`),
    ...["boundary*=utf-8''b", "boundary*0=b", "boundary =b"].map((more) => `multipart/form-data; boundary=a; ${more}`),
  ];
  for (const type of [...BAD, "multipart/form-data; boundary=a; charset=utf-7"])
    it(`${type} has none that can be used`, () => assert.throws(() => boundaryOf(type), { code: "bad_request" }));
  for (const type of ["", "text/plain", "multipart/mixed; boundary=a", "multipart/form-dataX; boundary=a"])
    it(`${type} is no form`, () => assert.throws(() => boundaryOf(type), { code: "unsupported_media_type" }));
});
