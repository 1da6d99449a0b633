// Every request, told once its fate is known: its headers went out, or it was blocked before it had any.
const EVERYWHERE = { urls: ["http://*/*", "https://*/*", "ws://*/*", "wss://*/*"] };
const LARGEST_BODY = 40 << 20; // bytes; more is not sent on, and counts as unreadable
const TYPES = {
  main_frame: "Document",
  sub_frame: "Document",
  stylesheet: "Stylesheet",
  script: "Script",
  image: "Image",
  font: "Font",
  media: "Media",
  xmlhttprequest: "XHR",
  ping: "Ping",
  csp_report: "CSPViolationReport",
  websocket: "WebSocket",
};

export const watchRequests = (tell) => {
  const open = new Map(); // Chrome's id -> a request whose fate is not known yet

  const settle = ({ requestId }, more) => {
    const request = open.get(requestId);
    if (!open.delete(requestId)) return;
    tell({ ...request, ...more }).catch(() => {});
  };

  chrome.webRequest.onBeforeRequest.addListener(
    (details) => {
      if (details.initiator === self.location.origin) return;
      settle(details, {});
      open.set(details.requestId, describe(details));
    },
    EVERYWHERE,
    ["requestBody"],
  );
  chrome.webRequest.onSendHeaders.addListener(
    (details) => settle(details, { headers: headersOf(details) }),
    EVERYWHERE,
    ["requestHeaders", "extraHeaders"],
  );
  chrome.webRequest.onErrorOccurred.addListener(
    (details) => settle(details, { blocked: details.error === "net::ERR_BLOCKED_BY_CLIENT" }),
    EVERYWHERE,
  );
  // From a cache, or redirected by the browser itself: no headers ever go out.
  chrome.webRequest.onBeforeRedirect.addListener((details) => settle(details, {}), EVERYWHERE);
  chrome.webRequest.onCompleted.addListener((details) => settle(details, {}), EVERYWHERE);
};

const describe = (details) => ({
  id: details.requestId,
  timestamp: details.timeStamp,
  url: details.url,
  method: details.method,
  resource_type: TYPES[details.type] ?? "Other",
  frame: details.tabId < 0 ? null : `${details.tabId}.${details.frameId}`,
  body: details.requestBody ? bodyOf(details.requestBody) : null,
});

const headersOf = ({ requestHeaders }) =>
  Object.fromEntries(requestHeaders.map(({ name, value, binaryValue }) => [name, value ?? String(binaryValue)]));

const bodyOf = ({ formData, raw, error }) => {
  if (formData) {
    const fields = Object.entries(formData);
    return { form: Object.fromEntries(fields.map(([name, values]) => [name, values.map(asText)])) };
  }
  const size = (raw ?? []).reduce((sum, { bytes }) => sum + (bytes?.byteLength ?? 0), 0);
  if (error || size > LARGEST_BODY) return { complete: false };
  return { parts: (raw ?? []).map(({ bytes }) => (bytes ? base64(bytes) : null)) };
};

const asText = (value) =>
  typeof value === "string" ? value : `data:application/octet-stream;base64,${base64(value)}`;

const base64 = (buffer) => {
  const bytes = new Uint8Array(buffer);
  let letters = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    letters += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(letters);
};
