// Fields with a picker of their own (dates, ranges) take a value, not keys.
function(value) {
  const view = this.ownerDocument.defaultView;
  const proto = this.localName === 'textarea' ? view.HTMLTextAreaElement : view.HTMLInputElement;
  this.focus();
  Object.getOwnPropertyDescriptor(proto.prototype, 'value').set.call(this, value);
  this.dispatchEvent(new view.Event('input', {bubbles: true, composed: true}));
  this.dispatchEvent(new view.Event('change', {bubbles: true}));
}
