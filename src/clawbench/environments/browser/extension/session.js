// Which recorder this browser is paired with; kept in storage, because the worker is not.
const KEY = "session";
const BADGES = { recording: ["REC", "#b00020"], lost: ["!", "#b06000"], none: ["", "#000000"] };
let session = null;

export const current = () => session;

export const loaded = chrome.storage.local.get(KEY).then(async (stored) => {
  session = stored[KEY] ?? null;
  await showBadge();
});

export const remember = async (value) => {
  session = value;
  await chrome.storage.local.set({ [KEY]: value });
  await showBadge();
};

export const update = async (changes) => {
  if (session) await remember({ ...session, ...changes });
};

export const forget = async () => {
  session = null;
  await chrome.storage.local.remove(KEY);
  await showBadge();
};

const showBadge = async () => {
  const [text, color] = BADGES[session ? (session.lost ? "lost" : "recording") : "none"];
  await chrome.action.setBadgeText({ text });
  await chrome.action.setBadgeBackgroundColor({ color });
};
