// The final request is held by a rule of the browser itself, which also works while this extension sleeps.
const rules = chrome.declarativeNetRequest;
const RULE = 1;

export const block = async ({ patterns, method }) => {
  if (!patterns.length) return { blocking: true, detail: "the task's pattern matches nothing" };
  let problem = "";
  for (const regex of patterns) {
    const { isSupported, reason } = await rules.isRegexSupported({ regex, isCaseSensitive: true });
    if (isSupported) {
      await rules.updateDynamicRules({ removeRuleIds: [RULE], addRules: [rule(regex, method)] });
      return { blocking: true };
    }
    problem = reason;
  }
  return { blocking: false, detail: `a rule of this browser cannot hold the task's pattern (${problem})` };
};

export const isBlocking = async () => (await rules.getDynamicRules()).length > 0;

export const unblock = () => rules.updateDynamicRules({ removeRuleIds: [RULE] });

const rule = (regexFilter, method) => ({
  id: RULE,
  action: { type: "block" },
  condition: {
    regexFilter,
    isUrlFilterCaseSensitive: true,
    requestMethods: [method.toLowerCase()],
    resourceTypes: Object.values(rules.ResourceType), // else all but pages themselves
  },
});
