import type { AskedClientCall } from '../../contract/run/run-facts.ts'
import type { ClientCallTerms } from '../../types/run/question.ts'
import type { LoopState } from '../loop-state.ts'

/** A client tool call's state across processes: its deadline, and the client that claimed it. Stored in the loop's context and journal. */
export class AskedCall {
  readonly argumentsHash: string
  readonly #loop: LoopState
  readonly #calls: AskedClientCall[]
  #call: AskedClientCall
  readonly #isKnown: boolean

  constructor(loop: LoopState, call: Pick<AskedClientCall, 'toolCallId' | 'argumentsHash'>) {
    loop.context.clientCalls ??= []
    this.#loop = loop
    this.#calls = loop.context.clientCalls
    this.argumentsHash = call.argumentsHash
    const known = this.#calls.find((each) => each.toolCallId === call.toolCallId && each.argumentsHash === call.argumentsHash)
    this.#isKnown = known !== undefined
    this.#call = known ?? call
  }

  get deadline(): number | undefined {
    return this.#call.deadline
  }

  /** Records the deadline, unless an earlier process recorded one. Returns `undefined` if there is nothing to record. */
  begin(timeoutMs: number | undefined): Promise<void> | undefined {
    if (this.#isKnown) return undefined
    const deadline = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs }
    this.#call = { ...this.#call, ...deadline }
    this.#calls.push(this.#call)
    return timeoutMs === undefined ? undefined : this.#record()
  }

  /** Returns the limits for the request handler to enforce. */
  terms(maxResultChars: number): ClientCallTerms {
    const { holder } = this.#call
    return {
      maxResultChars,
      ...(holder !== undefined && { holder }),
      claimed: (next) => {
        this.#replace({ ...this.#call, holder: next })
        return this.#record()?.catch((error: unknown) => {
          this.#loop.fail(error)
          throw error
        })
      },
    }
  }

  /** Removes the state of a finished call. */
  end(): void {
    const at = this.#calls.indexOf(this.#call)
    if (at !== -1) this.#calls.splice(at, 1)
  }

  #replace(next: AskedClientCall): void {
    const at = this.#calls.indexOf(this.#call)
    this.#call = next
    if (at !== -1) this.#calls[at] = next
  }

  #record(): Promise<void> | undefined {
    return this.#loop.record({ type: 'clientCall', ...this.#call })
  }
}
