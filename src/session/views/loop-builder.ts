import { type AgentMessage, callsToAnswer } from '../../contract/message/message.ts'
import type { AnnotatedRequest } from '../../contract/model/request.ts'
import { combineUsage, emptyUsage } from '../../contract/model/usage.ts'
import type { TurnTrigger } from '../../contract/run/run-facts.ts'
import type { LoopRecord, Turn } from '../../contract/session/session.ts'

/** What is known of a loop when it begins. */
type LoopOpening = Pick<LoopRecord, 'loopId' | 'sessionId' | 'agentId' | 'startedAt'> & Partial<LoopRecord>

/** The record of a loop of which nothing but its beginning is known. */
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

/** Puts the record of one loop together as it comes to be known, from events or from a log. */
export class LoopBuilder {
  readonly record: LoopRecord
  /** Time of the last that was heard of the loop, epoch ms. */
  lastAt: number
  /** What was begun of the calls of the last answer; `undefined` where nobody knows. */
  #begun: Map<string, boolean> | undefined
  #turn: Turn | undefined
  #calls: CallOrder

  constructor(record: LoopRecord) {
    this.record = record
    this.lastAt = record.startedAt
    this.#calls = callsIn(record.messages) ?? new Map()
  }

  /** From here on every call that is begun is told of. */
  watchCalls(): void {
    this.#begun = new Map()
  }

  beginCall(toolCallId: string, idempotent: boolean): void {
    this.#begun?.set(toolCallId, idempotent)
  }

  /** Nothing will be heard of its end: notes which calls were begun by then. */
  cutOff(): void {
    if (this.#begun !== undefined)
      this.record.begunCalls = Array.from(this.#begun, ([toolCallId, idempotent]) => ({ toolCallId, idempotent }))
  }

  /** Says which loop this one goes on from: results of its calls, as after a pause, come in the order of those. */
  follow(parent: LoopBuilder): void {
    this.#calls = parent.#calls
  }

  /** Notes the history that this loop began with. */
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

  /** Adds a message to the history of the loop. Results come in the order of their calls, in whichever they are added. */
  add(message: AgentMessage, at: number): void {
    const { record } = this
    if (message.role === 'toolResult') insertResult(record.messages, message, this.#calls)
    else record.messages.push(message)
    if (message.role === 'assistant') {
      record.usage = combineUsage(record.usage, message.usage)
      // Services count their calls anew in each answer.
      this.#begun?.clear()
      this.#calls = callOrder(message)
    }
    this.#addToTurn(message, at)
  }

  /** The turn as it has come to be, with what is known better. Without a turn that has begun, nothing. */
  endTurn(known: Partial<Turn> = {}): void {
    if (this.#turn !== undefined) this.record.turns.push({ ...this.#turn, ...known })
    this.#turn = undefined
  }

  /** Forgets a turn whose end was not seen. */
  discardTurn(): void {
    this.#turn = undefined
  }

  /** Ends the turn where that can be told from its messages: it has an answer, and its calls have results. Forgets it otherwise. */
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
      // What the loop itself has to say after the turn.
      return
    }
    turn.endedAt = at
  }
}

/** The calls of the last answer among `messages`; `undefined` where there is none. */
function callsIn(messages: readonly AgentMessage[]): CallOrder | undefined {
  const answer = messages.findLast((message) => message.role === 'assistant')
  return answer && callOrder(answer)
}

/** Positions of the calls of an answer, by id. */
export type CallOrder = ReadonlyMap<string, number>

/** The calls of `message`; none where it is no answer. */
export function callOrder(message: AgentMessage | undefined): CallOrder {
  const calls = message?.role === 'assistant' ? callsToAnswer(message.content) : []
  return new Map(calls.map((call, index) => [call.id, index]))
}

/** Puts a result among the results at the end of `messages`: calls that run at once are answered in any order, a history has them in theirs. */
export function insertResult(messages: AgentMessage[], result: AgentMessage, order: CallOrder): void {
  const rank = rankOf(result, order)
  let at = messages.length
  for (let before = messages[at - 1]; before?.role === 'toolResult' && rankOf(before, order) > rank; before = messages[at - 1]) at -= 1
  messages.splice(at, 0, result)
}

function rankOf(message: AgentMessage, order: CallOrder): number {
  return (message.role === 'toolResult' ? order.get(message.toolCallId) : undefined) ?? Number.POSITIVE_INFINITY
}
