import {api, element, money, toast} from '/assets/shop.js';

document.title = 'Checkout – Lantern & Leaf';
const form = document.getElementById('checkout');
const fields = form.elements;
const [basket, offer] = await Promise.all([api('basket'), api('delivery')]);

const method = () => offer.methods.find(candidate => candidate.id === fields.method.value);
const cents = amount => Math.round(amount * 100);
const total = () => (cents(basket.subtotal) + cents(method()?.price || 0) + (fields.wrap.checked ? cents(offer.giftWrap) : 0)) / 100;

function choice(entry) {
  const input = element('input', {type: 'radio', name: 'method', value: entry.id});
  return element('label', {className: 'choice'}, input,
    element('span', {}, element('strong', {textContent: entry.name}), element('small', {textContent: entry.detail})),
    element('span', {className: 'sum', textContent: entry.price ? money(entry.price) : 'Free'}));
}

function showDates() {
  const options = method().dates.map(day => element('option', {value: day.value, textContent: day.label}));
  fields.date.replaceChildren(element('option', {value: '', textContent: 'Please choose'}), ...options);
  fields.date.disabled = false;
}

function line(label, amount, name = '') {
  return element('p', {className: 'summary-line ' + name}, element('span', {textContent: label}), element('span', {textContent: amount}));
}

function showSummary() {
  const rows = basket.lines.map(item =>
    line(`${item.quantity} × ${item.name}, ${item.size.replace('g', ' g')}, ${item.styleName.toLowerCase()}`, money(item.price)));
  if (method()) rows.push(line(method().name + ' delivery', method().price ? money(method().price) : 'Free'));
  if (fields.wrap.checked) rows.push(line('Gift wrapping', money(offer.giftWrap)));
  rows.push(line('Total', money(total()), 'grand'));
  document.getElementById('summary').replaceChildren(...rows);
}

function order() {
  const text = name => fields[name].value.trim();
  return {
    items: basket.lines.map(({product, size, style, quantity}) => ({product, size, style, quantity})),
    customer: {name: text('name'), email: text('email'), phone: text('phone')},
    address: {street: text('street'), city: text('city'), state: text('state'), zip: text('zip'), country: text('country')},
    delivery: {method: fields.method.value, date: text('date')},
    gift: {wrap: fields.wrap.checked, note: text('note')},
    newsletter: fields.newsletter.checked,
    terms: fields.terms.checked,
    total: total(),
  };
}

function problem() {
  const missing = [...fields].find(field => field.required && !field.disabled && !field.value.trim());
  if (missing) return [missing, `Please fill in: ${missing.labels[0].firstChild.data.trim()}.`];
  if (!fields.email.checkValidity()) return [fields.email, 'Please check your e-mail address.'];
  if (!fields.method.value) return [fields.method[0], 'Please choose a delivery method.'];
  if (!fields.terms.checked) return [fields.terms, 'Please accept the terms of sale.'];
  return null;
}

async function place(event) {
  event.preventDefault();
  const box = document.getElementById('problem');
  const found = problem();
  box.textContent = found ? found[1] : '';
  if (found) {
    toast(found[1]);
    return found[0].focus();
  }
  const button = form.querySelector('button[type=submit]');
  button.disabled = true;
  button.textContent = 'Placing your order …';
  try {
    const {number} = await api('orders', {method: 'POST', body: JSON.stringify(order())});
    location.assign('/orders/' + number);
  } catch (error) {
    box.textContent = error instanceof TypeError ? 'Your order could not be sent. Please try again.' : error.message;
    button.disabled = false;
    button.textContent = 'Place order';
  }
}

if (!basket.lines.length) location.replace('/basket');
const methods = document.getElementById('methods');
methods.replaceChildren(...offer.methods.map(choice));
methods.removeAttribute('aria-busy');
methods.addEventListener('change', showDates);
form.addEventListener('change', showSummary);
form.addEventListener('submit', place);
showSummary();
