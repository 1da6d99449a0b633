document.title = 'Thank you – Lantern & Leaf';
document.getElementById('number').textContent = location.pathname.split('/').pop();
