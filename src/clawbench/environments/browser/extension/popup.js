const element = (id) => document.getElementById(id);

const ask = async (message) => {
  const { value, error } = await chrome.runtime.sendMessage(message);
  if (error) throw new Error(error);
  return value;
};

const notice = (text) => {
  element("notice").textContent = text;
  element("notice").hidden = !text;
};

const show = async () => {
  const { recording, task, url, lost, notice: told } = await ask({ ask: "state" });
  element("state").textContent = lost
    ? `The recorder at ${url} is gone. What it was to hold is still held.`
    : recording
      ? `Recording ${task} for ${url}.`
      : "Not recording.";
  element("pairing").hidden = recording && !lost;
  element("finish").hidden = !recording || lost;
  element("forget").hidden = !lost;
  notice(told ?? "");
};

const act = async (message) => {
  try {
    await ask(message);
    await show();
  } catch (error) {
    notice(error.message);
  }
};

element("pairing").addEventListener("submit", (event) => {
  event.preventDefault();
  const address = URL.parse(element("address").value.trim());
  const token = address?.hash.slice(1);
  if (!token || !["127.0.0.1", "localhost"].includes(address.hostname)) {
    notice("This is not a pairing address: it looks like http://127.0.0.1:7878/pair#…");
  } else {
    act({ ask: "pair", url: address.origin, token });
  }
});
element("finish").addEventListener("click", () => act({ ask: "finish" }));
element("forget").addEventListener("click", () => act({ ask: "forget" }));
chrome.storage.local.onChanged.addListener(show);
show();
