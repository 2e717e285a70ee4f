import { describe, expect, it } from 'vitest'
import { SubAgentTool } from '../../../src/agents.ts'
import { argumentsHash } from '../../../src/base/hash.ts'
import { Agent, type AgentEvent, defineTool, type JsonObject } from '../../../src/index.ts'
import type { LoopHooks } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../src/tools.ts'
import { approve, asked, changed, editedBy, followed, note, parameters, shown, told } from '../../support/approval-edits.ts'
import { unansweredCalls } from '../../support/grammar.ts'
import { ofType } from '../../support/play.ts'

describe('edited arguments and beforeToolExecution', () => {
  it('passes the edited arguments to the hook', async () => {
    const seen: JsonObject[] = []
    const hooks: LoopHooks = { beforeToolExecution: ({ args }) => seen.push(args) > 0 }
    const { ran } = await asked({ hooks, onAsk: approve({ arguments: changed }) })
    expect([seen, ran]).toEqual([[changed], [changed]])
  })

  it('lets the hook reject the edited arguments', async () => {
    const hooks: LoopHooks = { beforeToolExecution: ({ args }) => args.to !== changed.to }
    const { ran, events } = await asked({ hooks, onAsk: approve({ arguments: changed }) })
    expect([ran, told(events)]).toEqual([[], ['Tool execution skipped by before_tool_execution hook.']])
  })

  it('runs the requesting hook again with the edited arguments, without a second approval request', async () => {
    const seen: JsonObject[] = []
    const hooks: LoopHooks = {
      beforeToolExecution: ({ args, requestApproval }) => {
        seen.push(args)
        return requestApproval()
      },
    }
    const { ran, events } = await asked({ hooks, needsApproval: () => false, onAsk: approve({ arguments: changed }) })
    expect([seen, ran]).toEqual([[shown, changed], [changed]])
    expect(ofType(events, 'approvalRequested')).toHaveLength(1)
    expect(told(events)).toEqual([`sent 1${note(changed)}`])
  })

  it('lets the requesting hook reject the edited arguments', async () => {
    const hooks: LoopHooks = {
      beforeToolExecution: async ({ args, requestApproval }) => (args.to === changed.to ? false : requestApproval()),
    }
    const { ran } = await asked({ hooks, needsApproval: () => false, onAsk: approve({ arguments: changed }) })
    expect(ran).toEqual([])
  })

  it('requests approval again if the hook replaces the edited arguments', async () => {
    const seen: JsonObject[] = []
    const hooks: LoopHooks = {
      beforeToolExecution: ({ args }) => {
        seen.push(args)
        return args.copies === 3 ? undefined : { arguments: { ...args, copies: 7 } }
      },
    }
    const { ran, events, agent } = await asked({
      hooks,
      onAsk: (event, run) => run.approve(event, { arguments: event.args.copies === 7 ? { to: 'c', copies: 3 } : changed }),
    })
    expect(ofType(events, 'approvalRequested').map(({ args }) => args)).toEqual([shown, { ...changed, copies: 7 }])
    expect([seen, ran]).toEqual([[changed, { to: 'c', copies: 3 }], [{ to: 'c', copies: 3 }]])
    expect(agent.messages).toContainEqual(expect.objectContaining({ edited: editedBy({ to: 'c', copies: 3 }) }))
  })

  it('does not report an edit that the hook replaced', async () => {
    const hooks: LoopHooks = { beforeToolExecution: () => ({ arguments: { to: 'hook' } }) }
    const { ran, agent } = await asked({
      hooks,
      onAsk: (event, run) => (event.args.to === 'hook' ? run.approve(event) : run.approve(event, { arguments: changed })),
    })
    expect(ran).toEqual([{ to: 'hook' }])
    expect(JSON.stringify(agent.messages)).not.toContain('edited')
  })
})

describe('edited arguments of sub-agents and client tools', () => {
  it("edits a sub-agent's call from the parent run", async () => {
    const ran: JsonObject[] = []
    const send = defineTool({
      name: 'send',
      description: 'Sends.',
      parameters,
      needsApproval: true,
      execute: (args) => `sent ${ran.push(args)}`,
    })
    const childModel = scripted([{ toolCalls: [{ id: 'x1', name: 'send', arguments: shown }] }, { text: 'child done' }])
    const helper = new SubAgentTool({ name: 'helper', description: 'Helps.', model: childModel, tools: [send] })
    const agent = new Agent({
      model: scripted([{ toolCalls: [{ id: 'p1', name: 'helper', arguments: { task: 'Send.' } }] }, { text: 'done' }]),
      tools: [helper],
    })
    const { events, failures } = await followed(agent.prompt('go'), async (event, run) => {
      expect(JSON.stringify(event)).not.toContain('checkEdit')
      await expect(run.approve(event, { arguments: { to: 1 } })).rejects.toMatchObject({ code: 'invalidOption' })
      return run.approve(event, { arguments: changed, by: 'ada' })
    })
    expect([failures, ran]).toEqual([[], [changed]])
    expect(ofType(events, 'approvalResolved')).toMatchObject([{ by: 'ada', subAgent: { toolName: 'helper' }, edited: editedBy(changed) }])
    expect(childModel.provider.requests[1]?.messages.at(-1)).toMatchObject({ content: [{ text: 'sent 1' }, { text: note(changed) }] })
    expect(unansweredCalls(agent.messages)).toEqual([])
  })

  it('passes the edited arguments to the client, even after a pause', async () => {
    const theme = { ...clientTool({ name: 'set_theme', description: 'Sets.', parameters }), needsApproval: true }
    const model = scripted([{ toolCalls: [{ id: 'c1', name: 'set_theme', arguments: shown }] }, { text: 'done' }])
    const agent = new Agent({ model, tools: [theme] })
    const first = agent.prompt('go')
    const { events } = await followed(first, async (event, run) => {
      await run.approve(event, { arguments: changed, by: 'ada' })
      agent.stopAsking()
    })
    const edited = editedBy(changed, { by: 'ada' })
    expect(ofType(events, 'clientCallRequested')).toMatchObject([{ args: changed, argumentsHash: argumentsHash(changed), edited }])
    expect((await first.result).status).toBe('paused')
    const again = new Agent({ model, tools: [theme], messages: JSON.parse(JSON.stringify(agent.messages)) })
    expect(again.pendingClientCalls()).toMatchObject([{ args: changed, edited }])
    const later: AgentEvent[] = []
    const run = again.continueLoop()
    for await (const event of run) {
      later.push(event)
      if (event.type === 'clientCallRequested') await run.answerCall(event, { output: 'dark' })
    }
    expect(ofType(later, 'approvalRequested')).toEqual([])
    expect(ofType(later, 'toolExecutionStart')).toMatchObject([{ args: changed }])
    expect(again.messages).toContainEqual(expect.objectContaining({ role: 'toolResult', edited }))
  })
})
