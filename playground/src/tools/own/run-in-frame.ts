import type { JsonObject, JsonValue } from '../../../../src/index.ts'

/** Characters of JSON that arguments may have, and a result. */
const mostChars = 100_000

/**
 * Runs the body of a function that a visitor wrote, with `args`, and resolves with its result.
 *
 * **Contract**
 * - It runs in a worker of a sandboxed frame without an origin: it reaches neither this page, its keys and its storage, nor any network. The frame lives as long as the call.
 * - Rejects with what the code throws, for what is no JSON or too long, and at once when `signal` aborts: the frame and its worker are gone then.
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
      frame.title = 'A call of a tool of your own'
      frame.src = 'own-tool.html'
      document.body.append(frame)
    })
    return resultIn(await outcome)
  } finally {
    frame.remove()
    ours.close()
  }
}

/** Messages of the frame are as untrusted as its code. */
function resultIn(data: unknown): JsonValue {
  const { value, error } = Object(data)
  try {
    if (typeof value !== 'string') throw new Error(String(error).slice(0, 2000))
    if (value.length > mostChars) throw new Error(`The result has more than ${mostChars} characters.`)
    return JSON.parse(value)
  } catch (fault) {
    throw fault instanceof SyntaxError ? new Error('The result is no JSON.') : fault
  }
}
