import type { LogLine } from '../../../../src/session/index.ts'
import type { ObjectState } from './durable-object.ts'
import { answerCall, callHeader, notACall } from './object-call.ts'
import { type SqliteClaim, SqliteLog } from './sqlite-log.ts'

/** Input of the calls of a `SessionObject`. */
type LogCall = Omit<SqliteClaim, 'lines'> & { lines: LogLine[]; after: number }

/**
 * A Durable Object that keeps one session. Export it from your Worker, bind it as a class with SQLite (`new_sqlite_classes`), and give the binding
 * to `durableObjectSessionStore`.
 *
 * **Contract**
 * - It answers that store and nobody else. Never pass requests of clients on to it.
 * - An answer leaves only when what it acknowledges is durable: the platform holds it back until then.
 * - A session that was deleted leaves nothing behind.
 */
export class SessionObject {
  protected readonly state: ObjectState
  protected readonly log: SqliteLog

  constructor(state: ObjectState) {
    this.state = state
    this.log = new SqliteLog(state.storage)
  }

  async fetch(request: Request): Promise<Response> {
    const action = this.#actionOf(request.headers.get(callHeader))
    return action === undefined ? notACall() : answerCall(async () => action(await request.json()))
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
      case 'read':
        return ({ after }) => this.log.read(after)
      case 'delete':
        return () => this.deleteSession()
      default:
        return undefined
    }
  }

  /** Deletes everything; resolves with whether there was a session. */
  protected deleteSession(): Promise<boolean> {
    // Nobody may begin a session between the question and the deletion.
    return this.state.blockConcurrencyWhile(async () => {
      const existed = this.log.hasRecords()
      await this.state.storage.deleteAll()
      return existed
    })
  }
}
