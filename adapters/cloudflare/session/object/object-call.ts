import { errorText } from '../../../../src/contract/errors.ts'
import { fieldIn } from '../../../../src/contract/json.ts'
import { SessionError, type SessionErrorCode } from '../../../../src/session.ts'
import type { ObjectNamespace } from '../workers-platform.ts'

/** Header that contains the object call. Absent in client requests, or `live` (from `forwardToSession`). */
export const callHeader = 'x-phi-core-call'

/** Header that contains the input for a call with a binary body. */
export const inputHeader = 'x-phi-core-input'

/** Maximum attempts per call after transient platform failures. */
const attempts = 3
const retryDelayMs = 100

/** An object's response: a value, or a `SessionError` as data. */
type Answer = { value: unknown } | { error: { code: SessionErrorCode; message: string } }

/**
 * Calls the object `name`. Retries failures that the platform marks as retryable, because object calls are idempotent. Rejects with
 * `SessionError`. Calls `onProgress` for each part of a long response.
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

/** Like {@link callObject}, for a call that sends or receives bytes. Resolves with `undefined` if there are none. */
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
  if (!response.ok) throw new SessionError('io', `The object responded with status ${response.status}: ${text.slice(0, 200)}`)
  const answer: Answer = JSON.parse(text)
  if ('error' in answer) throw new SessionError(answer.error.code, answer.error.message)
  return answer.value as Value // both sides use this package, and callers specify the result type
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

/** Runs `action` and returns its result or failure as the response to `callObject`. */
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

/** Returns the response to a request without a call, which is a forwarded client request. */
export function notACall(): Response {
  return new Response('This object accepts only calls from phi-core. Use durableObjectSessionStore or forwardToSession.\n', { status: 404 })
}

/** Converts an SQLite failure to a `SessionError`. */
export function storageError(error: unknown): SessionError {
  if (SessionError.isInstance(error)) return error
  const text = errorText(error)
  return /SQLITE_FULL|disk is full/.test(text)
    ? new SessionError('quota', `The object's storage is full: ${text}. Delete sessions.`, { cause: error })
    : new SessionError('io', `The storage of the object failed: ${text}`, { cause: error })
}

/** Waits before the next attempt. Resolves with `false` after the last attempt. */
export async function retryDelay(attempt: number): Promise<boolean> {
  if (attempt === attempts) return false
  await new Promise((resolve) => setTimeout(resolve, retryDelayMs * attempt))
  return true
}

/**
 * Returns whether a retry may succeed. An object that restarted, for example after a deployment, responds to the next call. An overloaded
 * object does not.
 */
export function isRetryable(error: unknown): boolean {
  if (fieldIn(error, 'overloaded') === true) return false
  return fieldIn(error, 'retryable') === true || fieldIn(error, 'durableObjectReset') === true
}

function unreachable(name: string, call: string, error: unknown): SessionError {
  return new SessionError('io', `The object ${JSON.stringify(name)} did not respond to ${call}: ${errorText(error)}. Retry.`, {
    cause: error,
  })
}
