import {api, card, money, showCount, toast} from '/assets/shop.js';

const slug = location.pathname.split('/').pop();
const section = document.getElementById('product');

function fill(product) {
  const content = document.getElementById('product-template').content.cloneNode(true);
  for (const node of content.querySelectorAll('[data-field]')) node.textContent = product[node.dataset.field];
  Object.assign(content.querySelector('img'), {src: `/tins/${slug}.svg`, alt: product.name});
  const badge = content.querySelector('.badge');
  if (product.badge) badge.textContent = product.badge; else badge.remove();
  section.replaceChildren(content);
  section.removeAttribute('aria-busy');
  document.title = `${product.name} – Lantern & Leaf`;
  document.getElementById('crumb').textContent = `/ ${product.name}`;
}

const chosen = form => ({
  product: slug, size: form.size.value, style: form.style.value, quantity: form.quantity.valueAsNumber,
});

function arm(product) {
  const form = document.getElementById('buy');
  // `style` is also a property of every element, so the fields are taken by name
  const fields = {size: form.elements.size, style: form.elements.namedItem('style'), quantity: form.elements.quantity};
  const price = () => {
    const unit = product.prices[`${fields.size.value}/${fields.style.value}`];
    document.getElementById('price').textContent = money(unit * (fields.quantity.valueAsNumber || 1));
  };
  form.addEventListener('input', price);
  form.addEventListener('submit', async event => {
    event.preventDefault();
    const button = form.querySelector('button');
    button.disabled = true;
    try {
      showCount(await api('basket', {method: 'POST', body: JSON.stringify(chosen(fields))}));
      toast(`${product.name} is in your basket.`);
    } catch (error) {
      toast(error.message);
    }
    button.disabled = false;
  });
  price();
}

const product = await api('products/' + slug);
fill(product);
arm(product);
const others = (await api('products')).filter(other => other.kind === product.kind && other.slug !== slug);
document.getElementById('related').replaceChildren(...others.slice(0, 3).map(card));
