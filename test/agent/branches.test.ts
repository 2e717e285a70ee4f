import { describe, expect, it } from 'vitest'
import { type Branch, exploreBranches } from '../../src/agents.ts'
import { Agent, type AgentEvent, type AgentOptions, userMessage } from '../../src/index.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults } from '../support/grammar.ts'
import { longHistory, requestText } from '../support/long-history.ts'
import { add, fastRetry, gate, ofType, seen } from '../support/play.ts'

function agentOn(script: Script, options: Partial<AgentOptions> = {}): Agent {
  return new Agent({ model: scripted(script), retry: fastRetry, ...options })
}

/** An agent that has answered one prompt; its branches answer on models of their own. */
async function origin(options: Partial<AgentOptions> = {}) {
  const agent = agentOn([{ text: 'answer' }, { text: 'later' }, { text: 'latest' }], { systemPrompt: 'rules', tools: [add], ...options })
  await agent.prompt('question').result
  return agent
}

const says = (tag: string) => ({ tag, prompt: `say ${tag}`, model: scripted([{ text: tag }, { text: `${tag} again` }]) })

async function eventsOf(branches: readonly Branch[]): Promise<AgentEvent[][]> {
  return Promise.all(
    branches.map(async ({ run }) => {
      const events: AgentEvent[] = []
      for await (const event of run) events.push(event)
      return events
    }),
  )
}

describe('exploreBranches', () => {
  it('runs each continuation on a separate agent identified by its tag', async () => {
    const agent = await origin()
    const parent = agent.lastLoopId
    const branches = exploreBranches(agent, [says('a'), says('b'), says('c')])
    const events = await eventsOf(branches)
    for (const each of events) expect(grammarFaults(each)).toEqual([])
    expect(branches.map(({ tag }) => tag)).toEqual(['a', 'b', 'c'])
    expect(await Promise.all(branches.map(({ run }) => run.text()))).toEqual(['a', 'b', 'c'])
    expect(events.map((each) => ofType(each, 'agentStart')[0])).toMatchObject(
      ['a', 'b', 'c'].map((tag) => ({
        continuationKind: { kind: 'branch', tag },
        parentLoopId: parent,
        agentId: agent.agentId,
        sessionId: agent.sessionId,
      })),
    )
    expect(events.map((each) => ofType(each, 'turnStart')[0]?.triggeredBy)).toEqual(['branch', 'branch', 'branch'])
  })

  it('leaves the agent and the other branches unchanged', async () => {
    const agent = await origin()
    const before = agent.checkpoint()
    const branches = exploreBranches(agent, [says('a'), { ...says('b'), systemPrompt: 'other rules', tools: [] }])
    await eventsOf(branches)
    expect({ ...agent.checkpoint(), createdAt: 0, loopCounts: {} }).toEqual({ ...before, createdAt: 0, loopCounts: {} })
    expect([agent.settings.systemPrompt, agent.isStreaming]).toEqual(['rules', false])
    expect(branches.map(({ agent: fork }) => [fork.settings.systemPrompt, fork.settings.tools?.length, fork.messages.length])).toEqual([
      ['rules', 1, 4],
      ['other rules', 0, 4],
    ])
    // What they have in common is the same objects: encoded once.
    for (const { agent: fork } of branches) expect(fork.messages[0]).toBe(agent.messages[0])
  })

  it('sends the history unchanged without a prompt', async () => {
    const agent = agentOn([])
    agent.appendMessage(userMessage('unanswered'))
    const branches = exploreBranches(agent, [
      { tag: 'a', model: scripted([{ text: 'one' }]) },
      { tag: 'b', model: scripted([{ text: 'two' }]), messages: [userMessage('something else')] },
    ])
    expect(await Promise.all(branches.map(({ run }) => run.text()))).toEqual(['one', 'two'])
    const [a, b] = branches.map(({ agent: fork }) => JSON.stringify(fork.messages))
    expect(a).toContain('unanswered')
    expect(b).not.toContain('unanswered')
    expect(b).toContain('something else')
    expect((await eventsOf(branches)).map((each) => ofType(each, 'agentStart')[0]?.continuationKind.kind)).toEqual(['branch', 'branch'])
  })

  it('assigns unique loop ids across a session, including nested branches', async () => {
    const agent = await origin()
    const ids = [agent.lastLoopId]
    const spec = (tag: string) => ({ tag, prompt: tag })
    const branches = exploreBranches(agent, [spec('a'), spec('b')])
    const nested = exploreBranches(agent, [spec('c')])
    await eventsOf([...branches, ...nested])
    for (const { run } of [...branches, ...nested]) ids.push(run.loopId)
    for (const each of [...branches, ...nested, { agent }]) ids.push((await each.agent.prompt('later').result).loopId)
    const inner = branches.flatMap(({ agent: fork }) => exploreBranches(fork, [spec('x'), spec('y')]))
    await eventsOf(inner)
    for (const { run } of inner) ids.push(run.loopId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(12)
  })

  it('assigns unique loop ids after the agent adopts a branch', async () => {
    const agent = await origin()
    const [a, b] = exploreBranches(agent, [says('a'), says('b')])
    if (a === undefined || b === undefined) throw new Error('two branches expected')
    await eventsOf([a, b])
    agent.restore(a.agent.checkpoint())
    expect(agent.messages).toEqual(a.agent.messages)
    const later = [
      (await agent.prompt('on').result).loopId,
      (await b.agent.prompt('on').result).loopId,
      (await a.agent.prompt('on').result).loopId,
    ]
    expect(new Set([a.run.loopId, b.run.loopId, ...later]).size).toBe(5)
  })

  it('compacts each branch separately', async () => {
    const agent = agentOn([], { messages: longHistory(20, 100) })
    await agent.compact().result
    const models = [scripted([{ text: 'a' }]), scripted([{ text: 'b' }])]
    const branches = exploreBranches(
      agent,
      models.map((model, at) => ({ tag: `${at}`, prompt: 'go', model })),
    )
    await eventsOf(branches)
    for (const model of models) expect(requestText(model.provider.requests[0])).not.toContain('answer old-5;')
    const { state } = agent.checkpoint()
    for (const message of longHistory(20, 100, 'new')) branches[0]?.agent.appendMessage(message)
    await branches[0]?.agent.compact().result
    expect(branches[0]?.agent.checkpoint().state).not.toEqual(state)
    expect(branches[1]?.agent.checkpoint().state).toEqual(state)
    expect(agent.checkpoint().state).toEqual(state)
  })

  it('aborts all branches with one signal, or a single branch alone', async () => {
    const agent = await origin()
    const closed = gate()
    const held = (tag: string) => ({ tag, prompt: tag, model: scripted([{ text: tag }], { gate: () => closed.opened }) })
    const controller = new AbortController()
    const branches = exploreBranches(agent, [held('a'), held('b'), held('c')], { signal: controller.signal })
    await Promise.all(branches.map(({ run }) => seen(run, 'messageEnd')))
    branches[0]?.run.abort()
    expect((await branches[0]?.run.result)?.status).toBe('aborted')
    expect(branches.map(({ agent: fork }) => fork.isStreaming)).toEqual([false, true, true])
    controller.abort()
    expect(await Promise.all(branches.map(async ({ run }) => (await run.result).status))).toEqual(['aborted', 'aborted', 'aborted'])
    expect((await agent.prompt('still here').result).status).toBe('completed')
  })

  it('does not affect other branches if one fails', async () => {
    const agent = await origin()
    const fails = { tag: 'bad', prompt: 'x', model: scripted([{ fail: { code: 'api', message: 'down' } }]) }
    const branches = exploreBranches(agent, [fails, says('good')])
    expect(await Promise.all(branches.map(async ({ run }) => (await run.result).status))).toEqual(['error', 'completed'])
  })

  it('starts no branch if any is invalid', async () => {
    const agent = await origin()
    const first = says('a')
    // The history ends with an answer: there is nothing to continue.
    expect(() => exploreBranches(agent, [first, { tag: 'b' }])).toThrow(expect.objectContaining({ code: 'trailingAssistant' }))
    expect(() => exploreBranches(agent, [first, { tag: 'b', prompt: ' ' }])).toThrow(expect.objectContaining({ code: 'emptyPrompt' }))
    await agent.prompt('later').result
    expect(first.model.provider.requests).toEqual([])
  })

  it('returns an empty list if there are no branches', async () => {
    expect(exploreBranches(await origin(), [])).toEqual([])
  })
})

it('shares resources between branches', async () => {
  const looping = () =>
    Array.from({ length: 20 }, () => ({ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }], usage: { input: 100 } }))
  const agent = new Agent({ model: scripted([]), tools: [add] })
  const specs = ['a', 'b'].map((tag) => ({ tag, prompt: 'go', model: scripted(looping()) }))
  const branches = exploreBranches(agent, specs, { limits: { maxTotalTokens: 600 } })
  const results = await Promise.all(branches.map(({ run }) => run.result))
  expect(results.map(({ status }) => status)).toEqual(['limit', 'limit'])
  expect(results.reduce((sum, { usage }) => sum + usage.input, 0)).toBeLessThanOrEqual(700)
})
