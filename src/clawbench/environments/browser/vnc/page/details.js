// The person's files as rows; a click on a value hands it to `choose`.

export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

const label = (key) => key.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2");

const isBranch = (value) => value !== null && typeof value === "object";

const isPlainList = (value) => Array.isArray(value) && !value.some(isBranch);

const leaf = (key, value, choose) => {
  const text = isPlainList(value) ? value.join(", ") : String(value);
  const button = make("button", { className: "value", type: "button", textContent: text });
  button.addEventListener("click", () => choose(text));
  return [make("dt", { textContent: label(key) }), make("dd", {}, button)];
};

const branch = (value, choose, heading = "") => {
  const nodes = heading ? [make("h4", { textContent: heading })] : [];
  const rows = make("dl");
  const below = [];
  for (const [key, inner] of Object.entries(value)) {
    if (inner === null || inner === "") continue;
    const name = Array.isArray(value) ? `${Number(key) + 1}` : label(key);
    if (isBranch(inner) && !isPlainList(inner)) {
      below.push(...branch(inner, choose, heading ? `${heading} · ${name}` : name));
    } else {
      rows.append(...leaf(name, inner, choose));
    }
  }
  if (rows.children.length) nodes.push(rows);
  else if (below.length) nodes.length = 0;
  return [...nodes, ...below];
};

export const fileNodes = (file, choose) => {
  const open = make("a", { href: `/files/${encodeURIComponent(file.name)}`, textContent: "download" });
  const nodes = [make("h3", { title: `In the browser: ${file.path}` }, make("span", { textContent: file.name }), open)];
  if (file.description) nodes.push(make("p", { className: "hint", textContent: file.description }));
  if (isBranch(file.data)) nodes.push(...branch(file.data, choose));
  else if (file.text ?? file.data) nodes.push(make("pre", { textContent: file.text ?? String(file.data) }));
  return nodes;
};
