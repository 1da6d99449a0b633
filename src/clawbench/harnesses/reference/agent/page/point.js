// Where to click the element: in view, enabled, and not covered by anything else.
function() {
  if (!this.isConnected) return {problem: 'is no longer on the page; call browser_read again'};
  if (this.localName === 'select') return {problem: 'is a list of options; use browser_select'};
  const shown = el => {
    const r = el.getBoundingClientRect();
    return r.width > 2 && r.height > 2 && el.checkVisibility({visibilityProperty: true, opacityProperty: true});
  };
  let target = this;
  if (!shown(this)) {
    target = [...(this.labels || [])].find(shown);
    if (!target) return {problem: 'is not visible now; call browser_read again'};
  }
  if (this.disabled) return {problem: 'is disabled'};
  target.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
  const view = target.ownerDocument.defaultView;
  const inside = (a, b) => a && b && (a === b || a.contains(b) || (a.getRootNode().host && inside(a.getRootNode().host, b)));
  const hits = hit => inside(target, hit) || inside(hit, target) || hit?.closest?.('label')?.control === this;
  let cover = null, point = null;
  for (const r of target.getClientRects()) {
    for (const [fx, fy] of [[.5, .5], [.25, .5], [.75, .5], [.5, .2], [.5, .8]]) {
      const x = r.left + r.width * fx, y = r.top + r.height * fy;
      if (r.width < 1 || r.height < 1 || x < 0 || y < 0 || x >= view.innerWidth || y >= view.innerHeight) continue;
      const hit = target.getRootNode().elementFromPoint(x, y);
      if (hits(hit)) { point = {x, y}; break; }
      cover = cover || hit;
    }
    if (point) break;
  }
  if (!point) {
    const what = cover && (cover.innerText || cover.getAttribute('aria-label') || cover.localName).replace(/\s+/g, ' ').slice(0, 80);
    return {problem: cover ? `is covered by something else: "${what}"` : 'cannot be brought into view'};
  }
  for (let w = view; w.frameElement; w = w.parent) {
    const r = w.frameElement.getBoundingClientRect();
    point.x += r.left + w.frameElement.clientLeft;
    point.y += r.top + w.frameElement.clientTop;
  }
  return point;
}
