// Runs in an isolated world of every document: shares the DOM with the page, but no global and no prototype.
(bindingName, stateName, limits, elements) => {
  "use strict";

  const report = globalThis[bindingName];
  if (typeof report !== "function") return;
  // A same-origin popup keeps the Window of its initial empty document: take the place of the earlier recorder.
  Object.getOwnPropertyDescriptor(globalThis, stateName)?.value.disarm(); // an element may have that name

  const { rootOf, firstChildOf, localNameOf, shadowRootOf, documentElementOf, elementsOf, focusedIn } = elements;
  const { scrollLeftOf, scrollTopOf, titleOf, readyStateOf, isConnected, isEditable, attribute, cut } = elements;
  const { isElement, isDocument, isShadowRoot, ownerOf, isPrerendering } = elements;
  const { describe, valueOf, checkedOf, isPassword, isSecret, isSecretKey, oncePassword } = elements;

  // ---- Shadow roots ----------------------------------------------------------------------------------------

  const HOSTS = new Set(
    "article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split(" "),
  );
  const closedRoots = new WeakMap(); // host -> its closed root, which only the debugger can hand us
  const watched = new Set();
  let armed = true;
  const probing = new WeakSet();
  const probed = new WeakMap(); // element without a closed root -> when that was found
  let pressed = {}; // where the pointer last went down: target, clientX, clientY
  let moves = 0; // how often keys have moved the focus
  const held = new Map(); // id -> what waits for the debugger's word on a possible host

  // What has the focus, and could not have it by itself, has it for somebody inside.
  const isSurelyHost = (element) =>
    focusedIn(rootOf(element)) === element &&
    !attribute(element, "tabindex") &&
    localNameOf(element) !== "body" &&
    !isEditable(element);

  const canBeHost = (element) =>
    !closedRoots.has(element) &&
    (isSurelyHost(element) || !(performance.now() - probed.get(element) < limits.probeAgainMs)) &&
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
    // Keys go to what was pressed last, whatever has the focus by the time the root is known.
    const byPointer = event && isByPointer(event) ? event : pressed.target === element ? pressed : null;
    return keep({ element, event, moves, x: byPointer?.clientX, y: byPointer?.clientY });
  };

  const keep = (waiting) => {
    const id = Math.random();
    probing.add(waiting.element);
    const final = waiting.element.matches(":defined"); // else its class may still attach a root
    held.set(id, { ...waiting, final });
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

  const knownRootOf = (element) => closedRoots.get(element) ?? shadowRootOf(element);

  const insideOf = (element, byPointer, x, y) => {
    for (;;) {
      const root = knownRootOf(element);
      const inner = root && (byPointer ? root.elementFromPoint(x, y) : focusedIn(root));
      if (!inner || rootOf(inner) !== root) return element;
      element = inner;
    }
  };

  const isByPointer = (event) => event instanceof MouseEvent && event.detail > 0;

  const elementOf = (event) => {
    let node = event.composedPath()[0];
    if (node === window) node = document;
    if (isDocument(node)) node = documentElementOf(node);
    if (!isElement(node)) return null;
    return closedRoots.has(node) ? insideOf(node, isByPointer(event), event.clientX, event.clientY) : node;
  };

  // ---- Recording -------------------------------------------------------------------------------------------

  let announced = false;

  // Timers do not run in a frame that allows no scripts; listeners do, also ours.
  const after = (ms, run) => AbortSignal.timeout(ms).addEventListener("abort", () => run(), { once: true });

  const send = (event, element, details) => {
    announce(true);
    report(
      JSON.stringify({
        type: event.type,
        time: Date.now(),
        url: cut(location.href, limits.address),
        top: window.parent === window,
        trusted: event.isTrusted,
        target: describe(element),
        scrollX: window.scrollX,
        scrollY: window.scrollY,
        ...details,
      }),
    );
  };

  // Every frame and popup begins with such a document; it is a page once somebody acts in it.
  const isBlank = () => location.href === "about:blank";

  const announce = (acted) => {
    const element = documentElementOf(document);
    if (announced || !armed || !element || isPrerendering(document)) return;
    if (isBlank() && !acted) return;
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

  const record = (event) => {
    const element = elementOf(event);
    if (!element) return;
    for (const node of event.composedPath()) if (isShadowRoot(node)) watch(node);
    const more = details[event.type](event, element);
    if (canBeHost(element)) more.held = hold(element, event);
    send(event, element, more);
    if (event.type === "keydown" && event.key === "Tab") {
      moves++;
      pressed = {};
    }
  };

  // `change` and `submit` do not leave their shadow root; of a closed one they name the host.
  const recordInside = (event) => {
    const element = event.composedPath()[0];
    const root = event.currentTarget;
    if (ownerOf(root) !== document) return; // moved: the recorder over there tells
    const shown = root.mode === "closed" ? root.host : element;
    send(event, shown, details[event.type](event, element));
  };

  const scrolls = new Map(); // what scrolls -> where it went since its last line

  const recordScroll = (event) => {
    const node = event.composedPath()[0];
    if (node !== document && ownerOf(node) !== document) return;
    if (scrolls.has(node)) {
      scrolls.set(node, [event, node, positionOf(node)]); // a frame on its way out has no position any more
      return;
    }
    sendScroll(event, node, positionOf(node));
    const again = () => {
      const last = scrolls.get(node);
      scrolls.delete(node);
      if (!last) return;
      sendScroll(...last);
      scrolls.set(node, null);
      after(limits.scrollMs, again);
    };
    scrolls.set(node, null);
    after(limits.scrollMs, again);
  };

  const positionOf = (node) =>
    isElement(node)
      ? { scrollX: scrollLeftOf(node), scrollY: scrollTopOf(node) }
      : { scrollX: window.scrollX, scrollY: window.scrollY };

  const sendScroll = (event, node, position) => {
    const element = isElement(node) ? node : documentElementOf(document);
    if (element) send(event, element, position);
  };

  // The document may live on: whoever is asked whether to leave it can stay.
  const flush = () => {
    announce();
    for (const [node, last] of scrolls) {
      if (last) sendScroll(...last);
      scrolls.set(node, null);
    }
  };

  const contact = (event) => {
    for (const node of event.composedPath()) if (isShadowRoot(node)) watch(node);
    const element = event.composedPath()[0];
    if (!isElement(element)) return;
    if (event.type === "pointerdown") {
      pressed = { target: element, clientX: event.clientX, clientY: event.clientY };
    }
    // By the time a field is filled, what it held before is gone.
    if (event.type === "pointerdown" || event.type === "focusin") isSecret(elementOf(event));
    if (event.type === "pointerover" ? isLikelyHost(element) : canBeHost(element)) probe(element);
  };

  // ---- Watching documents and shadow roots -------------------------------------------------------------------

  // Pages can make any event themselves; what counts is what the browser says.
  const trusting = (listeners) =>
    Object.fromEntries(
      Object.entries(listeners).map(([type, listener]) => [type, (event) => event.isTrusted && listener(event)]),
    );

  const onWindow = trusting({
    ...Object.fromEntries(Object.keys(details).map((type) => [type, record])),
    scroll: recordScroll,
    // Scripts may have made hosts of elements that were examined when they were parsed.
    DOMContentLoaded: () => {
      examineAll();
      after(limits.loadMs, announce); // one slow picture keeps a page from being loaded, not from being used
    },
    load: () => {
      examineAll();
      after(0, announce);
    },
    pageshow: (event) => {
      if (event.persisted) announced = false;
      if (event.persisted) announce();
    },
    prerenderingchange: () => announce(),
    pagehide: flush, // frames that a script removes hear nothing else
    wheel: contact,
    pointerover: contact,
    pointerdown: contact,
    focusin: contact,
  });
  // What is told at `pagehide` gets lost with the document: it is told before its own scripts leave it, and before the
  // agent does (see the relay). Who listens to `beforeunload` keeps everybody on a page that hangs.
  const onNavigation = trusting({ navigate: (event) => event.destination.sameDocument || flush() });
  const inRoot = trusting({ change: recordInside, submit: recordInside, scroll: recordScroll });
  const options = { capture: true, passive: true };

  const listen = (target, listeners) => {
    for (const [type, listener] of Object.entries(listeners)) target.addEventListener(type, listener, options);
  };

  const deafen = (target, listeners) => {
    for (const [type, listener] of Object.entries(listeners)) target.removeEventListener(type, listener, options);
  };

  const watch = (root) => {
    if (!armed || watched.has(root)) return;
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
    if (!added.length && document.hidden) after(limits.examineMs, examineAdded);
    else if (!added.length) requestAnimationFrame(examineAdded);
    for (const node of nodes) added.push(node);
  };

  const examineAdded = () => {
    const nodes = added;
    added = [];
    for (const node of nodes) {
      if (!node || !isConnected(node)) continue;
      for (const element of elementsOf(node)) {
        if (shadowRootOf(element)) watch(shadowRootOf(element));
        else if (isPassword(element)) isSecret(element);
        else if (isLikelyHost(element)) probe(element);
      }
    }
  };

  const examineAll = () => {
    added.push(documentElementOf(document));
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
      examine([...addedNodes].filter(isElement));
    }
  });

  const recorder = {
    disarm() {
      armed = false;
      observer.disconnect();
      deafen(window, onWindow);
      deafen(navigation, onNavigation);
      for (const root of watched) deafen(root, inRoot);
      scrolls.clear();
    },
    flush,
    held: (id) => held.get(id)?.element,
    release(id) {
      release(id);
    },
    // The debugger found that the held element hosts this closed root: who was really meant?
    admit(root, id) {
      const waiting = release(id);
      const { element, event, x, y } = waiting;
      closedRoots.set(element, root);
      watch(root);
      if (!event) return null;
      const under = insideOf(element, x !== undefined, x, y);
      // The focus may have moved since, in there, where nobody saw it.
      const guessed = !isByPointer(event) && (x === undefined || !under.matches(FIELDS));
      if (guessed && waiting.moves !== moves) return { secret: mayBeSecret(root) };
      const inner = guessed ? insideOf(element, false) : under;
      const again = canBeHost(inner) ? keep({ ...waiting, element: inner }) : undefined;
      const secret = isSecret(inner) || (guessed && mayBeSecret(root));
      return { target: describe(inner), ...innerDetails(event, inner), secret, again };
    },
  };
  const FIELDS = "input, textarea, select, [contenteditable]";
  const mayBeSecret = (root) =>
    [...elementsOf(root)].some((inner) => {
      const deeper = knownRootOf(inner);
      return isSecret(inner) || canBeHost(inner) || (deeper && mayBeSecret(deeper));
    });
  const innerDetails = (event, inner) =>
    event.type === "input" ? { value: valueOf(inner), checked: checkedOf(inner) } : {};

  globalThis[stateName] = recorder;
  listen(window, onWindow);
  listen(navigation, onNavigation);
  observer.observe(document, observed);
  if (documentElementOf(document)) examine([documentElementOf(document)]);
  if (readyStateOf(document) === "complete") announce();
}
