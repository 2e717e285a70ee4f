import { errorText } from '../../../../src/contract/errors.ts'
import { fieldIn } from '../../../../src/contract/json.ts'
import { SessionError, type SessionErrorCode } from '../../../../src/session.ts'
import type { ObjectNamespace } from '../workers-platform.ts'

/** Says which call of an object a request is. Requests of clients reach an object without it, or with `live` (`forwardToSession`). */
export const callHeader = 'x-phi-core-call'

/** The input of a call whose body is bytes. */
export const inputHeader = 'x-phi-core-input'

/** How often a call is sent when the platform says that it failed for a moment. */
const attempts = 3
const retryDelayMs = 100

/** What an object answers: its outcome, or a `SessionError` as data. */
type Answer = { value: unknown } | { error: { code: SessionErrorCode; message: string } }

/**
 * Calls the object `name`. The calls of our objects may arrive twice, so what the platform calls retryable is sent again. Rejects with
 * `SessionError`. `onProgress` is called with each part of a long answer.
 */
export async function callObject<Value>(
  namespace: ObjectNamespace,
  name: string,
  call: string,
  input: object = {},
  onProgress?: () => void,
): Promise<Value> {
  const asked = { headers: { [callHeader]: call }, body: JSON.stringify(input) }
  return sent(namespace, name, asked, (response) => readAnswer<Value>(response, onProgress))
}

/** A call that brings bytes, or is answered with them; `undefined` where there are none. Otherwise as {@link callObject}. */
export function callWithBytes(
  namespace: ObjectNamespace,
  name: string,
  call: string,
  input: object,
  bytes?: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const asked = { headers: { [callHeader]: call, [inputHeader]: JSON.stringify(input) }, ...(bytes !== undefined && { body: bytes }) }
  return sent(namespace, name, asked, async (response) => {
    if (response.headers.get('content-type') === bytesType) return new Uint8Array(await response.arrayBuffer())
    await readAnswer(response)
    return undefined
  })
}

const bytesType = 'application/octet-stream'

async function sent<Value>(
  namespace: ObjectNamespace,
  name: string,
  asked: { headers: Record<string, string>; body?: BodyInit },
  read: (response: Response) => Promise<Value>,
): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      // A stub that has failed once stays broken.
      return await read(await namespace.getByName(name).fetch(new Request('https://object/', { method: 'POST', ...asked })))
    } catch (error) {
      if (SessionError.isInstance(error)) throw error
      if (!isRetryable(error) || !(await retryDelay(attempt))) throw unreachable(name, String(asked.headers[callHeader]), error)
    }
  }
}

async function readAnswer<Value>(response: Response, onProgress?: () => void): Promise<Value> {
  const text = await textOf(response, onProgress)
  if (!response.ok) throw new SessionError('io', `The object answered with status ${response.status}: ${text.slice(0, 200)}`)
  const answer: Answer = JSON.parse(text)
  if ('error' in answer) throw new SessionError(answer.error.code, answer.error.message)
  return answer.value as Value // both ends are of this package; a caller names what its call gives
}

async function textOf({ body }: Response, onProgress?: () => void): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  const pieces: string[] = []
  for (const reader = body.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) return pieces.join('') + decoder.decode()
    pieces.push(decoder.decode(value, { stream: true }))
    onProgress?.()
  }
}

/** What `action` gives, or why it failed, as the answer to `callObject`. */
export async function answerCall(action: () => unknown): Promise<Response> {
  try {
    const value = await action()
    if (value instanceof Uint8Array) return new Response(value.slice(), { headers: { 'content-type': bytesType } })
    return Response.json({ value: value ?? null } satisfies Answer)
  } catch (error) {
    const { code, message } = storageError(error)
    return Response.json({ error: { code, message } } satisfies Answer)
  }
}

/** The answer to a request that is no call: somebody has passed on what a client sent. */
export function notACall(): Response {
  return new Response('This object answers calls of phi-core only. Use durableObjectSessionStore or forwardToSession.\n', { status: 404 })
}

/** A failure of SQLite as the error that stores promise. */
export function storageError(error: unknown): SessionError {
  if (SessionError.isInstance(error)) return error
  const text = errorText(error)
  return /SQLITE_FULL|disk is full/.test(text)
    ? new SessionError('quota', `The object has no room left: ${text}. Delete sessions.`, { cause: error })
    : new SessionError('io', `The storage of the object failed: ${text}`, { cause: error })
}

/** Waits before the next attempt; `false` when there has been enough of them. */
export async function retryDelay(attempt: number): Promise<boolean> {
  if (attempt === attempts) return false
  await new Promise((resolve) => setTimeout(resolve, retryDelayMs * attempt))
  return true
}

/** An object that was started anew, as when a Worker is deployed, answers the next call. One that is overloaded is not helped by more. */
export function isRetryable(error: unknown): boolean {
  if (fieldIn(error, 'overloaded') === true) return false
  return fieldIn(error, 'retryable') === true || fieldIn(error, 'durableObjectReset') === true
}

function unreachable(name: string, call: string, error: unknown): SessionError {
  return new SessionError('io', `The object ${JSON.stringify(name)} did not answer ${call}: ${errorText(error)}. Try again.`, {
    cause: error,
  })
}
