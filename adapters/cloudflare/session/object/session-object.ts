import type { LogLine } from '../../../../src/session.ts'
import type { ObjectState } from '../workers-platform.ts'
import { answerCall, callHeader, inputHeader, notACall } from './object-call.ts'
import { SqliteLog, type SqliteRight } from './sqlite-log.ts'

/** Input for calls to a `SessionObject`. */
type LogCall = SqliteRight & { lines: LogLine[]; after: number; hashes: string[] }
type BlobCall = SqliteRight & { hash: string }

/**
 * A Durable Object that stores one session. Export it from your Worker, bind it as a class with SQLite (`new_sqlite_classes`),
 * and pass the binding to `durableObjectSessionStore`.
 *
 * **Contract**
 * - Only this store may call the object. Never forward client requests to it.
 * - Responds once the acknowledged data is durable, because the platform holds back the response until then.
 * - Deleting a session removes all of its data.
 */
export class SessionObject {
  protected readonly state: ObjectState
  protected readonly log: SqliteLog

  constructor(state: ObjectState) {
    this.state = state
    this.log = new SqliteLog(state.storage)
  }

  async fetch(request: Request): Promise<Response> {
    const call = request.headers.get(callHeader)
    const input = request.headers.get(inputHeader)
    if (input !== null) return answerCall(async () => this.#blobCall(call, JSON.parse(input), new Uint8Array(await request.arrayBuffer())))
    const action = this.#actionOf(call)
    return action === undefined ? notACall() : answerCall(async () => action(await request.json()))
  }

  /** Handles a call that sends or receives bytes. */
  #blobCall(call: string | null, input: BlobCall, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
    if (call === 'getBlob') return this.log.getBlob(input.hash)
    if (call === 'putBlob') this.log.putBlob(input, input.hash, bytes)
    return undefined
  }

  #actionOf(call: string | null): ((input: LogCall) => unknown) | undefined {
    switch (call) {
      case 'claim':
        return () => this.log.claim('other')
      case 'append':
        return (input) => this.log.append(input, input.lines)
      case 'discardOlder':
        return (input) => this.log.discardOlder(input)
      case 'release':
        return (input) => this.log.release(input)
      case 'keepBlobs':
        return (input) => this.log.keepBlobs(input, input.hashes)
      case 'read':
        return ({ after }) => this.log.read(after)
      case 'delete':
        return () => this.deleteSession()
      default:
        return undefined
    }
  }

  /** Deletes all data. Resolves with whether the session existed. */
  protected deleteSession(): Promise<boolean> {
    // No session may be created between the check and the deletion.
    return this.state.blockConcurrencyWhile(async () => {
      const existed = this.log.hasRecords()
      await this.state.storage.deleteAll()
      return existed
    })
  }
}
