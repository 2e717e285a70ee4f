import type { IncomingMessage } from 'node:http'

/**
 * The body of a request, read as it is asked for.
 *
 * **Contract**: what nobody begins to read, and what is cancelled, is dropped as it comes. The connection stays, so that a client that still sends
 * can read why it was refused; as an async iterable the body would take it down.
 */
export function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isOpen = true
  let isRead = false
  const end = (finish: () => void) => () => {
    if (isOpen) finish()
    isOpen = false
  }
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        // Not before: Node drops by itself what nobody began to read.
        if (!isRead) {
          incoming.on('data', (chunk: Uint8Array) => {
            if (!isOpen) return
            controller.enqueue(chunk)
            if ((controller.desiredSize ?? 0) <= 0) incoming.pause()
          })
          incoming.once(
            'end',
            end(() => controller.close()),
          )
          incoming.once(
            'error',
            end(() => controller.error(cutOff())),
          )
          incoming.once(
            'close',
            end(() => controller.error(cutOff())),
          )
        }
        isRead = true
        incoming.resume()
      },
      cancel() {
        isOpen = false
        incoming.resume()
      },
    },
    { highWaterMark: 0 },
  )
}

function cutOff(): Error {
  return new DOMException('The client went away before its body was there.', 'AbortError')
}
