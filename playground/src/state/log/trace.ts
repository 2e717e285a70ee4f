import type { AgentEvent, EventOf, Usage } from '../../../../src/index.ts'
import type { LoopRecord, LoopStatus } from '../../../../src/session.ts'
import type { Selection } from '../selection.ts'
import { kindWords, runWords, toolWords } from './run-words.ts'
import { stopWord } from './why-ended.ts'

export type SpanKind = 'loop' | 'turn' | 'model' | 'tool' | 'approval' | 'retry' | 'compaction' | 'branches'
export type SpanStatus = 'running' | 'done' | 'failed' | 'waiting' | 'stopped'

/** A span of work, with nested spans. */
export interface Span {
  id: string
  kind: SpanKind
  label: string
  status: SpanStatus
  /** Epoch ms. */
  startedAt: number
  /** Epoch milliseconds. Absent while it runs. */
  endedAt?: number
  /** Time of the first token in epoch milliseconds. */
  firstTokenAt?: number
  usage?: Usage
  /** Its failure, if any. */
  ending?: string
  /** The item that a click selects. */
  target?: Selection
  children: Span[]
}

/** A conversation's waterfall, built from its events: loops, their turns, and the model calls, tools and waits of each turn. */
export class Trace {
  readonly roots: Span[] = []
  readonly #open = new Map<string, Span>()
  /** Background calls follow the others. */
  readonly #background = new Map<string, Span>()

  accept(event: AgentEvent, within: Span[] = this.roots): void {
    switch (event.type) {
      case 'childEvent':
        this.accept(event.event, this.#callOf(event)?.children ?? within)
        break
      case 'parallelLoopStart':
        this.#branches(event, within)
        break
      case 'parallelLoopEnd':
        this.#end(`branches ${event.loopId}`, event.at, 'done')
        break
      case 'agentStart':
        this.#loop(event, within)
        break
      case 'agentEnd':
        this.#endLoop(event)
        break
      case 'turnStart':
        this.#turn(event)
        break
      case 'turnEnd':
        this.#end(`turn ${event.loopId}`, event.at, 'done', event.usage)
        break
      case 'backgroundStart': {
        const call = this.#callOf(event)
        if (call !== undefined) this.#background.set(`tool ${event.loopId} ${event.toolCallId}`, call)
        break
      }
      case 'backgroundEnd':
        this.#background.delete(`tool ${event.loopId} ${event.toolCallId}`)
        break
      default:
        this.#withinTurn(event)
    }
  }

  #callOf({ loopId, toolCallId }: { loopId: string; toolCallId: string }): Span | undefined {
    const key = `tool ${loopId} ${toolCallId}`
    return this.#open.get(key) ?? this.#background.get(key)
  }

  /** A loop with a record but without events. */
  acceptRecord({ loopId, status, startedAt, endedAt = startedAt, turns, usage, config }: LoopRecord): void {
    const children = turns.map(({ turnId, usage: ofTurn, startedAt: from, endedAt: to }) => {
      const target = { loopId, turnIndex: turnId.turnIndex }
      return span('turn', `turn ${turnId.turnIndex}`, from, {
        id: `turn ${loopId} ${turnId.turnIndex}`,
        endedAt: to,
        usage: ofTurn,
        target,
      })
    })
    const loop = span('loop', config?.name ?? kindWords.initial, startedAt, {
      id: `loop ${loopId}`,
      endedAt,
      usage,
      children,
      ...endOf(status),
    })
    this.roots.push(loop)
  }

  /** Adds a group of recorded branches. The start and the end of the group are known only from its loops. */
  group(loopIds: readonly string[], startedAt: number): void {
    const group = this.#begin(this.roots, 'branches', `${loopIds.length} branches`, startedAt, {
      id: `branches ${loopIds[0]}`,
      status: 'done',
    })
    group.endedAt = startedAt
    for (const id of loopIds) this.#open.set(`group ${id}`, group)
  }

  /** Adds a later finding to a turn's response. */
  mark({ loopId, turnIndex }: { loopId: string; turnIndex: number }, ending: string, within: readonly Span[] = this.roots): void {
    for (const span of within) {
      const isTurn = span.kind === 'turn' && span.target?.loopId === loopId && span.target.turnIndex === turnIndex
      if (isTurn) (span.children.findLast(({ kind }) => kind === 'model') ?? span).ending = ending
      else this.mark({ loopId, turnIndex }, ending, span.children)
    }
  }

  #branches({ loopId, loopIds, at }: EventOf<'parallelLoopStart'>, within: Span[]): void {
    const group = this.#begin(within, 'branches', `${loopIds.length} branches`, at, { id: `branches ${loopId}` })
    for (const id of loopIds) this.#open.set(`group ${id}`, group)
  }

  #loop({ loopId, at, continuationKind, configSnapshot }: EventOf<'agentStart'>, within: Span[]): void {
    const into = this.#open.get(`group ${loopId}`)?.children ?? within
    const kind = continuationKind.kind === 'initial' || continuationKind.kind === 'default' ? '' : `${kindWords[continuationKind.kind]} · `
    this.#begin(into, 'loop', `${kind}${configSnapshot.name}`, at, { id: `loop ${loopId}`, target: { loopId, turnIndex: 0 } })
  }

  #endLoop({ loopId, at, status, totalUsage, usage }: EventOf<'agentEnd'>): void {
    const loop = this.#open.get(`loop ${loopId}`)
    for (const [id, open] of this.#open) {
      if (open.kind === 'loop' || open.kind === 'branches' || id.split(' ')[1] !== loopId) continue
      this.#end(id, at, 'stopped')
    }
    const end = endOf(status)
    if (loop !== undefined) Object.assign(loop, end)
    this.#end(`loop ${loopId}`, at, end.status, totalUsage ?? usage)
    const group = this.#open.get(`group ${loopId}`)
    if (group?.endedAt !== undefined) group.endedAt = Math.max(group.endedAt, at)
  }

  #turn({ loopId, turnIndex, at }: EventOf<'turnStart'>): void {
    const loop = this.#open.get(`loop ${loopId}`)
    const target = { loopId, turnIndex }
    this.#begin(loop?.children ?? this.roots, 'turn', `turn ${turnIndex}`, at, {
      id: `turn ${loopId}`,
      key: `turn ${loopId} ${turnIndex}`,
      target,
    })
  }

  #withinTurn(event: AgentEvent): void {
    const { loopId, at } = event
    const turn = this.#open.get(`turn ${loopId}`)
    if (turn?.target === undefined) return
    const { target, children } = turn
    const model = this.#open.get(`model ${loopId}`)
    switch (event.type) {
      case 'turnRequest':
        this.#begin(children, 'model', event.request.modelId, at, { id: `model ${loopId}`, target })
        break
      case 'messageStart':
        if (event.message.role === 'assistant' && model === undefined)
          this.#begin(children, 'model', event.message.model, at, { id: `model ${loopId}`, target })
        break
      case 'messageUpdate':
        if (model !== undefined && model.firstTokenAt === undefined) model.firstTokenAt = at
        break
      case 'messageEnd':
        if (event.message.role === 'assistant') {
          const { stopReason, usage } = event.message
          const ending = stopWord(event)
          if (model !== undefined && ending !== undefined) model.ending = ending
          this.#end(`model ${loopId}`, at, stopReason === 'error' ? 'failed' : stopReason === 'aborted' ? 'stopped' : 'done', usage)
        }
        break
      case 'providerRetry':
        this.#end(`model ${loopId}`, at, 'failed')
        this.#closed(children, 'retry', `wait before try ${event.attempt + 1}`, at, at + event.delayMs, { target })
        this.#begin(children, 'model', `try ${event.attempt + 1}`, at + event.delayMs, { id: `model ${loopId}`, target })
        break
      default:
        this.#toolOrContext(event, target, children)
    }
  }

  #toolOrContext(event: AgentEvent, target: Selection, children: Span[]): void {
    const { loopId, at } = event
    switch (event.type) {
      case 'approvalRequested':
        this.#begin(children, 'approval', `approval of ${event.toolName}`, at, {
          id: `approval ${loopId} ${event.toolCallId}`,
          status: 'waiting',
          target: { ...target, toolCallId: event.toolCallId },
        })
        break
      case 'approvalResolved':
        this.#answered(event)
        break
      case 'toolExecutionStart':
        this.#begin(children, 'tool', event.toolName, at, {
          id: `tool ${loopId} ${event.toolCallId}`,
          target: { ...target, toolCallId: event.toolCallId },
        })
        break
      case 'toolExecutionEnd':
        this.#end(`tool ${loopId} ${event.toolCallId}`, at, event.isError ? 'failed' : 'done')
        break
      case 'compactionStarted':
        this.#begin(children, 'compaction', 'compaction', at, { id: `compaction ${loopId}`, target })
        break
      case 'compactionEnded':
        this.#end(`compaction ${loopId}`, at, event.error === undefined ? 'done' : 'failed', event.usage)
        break
    }
  }

  #answered({ loopId, toolCallId, approved, at }: EventOf<'approvalResolved'>): void {
    const asked = this.#open.get(`approval ${loopId} ${toolCallId}`)
    if (asked !== undefined && !approved) asked.ending = toolWords.denied
    this.#end(`approval ${loopId} ${toolCallId}`, at, approved ? 'done' : 'stopped')
  }

  #begin(
    into: Span[],
    kind: SpanKind,
    label: string,
    at: number,
    { id, key, ...more }: { id: string; key?: string } & Partial<Span>,
  ): Span {
    const begun = span(kind, label, at, { status: 'running', ...more, id: key ?? `${id} ${at} ${into.length}` })
    into.push(begun)
    this.#open.set(id, begun)
    return begun
  }

  #closed(into: Span[], kind: SpanKind, label: string, from: number, to: number, more: Partial<Span>): void {
    into.push(span(kind, label, from, { ...more, id: `${kind} ${from} ${into.length}`, endedAt: to }))
  }

  #end(id: string, at: number, status: SpanStatus, usage?: Usage): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    this.#open.delete(id)
    Object.assign(open, { endedAt: Math.max(at, open.startedAt), status }, usage !== undefined && { usage })
  }
}

/** Returns a loop's outcome for its span. */
function endOf(status: LoopStatus): Pick<Span, 'status' | 'ending'> {
  if (status === 'completed') return { status: 'done' }
  const isWaiting = status === 'paused' || status === 'pending'
  const isStopped = status === 'aborted' || status === 'interrupted'
  return { status: isWaiting ? 'waiting' : isStopped ? 'stopped' : status === 'running' ? 'running' : 'failed', ending: runWords[status] }
}

function span(kind: SpanKind, label: string, startedAt: number, more: Partial<Span> & { id: string }): Span {
  return { kind, label, startedAt, status: 'done', children: [], ...more }
}
