function() { return this.localName === 'input' && this.type === 'file'; }
