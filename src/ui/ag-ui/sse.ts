import type { AgUiEvent } from './ag-ui-event.ts'

/** The headers of an AG-UI stream. */
export const agUiHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // Proxies such as nginx would collect the whole answer first.
  'x-accel-buffering': 'no',
}

/** One event as a server-sent event. Throws what `JSON.stringify` throws. */
export function agUiSse(event: AgUiEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`
}
