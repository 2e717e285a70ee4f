import { PhiError } from '../../types/errors.ts'
import type { AgentEvent } from '../../types/event.ts'
import { RemoteError } from '../remote-error.ts'

/**
 * How the `data` of one stream becomes events. One reader for each stream: what its events have in common may stand in the first alone.
 *
 * Throws `RemoteError` for a frame that is no event of ours: the connection is then taken up again from the last event that was.
 */
export function createEventReader(): (data: string, name: string | undefined) => AgentEvent {
  return (data, name) => {
    const event: AgentEvent = parsed(data)
    if (name === 'error') throw cutShort(event)
    if (typeof event?.type !== 'string' || typeof event.seq !== 'number') {
      throw new RemoteError(
        'unexpectedAnswer',
        'A frame of the stream is no event of an agent. Check what stands between here and the server.',
        retryable,
      )
    }
    return event
  }
}

const retryable = { isRetryable: true }

function parsed(data: string) {
  try {
    return JSON.parse(data)
  } catch (cause) {
    const message = 'A frame of the stream is no JSON. Check what stands between here and the server.'
    throw new RemoteError('unexpectedAnswer', message, { ...retryable, ...(PhiError.isInstance(cause) && { cause }) })
  }
}

/** The server says itself that it cannot read its run on for this reader. */
function cutShort(said: unknown): RemoteError {
  const { code, message }: { code?: unknown; message?: unknown } = Object(said)
  return new RemoteError(typeof code === 'string' ? code : 'stream', `The server cut the stream: ${String(message)}`, retryable)
}
