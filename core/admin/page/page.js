// Polls the router every two seconds and draws its state. Names come from outside: insert them as text, never as HTML.

const PERIOD_MS = 2000;
const DECISIONS_SHOWN = 20;
const CANDIDATES_SHOWN = 12;
const MODELS_SHOWN = 6;
const RATES_KEPT = 60;

const at = (id) => document.getElementById(id);
const rates = [];
let counted;
let openRows = 0;

/** Makes an element with a class and children; a child is an element or a text. */
function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== ""));
  return element;
}

const whole = (value) => Math.round(value).toLocaleString("en-US");
const percent = (share) => `${Math.round(share * 1000) / 10}%`;
const orDash = (value, text) => (value === null ? "–" : text(value));

function milliseconds(ms) {
  if (ms === null) return "–";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

function duration(seconds) {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** A bar filled to `share`, with a text beside it. */
function meter(share, text) {
  const fill = make("span", "fill");
  fill.style.width = `${Math.min(100, share * 100)}%`;
  return make("div", "meter", make("span", "track", fill), make("span", "value", text));
}

// Header.

function drawFigures(status, samples) {
  const ready = status.endpoints.filter(({ isAvailable }) => isAvailable).length;
  const inFlight = status.endpoints.reduce((sum, endpoint) => sum + endpoint.inFlight, 0);
  const figures = [
    ["replicas ready", `${ready} of ${status.endpoints.length}`],
    ["in flight", whole(inFlight)],
    ...rateFigures(samples),
    ["client connections", whole(status.clientConnections)],
    ["up", duration(status.uptimeS)],
  ];
  at("pool").textContent = status.pool;
  at("figures").replaceChildren(
    ...figures.map(([name, ...value]) => make("div", "", make("dt", "", name), make("dd", "", ...value))),
  );
}

/** Requests per second since the last poll, their recent history, and totals. */
function rateFigures(samples) {
  if (samples === undefined) return [];
  const total = samples.filter(({ name }) => name === "signalbox_requests_total").reduce((sum, { value }) => sum + value, 0);
  const errors = samples
    .filter(({ name }) => name === "signalbox_request_errors_total")
    .reduce((sum, { value }) => sum + value, 0);
  const now = performance.now();
  if (counted !== undefined && total >= counted.total) rates.push(((total - counted.total) * 1000) / (now - counted.now));
  if (rates.length > RATES_KEPT) rates.shift();
  counted = { total, now };
  const rate = rates.length === 0 ? "–" : rates[rates.length - 1].toFixed(1);
  return [
    ["requests/s", rate, rates.length > 1 ? sparkline(rates) : ""],
    ["requests", whole(total)],
    ["router errors", whole(errors)],
  ];
}

function sparkline(values) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 60 14");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const top = Math.max(...values, 1);
  const points = values.map((value, index) => `${RATES_KEPT - values.length + index},${13 - (value / top) * 12}`);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  line.setAttribute("points", points.join(" "));
  line.setAttribute("vector-effect", "non-scaling-stroke");
  svg.append(line);
  return svg;
}

// Replicas.

const PHASE_CLASS = { ready: "good", starting: "wait", draining: "wait", cordoned: "wait" };

function drawEndpoints({ endpoints }) {
  const mostTokens = Math.max(1, ...endpoints.map(({ prefillTokens }) => prefillTokens));
  at("endpoints").replaceChildren(...endpoints.map((endpoint) => endpointRow(endpoint, mostTokens)));
}

function endpointRow(endpoint, mostTokens) {
  const { name, url, phase, isAvailable, ejected, failure, intent, labels, models } = endpoint;
  const nameCell = make("td", "", name);
  nameCell.title = [url, ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)].join("\n");
  const phaseCell = make("td", "", make("span", `dot ${PHASE_CLASS[phase] ?? "bad"}`, phase));
  if (intent !== null)
    phaseCell.append(make("span", "soft", ` ${[intent.isEmpty ? "empty" : "in use", intent.reason].filter(Boolean).join(": ")}`));
  else if (ejected !== "") phaseCell.append(make("span", "soft", ` ${ejected}`));
  else if (!isAvailable && failure !== "") phaseCell.append(make("span", "soft", ` ${failure}`));
  const modelCell = make("td", "free", models.slice(0, MODELS_SHOWN).join(", "));
  if (models.length > MODELS_SHOWN) modelCell.append(make("span", "soft", ` and ${models.length - MODELS_SHOWN} more`));
  modelCell.title = models.join("\n");
  return make(
    "tr",
    "",
    nameCell,
    phaseCell,
    make("td", "number", whole(endpoint.inFlight)),
    make("td", "bar", meter(endpoint.prefillTokens / mostTokens, whole(endpoint.prefillTokens))),
    make("td", "number", orDash(endpoint.running, whole)),
    make("td", "number", orDash(endpoint.waiting, whole)),
    make("td", "bar", endpoint.kvUsage === null ? "–" : meter(endpoint.kvUsage, percent(endpoint.kvUsage))),
    modelCell,
  );
}

// Rewrites.

function drawRewrites({ rewrites }, samples) {
  at("rewrites-section").hidden = rewrites.length === 0;
  at("rewrites").replaceChildren(...rewrites.map((rule) => ruleBox(rule, samples ?? [])));
}

function ruleBox({ name, models, targets, stickyHeader, onUnavailable }, samples) {
  const countOf = (target) =>
    samples.find((one) => one.name === "signalbox_rewrite_total" && one.labels.rule === name && one.labels.target === target)
      ?.value ?? 0;
  const total = targets.reduce((sum, target) => sum + countOf(target.name), 0);
  const shares = make("div", "shares");
  const legend = make("div", "targets");
  for (const [index, target] of targets.entries()) {
    const part = make("span", `share key-${index % 3}`);
    part.style.flexGrow = String(target.share);
    if (target.share > 0) shares.append(part);
    legend.append(targetText(target, index, countOf(target.name), total));
  }
  const notes = [name, stickyHeader === "" ? "" : `sticky by ${stickyHeader}`, onUnavailable === "refuse" ? "" : "redistributed"];
  const left = make("div", "", make("strong", "", models.join(", ") || "every model"));
  left.append(make("div", "soft", notes.filter((note) => note !== "").join(", ")));
  return make("div", "rule", left, make("div", "", shares, legend));
}

function targetText({ name, share, weight, readyEndpoints }, index, count, total) {
  const text = make("span", "", make("span", `dot key-${index % 3}`, name), ` ${percent(share)}`);
  text.append(make("span", "soft", total === 0 ? "" : ` (${percent(count / total)} of ${whole(total)} so far)`));
  if (readyEndpoints > 0) text.append(make("span", "soft", ` on ${readyEndpoints} replica${readyEndpoints === 1 ? "" : "s"}`));
  else text.append(make("span", weight > 0 ? "bad" : "soft", " on no ready replica"));
  return text;
}

// Decisions.

/** The list is not redrawn while a row's details are open. */
function drawDecisions(decisions) {
  at("decisions-section").hidden = decisions === undefined || decisions.length === 0;
  if (decisions === undefined || openRows > 0) return;
  at("decisions").replaceChildren(...decisions.flatMap(decisionRows));
}

function decisionRows(decision) {
  const row = decisionRow(decision);
  const detail = make("tr", "detail", detailCell(decision));
  detail.hidden = true;
  const turn = () => {
    detail.hidden = !detail.hidden;
    openRows += detail.hidden ? -1 : 1;
    row.setAttribute("aria-expanded", String(!detail.hidden));
  };
  row.addEventListener("click", turn);
  row.addEventListener("keydown", (event) => {
    if (event.key === "Enter") turn();
  });
  return [row, detail];
}

function decisionRow(decision) {
  const { api, model, target, rule, status, ending, errorCode, attempts } = decision;
  const modelCell = make("td", "", rule === "" ? model : `${model} → ${target}`);
  const outcome = ending === "complete" ? errorCode : ending;
  const isGood = status >= 200 && status < 400 && ending === "complete";
  const row = make(
    "tr",
    "decision",
    make("td", "", new Date(decision.time).toLocaleTimeString("en-GB")),
    make("td", "", api),
    modelCell,
    make("td", "", attempts.at(-1)?.endpoint ?? "–"),
    make("td", isGood ? "good" : "bad", `${status === 0 ? "–" : status}${outcome === "" ? "" : ` ${outcome}`}`),
    make("td", "number", milliseconds(decision.firstByteMs)),
    make("td", "number", milliseconds(decision.durationMs)),
    make("td", "free soft", decision.why),
  );
  row.tabIndex = 0;
  row.setAttribute("aria-expanded", "false");
  return row;
}

function detailCell({ id, promptTokens, attempts, dropped, faults, scorers, candidates }) {
  const cell = make("td");
  cell.colSpan = 8;
  const tried = attempts.map(({ endpoint, result }) => `${endpoint} (${result})`).join(", then ");
  cell.append(make("div", "soft", `${id}, about ${whole(promptTokens)} prompt tokens, tried: ${tried || "none"}`));
  for (const { filter, endpoints } of dropped) cell.append(make("div", "", `dropped by ${filter}: ${endpoints.join(", ")}`));
  for (const { plugin, message } of faults) cell.append(make("div", "bad", `${plugin} was ignored: ${message}`));
  if (candidates.length === 0) return cell;
  const titles = ["candidate", ...scorers.map(({ name, weight }) => `${name} × ${weight}`), "total"];
  const head = make("tr", "", ...titles.map((title, index) => make("th", index === 0 ? "" : "number", title)));
  const rows = candidates.slice(0, CANDIDATES_SHOWN).map(candidateRow);
  cell.append(make("table", "", make("thead", "", head), make("tbody", "", ...rows)));
  if (candidates.length > CANDIDATES_SHOWN) cell.append(make("div", "soft", `and ${candidates.length - CANDIDATES_SHOWN} more`));
  return cell;
}

/** `index` is the candidate's place in the order of tries. */
function candidateRow({ endpoint, scores, total }, index) {
  const numbers = [...scores.map((score) => orDash(score, (value) => value.toFixed(3))), total.toFixed(3)];
  return make(
    "tr",
    index === 0 ? "pick" : "",
    make("td", "", endpoint),
    ...numbers.map((number) => make("td", "number", number)),
  );
}

// Warnings, footer and polling.

/** Why a changed config was refused is among the warnings. */
function reloadText({ generation, lastReload }) {
  if (lastReload === null) return "";
  const result = lastReload.isApplied ? lastReload.changes.join("; ") || "no change" : "refused";
  return `; generation ${generation}, last read ${lastReload.at}: ${result}`;
}

function drawRest({ warnings, profile, sources, config }) {
  at("warnings").replaceChildren(...warnings.map((warning) => make("p", "warning", warning)));
  const filters = profile.filters.map(({ name }) => name).join(", ") || "none";
  const scorers = profile.scorers.map(({ name, weight }) => `${name} × ${weight}`).join(", ") || "none";
  at("profile").textContent = `Profile ${profile.name}: filters ${filters}; scorers ${scorers}; picker ${profile.picker.name}.`;
  const changed = config.overlay.map(({ rewrite, isDeleted }) => `rewrite ${rewrite}${isDeleted ? " deleted" : ""}`).join(", ");
  const beside = changed === "" ? "" : ` Changed beside it through the admin API: ${changed}.`;
  at("sources").textContent = `Config: ${sources.join(", ")}${reloadText(config)}.${beside}`;
}

const SAMPLE = /^([a-z_]+)(?:\{(.*)\})? ([-+.\deE]+)$/;

function readSamples(text) {
  return text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = SAMPLE.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, quoted]) => [
      key,
      quoted.replace(/\\(.)/g, "$1"),
    ]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** The body of a page; undefined if the config leaves that page out. Throws on any other failure. */
async function ask(path) {
  const response = await fetch(path, { signal: AbortSignal.timeout(5000) });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}

async function draw() {
  const [status, metrics, decisions] = await Promise.all([
    ask("status"),
    ask("metrics"),
    ask(`decisions?limit=${DECISIONS_SHOWN}`),
  ]);
  const now = JSON.parse(status);
  const samples = metrics === undefined ? undefined : readSamples(metrics);
  drawFigures(now, samples);
  drawEndpoints(now);
  drawRewrites(now, samples);
  drawDecisions(decisions === undefined ? undefined : JSON.parse(decisions).decisions);
  drawRest(now);
  at("lost").hidden = true;
}

async function keepDrawing() {
  if (!document.hidden) {
    await draw().catch((error) => {
      at("lost").textContent = `The router does not respond (${error.message}); the data shown is old.`;
      at("lost").hidden = false;
    });
  }
  setTimeout(keepDrawing, PERIOD_MS);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void draw().catch(() => {});
});
void keepDrawing();
