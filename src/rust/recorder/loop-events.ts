import type { AgentEndEvent, AgentEvent, AgentStartEvent } from '../../contract/run/event.ts'
import type { TurnEndEvent } from '../../contract/run/turn-event.ts'
import type { LoopRecord } from '../../contract/session/session.ts'
import { LoopBuilder } from '../../session/views/loop-builder.ts'

/** Kinds of events to keep. */
export interface KeptEvents {
  streaming: boolean
  requests: boolean
}

/** Builds one loop from its events. */
export class LoopEvents {
  readonly record: LoopRecord
  readonly #builder: LoopBuilder
  readonly #kept: KeptEvents
  #sequence = 0
  #runId: string | undefined
  #lastSeq = 0

  constructor(record: LoopRecord, kept: KeptEvents) {
    this.record = record
    this.#builder = new LoopBuilder(record)
    this.#kept = kept
  }

  /** Whether the loop is active or announced. */
  get isOpen(): boolean {
    return this.record.status === 'running' || this.record.status === 'pending'
  }

  /** Returns whether `event` was accepted before. */
  knows({ runId, seq }: AgentEvent): boolean {
    return runId === this.#runId && seq <= this.#lastSeq
  }

  start(event: AgentStartEvent): void {
    const { at, agentId, parentLoopId, continuationKind, configSnapshot, metadata } = event
    Object.assign(this.record, {
      agentId,
      continuationKind,
      startedAt: at,
      status: 'running',
      config: configSnapshot,
      ...(parentLoopId !== undefined && { parentLoopId }),
      ...(metadata !== undefined && { metadata }),
    } satisfies Partial<LoopRecord>)
    this.accept(event)
  }

  /** Adds an event of this loop. */
  accept(event: AgentEvent): void {
    this.#runId = event.runId
    this.#lastSeq = event.seq
    this.keep(event)
    this.#builder.lastAt = event.at
    switch (event.type) {
      case 'turnStart':
        this.#builder.beginTurn(event.turnIndex, event.triggeredBy, event.at)
        break
      case 'turnRequest':
        if (this.#kept.requests) this.#builder.captureRequest(event.request)
        break
      case 'messageEnd':
        this.#builder.add(event.message, event.at)
        break
      case 'turnEnd':
        this.#endTurn(event)
        break
      case 'agentEnd':
        this.#end(event)
        break
    }
  }

  /** Keeps an event, or only counts it. */
  keep(event: AgentEvent): void {
    const sequence = this.#sequence++
    if (event.type === 'messageUpdate' && !this.#kept.streaming) return
    if (event.type === 'turnRequest' && !this.#kept.requests) return
    this.record.events.push({ sequence, event })
  }

  /** Ends the loop without further events. Its messages stay. An unfinished turn is dropped. */
  interrupt(): void {
    this.#builder.discardTurn()
    this.record.status = 'interrupted'
    this.record.endedAt = this.#builder.lastAt
  }

  #endTurn({ message, usage, toolResults, turnIndex, loopId, at }: TurnEndEvent): void {
    const ownTurn = { loopId, turnIndex }
    const { turnId = ownTurn } = message
    // A turn that only runs calls approved later refers to the earlier response.
    const isOwn = turnId.loopId === loopId && turnId.turnIndex === turnIndex
    this.#builder.endTurn({
      usage,
      endedAt: at,
      toolResults: toolResults.map((result) => (result.turnId === undefined ? { ...result, turnId: ownTurn } : result)),
      ...(isOwn && { outputMessage: message }),
    })
  }

  #end({ at, status, usage, costUsd, messages, error, rejection }: AgentEndEvent): void {
    this.#builder.discardTurn()
    Object.assign(this.record, {
      status,
      usage,
      ...(costUsd !== undefined && { costUsd }),
      endedAt: at,
      messages: [...messages],
      ...(error !== undefined && { error }),
      ...(rejection !== undefined && { rejection }),
    } satisfies Partial<LoopRecord>)
  }
}
