import { startTimer } from '../../src/base/timer.ts'
import { errorText } from '../../src/contract/errors.ts'
import { toHex } from '../../src/contract/message/identity.ts'
import { SessionError } from '../../src/session.ts'

/**
 * A connected client from `redis` (`sendCommand`) or `ioredis` (`call`). Commands and replies are texts, numbers and lists of these. Media
 * are base64.
 *
 * **Contract**
 * - Rejects if the server refuses a command, with the server's text as the message.
 * - Sends every command to the primary. A replica lags behind and refuses writes.
 *
 * Source: docs/guides/choose-a-store.md
 */
export type RedisClient =
  | { sendCommand(args: string[]): Promise<unknown> }
  | {
      call(command: string, args: string[]): Promise<unknown>
    }

/** Sends commands and scripts. Each fails after a timeout, so that a stalled server or a lost connection blocks no caller forever. */
export class RedisConnection {
  readonly #client: RedisClient
  readonly #timeoutMs: number
  /** Script hashes, under which the server caches the scripts. */
  readonly #hashes = new Map<string, Promise<string>>()

  constructor(client: RedisClient, timeoutMs: number) {
    this.#client = client
    this.#timeoutMs = timeoutMs
  }

  send(command: string, args: string[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const stopTimer = startTimer(this.#timeoutMs, () => reject(new Error(`Redis did not respond within ${this.#timeoutMs} ms.`)))
      const client = this.#client
      // Checked first, because `sendCommand` in ioredis takes no texts.
      const sent = 'call' in client ? client.call(command, args) : client.sendCommand([command, ...args])
      sent.finally(stopTimer).then(resolve, reject)
    })
  }

  /** Runs a script atomically. Sends its text only if the server does not know it. */
  async run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const known = this.#hashes.get(script) ?? sha1Of(script)
    this.#hashes.set(script, known)
    const rest = [String(keys.length), ...keys, ...args]
    try {
      return await this.send('EVALSHA', [await known, ...rest])
    } catch (error) {
      if (replyCode(error) !== 'NOSCRIPT') throw error
      return this.send('EVAL', [script, ...rest])
    }
  }
}

async function sha1Of(text: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text))))
}

/** Returns a reply as text, or an empty text if there is none. */
export function textOfReply(reply: unknown): string {
  if (reply instanceof Uint8Array) return new TextDecoder().decode(reply)
  return typeof reply === 'string' || typeof reply === 'number' ? String(reply) : ''
}

/** Returns a list reply, or an empty list if there is none. */
export function listOfReply(reply: unknown): unknown[] {
  return Array.isArray(reply) ? reply : []
}

/** Advice by Redis error code. */
const advice: Record<string, string> = {
  READONLY: 'The server is a replica. Connect the client to the primary.',
  LOADING: 'The server is loading its data. Retry in a moment.',
  MISCONF: 'The server cannot write to its disk. Free space there, or see its log.',
  NOAUTH: 'The server requires a password. Set it in the client.',
  WRONGPASS: 'The server refuses the password. Check user and password of the client.',
  NOPERM: "The server refuses the command. Allow the client's user EVAL, EVALSHA, HGET and the keys that start with the prefix.",
  CLUSTERDOWN: 'The cluster is down. Retry when it is available.',
  MOVED: 'The server is part of a cluster. Use a client for clusters.',
  BUSY: 'The server is running a long script. Retry.',
  NOREPLICAS: 'The server has too few replicas to accept writes. Retry when they are available.',
}

/** Within a script, older servers put the code after the script's name. */
const codeForm = /^(?:ERR .*?@user_script: ?\d+: -?)?([A-Z]{3,})(?= )/

/** Returns the error code if the server refused a command, such as `OOM`. Returns an empty text for another failure. */
function replyCode(error: unknown): string {
  return codeForm.exec(errorText(error))?.[1] ?? ''
}

/** Connection failures: Node's codes, and the errors from clients that are closed or gave up. */
const noConnection = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENOENT|ClientClosed|ClientOffline|MaxRetriesPerRequest|Connection is closed/

function isUnreachable(error: unknown): boolean {
  const { code, name }: { code?: unknown; name?: unknown } = Object(error)
  const constructedBy: unknown = Object(error).constructor?.name
  return noConnection.test(`${code} ${name} ${constructedBy} ${errorText(error)}`)
}

/** Runs `act`. Converts failures to a `SessionError` that names `subject` and contains no values. */
export async function asked<Value>(subject: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act()
  } catch (error) {
    if (SessionError.isInstance(error)) throw error
    throw sessionError(subject, error)
  }
}

function sessionError(subject: string, cause: unknown): SessionError {
  const code = replyCode(cause)
  const failed = `${subject}: Redis failed (${code === '' ? 'no response' : `code ${code}`}).`
  if (code === 'OOM') return new SessionError('quota', `${failed} Its memory is full. Delete sessions, or raise maxmemory.`, { cause })
  const known = advice[code]
  if (known !== undefined) return new SessionError('io', `${failed} ${known}`, { cause })
  if (isUnreachable(cause))
    return new SessionError('io', `${subject}: cannot connect to Redis. Check that it runs, and the address of the client.`, { cause })
  return new SessionError('io', `${failed} The outcome of the command is unknown. Retry.`, { cause })
}
