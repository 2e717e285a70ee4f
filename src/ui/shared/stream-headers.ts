/** The headers of every stream of events for a page. */
export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // Proxies such as nginx would collect the whole answer first.
  'x-accel-buffering': 'no',
} as const
