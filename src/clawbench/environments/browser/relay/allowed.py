"""The CDP commands an agent may send. What is not here is refused. Data only."""

from __future__ import annotations

WHOLE_DOMAINS = frozenset(
    (
        *("Accessibility", "Animation", "Audits", "BackgroundService", "CSS", "CacheStorage", "Console"),
        *("DOM", "DOMSnapshot", "DOMStorage", "DeviceOrientation", "Emulation", "IndexedDB", "Input"),
        *("Inspector", "LayerTree", "Log", "Media", "Network", "Overlay", "Page", "Performance"),
        *("PerformanceTimeline", "Preload", "Profiler", "Runtime", "Schema", "ServiceWorker", "Storage"),
    )
)
"""Every command but those in REFUSED."""

SINGLE = frozenset(
    (
        *("Browser.getVersion", "Browser.getWindowForTarget", "Browser.getWindowBounds"),
        *("Browser.grantPermissions", "Browser.setPermission", "Browser.resetPermissions"),
        *("Browser.setDownloadBehavior", "Browser.cancelDownload"),
        *("Fetch.enable", "Fetch.disable", "Fetch.continueRequest", "Fetch.continueResponse"),
        *("Fetch.continueWithAuth", "Fetch.failRequest", "Fetch.fulfillRequest"),
        *("Fetch.getResponseBody", "Fetch.takeResponseBodyAsStream"),
        *("IO.read", "IO.close", "DOMDebugger.getEventListeners"),
        *("Security.enable", "Security.disable"),
        *("Target.activateTarget", "Target.attachToBrowserTarget", "Target.attachToTarget"),
        *("Target.autoAttachRelated", "Target.closeTarget", "Target.createTarget"),
        *("Target.detachFromTarget", "Target.getBrowserContexts", "Target.getTargetInfo"),
        *("Target.getTargets", "Target.setAutoAttach", "Target.setDiscoverTargets"),
    )
)
"""Of domains that reach beyond a page, only these."""

REFUSED = {
    "Emulation.setScriptExecutionDisabled": "it would blind the recorder",
    "Emulation.setVirtualTimePolicy": "it would stop the recorder's clock",
    "Network.continueInterceptedRequest": "use the Fetch domain",
    "Network.loadNetworkResource": "it sends requests that no page sends",
    "Network.setRequestInterception": "use the Fetch domain",
    "Network.takeResponseBodyForInterceptionAsStream": "use the Fetch domain",
    "Page.crash": "a user cannot do that",
    "Page.handleFileChooser": "use DOM.setFileInputFiles",
    "Page.setDownloadBehavior": "use Browser.setDownloadBehavior",
    "Page.setWebLifecycleState": "it would stop the recorder",
    "Runtime.queryObjects": "it reaches other worlds",
    "Runtime.terminateExecution": "it would stop the recorder",
    "ServiceWorker.inspectWorker": "it opens the developer tools",
    "ServiceWorker.stopAllWorkers": "a user cannot do that",
    "Storage.setInterestGroupTracking": "a user cannot do that",
}
