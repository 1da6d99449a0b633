// Where the tab is, and what the page announces.
(() => {
  const shown = el => el.checkVisibility({visibilityProperty: true, opacityProperty: true});
  const live = document.querySelectorAll('[role=alert],[role=status],[aria-live=polite],[aria-live=assertive]');
  return {
    document: `${performance.timeOrigin} ${location.origin}${location.pathname}`,
    text: `url: ${location.href}\ntitle: ${document.title}`,
    said: [...live].filter(shown).map(el => el.innerText.replace(/\s+/g, ' ').trim().slice(0, 300)).filter(Boolean),
  };
})()
