import {api, card} from '/assets/shop.js';

const list = document.getElementById('list');
const search = document.getElementById('search');
const chips = [...document.querySelectorAll('.chips button')];
let products = [], kind = '';

function show() {
  const words = search.value.trim().toLowerCase();
  const found = products.filter(product => (!kind || product.kind === kind) &&
    `${product.name} ${product.tagline} ${product.origin}`.toLowerCase().includes(words));
  list.replaceChildren(...found.map(card));
  if (!found.length) list.textContent = 'No tea of ours fits that.';
}

function choose(wanted) {
  kind = wanted;
  for (const chip of chips) chip.setAttribute('aria-pressed', chip.dataset.kind === kind);
  show();
}

function followHash() {
  const chip = chips.find(candidate => '#' + candidate.dataset.kind.toLowerCase() === location.hash);
  if (!chip) return;
  choose(chip.dataset.kind);
  document.getElementById('teas').scrollIntoView();
}

for (const chip of chips) chip.addEventListener('click', () => choose(chip.dataset.kind));
search.addEventListener('input', show);
addEventListener('hashchange', followHash);

products = await api('products');
list.removeAttribute('aria-busy');
show();
followHash();
