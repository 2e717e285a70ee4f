/** The headers of every stream of events for a page. */
export const streamHeaders = {
  'content-type': 'text/event-stream',
  // Where an answer may be stored, Firefox has a second tab wait for the end of the first one's.
  'cache-control': 'no-store',
  // Proxies such as nginx would collect the whole answer first.
  'x-accel-buffering': 'no',
} as const
