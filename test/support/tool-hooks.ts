import { expect } from 'vitest'
import { Agent, type AgentEvent, type AgentOptions, type AgentRun, type JsonObject, type ToolContext, textOf } from '../../src/index.ts'
import type { LoopHooks } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults, unansweredCalls } from './grammar.ts'
import { ofType, tool } from './play.ts'

/** A call of `step`. */
export const call = (id: string, args: JsonObject = { n: 1 }, name = 'step') => ({ id, name, arguments: args })
const numbered = { type: 'object' as const, properties: { n: { type: 'number' as const } }, required: ['n'] }
/** What the model is told when the hook says no. */
export const skipText = 'Tool execution skipped by before_tool_execution hook.'
/** What it is told when the hook fails. */
export const failText = 'Tool execution skipped: the before_tool_execution hook failed.'
/** Lets that many tasks pass. */
export const tasks = async (count = 5) => {
  for (let n = 0; n < count; n += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** What a run with tool hooks may do. */
export interface Setup extends Partial<AgentOptions> {
  ids?: string[]
  needsApproval?: boolean
  execute?: (args: JsonObject, ctx: ToolContext) => Promise<string> | string
  onEvent?: (event: AgentEvent, run: AgentRun) => void
}

/** Runs calls of `step` with hooks; notes with which arguments the tool ran. */
export function start(hooks: LoopHooks, setup: Setup = {}) {
  const { ids = ['c1'], needsApproval = false, execute, onEvent, ...options } = setup
  const ran: JsonObject[] = []
  const step = tool(
    'step',
    (args, ctx) => {
      ran.push(args)
      return execute?.(args, ctx) ?? 'ok'
    },
    { parameters: numbered, needsApproval },
  )
  const model = scripted([{ toolCalls: ids.map((id) => call(id)) }, { text: 'done' }])
  const agent = new Agent({ model, tools: [step], hooks, ...options })
  const run = agent.prompt('go')
  const events: AgentEvent[] = []
  run.subscribe((event) => {
    events.push(event)
    onEvent?.(event, run)
  })
  return { agent, events, ran, run, model }
}

/** As `start`, to the end, with the order of events checked. */
export async function hooked(hooks: LoopHooks, setup: Setup = {}) {
  const started = start(hooks, setup)
  const result = await started.run.result
  expect(grammarFaults(started.events)).toEqual([])
  if (result.status !== 'paused') expect(unansweredCalls(started.agent.messages)).toEqual([])
  return { ...started, result, results: ofType(started.events, 'toolExecutionEnd').map((event) => textOf(event.result.content)) }
}

/** Approves whatever is asked. */
export const approving = (event: AgentEvent, run: AgentRun) => void (event.type === 'approvalRequested' && run.approve(event))
/** Denies whatever is asked. */
export const denying = (event: AgentEvent, run: AgentRun) => void (event.type === 'approvalRequested' && run.deny(event.toolCallId, 'no'))
/** The events of calls and approvals, in short. */
export const order = (events: AgentEvent[]) => events.map(({ type }) => type).filter((type) => /approval|toolExecution/.test(type))
