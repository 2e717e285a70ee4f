import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Agent, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const model = scripted(() => ({ text: 'ok' }))

afterEach(() => vi.restoreAllMocks())

describe('one conversation per Agent', () => {
  it('explains to a second user that a shared agent is one conversation', async () => {
    const agent = new Agent({ model })
    const ada = agent.prompt('My PIN is 1234.')
    expect(() => agent.prompt('What do you know?')).toThrow(
      /^This agent is already running\. An Agent is one conversation: create one per user or chat\..*steer\(\)/,
    )
    await ada.result
  })

  it.each([
    'README.md',
    'docs/concepts/agent-and-run.md',
    'docs/migrate/openai-agents.md',
    'docs/migrate/ai-sdk.md',
    'docs/start/server.md',
  ])('documents in %s that an agent represents one conversation', (page) => {
    expect(readFileSync(page, 'utf8')).toMatch(/an `?agent`? represents one conversation/i)
  })
})

describe('sessionId without a store', () => {
  const warned = () => {
    const events: string[] = []
    return { events, logger: { warn: (event: string) => void events.push(event) } }
  }

  it('warns once, in the first run, that the session is not stored', async () => {
    const { events, logger } = warned()
    const agent = new Agent({ model, sessionId: 'ada', logger })
    expect(events).toEqual([])
    await agent.prompt('one').text()
    await agent.prompt('two').text()
    await agent.fork().prompt('three').text()
    expect(events).toEqual(['sessionNotStored'])
  })

  it('prints the solution to the console', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    // The console hears a line once per process: other files may have had theirs.
    vi.resetModules()
    const { Agent } = await import('../../src/index.ts')
    for (const sessionId of ['ada', 'bob']) await new Agent({ model, sessionId }).prompt('hi').text()
    expect(warn.mock.calls).toEqual([
      [
        expect.stringMatching(
          /sessionNotStored\. The agent has a sessionId but no store.*Pass a store as session, or create the agent with resumeAgent/,
        ),
      ],
    ])
  })

  it.each([
    ['a store', () => new Agent({ model, sessionId: 'ada', session: memorySessionStore(), logger: silent })],
    ['a journal', () => new Agent({ model, sessionId: 'ada', journal: { append: async () => undefined }, logger: silent })],
    ['no sessionId', () => new Agent({ model, logger: silent })],
    ['resumeAgent', () => resumeAgent(memorySessionStore(), 'ada', { model, create: true, logger: silent })],
    ['a store configured later', () => withLateStore()],
  ])('logs no warning with %s', async (_, agentOf) => {
    silent.warn.mockClear()
    await (await agentOf()).prompt('hi').text()
    expect(silent.warn).not.toHaveBeenCalled()
  })
})

const silent = { warn: vi.fn() }

function withLateStore(): Agent {
  const agent = new Agent({ model, sessionId: 'ada', logger: silent })
  agent.configure({ session: memorySessionStore() })
  return agent
}
