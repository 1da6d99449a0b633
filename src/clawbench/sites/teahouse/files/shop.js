export const money = amount => '$' + amount.toFixed(2);

export const element = (tag, attributes = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...children);
  return node;
};

export async function api(path, options = {}) {
  const sent = options.body ? {headers: {'Content-Type': 'application/json'}} : {};
  const response = await fetch('/api/' + path, {...sent, ...options});
  const value = await response.json();
  if (!response.ok) throw new Error(value.error || 'Something went wrong.');
  return value;
}

export function showCount(basket) {
  const count = document.getElementById('basket-count');
  count.textContent = basket.count;
  count.classList.toggle('some', basket.count > 0);
}

export function toast(text) {
  const box = document.getElementById('toast');
  box.textContent = text;
  box.classList.add('shown');
  setTimeout(() => box.classList.remove('shown'), 3500);
}

export function card(product) {
  const link = element('a', {className: 'card', href: '/products/' + product.slug});
  const picture = element('span', {className: 'card-picture'}, element('img', {src: `/tins/${product.slug}.svg`, alt: '', loading: 'lazy'}));
  if (product.badge) picture.append(element('span', {className: 'badge', textContent: product.badge}));
  link.append(picture,
    element('span', {className: 'card-kind', textContent: `${product.kind} · ${product.origin}`}),
    element('strong', {textContent: product.name}),
    element('span', {className: 'card-line', textContent: product.tagline}),
    element('span', {className: 'card-price', textContent: `from ${money(product.price)}`}));
  return link;
}

function askForCookies() {
  const banner = document.getElementById('cookies');
  if (document.cookie.includes('consent=')) return;
  banner.hidden = false;
  banner.addEventListener('click', event => {
    const choice = event.target.dataset.cookies;
    if (!choice) return;
    document.cookie = `consent=${choice}; path=/; max-age=31536000; samesite=lax`;
    banner.hidden = true;
  });
}

askForCookies();
api('basket').then(showCount);
