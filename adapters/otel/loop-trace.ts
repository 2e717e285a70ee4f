import { type Context, context } from '@opentelemetry/api'
import type { ToolExecutionEndEvent, ToolExecutionStartEvent } from '../../src/contract/run/call-event.ts'
import type { AgentEndEvent, ChildEvent, ParallelLoopEndEvent } from '../../src/contract/run/event.ts'
import type { AgentEvent, AgentMessage } from '../../src/index.ts'
import type { LoopObserver, LoopWatch, TraceContext } from '../../src/loop.ts'
import type { StreamRequest } from '../../src/providers.ts'
import type { LoopStep, ModelAnswer } from '../../src/types/run/loop-watch.ts'
import { ChatTrace } from './chat-trace.ts'
import { cancelled, errorType, finishReason, type LoopFacts, limitAttributes, nameOf, usageAttributes } from './conventions.ts'
import { beginningOf, contentOf, type Measured, ReadLoops, type ReadTrace } from './read-loops.ts'
import { ServiceToolTraces } from './service-tools.ts'
import { ToolTrace } from './tool-trace.ts'
import type { Operation, Tracing } from './tracing.ts'
import { WaitTraces } from './wait-traces.ts'

/** A loop's position in a trace. */
export interface LoopPlace {
  parent: Context
  /** All open traces. */
  open: Set<ReadTrace>
  /** Start in epoch milliseconds, for a loop that is read from its events. Default: now, which suits a loop that runs here. */
  at?: number
  /** Whether the loop runs inside another one whose cost includes its own. */
  isInner?: boolean
}

type AssistantEntry = Extract<AgentMessage, { role: 'assistant' }>

/**
 * The spans of one loop: `invoke_agent`, and below it `chat`, `execute_tool` and waits. A loop that runs here is observed. Any other loop
 * is read from its events, and its `chat` begins when the model could have been called.
 *
 * **Contract**
 * - Every span ends no later than the loop. Nothing throws.
 */
export class LoopTrace implements LoopWatch, ReadTrace {
  readonly #tracing: Tracing
  readonly #facts: LoopFacts
  readonly #place: LoopPlace
  readonly #operation: Operation
  readonly #measured: Measured
  readonly #waits: WaitTraces
  readonly #tools = new Map<string, ToolTrace>()
  readonly #serviceTools: ServiceToolTraces
  /** Loops that calls started and that are read from their events, by call. */
  readonly #children = new Map<string, ReadLoops>()
  /** Calls whose loops continue as background tasks. */
  readonly #background = new Set<string>()
  /** Runs of tool calls whose loops are observed directly. */
  readonly #watched = new Set<string>()
  #chat: ChatTrace | undefined
  /** For a loop that is read: a failed response. Later events show whether the call continues. */
  #failed: AssistantEntry | undefined
  /** For a loop that is read: when the model could have been called. */
  #readyAt: number
  #isOpen = true

  constructor(tracing: Tracing, facts: LoopFacts, place: LoopPlace) {
    this.#tracing = tracing
    this.#facts = facts
    this.#place = place
    this.#readyAt = place.at ?? 0
    this.#waits = new WaitTraces(tracing)
    this.#serviceTools = new ServiceToolTraces(tracing)
    const { name, attributes, measured } = beginningOf(facts)
    this.#measured = measured
    this.#operation = tracing.begin({ parent: place.parent, at: place.at, name, attributes })
    place.open.add(this)
  }

  // Called by a loop that runs here

  around(step: LoopStep, work: () => unknown): void {
    if (!this.#isOpen) work()
    else if (step.type === 'loop') this.#around(this.#operation.context, work, { settled: () => this.cut() })
    else if (step.type === 'toolCall') {
      const tool = this.#tools.get(step.toolCallId)
      tool?.runs(step)
      this.#around(tool?.context ?? this.#operation.context, work, { failed: (error) => tool?.threw(error) })
    } else {
      const chat = new ChatTrace(this.#tracing, this.#facts, step.model, { parent: this.#operation.context })
      this.#chat = chat
      this.#around(chat.context, work, {
        // The contract of the step defines what its work returns.
        done: (answer) => chat.answered((answer as ModelAnswer).message, (answer as ModelAnswer).failure?.code),
        failed: (error) => chat.cut(errorType(error)),
        settled: () => {
          this.#chat = undefined
        },
      })
    }
  }

  request(request: StreamRequest): void {
    this.#chat?.request(request)
  }

  inner(toolCallId?: string): LoopObserver {
    const { open } = this.#place
    return {
      watch: (loop) => {
        if (!this.#isOpen) return undefined
        this.#watched.add(loop.runId)
        return new LoopTrace(this.#tracing, loop, { open, parent: this.#contextOf(toolCallId), isInner: true })
      },
    }
  }

  trace(toolCallId: string): TraceContext | undefined {
    return this.#tools.get(toolCallId)?.trace
  }

  /** Runs `work` in `inside`, and reports its outcome. */
  #around(
    inside: Context,
    work: () => unknown,
    callbacks: { done?: (value: unknown) => void; failed?: (error: unknown) => void; settled?: () => void },
  ): void {
    const tell = (act: (() => void) | undefined) => {
      this.#tracing.quietly(() => act?.())
      callbacks.settled?.()
    }
    let hasRun = false
    // Never throws, because the caller of `work` gets its error.
    const run = (): void => {
      if (hasRun) return
      hasRun = true
      try {
        const value = work()
        if (!(value instanceof Promise)) tell(() => callbacks.done?.(value))
        else
          value.then(
            (settled) => tell(() => callbacks.done?.(settled)),
            (error) => tell(() => callbacks.failed?.(error)),
          )
      } catch (error) {
        tell(() => callbacks.failed?.(error))
      }
    }
    this.#tracing.quietly(() => context.with(inside, run))
    // Run `work` here if the context manager did not run it.
    run()
  }

  // Called with events

  event(event: AgentEvent): void {
    if (event.type === 'messageUpdate' || !this.#isOpen) return
    const at = this.#isRead ? event.at : undefined
    switch (event.type) {
      case 'agentStart':
        this.#operation.set({
          'phi.continuation': event.continuationKind.kind,
          ...(event.parentLoopId !== undefined && { 'phi.parent_loop.id': nameOf(event.parentLoopId) }),
        })
        return
      case 'turnStart':
        this.#readyAt = event.at
        return
      case 'messageStart':
        if (event.message.role === 'assistant') this.#asked()?.begun(at)
        return
      case 'messageEnd':
        this.#recordMessage(event.message, event.at)
        return
      case 'providerRetry':
        this.#asked()?.retried(event, at)
        return
      case 'toolExecutionStart':
        this.#calls(event, at)
        return
      case 'toolExecutionEnd':
        this.#called(event, at)
        return
      case 'backgroundStart':
        this.#background.add(event.toolCallId)
        return
      case 'backgroundEnd':
        this.#cutChildren(event.toolCallId, event.at)
        return
      case 'serviceToolStart':
        this.#serviceTools.started(event, { parent: this.#asked()?.context ?? this.#operation.context, at })
        return
      case 'serviceToolEnd':
        this.#serviceTools.ended(event, at)
        return
      case 'childEvent':
        this.#child(event)
        return
      case 'approvalRequested':
      case 'clientCallRequested':
        // A sub-agent that runs here has its own loop.
        if (event.subAgent !== undefined && !this.#isRead) return
        this.#waits.requested(event, { parent: this.#contextOf(event.subAgent?.toolCallId), at })
        return
      case 'approvalResolved':
      case 'clientCallResolved':
        this.#waits.resolved(event, at)
        return
      case 'compactionStarted':
        this.#waits.compacts(event, { parent: this.#chat?.context ?? this.#operation.context, at })
        return
      case 'compactionEnded':
        this.#readyAt = event.at
        this.#waits.compacted(event, at)
        return
      case 'parallelLoopEnd':
        this.#chosen(event, at)
        return
      case 'agentEnd':
        this.#ended(event, at)
    }
  }

  /** Ends all spans now, because the loop was lost or tracing stops. */
  cut(at?: number): void {
    if (!this.#isOpen) return
    this.#closeInner('_OTHER', at)
    this.#close({ attributes: () => ({ 'phi.trace.cut': true }), at })
  }

  get #isRead(): boolean {
    return this.#place.at !== undefined
  }

  #contextOf(toolCallId: string | undefined): Context {
    const tool = toolCallId === undefined ? undefined : this.#tools.get(toolCallId)
    return tool?.context ?? this.#operation.context
  }

  /** Returns the active model call. A loop that is read has no event for its start. */
  #asked(): ChatTrace | undefined {
    const { model } = this.#facts
    if (this.#isRead && model !== undefined) {
      if (this.#failed !== undefined) this.#chat?.failedAttempt(this.#failed.usage)
      this.#failed = undefined
      this.#chat ??= new ChatTrace(this.#tracing, this.#facts, model, { parent: this.#operation.context, at: this.#readyAt })
    }
    return this.#chat
  }

  #recordMessage(message: AgentMessage, at: number): void {
    if (message.role !== 'assistant') {
      this.#readyAt = at
    } else if (!this.#isRead) {
      // The call is still active, so another attempt follows.
      this.#chat?.failedAttempt(message.usage)
    } else if (message.stopReason === 'error') {
      this.#failed = message
      this.#readyAt = at
    } else {
      this.#asked()?.answered(message, undefined, at)
      this.#chat = undefined
    }
  }

  #calls(event: ToolExecutionStartEvent, at: number | undefined): void {
    this.#tools.get(event.toolCallId)?.cut('_OTHER', at)
    this.#tools.set(event.toolCallId, new ToolTrace(this.#tracing, event, { parent: this.#operation.context, at }))
  }

  #cutChildren(toolCallId: string, at: number): void {
    this.#background.delete(toolCallId)
    this.#children.get(toolCallId)?.cut(at)
    this.#children.delete(toolCallId)
  }

  #called(event: ToolExecutionEndEvent, at: number | undefined): void {
    const { toolCallId } = event
    if (!this.#background.has(toolCallId)) this.#cutChildren(toolCallId, event.at)
    this.#tools.get(toolCallId)?.ended(event, at)
    this.#tools.delete(toolCallId)
  }

  #child({ toolCallId, event }: ChildEvent): void {
    if (this.#watched.has(event.runId)) return
    let loops = this.#children.get(toolCallId)
    if (loops === undefined) {
      const parent = this.#contextOf(toolCallId)
      const { open } = this.#place
      loops = new ReadLoops((facts, at) => new LoopTrace(this.#tracing, facts, { open, parent, at }))
      this.#children.set(toolCallId, loops)
    }
    loops.event(event)
  }

  /** A parallel loop has ended. */
  #chosen({ selectedLoopId, selectedConfigIndex }: ParallelLoopEndEvent, at: number | undefined): void {
    const attributes = () => ({ 'phi.parallel.selected_loop.id': nameOf(selectedLoopId), 'phi.parallel.selected': selectedConfigIndex })
    this.#close({ attributes, at })
  }

  #ended({ status, usage, error, limit, messages, costUsd }: AgentEndEvent, at: number | undefined): void {
    if (costUsd !== undefined && this.#place.isInner !== true) this.#tracing.record('phi.run.cost', costUsd, this.#measured.attributes)
    if (this.#failed !== undefined) this.#chat?.answered(this.#failed, error?.code, this.#readyAt)
    this.#closeInner(cancelled, at)
    const last = messages.findLast((message) => message.role === 'assistant')
    const failure = status === 'error' ? nameOf(error?.code ?? '_OTHER') : status === 'aborted' ? cancelled : undefined
    this.#close({
      attributes: () => ({
        'phi.run.status': status,
        ...(limit !== undefined && limitAttributes(limit)),
        ...usageAttributes(usage),
        ...(last !== undefined && { 'gen_ai.response.finish_reasons': [finishReason(last.stopReason)] }),
        ...(this.#tracing.capturesContent && contentOf(messages, last)),
      }),
      ...(failure !== undefined && { error: { type: failure, message: error?.message } }),
      at,
    })
  }

  /** Ends open inner spans together with the loop. */
  #closeInner(type: string, at: number | undefined): void {
    this.#serviceTools.cut(type, at)
    this.#chat?.cut(type, at)
    this.#chat = undefined
    for (const loops of this.#children.values()) loops.cut(at)
    this.#children.clear()
    for (const tool of this.#tools.values()) tool.cut(type, at)
    this.#tools.clear()
    this.#waits.cut(at)
  }

  #close(ending: Parameters<Operation['end']>[0]): void {
    this.#isOpen = false
    this.#place.open.delete(this)
    const took = this.#operation.end(ending)
    const { name, attributes } = this.#measured
    const failure = ending?.error === undefined ? {} : { 'error.type': ending.error.type }
    if (took !== undefined) this.#tracing.record(name, took, { ...attributes, ...failure })
  }
}
