import type { Attributes } from '@opentelemetry/api'
import type { AgentEvent, AgentMessage } from '../../src/index.ts'
import { capturedInput, capturedOutput } from './content.ts'
import { type LoopFacts, modelAttributes, nameOf } from './conventions.ts'
import type { InstrumentName } from './tracing.ts'

/** The trace of a loop that is read from events. */
export interface ReadTrace {
  event(event: AgentEvent): void
  /** Ends the trace now. */
  cut(at?: number): void
}

/**
 * Loops that are known only from their events, such as those of a remote session or those started by a tool. Each is traced from its
 * `agentStart` to its `agentEnd`. A loop whose start was not seen is not traced.
 */
export class ReadLoops {
  readonly #begin: (facts: LoopFacts, at: number) => ReadTrace
  readonly #open = new Map<string, ReadTrace>()

  constructor(begin: (facts: LoopFacts, at: number) => ReadTrace) {
    this.#begin = begin
  }

  event(event: AgentEvent): void {
    const { runId, at } = event
    if (event.type === 'agentStart' && !this.#open.has(runId)) {
      const { loopId, sessionId, agentId, agentName, configSnapshot } = event
      const { model: id, provider, api, baseUrl } = configSnapshot
      const model = { id, provider, api, baseUrl }
      const facts = { runId, loopId, sessionId, agentId, ...(agentName !== undefined && { agentName }), model }
      this.#open.set(runId, this.#begin(facts, at))
    }
    this.#open.get(runId)?.event(event)
    if (event.type === 'agentEnd') this.#open.delete(runId)
  }

  /** Ends open traces, except the trace of the run `except`. */
  cut(at?: number, except?: string): void {
    for (const [runId, trace] of this.#open) {
      if (runId === except) continue
      trace.cut(at)
      this.#open.delete(runId)
    }
  }
}

/** Metrics for a loop's duration. */
export interface Measured {
  name: InstrumentName
  attributes: Attributes
}

/** The name of all parallel loops, which have no name of their own. */
const parallelLoop = 'parallel_loop'

/** Returns the name, initial attributes and metrics of a loop's span. */
export function beginningOf({ agentName, model, sessionId, agentId, runId, loopId }: LoopFacts) {
  const ids = { 'gen_ai.conversation.id': nameOf(sessionId), 'phi.run.id': nameOf(runId), 'phi.loop.id': nameOf(loopId) }
  if (model === undefined) {
    const named = { 'gen_ai.workflow.name': parallelLoop }
    const attributes: Attributes = { 'gen_ai.operation.name': 'invoke_workflow', ...named, ...ids }
    const measured: Measured = { name: 'gen_ai.workflow.duration', attributes: named }
    return { name: `invoke_workflow ${parallelLoop}`, attributes, measured }
  }
  const named = agentName === undefined ? {} : { 'gen_ai.agent.name': nameOf(agentName) }
  const asked = { ...named, ...modelAttributes(model), 'gen_ai.agent.id': nameOf(agentId) }
  const attributes: Attributes = { 'gen_ai.operation.name': 'invoke_agent', ...asked, ...ids }
  const measured: Measured = { name: 'gen_ai.invoke_agent.duration', attributes: { ...named, 'gen_ai.request.model': nameOf(model.id) } }
  return { name: agentName === undefined ? 'invoke_agent' : `invoke_agent ${nameOf(agentName)}`, attributes, measured }
}

/** Returns input and output as attributes. */
export function contentOf(messages: readonly AgentMessage[], last: Extract<AgentMessage, { role: 'assistant' }> | undefined): Attributes {
  const asked = messages.filter((message) => message.role === 'user')
  return {
    ...(asked.length > 0 && { 'gen_ai.input.messages': capturedInput(asked) }),
    ...(last !== undefined && { 'gen_ai.output.messages': capturedOutput(last) }),
  }
}
