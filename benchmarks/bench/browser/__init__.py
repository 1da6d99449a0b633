"""Parts of `benchmarks/browser.py`: what does recording and intercepting a browser cost?"""
