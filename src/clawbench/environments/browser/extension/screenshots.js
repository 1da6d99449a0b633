// Chrome allows two pictures of a tab a second. Actions that come closer together share the next one.
import { post } from "./delivery.js";

const GAP_MS = 550;
const TAKEN_WITHIN_MS = 3000;
const waiting = []; // { windowId, names: promises of the screenshots' names }
let latest = 0;
let working = null;

export const shoot = (windowId, name) => {
  name.catch(() => {});
  const shot = waiting.find((other) => other.windowId === windowId);
  if (shot) shot.names.push(name);
  else waiting.push({ windowId, names: [name] });
  working ??= work().finally(() => {
    working = null;
  });
};

export const allShot = async () => {
  while (working) await working;
};

const work = async () => {
  while (waiting.length) {
    await pause(latest + GAP_MS - Date.now());
    const shot = waiting.shift();
    latest = Date.now();
    try {
      const png = await picture(shot.windowId);
      const names = (await Promise.allSettled(shot.names)).flatMap(({ value }) => value ?? []);
      if (names.length) await post("/api/screenshot", { png, timestamp: latest, names });
    } catch {
      // Chrome's own pages and minimised windows give no picture: the recorder takes a neighbour's.
    }
  }
};

const picture = (windowId) =>
  Promise.race([
    chrome.tabs.captureVisibleTab(windowId, { format: "png" }),
    pause(TAKEN_WITHIN_MS).then(() => Promise.reject(new Error("no picture in time"))),
  ]);

const pause = (milliseconds) => new Promise((resume) => setTimeout(resume, Math.max(0, milliseconds)));
