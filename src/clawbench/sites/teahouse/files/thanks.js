document.getElementById('number').textContent = location.pathname.split('/').pop();
