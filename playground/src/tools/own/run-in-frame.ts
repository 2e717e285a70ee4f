import type { JsonObject, JsonValue } from '../../../../src/index.ts'

/** Maximum JSON characters in the arguments, and in a result. */
const mostChars = 100_000

/**
 * Runs a function body that the user wrote with `args`, and resolves with its result.
 *
 * **Contract**
 * - Runs in a worker inside a sandboxed frame without an origin, which cannot access this page, its keys, its storage or the network. The
 *   frame lives as long as the call.
 * - Rejects with the error that the code throws, if a value is not JSON or too long, and immediately when `signal` aborts. The frame and
 *   its worker are then removed.
 */
export async function runInFrame(code: string, args: JsonObject, signal: AbortSignal): Promise<JsonValue> {
  const text = JSON.stringify(args)
  if (text.length > mostChars) throw new Error(`The arguments have more than ${mostChars} characters.`)
  signal.throwIfAborted()
  const frame = document.createElement('iframe')
  const { port1: ours, port2: theirs } = new MessageChannel()
  try {
    const outcome = new Promise<unknown>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      ours.onmessage = ({ data }) => resolve(data)
      frame.addEventListener('load', () => frame.contentWindow?.postMessage({ code, args: text, mostChars }, '*', [theirs]), { once: true })
      frame.setAttribute('sandbox', 'allow-scripts')
      frame.hidden = true
      frame.title = 'A call of your own tool'
      frame.src = 'own-tool.html'
      document.body.append(frame)
    })
    return resultIn(await outcome)
  } finally {
    frame.remove()
    ours.close()
  }
}

/** Messages from the frame are as untrusted as its code. */
function resultIn(data: unknown): JsonValue {
  const { value, error } = Object(data)
  try {
    if (typeof value !== 'string') throw new Error(String(error).slice(0, 2000))
    if (value.length > mostChars) throw new Error(`The result has more than ${mostChars} characters.`)
    return JSON.parse(value)
  } catch (fault) {
    throw fault instanceof SyntaxError ? new Error('The result is not JSON.') : fault
  }
}
