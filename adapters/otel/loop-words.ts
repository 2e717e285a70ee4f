import type { Attributes } from '@opentelemetry/api'
import type { AgentMessage } from '../../src/index.ts'
import { capturedInput, capturedOutput } from './content.ts'
import { type LoopFacts, modelAttributes, nameOf } from './conventions.ts'
import type { InstrumentName } from './tracing.ts'

/** What the duration of a loop is recorded as. */
export interface Measured {
  name: InstrumentName
  attributes: Attributes
}

/** The name of every parallel loop: they have none of their own. */
const parallelLoop = 'parallel_loop'

/** What the span of a loop is called and says from the start, and what it is measured by. */
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

/** What went in, and what came of it. */
export function contentOf(messages: readonly AgentMessage[], last: Extract<AgentMessage, { role: 'assistant' }> | undefined): Attributes {
  const asked = messages.filter((message) => message.role === 'user')
  return {
    ...(asked.length > 0 && { 'gen_ai.input.messages': capturedInput(asked) }),
    ...(last !== undefined && { 'gen_ai.output.messages': capturedOutput(last) }),
  }
}
