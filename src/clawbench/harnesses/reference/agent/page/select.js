// Choose the option with that value, that text, or the only one that contains it.
function(wanted) {
  if (this.localName !== 'select') return {problem: 'is not a list of options; use browser_click on it and on the option'};
  if (this.disabled) return {problem: 'is disabled'};
  const plain = text => text.replace(/\s+/g, ' ').trim().toLowerCase();
  const options = [...this.options].filter(option => !option.disabled);
  const option = options.find(o => o.value === wanted) || options.find(o => plain(o.label) === plain(wanted)) ||
    (list => list.length === 1 ? list[0] : null)(options.filter(o => plain(o.label).includes(plain(wanted))));
  if (!option) return {problem: `has no option "${wanted}"; it has ${options.slice(0, 60).map(o => JSON.stringify(o.label.trim())).join(', ')}`};
  const view = this.ownerDocument.defaultView;
  this.scrollIntoView({block: 'center', behavior: 'instant'});
  this.focus();
  if (this.multiple) option.selected = true; else this.value = option.value, option.selected = true;
  this.dispatchEvent(new view.Event('input', {bubbles: true, composed: true}));
  this.dispatchEvent(new view.Event('change', {bubbles: true}));
  return {chosen: option.label.trim()};
}
