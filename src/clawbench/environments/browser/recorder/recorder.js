// Runs in an isolated world of every document: shares the DOM with the page, but no global and no prototype.
// Elements can still shadow the properties of their form or document by name, so these are read through the
// prototypes' own getters.
(bindingName, stateName, limits) => {
  "use strict";

  const report = globalThis[bindingName];
  if (typeof report !== "function") return;
  // A same-origin popup keeps the Window of its initial empty document: take the place of the earlier recorder.
  globalThis[stateName]?.disarm();

  const getter = (type, name) => {
    const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (object) => get.call(object);
  };
  const parentOf = getter(Node, "parentNode");
  const rootOf = (node) => Node.prototype.getRootNode.call(node);
  const firstChildOf = getter(Node, "firstChild");
  const previousOf = getter(Element, "previousElementSibling");
  const tagNameOf = getter(Element, "tagName");
  const localNameOf = getter(Element, "localName");
  const shadowRootOf = getter(Element, "shadowRoot");
  const scrollLeftOf = getter(Element, "scrollLeft");
  const scrollTopOf = getter(Element, "scrollTop");
  const documentElementOf = getter(Document, "documentElement");
  const titleOf = getter(Document, "title");
  const readyStateOf = getter(Document, "readyState");
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name) ?? "";
  const cut = (text, length) => text.slice(0, length).toWellFormed();

  // ---- Describing elements ---------------------------------------------------------------------------------

  const textOf = (element) => {
    const walker = Document.prototype.createTreeWalker.call(document, element, NodeFilter.SHOW_TEXT);
    let text = "";
    while (text.length < limits.text && walker.nextNode()) {
      if (/^(script|style|noscript|template)$/.test(localNameOf(parentOf(walker.currentNode)))) continue;
      text = (text + walker.currentNode.data.slice(0, 10 * limits.text)).trimStart();
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
    for (let node = element; node && !(node instanceof Document); ) {
      if (node instanceof ShadowRoot) {
        path = "/#shadow-root" + path;
        node = node.host;
      } else {
        if (node instanceof Element) path = `/${localNameOf(node)}[${indexOf(node)}]${path}`;
        node = parentOf(node);
      }
    }
    return path;
  };

  const describe = (element) => ({
    tagName: tagNameOf(element),
    id: attribute(element, "id"),
    className: attribute(element, "class"),
    textContent: textOf(element),
    xpath: xpathOf(element),
  });

  const valueOf = (element) => {
    if (
      element instanceof HTMLInputElement ||
      element instanceof HTMLTextAreaElement ||
      element instanceof HTMLSelectElement
    ) {
      return cut(element.value, limits.value);
    }
    return element.isContentEditable ? cut(element.innerText, limits.value) : undefined;
  };

  // ---- Secrets ---------------------------------------------------------------------------------------------

  const oncePassword = new WeakSet();
  const secretCodes = new Set();

  const isSecret = (element) => {
    if (!(element instanceof HTMLInputElement)) return false;
    if (element.type === "password") oncePassword.add(element);
    return (
      oncePassword.has(element) ||
      /(^|\s)\S*-password(\s|$)/i.test(attribute(element, "autocomplete")) ||
      getComputedStyle(element).webkitTextSecurity !== "none"
    );
  };

  const isSecretKey = (event, element) => {
    const secret = isSecret(element);
    // The key may come up elsewhere, where a script moved the focus in between.
    if (event.type === "keydown") secret ? secretCodes.add(event.code) : secretCodes.delete(event.code);
    return secret || (event.type === "keyup" && secretCodes.delete(event.code));
  };

  // ---- Shadow roots ----------------------------------------------------------------------------------------

  const HOSTS = new Set(
    "article aside blockquote div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split(" "),
  );
  const closedRoots = new WeakMap(); // host -> its closed root, which only the debugger can hand us
  const watched = new Set();
  const probing = new WeakSet();
  const probed = new WeakMap(); // element without a closed root -> when that was found
  let pressed = {}; // where the pointer last went down: target, clientX, clientY
  const held = new Map(); // id -> what waits for the debugger's word on a possible host

  const canBeHost = (element) =>
    !(performance.now() - probed.get(element) < limits.probeAgainMs) &&
    !closedRoots.has(element) &&
    !shadowRootOf(element) &&
    (localNameOf(element).includes("-") || HOSTS.has(localNameOf(element)));

  const isLikelyHost = (element) => {
    if (!canBeHost(element)) return false;
    if (localNameOf(element).includes("-")) return true;
    if (firstChildOf(element)) return false;
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0;
  };

  const hold = (element, event) => {
    const id = Math.random();
    probing.add(element);
    // Keys go to what was pressed last, whatever has the focus by the time the root is known.
    const byPointer = event && isByPointer(event) ? event : pressed.target === element ? pressed : null;
    const final = element.matches(":defined"); // else its class may still attach a root
    held.set(id, { element, final, event, x: byPointer?.clientX, y: byPointer?.clientY });
    return id;
  };

  const probe = (element) => {
    if (!probing.has(element)) report(JSON.stringify({ type: "probe", held: hold(element) }));
  };

  const release = (id) => {
    const waiting = held.get(id);
    held.delete(id);
    probing.delete(waiting.element);
    if (waiting.final) probed.set(waiting.element, performance.now());
    return waiting;
  };

  const insideOf = (element, byPointer, x, y) => {
    for (;;) {
      const root = closedRoots.get(element) ?? shadowRootOf(element);
      const inner = root && (byPointer ? root.elementFromPoint(x, y) : root.activeElement);
      if (!inner || rootOf(inner) !== root) return element;
      element = inner;
    }
  };

  const isByPointer = (event) => event instanceof MouseEvent && event.detail > 0;

  const elementOf = (event) => {
    let node = event.composedPath()[0];
    if (node instanceof Window) node = node.document;
    if (node instanceof Document) node = documentElementOf(node);
    if (!(node instanceof Element)) return null;
    return closedRoots.has(node) ? insideOf(node, isByPointer(event), event.clientX, event.clientY) : node;
  };

  // ---- Recording -------------------------------------------------------------------------------------------

  let announced = false;

  const send = (event, element, details) => {
    announce();
    report(
      JSON.stringify({
        type: event.type,
        time: Date.now(),
        url: location.href,
        top: window.parent === window,
        trusted: event.isTrusted,
        target: describe(element),
        scrollX: window.scrollX,
        scrollY: window.scrollY,
        ...details,
      }),
    );
  };

  const announce = () => {
    const element = documentElementOf(document);
    if (announced || !element || location.href === "about:blank") return;
    announced = true;
    send({ type: "pageLoad", isTrusted: true }, element, { title: cut(titleOf(document), limits.value) });
  };

  const details = {
    click: (event) => ({ x: event.clientX, y: event.clientY }),
    keydown: (event, element) => ({ key: event.key, secret: isSecretKey(event, element) }),
    keyup: (event, element) => ({ key: event.key, secret: isSecretKey(event, element) }),
    input: (_, element) => ({ value: valueOf(element), checked: checkedOf(element), secret: isSecret(element) }),
    change: (_, element) => ({ value: valueOf(element), checked: checkedOf(element), secret: isSecret(element) }),
    submit: () => ({}),
  };

  const checkedOf = (element) =>
    element instanceof HTMLInputElement && /^(checkbox|radio)$/.test(element.type) ? element.checked : undefined;

  const record = (event) => {
    if (!event.isTrusted) return;
    const element = elementOf(event);
    if (!element) return;
    for (const node of event.composedPath()) if (node instanceof ShadowRoot) watch(node);
    const more = details[event.type](event, element);
    if (canBeHost(element)) more.held = hold(element, event);
    send(event, element, more);
  };

  // `change` and `submit` do not leave their shadow root; of a closed one they name the host.
  const recordInside = (event) => {
    if (!event.isTrusted) return;
    const element = event.composedPath()[0];
    const root = event.currentTarget;
    const shown = root.mode === "closed" ? root.host : element;
    send(event, shown, details[event.type](event, element));
  };

  const scrolls = new Map(); // what scrolls -> whether it moved since its last line

  const recordScroll = (event) => {
    const node = event.composedPath()[0];
    if (!event.isTrusted) return;
    if (scrolls.has(node)) {
      scrolls.set(node, event);
      return;
    }
    sendScroll(event, node);
    const later = () => {
      const last = scrolls.get(node);
      scrolls.delete(node);
      if (!last) return;
      sendScroll(last, node);
      scrolls.set(node, null);
      setTimeout(later, limits.scrollMs);
    };
    scrolls.set(node, null);
    setTimeout(later, limits.scrollMs);
  };

  const sendScroll = (event, node) => {
    if (node instanceof Element) {
      send(event, node, { scrollX: scrollLeftOf(node), scrollY: scrollTopOf(node) });
    } else if (documentElementOf(document)) {
      send(event, documentElementOf(document), {});
    }
  };

  const flush = () => {
    announce();
    for (const [node, event] of scrolls) if (event) sendScroll(event, node);
    scrolls.clear();
  };

  const contact = (event) => {
    for (const node of event.composedPath()) if (node instanceof ShadowRoot) watch(node);
    const element = event.composedPath()[0];
    if (!(element instanceof Element)) return;
    if (event.type === "pointerdown") {
      pressed = { target: element, clientX: event.clientX, clientY: event.clientY };
    }
    if (event.type === "pointerover" ? isLikelyHost(element) : canBeHost(element)) probe(element);
  };

  // ---- Watching documents and shadow roots -------------------------------------------------------------------

  const onWindow = {
    ...Object.fromEntries(Object.keys(details).map((type) => [type, record])),
    scroll: recordScroll,
    // Scripts may have made hosts of elements that were examined when they were parsed.
    DOMContentLoaded: () => examineAll(),
    load: () => {
      examineAll();
      setTimeout(announce);
    },
    pageshow: (event) => {
      if (event.persisted) announced = false;
      if (event.persisted) announce();
    },
    pagehide: flush,
    pointerover: contact,
    pointerdown: contact,
    focusin: contact,
  };
  const inRoot = { change: recordInside, submit: recordInside, scroll: recordScroll };
  const options = { capture: true, passive: true };

  const listen = (target, listeners) => {
    for (const [type, listener] of Object.entries(listeners)) target.addEventListener(type, listener, options);
  };

  const watch = (root) => {
    if (watched.has(root)) return;
    watched.add(root);
    listen(root, inRoot);
    observer.observe(root, observed);
    examine([root]);
  };

  const observed = {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["type"],
    attributeOldValue: true,
  };
  let added = [];

  const examine = (nodes) => {
    if (!nodes.length) return;
    // Just before a frame is laid out, measuring costs nothing extra; hidden pages have no frames.
    if (!added.length && document.hidden) setTimeout(examineAdded, limits.examineMs);
    else if (!added.length) requestAnimationFrame(examineAdded);
    for (const node of nodes) added.push(node);
  };

  const examineAdded = () => {
    const nodes = added;
    added = [];
    for (const node of nodes) {
      if (!node?.isConnected) continue;
      for (const element of [node, ...node.querySelectorAll("*")]) {
        if (!(element instanceof Element)) continue;
        if (shadowRootOf(element)) watch(shadowRootOf(element));
        else if (isLikelyHost(element)) probe(element);
      }
    }
  };

  const examineAll = () => {
    added = [documentElementOf(document)];
    examineAdded();
  };

  const observer = new MutationObserver((changes) => {
    for (const { type, target, oldValue, addedNodes } of changes) {
      if (type === "attributes") {
        if (/^password$/i.test(oldValue)) oncePassword.add(target);
        continue;
      }
      // document.open() takes all listeners off the window; listening twice is listening once.
      if (target === document) listen(window, onWindow);
      examine([...addedNodes].filter((node) => node instanceof Element));
    }
  });

  const recorder = {
    disarm() {
      observer.disconnect();
      for (const [type, listener] of Object.entries(onWindow)) window.removeEventListener(type, listener, options);
    },
    held: (id) => held.get(id)?.element,
    release(id) {
      release(id);
    },
    // The debugger found that the held element hosts this closed root: who was really meant?
    admit(root, id) {
      const { element, event, x, y } = release(id);
      closedRoots.set(element, root);
      watch(root);
      if (!event) return null;
      const inner = insideOf(element, x !== undefined, x, y);
      const focused = insideOf(element, false);
      return { target: describe(inner), ...innerDetails(event, inner, focused) };
    },
  };
  const innerDetails = (event, inner, focused) => {
    const secret = !(event instanceof MouseEvent) && (isSecret(inner) || isSecret(focused));
    return event.type === "input" ? { value: valueOf(inner), secret } : { secret };
  };

  globalThis[stateName] = recorder;
  listen(window, onWindow);
  observer.observe(document, observed);
  if (documentElementOf(document)) examine([documentElementOf(document)]);
  if (readyStateOf(document) === "complete") announce();
}
