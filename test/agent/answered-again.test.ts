import { describe, expect, it } from 'vitest'
import { Agent, type Model, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

/** Two models, and what each was asked. */
function models() {
  const asked: string[] = []
  const named = (name: string): Model =>
    scripted(({ temperature, thinking }) => {
      asked.push(`${name} ${temperature ?? '-'} ${thinking}`)
      return { text: name }
    })
  const settings = { model: named('fast'), choices: { models: { deep: named('deep') } } }
  return { asked, settings }
}

const sent = { model: 'deep', temperature: 0.5, thinking: 'high' } as const

/** Says three things, the second one to the other model; resolves with the id of that. */
async function talk(agent: Agent): Promise<string> {
  await agent.prompt('one').text()
  await agent.prompt('two', sent).text()
  await agent.prompt('three').text()
  const said = agent.messages.filter(({ role }) => role === 'user')
  return said[1]?.id ?? ''
}

describe.each(['regenerate', 'editAndResend'] as const)('%s', (method) => {
  const again = (agent: Agent, id: string, options = {}) =>
    method === 'regenerate' ? agent.regenerate({ messageId: id, ...options }) : agent.editAndResend(id, 'two again', options)

  it.each<[string, (agent: Agent, settings: ReturnType<typeof models>['settings']) => Promise<Agent> | Agent]>([
    ['immediately', (agent) => agent],
    ['in a fork', (agent) => agent.fork()],
    ['in a copy', (agent) => agent.with({ temperature: 1 })],
    ['after a snapshot', (agent, settings) => restored(agent.checkpoint(), settings)],
  ])("restores the message's model and settings: %s", async (_, goOn) => {
    const { asked, settings } = models()
    const agent = new Agent(settings)
    const id = await talk(agent)
    asked.length = 0
    const next = await goOn(agent, settings)
    expect(await again(next, id).text()).toBe('deep')
    expect(asked).toEqual(['deep 0.5 high'])
  })

  it("restores the message's model and settings after two reloads", async () => {
    const { asked, settings } = models()
    const session = memorySessionStore()
    const agent = new Agent({ ...settings, session, sessionId: 's' })
    let id = await talk(agent)
    for (const _ of [1, 2]) {
      const next = await resumeAgent(session, 's', settings)
      asked.length = 0
      expect(await again(next, id).text()).toBe('deep')
      expect(asked).toEqual(['deep 0.5 high'])
      id = next.messages.findLast(({ role }) => role === 'user')?.id ?? ''
    }
  })

  it("prefers the caller's options to stored settings", async () => {
    const { asked, settings } = models()
    const agent = new Agent(settings)
    const id = await talk(agent)
    const last = agent.messages.findLast(({ role }) => role === 'user')?.id ?? ''
    asked.length = 0
    await again(agent, last).text()
    await again(agent, id, { temperature: 1 }).text()
    expect(asked).toEqual(['fast - off', 'deep 1 high'])
    await agent.prompt('four').text()
    expect(asked.at(-1)).toBe('fast - off')
  })
})

function restored(snapshot: ReturnType<Agent['checkpoint']>, settings: ReturnType<typeof models>['settings']): Agent {
  const agent = new Agent(settings)
  agent.restore(JSON.parse(JSON.stringify(snapshot)))
  return agent
}
