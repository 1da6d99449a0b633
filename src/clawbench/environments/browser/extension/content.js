// Between recorder.js, the same as in every web run, and the extension. Lives in the extension's own world of
// each document: pages see neither.
var clawbenchReport = (recorder, text) => {
  const { held, time, top, ...seen } = JSON.parse(text);
  const inner = held === undefined ? {} : insideOf(recorder, held);
  if (seen.type === "probe") return;
  try {
    chrome.runtime.sendMessage({ action: { ...seen, ...inner, timestamp: time } }).catch(() => {});
  } catch {
    // The extension was taken out or loaded anew; its old scripts have nobody to tell.
  }
};

// What an event on the host of a closed shadow root really met.
var insideOf = (recorder, held) => {
  try {
    const root = chrome.dom.openOrClosedShadowRoot(recorder.held(held));
    if (!root) return recorder.release(held) ?? {};
    const { again, ...found } = recorder.admit(root, held) ?? {};
    return again === undefined ? found : { ...found, ...insideOf(recorder, again) };
  } catch {
    return { secret: true };
  }
};
