import type { IncomingMessage } from 'node:http'

/**
 * Converts the body of a Node request to a web stream that reads on demand.
 *
 * **Contract**: an unread or cancelled body is discarded as it arrives. The connection stays open, so that a client that still sends can
 * read the error response. Async iteration would destroy the connection.
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
        // Needed only after reading began, because Node itself discards an unread body.
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
  return new DOMException('The client disconnected before it sent the whole body.', 'AbortError')
}
