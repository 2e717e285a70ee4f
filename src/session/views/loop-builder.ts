import { type AgentMessage, callsToAnswer } from '../../contract/message/message.ts'
import type { AnnotatedRequest } from '../../contract/model/request.ts'
import { combineUsage, emptyUsage } from '../../contract/model/usage.ts'
import type { TurnTrigger } from '../../contract/run/run-facts.ts'
import type { BegunCall, LoopRecord, Turn } from '../../contract/session/session.ts'

/** Data of a loop at its start. */
type LoopOpening = Pick<LoopRecord, 'loopId' | 'sessionId' | 'agentId' | 'startedAt'> & Partial<LoopRecord>

/** Returns the record of a loop that has just begun. */
export function openedLoop(opening: LoopOpening): LoopRecord {
  return {
    continuationKind: { kind: 'initial' },
    status: 'running',
    messages: [],
    turns: [],
    usage: emptyUsage(),
    events: [],
    childrenLoopIds: [],
    childLoopRefs: [],
    ...opening,
  }
}

/** Builds the record of one loop incrementally, from events or a log. */
export class LoopBuilder {
  readonly record: LoopRecord
  /** Time of the last record or event, epoch milliseconds. */
  lastAt: number
  /** Calls in the last response that have started, or `undefined` if unknown. */
  #begun: Map<string, BegunCall> | undefined
  #turn: Turn | undefined
  #calls: CallOrder

  constructor(record: LoopRecord) {
    this.record = record
    this.lastAt = record.startedAt
    this.#calls = callsIn(record.messages) ?? new Map()
  }

  /** Declares that every later start of a call will be reported. */
  watchCalls(): void {
    this.#begun = new Map()
  }

  beginCall({ toolCallId, idempotent, edited }: BegunCall): void {
    this.#begun?.set(toolCallId, { toolCallId, idempotent, ...(edited !== undefined && { edited }) })
  }

  /** Stores which calls had started when the loop was interrupted. */
  cutOff(): void {
    if (this.#begun !== undefined) this.record.begunCalls = [...this.#begun.values()]
  }

  /** Sets the loop that this one continues, so that results of its calls are sorted in call order. */
  follow(parent: LoopBuilder): void {
    this.#calls = parent.#calls
  }

  /** Sets the history that this loop began with. */
  restart(base: NonNullable<LoopRecord['base']>): void {
    this.record.base = base
    this.#calls = callsIn(base.messages) ?? new Map()
  }

  beginTurn(turnIndex: number, triggeredBy: TurnTrigger, at: number): void {
    const turnId = { loopId: this.record.loopId, turnIndex }
    this.#turn = { turnId, triggeredBy, usage: emptyUsage(), inputMessages: [], toolResults: [], startedAt: at, endedAt: at }
  }

  captureRequest(request: AnnotatedRequest | undefined): void {
    if (this.#turn !== undefined && request !== undefined) this.#turn.requestPayload = request
  }

  /** Adds a message to the history. Results are sorted by call order. */
  add(message: AgentMessage, at: number): void {
    const { record } = this
    if (message.role === 'toolResult') insertResult(record.messages, message, this.#calls)
    else record.messages.push(message)
    if (message.role === 'assistant') {
      record.usage = combineUsage(record.usage, message.usage)
      // Clear the calls, because providers may reuse call ids in each response.
      this.#begun?.clear()
      this.#calls = callOrder(message)
    }
    this.#addToTurn(message, at)
  }

  /** Ends the current turn, if any, and overrides its values with `known`. */
  endTurn(known: Partial<Turn> = {}): void {
    if (this.#turn !== undefined) this.record.turns.push({ ...this.#turn, ...known })
    this.#turn = undefined
  }

  /** Drops a turn that has not ended. */
  discardTurn(): void {
    this.#turn = undefined
  }

  /** Ends the turn if its messages show that it is complete: a response, and a result for each call. Otherwise drops it. */
  settleTurn(): void {
    const turn = this.#turn
    const answered = new Set(turn?.toolResults.map((result) => (result.role === 'toolResult' ? result.toolCallId : undefined)))
    const isWhole = turn?.outputMessage?.role === 'assistant' && [...this.#calls.keys()].every((id) => answered.has(id))
    if (isWhole) this.endTurn()
    else this.discardTurn()
  }

  #addToTurn(message: AgentMessage, at: number): void {
    const turn = this.#turn
    if (turn === undefined) return
    if (message.role === 'assistant') {
      turn.outputMessage = message
      turn.usage = message.usage
    } else if (message.role === 'toolResult') {
      insertResult(turn.toolResults, message, this.#calls)
    } else if (turn.outputMessage === undefined && turn.toolResults.length === 0) {
      turn.inputMessages.push(message)
    } else {
      // The loop adds this message after the turn, so it is not part of the turn.
      return
    }
    turn.endedAt = at
  }
}

/** Returns the calls of the last response in `messages`, or `undefined` if there is none. */
function callsIn(messages: readonly AgentMessage[]): CallOrder | undefined {
  const answer = messages.findLast((message) => message.role === 'assistant')
  return answer && callOrder(answer)
}

/** Call positions in a response, by id. */
export type CallOrder = ReadonlyMap<string, number>

/** Returns the call order of `message`, or an empty order if it is not a response. */
export function callOrder(message: AgentMessage | undefined): CallOrder {
  const calls = message?.role === 'assistant' ? callsToAnswer(message.content) : []
  return new Map(calls.map((call, index) => [call.id, index]))
}

/** Inserts a result among those at the end of `messages` in call order. Parallel calls finish in any order. */
export function insertResult(messages: AgentMessage[], result: AgentMessage, order: CallOrder): void {
  const rank = rankOf(result, order)
  let at = messages.length
  for (let before = messages[at - 1]; before?.role === 'toolResult' && rankOf(before, order) > rank; before = messages[at - 1]) at -= 1
  messages.splice(at, 0, result)
}

function rankOf(message: AgentMessage, order: CallOrder): number {
  return (message.role === 'toolResult' ? order.get(message.toolCallId) : undefined) ?? Number.POSITIVE_INFINITY
}
