// On the recorder's own page: hands its token, which stands behind the #, to the extension.
(async () => {
  const show = (text) => {
    document.getElementById("state").textContent = text;
  };
  const ask = async (message) => {
    const { value, error } = await chrome.runtime.sendMessage(message);
    if (error) throw new Error(error);
    return value;
  };
  const token = location.hash.slice(1);
  try {
    if (token) {
      history.replaceState(null, "", location.pathname);
      show("The extension is here. Pairing…");
      await ask({ ask: "pair", url: location.origin, token });
    }
    const { recording, task } = await ask({ ask: "state" });
    if (!recording) return;
    show(`Recording ${task}. Do the task in this browser, in other tabs; this one may stay or go.`);
    chrome.storage.local.onChanged.addListener(({ session }) => {
      if (session && !session.newValue) show("The recording has ended. Nothing is recorded or held any more.");
    });
  } catch (error) {
    show(`Not paired: ${error.message}`);
  }
})();
