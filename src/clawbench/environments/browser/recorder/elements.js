// What the recorder reads of elements. Lives in an isolated world like the recorder itself. Elements can shadow the
// properties of their form or document by name, so these are read through the prototypes' own getters.
(limits) => {
  "use strict";

  const getter = (type, name) => {
    const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (object) => get.call(object);
  };
  const typeOf = getter(Node, "nodeType");
  const parentOf = getter(Node, "parentNode");
  const rootOf = (node) => Node.prototype.getRootNode.call(node);
  const ownerOf = getter(Node, "ownerDocument");
  const firstChildOf = getter(Node, "firstChild");
  const previousOf = getter(Element, "previousElementSibling");
  const tagNameOf = getter(Element, "tagName");
  const namespaceOf = getter(Element, "namespaceURI");
  const localNameOf = getter(Element, "localName");
  const shadowRootOf = getter(Element, "shadowRoot");
  const scrollLeftOf = getter(Element, "scrollLeft");
  const scrollTopOf = getter(Element, "scrollTop");
  const innerTextOf = getter(HTMLElement, "innerText");
  const contentEditable = getter(HTMLElement, "isContentEditable");
  const isConnected = getter(Node, "isConnected");
  const activeElementOf = getter(Document, "activeElement");
  const documentElementOf = getter(Document, "documentElement");
  const titleOf = getter(Document, "title");
  const readyStateOf = getter(Document, "readyState");
  const isPrerendering = getter(Document, "prerendering"); // loaded in case somebody goes there
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name) ?? "";

  // A node that the page moved here from another of its documents keeps the classes of that document's window, so
  // `instanceof` does not know it.
  const isOfType = (type) => (object) => {
    try {
      return typeOf(object) === type;
    } catch {
      return false; // a window
    }
  };
  const isElement = isOfType(Node.ELEMENT_NODE);
  const isDocument = isOfType(Node.DOCUMENT_NODE);
  const isFragment = isOfType(Node.DOCUMENT_FRAGMENT_NODE);
  const isShadowRoot = (node) => isFragment(node) && node.host !== undefined;
  const isHtml = (element) => namespaceOf(element) === "http://www.w3.org/1999/xhtml";
  const isNamed = (element, ...names) => names.includes(localNameOf(element)) && isHtml(element);
  const isEditable = (element) => isHtml(element) && contentEditable(element);
  const focusedIn = (root) => (isDocument(root) ? activeElementOf(root) : root.activeElement);
  const walk = (node, kind) => Document.prototype.createTreeWalker.call(document, node, kind);
  const cut = (text, length) => text.slice(0, length).toWellFormed();

  const elementsOf = function* (node) {
    const walker = walk(node, NodeFilter.SHOW_ELEMENT);
    if (isElement(node)) yield node;
    while (walker.nextNode()) yield walker.currentNode;
  };

  // ---- Describing elements ---------------------------------------------------------------------------------

  const textOf = (element) => {
    const walker = walk(element, NodeFilter.SHOW_TEXT);
    let text = "";
    while (text.length < limits.text && walker.nextNode()) {
      const parent = parentOf(walker.currentNode);
      const data = walker.currentNode.data.slice(0, 10 * limits.text);
      if (/^(script|style|noscript|template)$/.test(localNameOf(parent))) continue;
      if (/\S/.test(data) && isHidden(parent)) continue;
      text = (text + data).trimStart();
    }
    return cut(text, limits.text).trimEnd();
  };

  const indexOf = (element) => {
    const name = localNameOf(element);
    let index = 1;
    for (let other = element; (other = previousOf(other)); ) if (localNameOf(other) === name) index++;
    return index;
  };

  const xpathOf = (element) => {
    let path = "";
    for (let node = element; node && !isDocument(node); ) {
      if (isShadowRoot(node)) {
        path = "/#shadow-root" + path;
        node = node.host;
      } else {
        if (isElement(node)) path = `/${localNameOf(node)}[${indexOf(node)}]${path}`;
        node = parentOf(node);
      }
    }
    return path;
  };

  const describe = (element) => ({
    tagName: cut(tagNameOf(element), limits.name),
    id: cut(attribute(element, "id"), limits.name),
    className: cut(attribute(element, "class"), limits.name),
    textContent: textOf(element),
    xpath: cut(xpathOf(element), limits.address),
  });

  const valueOf = (element) => {
    if (isNamed(element, "input", "textarea", "select")) return cut(element.value, limits.value);
    return isEditable(element) ? cut(innerTextOf(element), limits.value) : undefined;
  };

  const checkedOf = (element) =>
    isNamed(element, "input") && /^(checkbox|radio)$/.test(element.type) ? element.checked : undefined;

  // ---- Secrets ---------------------------------------------------------------------------------------------

  const oncePassword = new WeakSet();
  const secretCodes = new Set();
  const heldBy = new WeakMap(); // secret field -> what it held last: {value}
  const known = new Set(); // these of the latest fields, the latest last

  // Asking for a style may cost the page a layout: only of what can be typed into.
  const isHidden = (element) =>
    Element.prototype.closest.call(element, "input, textarea, [contenteditable]") !== null &&
    /disc|circle|square/.test(getComputedStyle(element).webkitTextSecurity);

  const isPassword = (element) => isNamed(element, "input") && element.type === "password";

  // Only the last value of each field: an earlier one may be the beginning of somebody's name.
  const remember = (element) => {
    const held = heldBy.get(element) ?? {};
    held.value = element.value;
    heldBy.set(element, held);
    known.delete(held);
    known.add(held);
    if (known.size > limits.secretFields) known.delete(known.values().next().value);
  };

  const isKnown = (value) => value.length >= limits.secret && [...known].some((held) => held.value === value);

  const isSecret = (element) => {
    if (!isNamed(element, "input")) return isHidden(element);
    // To show a password, some pages put another field with its value in the place of the first.
    if (isPassword(element) || isKnown(element.value)) oncePassword.add(element);
    const secret =
      oncePassword.has(element) ||
      /(^|\s)\S*-password(\s|$)/i.test(attribute(element, "autocomplete")) ||
      isHidden(element);
    if (secret && element.value) remember(element);
    return secret;
  };

  const isSecretKey = (event, element) => {
    const secret = isSecret(element);
    // The key may come up elsewhere, where a script moved the focus in between.
    if (event.type === "keydown") secret ? secretCodes.add(event.code) : secretCodes.delete(event.code);
    return secret || (event.type === "keyup" && secretCodes.delete(event.code));
  };

  return {
    ...{ rootOf, firstChildOf, localNameOf, shadowRootOf, documentElementOf, elementsOf, focusedIn },
    ...{ scrollLeftOf, scrollTopOf, titleOf, readyStateOf, isConnected, isEditable, attribute, cut },
    ...{ isElement, isDocument, isShadowRoot, ownerOf },
    ...{ describe, valueOf, checkedOf, isPassword, isSecret, isSecretKey, oncePassword, isPrerendering },
  };
}
