"""How Chromium is told to start: quiet, alone, without a port, with one way out. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PROFILE = "/run/profile"
DOWNLOADS = f"{PROFILE}/downloads"
"""Where the browser saves what a page makes it download."""
CACHE = "/tmp/cache"
"""In memory, inside a sandbox: files of a cache that lives as long as its run need not be on a disk."""

QUIET = (
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--component-updater=url-source=http://127.0.0.1:9/",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-field-trial-config",
    "--disable-infobars",
    "--test-type",  # keeps the warning bar about unusual flags off the recording
    "--disable-search-engine-choice-screen",
    "--disable-session-crashed-bubble",
    "--disable-sync",
    "--hide-crash-restore-bubble",
    "--metrics-recording-only",
)

STEADY = (
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--allow-pre-commit-input",  # else clicks before a page's first picture are dropped without a word
    "--disable-gpu",
    "--force-device-scale-factor=1",
    "--ozone-platform=x11",
)

CALLING_HOME = (
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    "GlobalMediaControls",
    "InterestFeedContentSuggestions",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "Translate",
)

UNSEEN = (
    "AdInterestGroupAPI",
    "BrowsingTopics",
    "ConversionMeasurement",
    "DeviceBoundSessions",
    "FedCm",
    "FencedFrames",
    "Fledge",
    "InterestGroupStorage",
    "NetworkErrorLogging",
    "PrivateAggregationApi",
    "Reporting",
    "SharedStorageAPI",
    "WebPayments",
)
"""Features whose requests the browser sends by itself, past the Fetch domain: no gate would see them."""

UNSEEN_IN_PAGES = ("BackgroundFetch",)
"""The same, for features that belong to Blink."""

DETOURS = ("NetworkServiceDedicatedThread", "SpareRendererForSitePerProcess")
"""A thread of the network's own, and a renderer started on suspicion while the page of the last one loads."""
SHORT_WAYS = ("NetworkServiceInProcess2", "DiskCacheBackendExperiment:backend/blockfile")
"""As long as requests can be held, all of them pass the main process. With the network inside it, on the
thread that hears from pages, they need not go to yet another process and back. A cache in few files spares
each request several hops between threads."""

ONE_WAY_OUT = (
    "--disable-quic",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)

FEATURES = (
    "--enable-features=" + ",".join(SHORT_WAYS),
    "--disable-features=" + ",".join((*CALLING_HOME, *UNSEEN, *DETOURS)),
    "--disable-blink-features=" + ",".join(UNSEEN_IN_PAGES),
)

NO_EARLY_HINTS = ("--disable-http2",)
"""A server can name, before it answers, what is to be loaded (103 Early Hints, over HTTP/2 only), and the
browser loads it past the Fetch domain: closed where a GET can be the final request."""

UNSANDBOXED = ("--no-sandbox",)

CACHE_BYTES = 256 << 20


def flags(
    *,
    profile: str,
    proxy_port: int,
    websocket_port: int,
    width: int,
    height: int,
    popups_as_asked: bool = False,
    extra: Iterable[str] = (),
) -> list[str]:
    """Every argument after the program's name.

    The flags for a window's size hold for every window. With `popups_as_asked` the first one gets its size
    from the profile, and popups are as large as their pages want them.
    """
    every_window = [
        "--window-position=0,0",
        f"--window-size={width},{height + 1}",  # a window of exactly the screen's size is made smaller
    ]
    return [
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
        f"--proxy-server={proxies(proxy_port, websocket_port)}",
        *(() if popups_as_asked else every_window),
        "--lang=en-US",
        *QUIET,
        *STEADY,
        *ONE_WAY_OUT,
        *FEATURES,
        *extra,
        "about:blank",
    ]


def caching(directory: str | None) -> list[str]:
    """Where the cache is kept; in the profile where there is no better place."""
    return [f"--disk-cache-dir={directory}", f"--disk-cache-size={CACHE_BYTES}"] if directory else []


def trusting(key_hash: str | None) -> list[str]:
    """Certificates of this key are good, whoever signed them: those of bundled sites."""
    return [f"--ignore-certificate-errors-spki-list={key_hash}"] if key_hash else []


def proxies(port: int, websocket_port: int) -> str:
    """WebSockets have a door of their own: what is neither http nor https goes by the last of the list."""
    proxy, websocket_proxy = f"socks5://127.0.0.1:{port}", f"socks5://127.0.0.1:{websocket_port}"
    return f"http={proxy};https={proxy};socks={websocket_proxy}"


def preferences(width: int, height: int, files: str) -> dict[str, Any]:
    """The profile's settings: nothing pops up over a page or calls home; file dialogs open at `files`."""
    window = {"left": 0, "top": 0, "right": width, "bottom": height + 1, "maximized": False}
    work_area = {"left": 0, "top": 0, "right": width, "bottom": height}
    placement = window | {f"work_area_{side}": at for side, at in work_area.items()}
    return {
        "alternate_error_pages": {"enabled": False},
        "autofill": {"credit_card_enabled": False, "profile_enabled": False},
        "bookmark_bar": {"show_on_all_tabs": False},
        "browser": {
            "check_default_browser": False,
            "enable_spellchecking": False,
            "has_seen_welcome_page": True,
            "window_placement": placement,
        },
        "credentials_enable_service": False,
        "credentials_enable_autosignin": False,
        "distribution": {"skip_first_run_ui": True, "suppress_first_run_bubble": True},
        "dns_prefetching": {"enabled": False},
        "net": {"network_prediction_options": 2},
        "profile": {
            "exit_type": "Normal",
            "password_manager_enabled": False,
            "password_manager_leak_detection": False,
            "default_content_setting_values": {"notifications": 2, "geolocation": 2},
        },
        "safebrowsing": {"enabled": False},
        "search": {"suggest_enabled": False},
        "selectfile": {"last_directory": files},
        "signin": {"allowed": False, "allowed_on_next_startup": False},
        "translate": {"enabled": False},
        "webrtc": {"ip_handling_policy": "disable_non_proxied_udp"},
    }
