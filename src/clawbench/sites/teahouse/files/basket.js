import {api, element, money, showCount} from '/assets/shop.js';

document.title = 'Your basket – Lantern & Leaf';
const section = document.getElementById('basket');

function row(line, index) {
  const quantity = element('input', {type: 'number', min: 1, max: 20, value: line.quantity, ariaLabel: `Quantity of ${line.name}`});
  quantity.addEventListener('change', () => change(index, quantity.valueAsNumber || 1));
  const remove = element('button', {type: 'button', className: 'link', textContent: 'Remove', ariaLabel: `Remove ${line.name}`});
  remove.addEventListener('click', () => change(index, 0));
  return element('tr', {},
    element('td', {className: 'thumb'}, element('img', {src: `/tins/${line.product}.svg`, alt: ''})),
    element('td', {}, element('a', {href: '/products/' + line.product, textContent: line.name}),
      element('small', {textContent: `${line.size.replace('g', ' g')} · ${line.styleName}`})),
    element('td', {}, quantity), element('td', {className: 'sum', textContent: money(line.price)}),
    element('td', {}, remove));
}

function show(basket) {
  showCount(basket);
  section.removeAttribute('aria-busy');
  if (!basket.lines.length) {
    section.replaceChildren(element('p', {className: 'lead', textContent: 'Nothing in it yet.'}),
      element('a', {className: 'solid button', href: '/', textContent: 'See our teas'}));
    return;
  }
  const total = element('p', {className: 'total'}, 'Subtotal ', element('strong', {textContent: money(basket.subtotal)}));
  section.replaceChildren(
    element('table', {className: 'lines'}, element('tbody', {}, ...basket.lines.map(row))), total,
    element('div', {className: 'row end'}, element('a', {className: 'quiet button', href: '/', textContent: 'Keep looking'}),
      element('a', {className: 'solid button', href: '/checkout', textContent: 'Go to checkout'})));
}

const change = async (index, quantity) =>
  show(await api('basket/' + index, {method: 'PATCH', body: JSON.stringify({quantity})}));

show(await api('basket'));
