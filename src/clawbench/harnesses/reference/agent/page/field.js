// Whether the element takes text, how, and what it holds.
function() {
  const editable = this.isContentEditable;
  const typed = this.localName === 'textarea' || this.localName === 'input' || editable || this.getAttribute('role');
  return {
    problem: typed ? this.readOnly ? 'is read-only' : null : 'is not a field that takes text',
    picked: this.localName === 'input' && ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'].includes(this.type),
    kind: this.type || '',
    value: editable ? this.innerText : this.value ?? null,
  };
}
