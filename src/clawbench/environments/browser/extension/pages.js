// Pages are looked into only while something is recorded.
const ID = "recorder";
const FILES = ["content.js", "recorder.js"];
const WEB = ["http://*/*", "https://*/*"];
const PAIRING = ["http://127.0.0.1/pair", "http://localhost/pair"];

export const isPairingPage = (url) => {
  const { protocol, hostname, pathname } = new URL(url);
  return PAIRING.includes(`${protocol}//${hostname}${pathname}`);
};

export const recordNewPages = async () => {
  await stopNewPages();
  await chrome.scripting.registerContentScripts([
    {
      id: ID,
      js: FILES,
      matches: WEB,
      excludeMatches: PAIRING,
      allFrames: true,
      matchOriginAsFallback: true,
      runAt: "document_start",
    },
  ]);
};

export const isRecordingNewPages = async () =>
  (await chrome.scripting.getRegisteredContentScripts({ ids: [ID] })).length > 0;

export const stopNewPages = async () => {
  if (await isRecordingNewPages()) await chrome.scripting.unregisterContentScripts({ ids: [ID] });
};

export const recordOpenPages = (recorderUrl) =>
  inOpenPages((tab) => !tab.url?.startsWith(`${recorderUrl}/`), { files: FILES });

export const disarmPages = () => inOpenPages(() => true, { func: () => globalThis.clawbenchDisarm?.() });

const inOpenPages = async (chosen, script) => {
  const tabs = (await chrome.tabs.query({ url: WEB })).filter(chosen);
  await Promise.allSettled(
    tabs.map((tab) =>
      chrome.scripting.executeScript({ target: { tabId: tab.id, allFrames: true }, injectImmediately: true, ...script }),
    ),
  );
};
