// Resolves when the text is on the page, or with false after ms.
(text, ms) => new Promise(resolve => {
  const there = () => document.body && document.body.innerText.toLowerCase().includes(text.toLowerCase());
  if (there()) return resolve(true);
  const done = found => { observer.disconnect(); clearTimeout(timer); resolve(found); };
  const observer = new MutationObserver(() => there() && done(true));
  observer.observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
  const timer = setTimeout(() => done(false), ms);
})
