import { describe, expect, it } from 'vitest'
import { Agent, type AgentTool, memorySessionStore, resumeAgent, type SessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { sessionFromSpecJson, sessionToSpecJson } from '../../src/rust.ts'
import { parseSession } from '../../src/session.ts'
import { approveWaiting, gate, seen, tool } from '../support/play.ts'

const says = (...texts: string[]) => scripted(texts.map((text) => ({ text })))
const toolCall = (id: string, name: string) => ({ id, name, arguments: {} })

/** Ways for a session to get from one store into another. */
const ways: Record<string, (from: SessionStore, to: SessionStore) => Promise<void>> = {
  'as a tree': async (from, to) => to.save(await from.load('s')),
  'as JSON': async (from, to) => to.save(parseSession(JSON.stringify(await from.load('s')))),
  'as a file of the Rust crate': async (from, to) => to.save(sessionFromSpecJson(sessionToSpecJson(await from.load('s')))),
  twice: async (from, to) => {
    const between = memorySessionStore()
    await between.save(await from.load('s'))
    await to.save(await between.load('s'))
  },
}

/** The process ends while these tools run: nobody hears of the agent again. */
async function cutOff(
  store: SessionStore,
  tools: AgentTool[],
  options: { calls: ReturnType<typeof toolCall>[]; until: Promise<void> | 'asked' },
) {
  const agent = new Agent({ model: scripted([{ toolCalls: options.calls }]), tools, session: store, sessionId: 's' })
  const run = agent.prompt('do it')
  if (options.until === 'asked') await seen(run, 'approvalRequested')
  else await options.until
}

function hanging(name: string, more: Partial<AgentTool> = {}) {
  const begun = gate()
  const hang = tool(
    name,
    () => {
      begun.open()
      return new Promise<string>(() => undefined)
    },
    more,
  )
  return { hang, begun: begun.opened }
}

describe.each(Object.entries(ways))('a session transferred %s', (_, handOver) => {
  it('keeps pending approvals from a process that ended', async () => {
    const [from, to] = [memorySessionStore(), memorySessionStore()]
    const pay = (ran: string[] = []) => tool('pay', () => `paid ${ran.push('x')}`, { needsApproval: true })
    await cutOff(from, [pay()], { calls: [toolCall('c1', 'pay')], until: 'asked' })
    await handOver(from, to)
    const ran: string[] = []
    const agent = await resumeAgent(to, 's', { model: says('done'), tools: [pay(ran)] })
    expect(agent.pendingApprovals().map(({ toolCallId }) => toolCallId)).toEqual(['c1'])
    const run = agent.continueLoop()
    await seen(run, 'approvalRequested')
    approveWaiting(run)
    expect([(await run.result).text, ran]).toEqual(['done', ['x']])
  })

  it('keeps pending approvals from a paused run', async () => {
    const [from, to] = [memorySessionStore(), memorySessionStore()]
    const pay = tool('pay', () => 'paid', { needsApproval: true })
    const first = new Agent({
      ...{ model: scripted([{ toolCalls: [toolCall('c1', 'pay')] }]), tools: [pay], session: from, sessionId: 's' },
      approvalTimeoutMs: 1,
    })
    const { pendingApprovals } = await first.prompt('pay').result
    await first.close()
    await handOver(from, to)
    const agent = await resumeAgent(to, 's', { model: says('done'), tools: [pay] })
    expect(agent.pendingApprovals()).toEqual(pendingApprovals)
  })

  it('runs only idempotent and unstarted calls', async () => {
    const [from, to] = [memorySessionStore(), memorySessionStore()]
    const [safe, risky] = [hanging('safe', { idempotent: true }), hanging('risky')]
    const calls = [toolCall('c1', 'safe'), toolCall('c2', 'risky'), toolCall('c3', 'asks')]
    const asks = tool('asks', () => 'asked', { needsApproval: true })
    await cutOff(from, [safe.hang, risky.hang, asks], { calls, until: Promise.all([safe.begun, risky.begun]).then(() => undefined) })
    await handOver(from, to)
    const ran: string[] = []
    const tools = ['safe', 'risky'].map((name) => tool(name, () => `ran ${ran.push(name)}`, { idempotent: name === 'safe' }))
    const direct = await resumeAgent(from, 's', { model: says('done'), tools: [...tools, asks] })
    const agent = await resumeAgent(to, 's', { model: says('done'), tools: [...tools, asks] })
    const timeless = ({ messages }: Agent) => messages.map((message) => ({ ...message, timestamp: 0 }))
    expect(timeless(agent)).toEqual(timeless(direct))
    expect(agent.pendingApprovals().map(({ toolCallId }) => toolCallId)).toEqual(['c3'])
    const run = agent.continueLoop()
    await seen(run, 'approvalRequested')
    approveWaiting(run)
    expect([(await run.result).text, ran]).toEqual(['done', ['safe']])
    const again = await resumeAgent(to, 's', { model: says() })
    expect(again.messages).toEqual(agent.messages)
  })

  it('runs an idempotent call after a second interruption', async () => {
    const [from, to] = [memorySessionStore(), memorySessionStore()]
    const first = hanging('safe', { idempotent: true })
    await cutOff(from, [first.hang], { calls: [toolCall('c1', 'safe')], until: first.begun })
    const second = hanging('safe', { idempotent: true })
    const middle = await resumeAgent(from, 's', { model: says(), tools: [second.hang] })
    middle.continueLoop()
    await second.begun
    await handOver(from, to)
    const agent = await resumeAgent(to, 's', { model: says('done'), tools: [tool('safe', () => 'ran', { idempotent: true })] })
    expect((await agent.continueLoop().result).text).toBe('done')
    expect(agent.messages.find(({ role }) => role === 'toolResult')).toMatchObject({ isError: false })
  })
})
