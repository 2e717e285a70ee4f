import { errorText } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import { eventDecoder } from '../../ui/native/index.ts'
import { RemoteError } from '../remote-error.ts'

/** One frame of a stream: its data, its name, and the cursor beside it. */
type ReadFrame = (data: string, name: string | undefined, id: string | undefined) => AgentEvent | undefined

/**
 * How the frames of one stream become events. One reader for each stream: what equals the event before is left out of a frame. Undefined for a frame
 * that came before.
 *
 * Throws `RemoteError` for a frame that is no event of ours: the connection is then taken up again from the last event that was.
 */
export function createEventReader(): ReadFrame {
  const decoder = eventDecoder()
  let newest = 0
  return (data, name, id) => {
    if (name === 'error') throw cutShort(data)
    // Somebody on the way has sent it twice. What begins a run, or a stream, is whole, and counts anew.
    if (id !== undefined && Number(id) <= newest && !data.includes('"runId"')) return undefined
    try {
      const event = decoder.decode(data, id)
      newest = event.seq
      return event
    } catch (cause) {
      const advice = 'Check url, and what stands between here and the server.'
      throw new RemoteError('unexpectedAnswer', `${errorText(cause)} ${advice}`, { cause, isRetryable: true })
    }
  }
}

/** The server says itself that it cannot read its run on for this reader. */
function cutShort(data: string): RemoteError {
  return new RemoteError('connectionLost', `The server cut the stream: ${saidIn(data)}`, { isRetryable: true })
}

function saidIn(data: string): string {
  try {
    return errorText(JSON.parse(data))
  } catch {
    return 'it does not say why.'
  }
}
