/** What lies over the page. */
export type DialogName = 'palette' | 'keys' | 'settings' | 'code' | 'compare'
