import { describe, expect, it } from 'vitest'
import { exploreBranches, SubAgentTool } from '../../src/agents.ts'
import { Agent, type AgentTool, type JsonObject, resumeAgent, type SessionStore } from '../../src/index.ts'
import { type ScriptedStep, scripted } from '../../src/providers/scripted/index.ts'
import { EventRecorder } from '../../src/rust.ts'
import { type LogDriver, logSessionStore, memoryDriver } from '../../src/session.ts'
import { prunTools, revertTool } from '../../src/tools.ts'
import { add, tool } from '../support/play.ts'

/** A line in the order in which all sessions of a store were written. */
interface Line {
  sessionId: string
  epoch: number
  seq: number
  text: string
}

/** A store whose lines can be seen, and that begins with `lines`: what a process left that was killed after them. */
function storeOf(lines: readonly Line[] = []): { store: SessionStore; lines: Line[] } {
  const kept = [...lines]
  const epochs = new Map<string, number>()
  const of = (sessionId: string) => kept.filter((line) => line.sessionId === sessionId)
  const driver: LogDriver = {
    ...memoryDriver(),
    claim: async (sessionId) => {
      const epoch = of(sessionId).reduce((most, line) => Math.max(most, line.epoch), epochs.get(sessionId) ?? 0) + 1
      epochs.set(sessionId, epoch)
      return { sessionId, epoch, lines: of(sessionId).map(({ text }) => text) }
    },
    append: async ({ sessionId }, added) => {
      for (const line of added) kept.push({ ...line, sessionId })
    },
    release: async () => undefined,
    read: async (sessionId) => (of(sessionId).length === 0 ? undefined : of(sessionId).map(({ text }) => text)),
  }
  return { store: logSessionStore(driver), lines: kept }
}

const filler = 'x'.repeat(400)
const run = (name: string, more: Partial<AgentTool> = {}) => tool(name, () => `${name} ${filler}`, more)
const tools = [run('write'), run('read', { idempotent: true }), run('pay', { needsApproval: true }), ...prunTools(), revertTool()]

const calls = (...list: [id: string, name: string, args?: JsonObject][]): ScriptedStep => ({
  toolCalls: list.map(([id, name, args = {}]) => ({ id, name, arguments: args })),
})
const says = (...texts: string[]) => scripted(texts.map((text) => ({ text })))

const compaction = { keepFirstTurns: 1, keepRecentTurns: 1, maxSummaryTokens: 200 }
const settings = { approvalTimeoutMs: 1, contextConfig: { maxContextTokens: 100_000, compaction } }

/** Calls at once, steering, a follow-up, a prune, a revert that is refused, a compaction, a run that pauses. */
async function longConversation(store: SessionStore): Promise<Agent> {
  const model = scripted([
    calls(['c1', 'write'], ['c2', 'read'], ['c3', 'write']),
    calls(['c4', 'read']),
    calls(['c5', 'prun', { tokens: 50 }]),
    { text: 'one done' },
    { text: 'followed up' },
    calls(['c6', 'write']),
    calls(['c7', 'revert_to_state', { category: 'failure', step: 'n1', summary: 'no' }]),
    { text: 'two done' },
    calls(['c8', 'pay'], ['c9', 'write']),
  ])
  const agent = new Agent({ model, tools, session: store, sessionId: 's', ...settings })
  const first = agent.prompt('first')
  first.followUp('and then?')
  first.steer('hurry')
  expect((await first.result).status).toBe('completed')
  expect((await agent.prompt('second').result).status).toBe('completed')
  expect((await agent.compact().result).status).toBe('completed')
  expect((await agent.prompt('third').result).status).toBe('paused')
  return agent
}

/** Calls begun twice in one session, although that may do harm. */
function repeated(lines: readonly Line[], sessionId: string): string[] {
  const seen = new Set<string>()
  return lines.flatMap((line) => {
    const { type, body, loopId } = JSON.parse(line.text)
    if (line.sessionId !== sessionId || type !== 'toolIntent' || body.idempotent) return []
    const call = `${loopId} ${body.toolCallId}`
    return seen.size === seen.add(call).size ? [call] : []
  })
}

type How = 'send' | 'prompt' | 'continueLoop'

/** Resumes what `lines` hold in a process of its own; gives what is stored afterwards. */
async function goOn(lines: readonly Line[], how: How, { sessionId = 's', loopId }: { sessionId?: string; loopId?: string } = {}) {
  const { store, lines: after } = storeOf(lines)
  const model = says('back', 'more')
  const options = { model, tools: [...tools, run('helper')], ...settings, ...(loopId !== undefined && { loopId }) }
  const agent = await resumeAgent(store, sessionId, options)
  const twin = await resumeAgent(store, sessionId, options)
  expect(twin.messages).toEqual(agent.messages)
  if (how === 'continueLoop' && !isContinuable(agent)) return { after, model }
  const result = await (how === 'continueLoop' ? agent.continueLoop() : agent[how]('go on')).result
  expect(['completed', 'paused'], result.error?.message).toContain(result.status)
  expect(lines.map(({ text }) => JSON.parse(text).loopId)).not.toContain(result.loopId)
  expect(repeated(after, sessionId)).toEqual([])
  expect((await resumeAgent(store, sessionId, { model })).messages).toEqual(agent.messages)
  return { after, model }
}

function isContinuable(agent: Agent): boolean {
  try {
    agent
      .fork({ session: storeOf().store, model: says('') })
      .continueLoop()
      .abort()
    return true
  } catch {
    return false
  }
}

/** What a model was sent, without ids and times. */
function sentTo({ provider }: ReturnType<typeof scripted>): unknown {
  const bare = (key: string, value: unknown) => (['id', 'timestamp', 'turnId', 'at'].includes(key) ? undefined : value)
  return JSON.parse(JSON.stringify(provider.requests[0]?.messages, bare))
}

describe('a session log truncated at any record', () => {
  it('sends an identical request after a prune, a compaction and a pause', async () => {
    const { store, lines } = storeOf()
    const agent = await longConversation(store)
    const left = [...lines]
    const model = says('fine')
    agent.configure({ model })
    await agent.prompt('go on').result
    expect(sentTo((await goOn(left, 'prompt')).model)).toEqual(sentTo(model))
  })

  it('repeats no call and reuses no id after repeated truncations', async () => {
    const { store, lines } = storeOf()
    await longConversation(store)
    for (let cut = 1; cut <= lines.length; cut += 1) {
      for (const how of ['send', 'prompt', 'continueLoop'] as const) {
        const { after } = await goOn(lines.slice(0, cut), how)
        // Every third: the others differ little, and there are many.
        for (let next = cut + (cut % 3); next <= after.length; next += 3) await goOn(after.slice(0, next), 'send')
      }
    }
  })

  it('resumes every loop of branches and sub-agents in a shared store', async () => {
    const { store, lines } = storeOf()
    const helper = (text: string) => {
      const model = scripted([calls(['h1', 'read']), { text }])
      return new SubAgentTool({ name: 'helper', description: 'helps', model, tools, session: store })
    }
    const ask = (id: string): ScriptedStep => calls([id, 'helper', { task: 'look' }], [`${id}b`, 'helper', { task: 'look' }])
    const model = scripted([ask('c1'), { text: 'one' }, { text: 'two' }, { text: 'three' }])
    const agent = new Agent({ model, tools: [helper('found')], session: store, sessionId: 's' })
    await agent.prompt('one').result
    const branches = exploreBranches(agent, [
      { tag: 'x', prompt: 'x', model: scripted([ask('c1'), { text: 'x' }]), tools: [helper('seen')] },
      { tag: 'y', prompt: 'y', model: says('y') },
    ])
    await Promise.all([...branches.map((branch) => branch.run.result), agent.prompt('two').result])
    agent.restore(branches[0]?.agent.checkpoint() ?? agent.checkpoint())
    expect((await agent.prompt('three').result).status).toBe('completed')
    for (let cut = 1; cut <= lines.length; cut += 1) {
      const part = lines.slice(0, cut)
      for (const sessionId of new Set(part.map((line) => line.sessionId))) {
        const { loops } = await storeOf(part).store.load(sessionId)
        for (const { loopId } of loops) await goOn(part, 'send', { sessionId, loopId })
        await goOn(part, 'send', { sessionId })
      }
    }
  })
})

it('stores the same session as an EventRecorder', async () => {
  const { store } = storeOf()
  const recorder = new EventRecorder({ captureTurnRequests: true })
  const model = scripted([
    calls(['c1', 'add', { a: 1, b: 2 }]),
    { text: 'ok' },
    { fail: { code: 'auth', message: 'no' } },
    { text: 'again' },
  ])
  const agent = new Agent({ model, tools: [add], session: store, captureTurnRequests: true })
  agent.subscribe((event) => recorder.accept(event))
  await agent.prompt('one').result
  await agent.prompt('two').result
  await agent.continueLoop().result
  const own = new Set(['createdAt', 'lastActiveAt', 'startedAt', 'endedAt', 'formation', 'scope', 'events'])
  const bare = (session: unknown) => JSON.parse(JSON.stringify(session, (key, value) => (own.has(key) ? undefined : value)))
  expect(bare(await store.load(agent.sessionId))).toEqual(bare(recorder.getSession(agent.sessionId)))
})
