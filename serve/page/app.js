// The page of `miriam serve`: everything it shows comes from /v1. Text of users and models is
// put in by textContent only.
"use strict";

const WAIT_MS = 300;
const MAX_NODES = 300;
const MAX_LIST = 10;
const SVG = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);
const state = {
  models: [],
  graphWords: Infinity, // the most words of a text with search graphs
  sequence: 0, // of the last request; older answers are dropped
  request: null, // what aborts the last request
  timer: 0,
  retry: 0,
  key: "",
  answer: null,
  sentence: 0,
};

/** An element with classes, text and children. */
function element(name, options = {}, ...children) {
  const made = document.createElement(name);
  if (options.class) made.className = options.class;
  if (options.text !== undefined) made.textContent = options.text;
  for (const [key, value] of Object.entries(options.attributes ?? {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function svg(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Requests

/** What went wrong, in the server's words. */
class Problem extends Error {
  constructor(detail, status = 0, retryAfter = 0) {
    super(detail);
    Object.assign(this, { status, retryAfter });
  }
}

async function call(path, body, signal) {
  const headers = { Accept: "application/json" };
  if (body) headers["Content-Type"] = "application/json";
  if (state.key) headers.Authorization = `Bearer ${state.key}`;
  // The browser would not send it, and its error looks like that of a lost connection.
  if (/[^\x20-\xff]/.test(state.key ?? "")) throw new Problem("No key has such characters.", 401);
  let response;
  try {
    const init = { method: body ? "POST" : "GET", headers, signal, cache: "no-store" };
    response = await fetch(path, body ? { ...init, body: JSON.stringify(body) } : init);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server cannot be reached.", 0, 2);
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  const detail = answer?.detail || answer?.title || `The server answered ${response.status}.`;
  throw new Problem(detail, response.status, Number(response.headers.get("Retry-After")) || 0);
}

function showProblem(problem) {
  clearTimeout(state.retry);
  const isTemporary = problem.status === 0 || problem.status === 503 || problem.status === 429;
  byId("key-form").hidden = problem.status !== 401 && problem.status !== 403;
  byId("error").hidden = false;
  byId("target").setAttribute("aria-busy", "false");
  byId("status").textContent = "";
  if (!isTemporary) {
    byId("error-text").textContent = problem.message;
    return;
  }
  let seconds = Math.max(1, problem.retryAfter || 5);
  const count = () => {
    byId("error-text").textContent = `${problem.message} Next try in ${seconds} s.`;
    if (seconds-- > 0) {
      state.retry = setTimeout(count, 1000);
    } else if (state.models.length > 0) {
      translate();
    } else {
      loadModels();
    }
  };
  count();
}

function hideProblem() {
  clearTimeout(state.retry);
  byId("error").hidden = true;
}

// Models

const model = () => state.models.find((one) => one.name === byId("model").value);
const pair = (one) => [one.from, one.to].map((codes) => (codes ?? []).join(", ")).filter(Boolean).join(" → ");

async function loadModels() {
  try {
    const answer = await call("v1/models");
    state.graphWords = answer.limits.graph_words;
    state.models = answer.models.filter((one) => one.kind !== "lm");
    if (state.models.length === 0) {
      const broken = answer.broken.map((one) => `${one.name}: ${one.reason}`).join("; ");
      if (answer.loading.length > 0) throw new Problem("Models are being opened.", 503, 1);
      throw new Problem(broken || "No model that translates is served.", 404);
    }
  } catch (problem) {
    return showProblem(problem);
  }
  hideProblem();
  const select = byId("model");
  const chosen = select.value;
  select.replaceChildren(...state.models.map((one) => {
    const languages = pair(one);
    return new Option(languages ? `${one.name} (${languages})` : one.name, one.name);
  }));
  if (state.models.some((one) => one.name === chosen)) select.value = chosen;
  showLanguages();
  translate();
}

// A phrase-based system without preparation takes tokens, which people do not type.
function showTokensHint() {
  const takesTokens = model()?.facts?.["prepares-text"] === "false";
  byId("tokens-hint").hidden = !takesTokens;
  byId("source").setAttribute("aria-describedby", takesTokens ? "source-help tokens-hint" : "source-help");
}

function showLanguages() {
  showTokensHint();
  for (const side of ["from", "to"]) {
    const codes = model()?.[side] ?? [];
    const select = byId(side);
    const chosen = select.value;
    select.replaceChildren(...codes.map((code) => new Option(languageName(code), code)));
    if (codes.includes(chosen)) select.value = chosen;
    byId(`${side}-label`).hidden = codes.length < 2;
  }
  const [from, to] = ["from", "to"].map((side) => byId(side).value);
  for (const [id, code] of [["source", from], ["source-tokens", from], ["target", to], ["target-tokens", to],
    ["phrases", to], ["words", to], ["nbest", to]]) {
    if (code) byId(id).lang = code; else byId(id).removeAttribute("lang");
  }
}

function languageName(code) {
  try {
    return new Intl.DisplayNames(undefined, { type: "language" }).of(code.replace("_", "-")) ?? code;
  } catch {
    return code;
  }
}

// Translation

function schedule() {
  byId("clear").hidden = byId("source").value === "";
  clearTimeout(state.timer);
  state.timer = setTimeout(translate, WAIT_MS);
}

async function translate() {
  clearTimeout(state.timer);
  state.request?.abort();
  const sequence = ++state.sequence;
  const chosen = model();
  const text = byId("source").value;
  if (!chosen) return loadModels();
  if (text.trim() === "") {
    hideProblem();
    state.answer = null;
    return show();
  }
  const isPhrase = chosen.kind === "phrase";
  const list = isPhrase ? MAX_LIST : Math.min(MAX_LIST, chosen.beam_size ?? 1);
  const body = { model: chosen.name, text: [text], split: true, alignment: true, n_best: Math.max(1, list) };
  const graph = text.trim().split(/\s+/).length <= state.graphWords;
  if (isPhrase) Object.assign(body, { segmentation: true, graph, options: { distinct: true } });
  else body.word_scores = true;
  for (const side of ["from", "to"]) {
    if ((chosen[side] ?? []).length > 1) body[side] = byId(side).value;
  }
  state.request = new AbortController();
  byId("target").setAttribute("aria-busy", "true");
  const start = performance.now();
  try {
    const { signal } = state.request;
    const answer = await call("v1/translate", body, signal).catch((problem) => {
      if (problem.status !== 413 || !body.graph) throw problem;
      // In languages without spaces, only the server can count words.
      return call("v1/translate", { ...body, graph: false }, signal);
    });
    if (sequence !== state.sequence) return;
    hideProblem();
    const result = answer.results[0] ?? { text: "", sentences: [] };
    const sentences = (result.sentences ?? [result]).filter((one) => one.translations?.length > 0);
    const whole = result.text ?? sentences.map((one) => one.translations[0].text).join(" ");
    const elapsed = performance.now() - start;
    state.answer = { text: whole, sentences, timing: answer.timing ?? {}, model: answer.model, elapsed };
    state.sentence = Math.min(state.sentence, Math.max(0, sentences.length - 1));
    show();
  } catch (problem) {
    if (problem.name !== "AbortError" && sequence === state.sequence) showProblem(problem);
  }
}

// Showing an answer

function show() {
  const answer = state.answer;
  byId("target").setAttribute("aria-busy", "false");
  byId("copy").hidden = !answer;
  byId("status").textContent = answer ? `${Math.round(answer.elapsed)} ms` : "";
  showTarget();
  showSentences();
  showSentence();
  showInfo();
}

/** The places of tokens in a text: [start, end] of each, or null where one is not found. */
function locate(text, tokens, from = 0) {
  const lower = text.toLowerCase();
  const isSameLength = lower.length === text.length;
  const quotes = { "&apos;": "'", "&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">", "&#124;": "|", "&#91;": "[", "&#93;": "]" };
  let at = from;
  return tokens.map((token) => {
    let surface = token.replaceAll("▁", "").replace(/(.)@@$/u, "$1");
    surface = surface.replace(/&(apos|quot|amp|lt|gt|#124|#91|#93);/g, (name) => quotes[name]);
    if (surface === "") return null;
    const found = isSameLength ? lower.indexOf(surface.toLowerCase(), at) : text.indexOf(surface, at);
    if (found < 0 || found > at + 40) return null;
    at = found + surface.length;
    return [found, at];
  });
}

function showTarget() {
  const target = byId("target");
  const nodes = [];
  let at = 0;
  const text = state.answer?.text ?? "";
  (state.answer?.sentences ?? []).forEach((sentence, number) => {
    const { tokens } = sentence.translations[0];
    locate(text, tokens ?? [], at).forEach((place, index) => {
      if (!place) return;
      nodes.push(text.slice(at, place[0]), tokenSpan(text.slice(...place), "target", number, index));
      at = place[1];
    });
  });
  nodes.push(text.slice(at));
  target.replaceChildren(...nodes);
}

function tokenSpan(text, side, sentence, index) {
  const span = element("span", { class: "token", text });
  Object.assign(span.dataset, { side, sentence, index });
  return span;
}

function showSentences() {
  const sentences = state.answer?.sentences ?? [];
  const nav = byId("sentences");
  nav.hidden = sentences.length < 2;
  nav.replaceChildren(...sentences.map((_, number) => {
    const button = element("button", { text: number + 1, attributes: { type: "button", "aria-pressed": number === state.sentence } });
    button.setAttribute("aria-label", `Sentence ${number + 1}`);
    button.addEventListener("click", () => chooseSentence(number));
    return button;
  }));
}

function chooseSentence(number) {
  if (number === state.sentence) return;
  state.sentence = number;
  showSentences();
  showSentence();
}

const sentenceNow = () => state.answer?.sentences[state.sentence];

function showSentence() {
  const sentence = sentenceNow();
  const best = sentence?.translations[0];
  byId("alignment-card").hidden = !best?.alignment?.length;
  if (best) {
    showTokens("source-tokens", "source", sentence.source ?? []);
    showTokens("target-tokens", "target", best.tokens ?? []);
  }
  showPhrases(best);
  showWords(best);
  showList(sentence);
  showGraph(sentence);
}

/** A token as it is shown, and whether no space is before it. */
function shownToken(token, before) {
  const isPiece = before?.endsWith("@@") || false;
  const text = token.replaceAll("▁", "").replace(/(.)@@$/u, "$1");
  return { text: text || "␣", isGlued: isPiece };
}

function showTokens(id, side, tokens, decorate = () => {}) {
  const hasPieces = tokens.some((token) => token.startsWith("▁"));
  byId(id).replaceChildren(...tokens.flatMap((token, index) => {
    const { text, isGlued } = shownToken(token, tokens[index - 1]);
    const span = tokenSpan(text, side, state.sentence, index);
    if (index > 0 && (isGlued || (hasPieces && !token.startsWith("▁")))) span.classList.add("glued");
    span.tabIndex = index === 0 ? 0 : -1;
    decorate(span, index);
    return index > 0 ? [" ", span] : [span];
  }));
}

/** Marks a token and the tokens on the other side that are aligned with it. */
function mark(span) {
  unmark();
  const { side, sentence, index } = span.dataset;
  const alignment = state.answer?.sentences[sentence]?.translations[0].alignment ?? [];
  const isSource = side === "source";
  const partners = new Set(alignment.filter(([s, t]) => (isSource ? s : t) === Number(index)).map(([s, t]) => (isSource ? t : s)));
  for (const other of document.querySelectorAll(".token")) {
    if (other.dataset.sentence !== sentence) continue;
    if (other.dataset.side === side) other.classList.toggle("current", other.dataset.index === index);
    else other.classList.toggle("partner", partners.has(Number(other.dataset.index)));
  }
}

function unmark() {
  for (const span of document.querySelectorAll(".current, .partner")) span.classList.remove("current", "partner");
}

/** The arrow keys move between the tokens of a group. */
function moveFocus(event) {
  const span = event.target.closest(".token");
  const isRtl = span && getComputedStyle(span.parentElement).direction === "rtl";
  const step = { ArrowRight: isRtl ? -1 : 1, ArrowLeft: isRtl ? 1 : -1 }[event.key];
  const all = span ? [...span.parentElement.querySelectorAll(".token")] : [];
  const next = { Home: all[0], End: all.at(-1) }[event.key] ?? (step && all[all.indexOf(span) + step]);
  if (!next || span.tabIndex === undefined || !span.hasAttribute("tabindex")) return;
  event.preventDefault();
  span.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function showPhrases(best) {
  const phrases = best?.phrases ?? [];
  byId("phrases-card").hidden = phrases.length === 0;
  byId("options").replaceChildren();
  const inSource = [...phrases].sort((a, b) => a.source[0] - b.source[0]);
  byId("phrases").replaceChildren(...phrases.map((phrase) => {
    const [first, last] = phrase.source;
    const words = (sentenceNow().source ?? []).slice(first, last + 1).join(" ");
    const button = element("button", {
      class: `phrase hue-${inSource.indexOf(phrase) % 8}`,
      text: phrase.text,
      attributes: { type: "button", "aria-pressed": "false", title: `${first}–${last}` },
    }, element("small", { text: words, attributes: { dir: "auto" } }));
    button.dataset.span = phrase.source.join("-");
    button.addEventListener("click", () => {
      for (const other of byId("phrases").children) other.setAttribute("aria-pressed", other === button);
      showOptions(phrase.source, words);
    });
    return button;
  }));
}

const hypotheses = (sentence) => (sentence?.graph?.pieces ?? []).flatMap((piece) => piece.hypotheses ?? []);

/** Shows the translations of a span that the search has used, the best first. */
function showOptions([first, last], words) {
  const best = new Map();
  for (const one of hypotheses(sentenceNow())) {
    if (one.span?.[0] !== first || one.span?.[1] !== last) continue;
    const text = Array.isArray(one.text) ? one.text.join(" ") : one.text;
    const score = one.future ?? one.score;
    if (!(best.get(text) >= score)) best.set(text, score);
  }
  const rows = [...best].sort((a, b) => b[1] - a[1]).slice(0, 50);
  const table = element("table", {}, element("caption", { class: "hint", text: `Translations of “${words}” that the search used` }),
    row("th", ["Translation", "Best score of a hypothesis"]));
  for (const [text, score] of rows) table.append(row("td", [text, number(score)], ["text", "number"]));
  const hint = sentenceNow()?.graph ? "The search graph has no other hypothesis here." : "The text is too long for a search graph.";
  byId("options").replaceChildren(rows.length ? table : element("p", { class: "hint", text: hint }));
}

function row(cell, texts, classes = []) {
  const cells = texts.map((text, at) => element(cell, { text, class: classes[at], attributes: at === 0 || classes[at] === "text" ? { dir: "auto" } : {} }));
  return element("tr", {}, ...cells);
}

const number = (value) => (typeof value === "number" ? value.toFixed(3) : "");

/** Neural models: the less probable a word, the darker. */
function showWords(best) {
  const scores = best?.word_scores ?? [];
  byId("words-card").hidden = scores.length === 0;
  if (scores.length === 0) return;
  showTokens("words", "target", best.tokens ?? [], (span, index) => {
    const probability = Math.exp(scores[index] ?? 0);
    span.classList.add(`heat-${Math.min(5, Math.floor((1 - probability) * 6))}`);
    span.title = `${(100 * probability).toFixed(1)} %`;
  });
}

function showList(sentence) {
  const list = sentence?.translations ?? [];
  byId("nbest-card").hidden = list.length === 0;
  const names = [...new Set(list.flatMap((one) => Object.keys(one.features ?? {})))];
  const rows = list.map((one, at) => {
    const features = names.map((name) => [one.features?.[name] ?? []].flat().map(number).join(" "));
    return row("td", [at + 1, one.text, number(one.score), ...features], ["number", "text", "number", ...names.map(() => "number")]);
  });
  byId("nbest").replaceChildren(row("th", ["Rank", "Translation", "Score", ...names]), ...rows);
}

// The search graph

function showGraph(sentence) {
  const pieces = sentence?.graph?.pieces ?? [];
  byId("graph-card").hidden = pieces.length === 0;
  byId("graph").replaceChildren();
  if (!pieces.length || !byId("graph-card").open) return;
  const all = hypotheses(sentence);
  byId("graph").append(...pieces.map((piece) => drawPiece(piece.hypotheses ?? [])));
  const shown = Math.min(all.length, MAX_NODES * pieces.length);
  byId("graph-hint").textContent = `${shown} of ${all.length} hypotheses, by score; columns are words covered, the best path is bold.`;
}

function drawPiece(all) {
  const byNumber = new Map(all.map((one) => [one.id, one]));
  const score = (one) => one.future ?? one.score ?? 0;
  const complete = all.filter((one) => one.complete && one.recombined === undefined);
  const best = new Set();
  let node = complete.sort((a, b) => b.score - a.score)[0];
  for (; node && !best.has(node.id); node = byNumber.get(node.back)) best.add(node.id);
  // A hypothesis is shown with all that it extends.
  const kept = new Set(best);
  for (const one of [...all].sort((a, b) => score(b) - score(a))) {
    const path = [];
    for (let at = one; at && !kept.has(at.id); at = byNumber.get(at.back)) path.push(at.id);
    if (kept.size + path.length <= MAX_NODES) path.forEach((id) => kept.add(id));
  }
  const columns = new Map();
  const covered = new Map();
  const coverage = (one) => {
    const known = covered.get(one.id);
    if (known !== undefined) return known;
    const before = byNumber.get(one.back);
    const words = (before ? coverage(before) : 0) + (one.span ? one.span[1] - one.span[0] + 1 : 0);
    covered.set(one.id, words);
    return words;
  };
  for (const one of all.filter((each) => kept.has(each.id))) {
    const column = coverage(one);
    if (!columns.has(column)) columns.set(column, []);
    columns.get(column).push(one);
  }
  const [width, height, gapX, gapY] = [108, 20, 44, 8];
  const places = new Map();
  [...columns.keys()].sort((a, b) => a - b).forEach((column, x) => {
    const sorted = columns.get(column).sort((a, b) => best.has(b.id) - best.has(a.id) || score(b) - score(a));
    sorted.forEach((one, y) => places.set(one.id, [8 + x * (width + gapX), 8 + y * (height + gapY)]));
  });
  const rows = Math.max(1, ...[...columns.values()].map((column) => column.length));
  const size = [16 + columns.size * (width + gapX) - gapX, 16 + rows * (height + gapY)];
  const picture = svg("svg", { width: size[0], height: size[1], viewBox: `0 0 ${size.join(" ")}`, role: "img" });
  picture.append(svg("title", {}, "Hypotheses of the search"));
  const edges = svg("g", {});
  const nodes = svg("g", {});
  for (const [id, [x, y]] of places) {
    const one = byNumber.get(id);
    const isBest = best.has(id) ? " best" : "";
    const from = places.get(one.back);
    if (from) {
      const [x1, y1, x2, y2] = [from[0] + width, from[1] + height / 2, x, y + height / 2];
      const middle = (x1 + x2) / 2;
      edges.append(svg("path", { class: `edge${isBest}`, d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` }));
    }
    const text = Array.isArray(one.text) ? one.text.join(" ") : one.text ?? "•";
    const short = text.length > 16 ? `${text.slice(0, 15)}…` : text;
    const group = svg("g", { class: `node${isBest}` });
    const span = one.span ? ` [${one.span.join("–")}]` : "";
    group.append(svg("title", {}, `${text}${span} ${number(one.score)}`), svg("rect", { x, y, width, height, rx: 5 }),
      svg("text", { x: x + 6, y: y + 14 }, short));
    nodes.append(group);
  }
  picture.append(edges, nodes);
  return picture;
}

function showInfo() {
  const chosen = model();
  byId("info-card").hidden = !chosen;
  if (!chosen) return;
  const facts = [["name", chosen.name], ["kind", chosen.kind], ["generation", chosen.generation], ["languages", pair(chosen)],
    ["beam", chosen.beam_size], ...Object.entries(chosen.facts ?? {})];
  const answer = state.answer;
  if (answer) {
    const words = answer.sentences.reduce((sum, one) => sum + (one.source?.length ?? 0), 0);
    const seconds = (answer.timing.search_ms ?? 0) / 1000;
    facts.push(["answered by", answer.model], ["tokens of the text", words], ["time in the queue", `${answer.timing.queue_ms ?? 0} ms`],
      ["time of search", `${answer.timing.search_ms ?? 0} ms`], ["tokens a second", seconds > 0 ? Math.round(words / seconds) : ""]);
  }
  byId("info").replaceChildren(...facts.filter(([, value]) => value !== undefined && value !== "").flatMap(([name, value]) => [
    element("dt", { text: name }), element("dd", { text: typeof value === "object" ? JSON.stringify(value) : value })]));
}

// Events

byId("source").addEventListener("input", schedule);
byId("source").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    translate();
  }
});
byId("model").addEventListener("change", () => {
  showLanguages();
  translate();
});
for (const side of ["from", "to"]) byId(side).addEventListener("change", () => { showLanguages(); translate(); });
byId("clear").addEventListener("click", () => {
  byId("source").value = "";
  byId("source").focus();
  schedule();
});
byId("copy").addEventListener("click", async () => {
  let outcome = "Copied";
  try {
    await navigator.clipboard.writeText(state.answer?.text ?? "");
  } catch {
    getSelection().selectAllChildren(byId("target"));
    outcome = "Selected: press Ctrl+C";
  }
  byId("status").textContent = outcome;
});
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  state.key = byId("key").value.trim();
  loadModels();
});
byId("graph-card").addEventListener("toggle", () => showGraph(sentenceNow()));
for (const type of ["pointerover", "focusin"]) {
  document.addEventListener(type, (event) => {
    const span = event.target.closest?.(".token");
    if (!span) return;
    if (Number(span.dataset.sentence) !== state.sentence && span.closest("#target")) chooseSentence(Number(span.dataset.sentence));
    mark(span);
  });
}
for (const type of ["pointerout", "focusout"]) {
  document.addEventListener(type, (event) => event.target.closest?.(".token") && unmark());
}
document.addEventListener("keydown", moveFocus);
loadModels();
