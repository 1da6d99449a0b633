"""The CDP commands an agent may send. What is not here is refused. Data only."""

from __future__ import annotations

WHOLE_DOMAINS = frozenset(
    (
        *("Accessibility", "Animation", "Audits", "BackgroundService", "CSS", "CacheStorage", "Console"),
        *("DOM", "DOMSnapshot", "DOMStorage", "DeviceOrientation", "Emulation", "IndexedDB", "Input"),
        *("Inspector", "LayerTree", "Log", "Media", "Overlay", "Performance"),
        *("PerformanceTimeline", "Preload", "Profiler", "Runtime", "Schema"),
    )
)
"""Every command but those in REFUSED: all that they do is done in a page."""

OF_A_DOMAIN = {
    "Network": """
        canClearBrowserCache canClearBrowserCookies canEmulateNetworkConditions
        clearAcceptedEncodingsOverride clearBrowserCache clearBrowserCookies configureDurableMessages
        deleteCookies deleteDeviceBoundSession disable emulateNetworkConditions
        emulateNetworkConditionsByRule enable enableDeviceBoundSessions enableReportingApi
        fetchSchemefulSite getAllCookies getCertificate getCookies getRequestPostData getResponseBody
        getSecurityIsolationStatus overrideNetworkState replayXHR searchInResponseBody
        setAcceptedEncodings setAttachDebugStack setBlockedURLs setBypassServiceWorker setCacheDisabled
        setCookie setCookieControls setCookies setExtraHTTPHeaders setUserAgentOverride
        streamResourceContent
    """,
    "Page": """
        addScriptToEvaluateOnLoad addScriptToEvaluateOnNewDocument bringToFront captureScreenshot
        captureSnapshot clearDeviceMetricsOverride clearDeviceOrientationOverride
        clearGeolocationOverride close createIsolatedWorld deleteCookie disable enable
        generateTestReport getAdScriptAncestry getAnnotatedPageContent getAppId getAppManifest
        getFrameTree getInstallabilityErrors getLayoutMetrics getManifestIcons getNavigationHistory
        getOriginTrials getPermissionsPolicyState getResourceContent getResourceTree getSiblingSubApps
        getSubApps handleJavaScriptDialog navigate navigateToHistoryEntry printToPDF reload
        removeScriptToEvaluateOnLoad removeScriptToEvaluateOnNewDocument resetNavigationHistory
        screencastFrameAck searchInResource setAdBlockingEnabled setBypassCSP setDeviceMetricsOverride
        setDeviceOrientationOverride setDocumentContent setFontFamilies setFontSizes
        setGeolocationOverride setInterceptFileChooserDialog setLifecycleEventsEnabled
        setPrerenderingAllowed setRPHRegistrationMode setSPCTransactionMode setTouchEmulationEnabled
        startScreenRecording startScreencast stopLoading stopScreenRecording stopScreencast
    """,
    "ServiceWorker": """
        deliverPushMessage disable dispatchPeriodicSyncEvent dispatchSyncEvent enable
        setForceUpdateOnPageLoad skipWaiting startWorker stopWorker unregister updateRegistration
    """,
    "Storage": """
        clearCookies clearDataForOrigin clearDataForStorageKey clearPrivateVerificationTokens
        clearTrustTokens deletePrivateVerificationToken deleteStorageBucket getCookies
        getPrivateVerificationTokens getPrivateVerificationTokensIssuerConfigs getStorageKey
        getStorageKeyForFrame getTrustTokens getUsageAndQuota overrideQuotaForOrigin
        runBounceTrackingMitigations setCookies setPrivateVerificationTokensTracking
        setStorageBucketTracking trackCacheStorageForOrigin trackCacheStorageForStorageKey
        trackIndexedDBForOrigin trackIndexedDBForStorageKey untrackCacheStorageForOrigin
        untrackCacheStorageForStorageKey untrackIndexedDBForOrigin untrackIndexedDBForStorageKey
    """,
}
"""Of domains that can make the browser itself send or keep things, only what has been looked at."""

SINGLE = frozenset(
    (
        *(f"{domain}.{name}" for domain, names in OF_A_DOMAIN.items() for name in names.split()),
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
    "Emulation.setVirtualTimePolicy": "it would stop the recorder's clock",
    "LayerTree.loadSnapshot": "a user cannot do that",
    "Network.continueInterceptedRequest": "use the Fetch domain",
    "Network.loadNetworkResource": "it sends requests that no page sends",
    "Network.setRequestInterception": "use the Fetch domain",
    "Network.takeResponseBodyForInterceptionAsStream": "use the Fetch domain",
    "Page.addCompilationCache": "it would run code that the page does not have",
    "Page.crash": "a user cannot do that",
    "Page.handleFileChooser": "use DOM.setFileInputFiles",
    "Page.setDownloadBehavior": "use Browser.setDownloadBehavior",
    "Page.setWebLifecycleState": "it would stop the recorder",
    "Page.waitForDebugger": "it would stop the recorder",
    "Runtime.compileScript": "use Runtime.evaluate",
    "Runtime.globalLexicalScopeNames": "use Runtime.evaluate",
    "Runtime.queryObjects": "it reaches other worlds",
    "Runtime.runScript": "use Runtime.evaluate",
    "Runtime.terminateExecution": "it would stop the recorder",
    "ServiceWorker.inspectWorker": "it opens the developer tools",
    "ServiceWorker.stopAllWorkers": "a user cannot do that",
    "Storage.setInterestGroupTracking": "a user cannot do that",
}
