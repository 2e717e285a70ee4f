import { expect } from 'vitest'
import { argumentsHash } from '../../src/base/hash.ts'
import { Agent, type AgentEvent, type AgentOptions, type AgentRun, defineTool, type JsonObject, textOf } from '../../src/index.ts'
import type { ApprovalRequestedEvent, ApproveOptions } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults } from './grammar.ts'
import { ofType } from './play.ts'

/** Arguments of the model. */
export const shown = { to: 'ada@example.org', copies: 1 }
/** Arguments of the user. */
export const changed = { to: 'bob@example.org', copies: 2 }
/** What the model is told. */
export const note = (args: JsonObject) => `\n\n[The user changed the arguments: ${JSON.stringify(args)}]`
/** Parameters of `send`. */
export const parameters = {
  type: 'object' as const,
  properties: { to: { type: 'string' as const }, copies: { type: 'integer' as const } },
  required: ['to'],
}

/** A run with a call of `send`. */
export interface Setup extends Partial<AgentOptions> {
  onAsk: (event: ApprovalRequestedEvent, run: AgentRun) => unknown
  needsApproval?: (args: JsonObject) => boolean
}

/** Runs a call that needs an approval; `onAsk` decides. Returns the arguments that ran, and what decisions rejected with. */
export async function asked({ onAsk, needsApproval, ...options }: Setup) {
  const ran: JsonObject[] = []
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    parameters,
    needsApproval: needsApproval ?? true,
    execute: (args) => `sent ${ran.push(args)}`,
  })
  const model = scripted([{ toolCalls: [{ id: 'c1', name: 'send', arguments: shown }] }, { text: 'done' }])
  const agent = new Agent({ model, tools: [send], ...options })
  const run = agent.prompt('go')
  const { events, failures } = await followed(run, onAsk)
  return { agent, run, ran, model, events, failures, result: await run.result }
}

/** Runs to the end; calls `onAsk` with each approval request. */
export async function followed(run: AgentRun, onAsk: Setup['onAsk']) {
  const events: AgentEvent[] = []
  const failures: unknown[] = []
  for await (const event of run) {
    events.push(event)
    if (event.type !== 'approvalRequested') continue
    try {
      await onAsk(event, run)
    } catch (error) {
      failures.push(error)
      run.deny(event, 'gave up')
    }
  }
  expect(grammarFaults(events)).toEqual([])
  return { events, failures }
}

/** Approves with options. */
export const approve = (options: ApproveOptions) => (event: ApprovalRequestedEvent, run: AgentRun) => run.approve(event, options)
/** The record of an edit. */
export const editedBy = (args: JsonObject, more: Partial<ApproveOptions> = {}) => ({
  arguments: args,
  argumentsHash: argumentsHash(args),
  ...more,
})
/** Texts of the results. */
export const told = (events: readonly AgentEvent[]) => ofType(events, 'toolExecutionEnd').map((event) => textOf(event.result.content))
