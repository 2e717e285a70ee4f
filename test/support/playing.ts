/** What a service does, each step so many ms after the one before. */
export type Play = readonly (readonly [ms: number, what: 'headers' | Uint8Array])[]

/** A `fetch` whose service plays. What comes before `headers` is waited for without them. */
export function playing(play: Play): typeof fetch {
  return (_url, { signal } = {}) =>
    new Promise((resolve, reject) => {
      let controller: ReadableStreamDefaultController<Uint8Array>
      const body = new ReadableStream<Uint8Array>({
        start(given) {
          controller = given
        },
      })
      signal?.addEventListener('abort', () => reject(signal.reason))
      let at = 0
      for (const [ms, what] of play) {
        at += ms
        setTimeout(() => {
          if (what === 'headers') resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
          else if (signal?.aborted !== true) controller.enqueue(what)
        }, at)
      }
    })
}
