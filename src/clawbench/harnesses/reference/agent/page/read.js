// The page as a user sees it: lines of text, and numbered elements that can be acted on.
// Returns [JSON of the lines and labels, element, element, …], or null where the frame is read with its parent.
(start, topmost) => {
  if (!topmost && window.frameElement !== null) return null;
  if (!topmost && (innerWidth < 3 || innerHeight < 3)) return null;

  const lines = [], labels = [], elements = [];
  let line = '';
  const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head', 'meta', 'link', 'object']);
  const ROLES = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'option', 'menuitem', 'textbox',
    'menuitemradio', 'menuitemcheckbox', 'combobox', 'searchbox', 'slider', 'spinbutton', 'treeitem']);
  const BUTTONS = new Set(['submit', 'button', 'reset', 'image']);
  const PLAIN = new Set(['text', 'search', '']);

  const squeeze = text => (text || '').replace(/\s+/g, ' ').trim();
  const cut = (text, limit) => text.length > limit ? text.slice(0, limit - 1) + '…' : text;
  const flush = () => { const text = squeeze(line); if (text) lines.push(text); line = ''; };

  const boxed = (el, style) => style.display === 'contents' || el.checkVisibility();
  const sized = el => { const r = el.getBoundingClientRect(); return r.width > 1 && r.height > 1; };
  const shown = el => sized(el) && el.checkVisibility({visibilityProperty: true});

  const roleOf = (el, style) => {
    const tag = el.localName, type = (el.type || '').toLowerCase();
    if (tag === 'input') {
      if (type === 'hidden') return null;
      if (BUTTONS.has(type)) return 'button';
      return {checkbox: 'checkbox', radio: 'radio', file: 'file', range: 'slider', color: 'color'}[type] || 'textbox';
    }
    if (tag === 'textarea') return 'textbox';
    if (tag === 'select') return 'select';
    if (tag === 'button' || tag === 'summary') return 'button';
    const role = (el.getAttribute('role') || '').split(' ')[0];
    if (ROLES.has(role)) return role;
    if (tag === 'a' && el.hasAttribute('href')) return 'link';
    if (el.isContentEditable && !(el.parentElement && el.parentElement.isContentEditable)) return 'textbox';
    if (tag === 'label' || tag === 'body' || tag === 'html' || tag === 'option' || tag === 'iframe') return null;
    const pointer = style.cursor === 'pointer' && el.parentElement &&
      getComputedStyle(el.parentElement).cursor !== 'pointer' && !el.closest('label,a[href],button');
    if (el.hasAttribute('onclick') || pointer) return el.querySelector('a[href],button,input,select') ? null : 'clickable';
    return null;
  };

  const labelText = label => {
    const texts = [], walker = document.createTreeWalker(label, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      const space = getComputedStyle(parent).display.startsWith('inline') ? '' : ' ';
      if (!parent.closest('select,textarea,script,style')) texts.push(space, walker.currentNode.data, space);
    }
    return texts.join('');
  };

  const nameOf = (el, role) => {
    const byId = (el.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean)
      .map(id => el.getRootNode().getElementById?.(id)?.textContent || '').join(' ');
    const labelled = [...(el.labels || [])].map(labelText).join(' ');
    const field = ['textbox', 'select', 'checkbox', 'radio', 'file', 'slider', 'color', 'combobox', 'searchbox'].includes(role);
    const own = el.localName === 'input' && role === 'button' ? el.value || el.alt : '';
    const text = field && el.localName !== 'div' ? '' : el.innerText || el.textContent;
    const image = el.querySelector?.('img[alt],[aria-label],svg title');
    return squeeze(el.getAttribute('aria-label')) || squeeze(byId) || squeeze(labelled) || squeeze(own) || squeeze(text) ||
      squeeze(el.placeholder) || squeeze(el.title) || squeeze(image && (image.alt || image.getAttribute('aria-label') || image.textContent)) ||
      squeeze(el.name);
  };

  const quoted = text => JSON.stringify(text);
  const stateOf = (el, role) => {
    const state = [], type = (el.type || '').toLowerCase();
    if (role === 'textbox' && el.localName === 'input' && !PLAIN.has(type)) state.push(`type=${type}`);
    if (role === 'textbox' || role === 'slider' || role === 'color' || role === 'combobox') {
      const value = 'value' in el ? el.value : el.innerText;
      state.push(`value=${quoted(type === 'password' ? '•'.repeat(value.length) : cut(squeeze(value), 200))}`);
    }
    if (role === 'select') {
      const options = [...el.options].map(option => squeeze(option.label));
      const picked = [...el.selectedOptions].map(option => squeeze(option.label)).join(', ');
      const more = options.length > 60 ? ` and ${options.length - 60} more` : '';
      state.push(`value=${quoted(picked)} options: ${options.slice(0, 60).map(quoted).join(', ')}${more}`);
    }
    const checked = 'checked' in el ? String(el.checked) : el.getAttribute('aria-checked');
    if (['checkbox', 'radio', 'switch'].includes(role)) state.push(checked === 'true' ? 'checked' : 'unchecked');
    if (role === 'file' && el.files.length) state.push(`holds ${[...el.files].map(file => quoted(file.name)).join(', ')}`);
    for (const name of ['expanded', 'selected', 'pressed', 'current']) {
      const value = el.getAttribute('aria-' + name);
      if (value && value !== 'false') state.push(value === 'true' ? name : `${name}=${value}`);
      if (value === 'false' && name === 'expanded') state.push('collapsed');
    }
    if (el.required) state.push('required');
    if (el.disabled || el.getAttribute('aria-disabled') === 'true') state.push('disabled');
    if (el.readOnly) state.push('read-only');
    if (el.matches(':user-invalid') && el.validationMessage) state.push(`invalid: ${quoted(el.validationMessage)}`);
    if (role === 'link' && el.href && !el.href.startsWith('javascript:')) {
      const url = el.href.startsWith(location.origin) ? el.href.slice(location.origin.length) : el.href;
      state.push('-> ' + cut(url || '/', 100));
    }
    return state.length ? ' ' + state.join(' ') : '';
  };

  const emit = (el, role) => {
    flush();
    const label = `${role} ${quoted(cut(nameOf(el, role), 200))}`;
    elements.push(el);
    labels.push(label);
    lines.push(`[${start + elements.length - 1}] ${label}${stateOf(el, role)}`);
  };

  const walkAll = (nodes, muted) => { for (const node of nodes) walk(node, muted); };
  const childrenOf = el => {
    if (el.shadowRoot) return el.shadowRoot.childNodes;
    if (el.localName === 'slot') { const given = el.assignedNodes({flatten: true}); if (given.length) return given; }
    return el.childNodes;
  };

  const walkFrame = el => {
    let inner = null;
    try { inner = el.contentDocument; } catch { /* another origin: read on its own */ }
    if (!shown(el)) return;
    flush();
    if (inner && inner.body) { lines.push('(frame)'); walk(inner.body, false); flush(); lines.push('(end of frame)'); }
    else lines.push(`(frame of another site: ${cut(el.src, 100)}; shown below)`);
  };

  const walk = (node, muted) => {
    if (node.nodeType === Node.TEXT_NODE) { if (!muted) line += node.data; return; }
    if (node.nodeType !== Node.ELEMENT_NODE || SKIPPED.has(node.localName)) return;
    const el = node, tag = el.localName, style = getComputedStyle(el);
    const role = roleOf(el, style);
    if (role === 'file') return emit(el, role);  // often hidden behind a button of its own
    if (!boxed(el, style)) return;
    if (tag === 'iframe') return walkFrame(el);
    const choice = role === 'checkbox' || role === 'radio';
    if (role && (shown(el) || (choice && [...(el.labels || [])].some(shown)))) {
      emit(el, role);
      if (tag !== 'select' && role !== 'textbox') walkAll(childrenOf(el), true);
      return;
    }
    if (tag === 'select' || tag === 'textarea') return;
    if (tag === 'br') return flush();
    if (tag === 'img') { if (el.alt && !muted && shown(el)) line += ` (image: ${cut(squeeze(el.alt), 100)}) `; return; }
    const clipped = style.position === 'absolute' && style.overflow === 'hidden' && !sized(el);
    const block = !style.display.startsWith('inline') && style.display !== 'contents' && style.display !== 'table-cell';
    if (block) flush();
    if (el.matches('dialog[open],[role=dialog],[role=alertdialog]')) lines.push('(dialog)');
    if (/^h[1-6]$/.test(tag) && !muted) line += '#'.repeat(+tag[1]) + ' ';
    if (tag === 'li' && !muted) line += '- ';
    const inner = muted || clipped || (tag === 'label' && el.control && shown(el));
    const silent = inner || style.visibility !== 'visible';  // what is below may be visible again
    for (const child of childrenOf(el)) walk(child, child.nodeType === Node.TEXT_NODE ? silent : inner);
    if (style.display === 'table-cell') line += ' | ';
    if (block) flush();
  };

  if (document.body) walk(document.body, false);
  flush();
  const height = document.documentElement.scrollHeight;
  const seen = `${Math.round(scrollY)}–${Math.round(Math.min(scrollY + innerHeight, height))} of ${height} px`;
  return [JSON.stringify({title: document.title, url: location.href, seen, lines: lines.filter(text => !/^[#|\s-]+$/.test(text)), labels}), ...elements];
}
