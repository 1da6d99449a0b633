// The extension's one process: pairs with the recorder, tells it what happens, goes when it says goodbye.
// Chrome ends and restarts it at will, so listeners stand at the top level and what must last is in storage.
import { block, isBlocking, unblock } from "./blocking.js";
import { allDelivered, deliver, get, RefusedError } from "./delivery.js";
import { watchRequests } from "./requests.js";
import { allShot, shoot } from "./screenshots.js";
import {
  disarmPages,
  isPairingPage,
  isRecordingNewPages,
  recordNewPages,
  recordOpenPages,
  stopNewPages,
} from "./pages.js";
import { current, forget, loaded, remember, update } from "./session.js";

const RECONNECT_MS = 1000;
const RECONNECT_TIMES = 3;
const SILENCE_MS = 60_000; // a living recorder speaks every 20 s
let listening = null;

const pair = async (url, token) => {
  await loaded;
  const origin = new URL(url).origin;
  if (current() && (current().url !== origin || current().token !== token) && !current().lost) {
    throw new Error(`already recording ${current().task}: finish that first`);
  }
  const status = await get({ url: origin, token }, "/api/status");
  const holds = status.blocking.patterns.length > 0;
  await remember({ url: origin, token, task: status.task, holds, lost: false, notice: "" });
  await arm(status);
  listen();
};

const arm = async (status) => {
  const readiness = await block(status.blocking);
  if (readiness.blocking) await recordNewPages();
  await deliver("/api/ready", readiness);
  if (!readiness.blocking) {
    await end();
    throw new Error(readiness.detail);
  }
  await recordOpenPages(current().url);
  await chrome.alarms.create("alive", { periodInMinutes: 0.5 });
};

// ---- The recorder's side of the line ---------------------------------------------------------------------

const listen = () => {
  listening ??= follow().finally(() => {
    listening = null;
  });
};

const follow = async () => {
  for (let attempt = 0; attempt < RECONNECT_TIMES && current(); attempt++) {
    try {
      if (await hear()) return await end();
      attempt = 0;
    } catch (error) {
      if (error instanceof RefusedError) break;
    }
    await new Promise((resume) => setTimeout(resume, RECONNECT_MS));
  }
  // Without a word of goodbye: what was to be held stays held until the person decides otherwise.
  await update({ lost: true });
};

// True when the recorder said that it is over, false when the line was cut.
const hear = async () => {
  const hangUp = new AbortController();
  let silence = setTimeout(() => hangUp.abort(), SILENCE_MS);
  try {
    const response = await get(current(), "/api/live", hangUp.signal);
    const lines = linesOf(response.body);
    if ((await lines.next()).value?.event !== "hello") throw new Error("this is not the recorder");
    await update({ lost: false });
    for await (const { event } of lines) {
      clearTimeout(silence);
      if (event === "end") {
        await handOver();
        return true;
      }
      silence = setTimeout(() => hangUp.abort(), SILENCE_MS);
      await chrome.runtime.getPlatformInfo(); // any call to Chrome keeps this worker alive
    }
    return false;
  } finally {
    clearTimeout(silence);
    hangUp.abort();
  }
};

const linesOf = async function* (body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const finished = (text + value).split("\n");
    text = finished.pop();
    for (const line of finished) yield JSON.parse(line);
  }
};

const handOver = async () => {
  await stopNewPages();
  await allDelivered();
  await allShot();
};

const end = async () => {
  await stopNewPages();
  await disarmPages();
  await unblock();
  await chrome.alarms.clear("alive");
  await forget();
};

// ---- What happens in the browser -------------------------------------------------------------------------

const recordAction = async (action, sender) => {
  await loaded;
  if (!current()) return;
  const frame = `${sender.tab.id}.${sender.frameId}`;
  const screenshot = deliver("/api/action", { ...action, frame }).then((answer) => answer.screenshot);
  shoot(sender.tab.windowId, screenshot);
};

watchRequests(async (request) => {
  await loaded;
  if (!current() || request.url.startsWith(`${current().url}/`)) return;
  const { decision } = await deliver("/api/request", request);
  if (decision === "held") {
    await update({ notice: `Held back, though not the final request: ${request.method} ${request.url}` });
  }
});

// ---- Messages from the popup, the pairing page and the recorded pages ----------------------------------------

const answers = {
  state: async () => {
    await loaded;
    const { task, url, lost, notice } = current() ?? {};
    return { recording: Boolean(current()), task, url, lost, notice };
  },
  pair: ({ url, token }) => pair(url, token),
  finish: () => deliver("/api/stop", { description: "The person pressed Finish" }),
  forget: end,
};

chrome.runtime.onMessage.addListener((message, sender, answer) => {
  if (sender.id !== chrome.runtime.id) return false;
  if (message.action) {
    if (sender.tab) recordAction(message.action, sender).catch(() => {});
    return false;
  }
  if (sender.origin !== self.location.origin && !isPairingPage(sender.url)) return false;
  Promise.resolve(answers[message.ask]?.(message))
    .then((value) => answer({ value }))
    .catch((error) => answer({ error: error.message }));
  return true;
});

// ---- Coming back -------------------------------------------------------------------------------------------

let resuming = Promise.resolve();

const resume = (browserStarts) => {
  resuming = resuming.then(() => takeUpAgain(browserStarts)).catch(() => {});
};

// A browser that starts anew, or an extension that was loaded anew, rejoins a recorder that still runs and
// leaves one that is gone; a worker that was only asleep finds everything as it was.
const takeUpAgain = async (browserStarts) => {
  await loaded;
  if (!current()) return;
  const ready = (await isRecordingNewPages()) && (!current().holds || (await isBlocking()));
  if (browserStarts || !ready) {
    try {
      await arm(await get(current(), "/api/status"));
    } catch {
      await end();
      return;
    }
  }
  if (!current().lost) listen();
};

chrome.runtime.onStartup.addListener(() => resume(true));
chrome.alarms.onAlarm.addListener(() => resume(false));
resume(false);
