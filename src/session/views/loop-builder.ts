import { type AgentMessage, callsToAnswer } from '../../contract/message/message.ts'
import type { AnnotatedRequest } from '../../contract/model/request.ts'
import { combineUsage, emptyUsage } from '../../contract/model/usage.ts'
import type { TurnTrigger } from '../../contract/run/run-facts.ts'
import type { LoopRecord, Turn } from '../../contract/session/session.ts'

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
  /** Started calls of the last response; `undefined` if unknown. */
  #begun: Map<string, boolean> | undefined
  #turn: Turn | undefined
  #calls: CallOrder

  constructor(record: LoopRecord) {
    this.record = record
    this.lastAt = record.startedAt
    this.#calls = callsIn(record.messages) ?? new Map()
  }

  /** Announces that every started call will be reported from here on. */
  watchCalls(): void {
    this.#begun = new Map()
  }

  beginCall(toolCallId: string, idempotent: boolean): void {
    this.#begun?.set(toolCallId, idempotent)
  }

  /** Notes which calls were started when the loop was interrupted. */
  cutOff(): void {
    if (this.#begun !== undefined)
      this.record.begunCalls = Array.from(this.#begun, ([toolCallId, idempotent]) => ({ toolCallId, idempotent }))
  }

  /** Sets the loop that this one continues. Results of its calls, as after a pause, follow the call order. */
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
      // Providers restart call ids with each response.
      this.#begun?.clear()
      this.#calls = callOrder(message)
    }
    this.#addToTurn(message, at)
  }

  /** Ends the current turn, with better known values. Does nothing if no turn has begun. */
  endTurn(known: Partial<Turn> = {}): void {
    if (this.#turn !== undefined) this.record.turns.push({ ...this.#turn, ...known })
    this.#turn = undefined
  }

  /** Drops a turn without an end. */
  discardTurn(): void {
    this.#turn = undefined
  }

  /** Ends the turn if its messages show that it is complete: a response, and a result for each call. Else drops it. */
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
      // A message that the loop adds after the turn.
      return
    }
    turn.endedAt = at
  }
}

/** Returns the calls of the last response in `messages`; `undefined` if there is none. */
function callsIn(messages: readonly AgentMessage[]): CallOrder | undefined {
  const answer = messages.findLast((message) => message.role === 'assistant')
  return answer && callOrder(answer)
}

/** Positions of the calls of a response, by id. */
export type CallOrder = ReadonlyMap<string, number>

/** Returns the call order of `message`; empty if it is no response. */
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
