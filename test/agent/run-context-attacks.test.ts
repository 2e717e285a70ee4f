import { describe, expect, it } from 'vitest'
import { Agent, type AgentOptions, type AgentRun, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { approveWaiting, fastRetry, seen, tool } from '../support/play.ts'

const call = { toolCalls: [{ id: 'c1', name: 'read', arguments: {} }] }
const byTurn: Script = ({ messages }) => (messages.at(-1)?.role === 'toolResult' ? { text: 'Done.' } : call)

/** An agent whose tool records the contexts of its calls. */
function recording(options: Partial<AgentOptions> = {}, needsApproval = false) {
  const contexts: unknown[] = []
  const read = tool('read', (_args, ctx) => String(contexts.push(ctx.context)), { needsApproval })
  const settings = { model: scripted(byTurn), tools: [read], retry: fastRetry, ...options }
  return { settings, agent: new Agent(settings), contexts }
}

/** Leaves the call of this run pending. */
async function leave(agent: Agent, run: AgentRun): Promise<void> {
  await seen(run, 'approvalRequested')
  agent.stopAsking()
  expect((await run.result).status).toBe('paused')
}

/** Approves the pending call of this run. */
async function approved(run: AgentRun): Promise<void> {
  await seen(run, 'approvalRequested')
  approveWaiting(run)
  await run.result
}

describe('context of the last run of an agent', () => {
  it('clears the context when the agent restores a checkpoint of another run', async () => {
    const theirs = recording({}, true)
    await leave(theirs.agent, theirs.agent.prompt('Go.', { context: 'bob' }))
    const { agent, contexts } = recording({}, true)
    await approved(agent.prompt('Go.', { context: 'ada' }))
    agent.restore(theirs.agent.checkpoint())
    await approved(agent.continueLoop())
    expect(contexts).toEqual(['ada', undefined])
  })

  it('keeps the context when the agent restores its own checkpoint', async () => {
    const { agent, contexts } = recording({}, true)
    await leave(agent, agent.prompt('Go.', { context: 'ada' }))
    agent.restore(agent.checkpoint())
    await approved(agent.continueLoop())
    expect(contexts).toEqual(['ada'])
  })

  it('clears the context on reset', async () => {
    const { agent, contexts } = recording()
    await agent.prompt('Go.', { context: 'ada' }).result
    agent.reset()
    agent.appendMessage({ role: 'user', content: 'Go.' })
    await agent.continueLoop().result
    expect(contexts).toEqual(['ada', undefined])
  })

  it('clears the context when the history is replaced', async () => {
    const { agent, contexts } = recording()
    await agent.prompt('Go.', { context: 'ada' }).result
    agent.replaceMessages([{ role: 'user', content: 'Go.' }])
    await agent.continueLoop().result
    expect(contexts).toEqual(['ada', undefined])
  })

  it('passes no context to pending calls left by another process', async () => {
    const store = memorySessionStore()
    const here = recording({ session: store }, true)
    await approved(here.agent.prompt('Go.', { context: 'ada' }))
    await here.agent.close()
    const there = recording({}, true)
    const other = await resumeAgent(store, here.agent.sessionId, there.settings)
    await leave(other, other.prompt('Go.', { context: 'bob' }))
    await other.close()
    here.agent.appendMessage({ role: 'user', content: 'Go on.' })
    await approved(here.agent.continueLoop())
    expect(here.contexts).toEqual(['ada', undefined])
  })

  it('passes no earlier context to a message sent after a failed run', async () => {
    const { agent, contexts } = recording({
      model: scripted([{ fail: { code: 'other', message: 'Down.' } }, call, { text: 'Done.' }]),
      retry: false,
    })
    await agent.prompt('Go.', { context: 'ada' }).result
    await agent.send('Go on.').result
    expect(contexts).toEqual([undefined])
  })
})
