import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, describe, it } from "node:test";

const root = join(import.meta.dirname ?? ".", "..");

/** Beginnings of the commands that `.ci/run` gives to npm. */
const STEPS = ["run check", "run fuzz", "install", "test", "run test:all", "run soak", "run test:vllm", "run test:clients"];

/** Programs of Debian packages that tests run. */
const PACKAGES = ["prometheus", "chromium", "redis-server", "nats-server"];
/** What else the script runs. */
const TOOLS = ["bash", "dirname", "timeout", "sh", "chmod", "python3"];

/** A folder with these tools only. */
function toolsWithoutPackages(folder: string): string {
  const tools = join(folder, "tools");
  mkdirSync(tools, { recursive: true });
  for (const name of TOOLS) {
    const path = ["/bin", "/usr/bin"].map((place) => join(place, name)).find((each) => existsSync(each));
    if (path !== undefined && !existsSync(join(tools, name))) symlinkSync(path, join(tools, name));
  }
  return tools;
}

describe(".ci/run", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-ci-"));
  after(() => rmSync(folder, { recursive: true }));
  /** The script in a checkout of its own, with an npm that only fails at the step `failing`. */
  const run = (
    failing: string,
    { vllm = "", kubernetes = "there", clients = "there", hasPackages = true, aptGet = "exit 1" } = {},
  ) => {
    for (const name of ["checkout/.ci", "checkout/tests/clients", "bin", "shared/vllm", "shared/kubernetes"])
      mkdirSync(join(folder, name), { recursive: true });
    copyFileSync(join(root, ".ci", "run"), join(folder, "checkout", ".ci", "run"));
    writeFileSync(
      join(folder, "bin", "npm"),
      `#!/bin/sh\ncase "$*" in ${failing.replaceAll(" ", "\\ ")}*) exit 3;; *) echo "npm $*";; esac\n`,
    );
    chmodSync(join(folder, "bin", "npm"), 0o755);
    for (const [name, script] of Object.entries({ "apt-get": aptGet, id: "echo 0", prometheus: "exit 0", chromium: "exit 0" })) {
      const path = join(folder, "bin", name);
      rmSync(path, { force: true });
      if (hasPackages || !PACKAGES.includes(name)) writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    for (const place of ["shared/vllm", "shared/kubernetes", "checkout/tests/clients"])
      writeFileSync(join(folder, place, "install.sh"), "exit 1\n");
    const others = hasPackages ? `${process.env["PATH"]}` : toolsWithoutPackages(folder);
    const env = { ...process.env, PATH: `${join(folder, "bin")}${delimiter}${others}` };
    const own = {
      HOME: folder,
      XDG_CACHE_HOME: folder,
      SIGNALBOX_NODE24: join(folder, "none"),
      SIGNALBOX_VLLM: vllm,
      SIGNALBOX_KUBERNETES: kubernetes,
      SIGNALBOX_CLIENTS: clients,
      SIGNALBOX_ENVOY: "/bin/sh",
      SIGNALBOX_HELM: "/bin/sh",
      SIGNALBOX_H2SPEC: "/bin/sh",
    };
    const { status, stdout } = spawnSync("/bin/bash", [join(folder, "checkout", ".ci", "run")], {
      env: { ...env, ...own },
      encoding: "utf8",
    });
    return { status, output: stdout };
  };

  it("passes when every step does", () => {
    const { status, output } = run("none", { vllm: "there" });
    assert.equal(status, 0, output);
    assert.match(output, /all steps passed/);
  });

  for (const step of STEPS) {
    it(`fails when "npm ${step}" does, and names it`, () => {
      const { status, output } = run(step);
      assert.equal(status, 1, output);
      assert.equal(output.match(/^== FAILED: npm .*$/gm)?.length, 1, output);
      assert.ok(output.includes(`== FAILED: npm ${step}`), output);
    });
  }

  it("installs the programs that tests run where they are missing, as root only", () => {
    const install = `case "$*" in *install*) for name in ${PACKAGES.join(" ")}; do echo "#!/bin/sh" >${folder}/bin/$name; chmod +x ${folder}/bin/$name; done;; esac; echo "$*" >>${folder}/asked`;
    const { status, output } = run("none", { vllm: "there", hasPackages: false, aptGet: install });
    assert.equal(status, 0, output);
    assert.doesNotMatch(output, /WARNING/);
    assert.equal(
      readFileSync(join(folder, "asked"), "utf8"),
      "update -qq\ninstall -yqq --no-install-recommends prometheus chromium redis-server nats-server\n",
    );
  });

  it("says so when they can't be installed, and goes on", () => {
    const { status, output } = run("none", { vllm: "there", hasPackages: false });
    assert.equal(status, 0, output);
    assert.match(output, /WARNING: prometheus could not.*WARNING: chromium could not.*all steps passed/s);
  });

  it("fails at once when the packages can't be installed", () => {
    const { status, output } = run("ci");
    assert.equal(status, 1);
    assert.doesNotMatch(output, /run check/);
  });

  it("runs the other steps after one that failed, and names it at the end", () => {
    const { output } = run("run check");
    assert.match(output, /npm test\n.*npm run test:vllm\n.*npm run test:clients\n.*== FAILED: npm run check\n$/s);
  });

  it("says so when no API server can be installed, and goes on", () => {
    const { status, output } = run("none", { vllm: "there", kubernetes: "" });
    assert.equal(status, 0);
    assert.match(output, /WARNING: no API server of Kubernetes could be installed.*npm test/s);
  });

  it("says so when not all clients can be installed, and goes on", () => {
    const { status, output } = run("none", { vllm: "there", clients: "" });
    assert.equal(status, 0);
    assert.match(output, /WARNING: not all clients could be installed.*npm run test:clients/s);
  });

  it("says so when no vLLM can be installed, and goes on", () => {
    const { status, output } = run("none");
    assert.equal(status, 0);
    assert.match(output, /WARNING: vLLM could not be installed.*npm run test:vllm/s);
  });
});
