"""Pictures of the products: a tea tin in the product's colours."""

from __future__ import annotations

from html import escape

from clawbench.sites.teahouse.catalogue import Product

_TIN = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 480" role="img" aria-label="{name}">
<defs>
<linearGradient id="body" x1="0" x2="1">
<stop offset="0" stop-color="#000" stop-opacity=".32"/>
<stop offset=".2" stop-color="#fff" stop-opacity=".20"/>
<stop offset=".45" stop-color="#fff" stop-opacity="0"/><stop offset="1" stop-color="#000" stop-opacity=".38"/>
</linearGradient>
<radialGradient id="back" cx=".5" cy=".42" r=".75"><stop offset="0" stop-color="{leaf}"/>
<stop offset="1" stop-color="{tin}" stop-opacity=".38"/></radialGradient>
<radialGradient id="shade"><stop offset="0" stop-color="#000" stop-opacity=".34"/>
<stop offset="1" stop-color="#000" stop-opacity="0"/></radialGradient>
</defs>
<rect width="480" height="480" fill="#fbf8f1"/><rect width="480" height="480" fill="url(#back)"/>
<ellipse cx="240" cy="408" rx="150" ry="26" fill="url(#shade)"/>
<path d="M140 150h200v236q0 20-100 20t-100-20z" fill="{tin}"/>
<path d="M140 150h200v236q0 20-100 20t-100-20z" fill="url(#body)"/>
<path d="M132 104q0-22 108-22t108 22v52q0 18-108 18t-108-18z" fill="{tin}"/>
<path d="M132 104q0-22 108-22t108 22v52q0 18-108 18t-108-18z" fill="url(#body)"/>
<ellipse cx="240" cy="104" rx="108" ry="20" fill="{tin}"/>
<ellipse cx="240" cy="104" rx="108" ry="20" fill="#fff" fill-opacity=".22"/>
<ellipse cx="240" cy="101" rx="86" ry="13" fill="{tin}" fill-opacity=".55"/>
<path d="M140 214q100 18 200 0v132q-100 18-200 0z" fill="#fbf7ec"/>
<path d="M140 222q100 18 200 0M140 338q100 18 200 0" fill="none" stroke="{tin}" stroke-width="1.6"/>
<g fill="none" stroke="{tin}" stroke-width="3" stroke-linecap="round">
<path d="M240 276c-26-4-34-24-30-38 18 2 30 16 30 38z" fill="{tin}" fill-opacity=".85"/>
<path d="M240 276c26-4 34-24 30-38-18 2-30 16-30 38z" fill="{tin}" fill-opacity=".55"/>
<path d="M240 286v-22"/></g>
<text x="240" y="308" text-anchor="middle" font-family="Georgia,'Liberation Serif',serif" font-size="17"
 fill="#2b2a26">{short}</text>
<text x="240" y="328" text-anchor="middle" font-family="Georgia,'Liberation Serif',serif" font-size="12"
 font-style="italic" fill="#6b675d">{variant}</text>
</svg>"""


def tin(product: Product) -> str:
    short, _, variant = product.name.partition(", ")
    return _TIN.format(
        name=escape(product.name),
        short=escape(short),
        variant=escape(variant or product.kind),
        tin=product.tin,
        leaf=product.leaf,
    )
