import { describe, expect, it } from 'vitest'
import { asTool, parallel } from '../../src/agents.ts'
import { emptyUsage } from '../../src/context.ts'
import { Agent, AgentBusyError, defineTool, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const calls = (name: string, args: object) => ({ toolCalls: [{ name, arguments: { ...args } }] })

const look = defineTool({ name: 'look', description: 'Looks.', parameters: { type: 'object' }, execute: () => 'seen' })

describe('asTool', () => {
  it('runs an agent as a tool with its model, prompt and tools', async () => {
    const prompts: string[] = []
    const model = scripted((request) => {
      prompts.push(request.systemPrompt ?? '')
      return request.messages.at(-1)?.role === 'toolResult' ? { text: 'Found it.' } : calls('look', {})
    })
    const researcher = new Agent({ model, systemPrompt: 'You look.', tools: [look] })
    const boss = new Agent({
      model: scripted([calls('research', { task: 'Look.' }), { text: 'Thanks.' }]),
      tools: [asTool(researcher, { name: 'research', description: 'Looks things up.' })],
    })
    const run = boss.prompt('Go.')
    expect(await run.text()).toBe('Thanks.')
    const results = (await run.result).messages.filter((message) => message.role === 'toolResult')
    expect(JSON.stringify(results)).toContain('Found it.')
    expect(prompts).toEqual(['You look.', 'You look.'])
    expect(researcher.messages).toEqual([])
  })

  it("applies the agent's limits unless the options override them", async () => {
    const endless = () => new Agent({ model: scripted(() => calls('look', {})), tools: [look], limits: { maxTurns: 2 } })
    const turnsOf = async (maxTurns?: number) => {
      const tool = asTool(endless(), { name: 'research', description: 'Looks.', ...(maxTurns && { maxTurns }) })
      const boss = new Agent({ model: scripted([calls('research', { task: 'Look.' }), { text: 'Thanks.' }]), tools: [tool] })
      const { messages } = await boss.prompt('Go.').result
      return messages.find((message) => message.role === 'toolResult')
    }
    expect(JSON.stringify(await turnsOf())).toMatch(/2 turns|maxTurns|2\/2/i)
    expect(JSON.stringify(await turnsOf(3))).toMatch(/3 turns|maxTurns|3\/3/i)
  })

  it('applies sub-agent limits if the agent has none', async () => {
    const agent = new Agent({ model: scripted(() => calls('look', {})), tools: [look] })
    const tool = asTool(agent, { name: 'research', description: 'Looks.' })
    const boss = new Agent({ model: scripted([calls('research', { task: 'Look.' }), { text: 'Thanks.' }]), tools: [tool] })
    const { messages } = await boss.prompt('Go.').result
    expect(JSON.stringify(messages.find((message) => message.role === 'toolResult'))).toContain('10/10')
  })

  it('rejects a system prompt function and invalid options', () => {
    const agent = new Agent({ model: scripted([]), systemPrompt: () => 'now' })
    expect(() => asTool(agent, { name: 'a', description: 'A.' })).toThrow('Pass a string to asTool')
    expect(asTool(agent, { name: 'a', description: 'A.', systemPrompt: 'then' }).name).toBe('a')
    // @ts-expect-error an option that is none
    expect(() => asTool(agent, { name: 'a', description: 'A.', systemPrompt: 'then', turns: 3 })).toThrow('turns (3) is not an option')
  })
})

describe('parallel', () => {
  const [short, long] = [() => scripted([{ text: 'Four.' }]), () => scripted([{ text: 'It is four, as everybody knows.' }])]

  it('runs the prompt on each model and continues the agent with the selected branch', async () => {
    const agent = new Agent({ model: scripted([{ text: 'Yes.' }]), systemPrompt: 'Count.' })
    const judge = scripted([{ text: '2' }])
    const loops = new Set<string>()
    const onEvent = ({ loopId }: { loopId: string }) => void loops.add(loopId)
    const { result, selectedIndex, reason } = await parallel(agent, '2 + 2?', { models: [short(), long()], judge, onEvent })
    expect([result.text, selectedIndex, reason]).toEqual(['It is four, as everybody knows.', 1, '2'])
    expect(loops.size).toBe(4) // two branches, the judge, the whole
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(await agent.prompt('Sure?').text()).toBe('Yes.')
    expect(agent.messages).toHaveLength(4)
  })

  it("accepts a custom strategy and keeps the agent's settings and tools", async () => {
    const agent = new Agent({ model: short(), limits: { maxTurns: 5 }, thinking: 'low', tools: [look], steeringMode: 'all' })
    const { selectedIndex } = await parallel(agent, '2 + 2?', {
      models: [long(), short()],
      judge: { name: 'second', evaluate: () => ({ selectedIndex: 1, usage: emptyUsage() }) },
    })
    expect(selectedIndex).toBe(1)
    expect(agent.settings.thinking).toBe('low')
  })

  it("aborts with the caller's signal", async () => {
    const stop = new AbortController()
    stop.abort()
    const agent = new Agent({ model: short() })
    const { result } = await parallel(agent, '2 + 2?', { models: [short(), long()], judge: short(), signal: stop.signal })
    expect(result.status).toBe('aborted')
  })

  it('rejects a busy agent, a session store and an invalid judge', async () => {
    const options = { models: [short()], judge: short() }
    const busy = new Agent({ model: scripted([{ text: 'Hm.', delayMs: 10 }]) })
    const run = busy.prompt('Hm?')
    await expect(parallel(busy, 'x', options)).rejects.toThrow(AgentBusyError)
    await run.result
    await expect(parallel(new Agent({ model: short(), session: memorySessionStore() }), 'x', options)).rejects.toThrow('without one')
    // @ts-expect-error no judge
    await expect(parallel(new Agent({ model: short() }), 'x', { models: [short()] })).rejects.toThrow('judge')
    await expect(parallel(new Agent({ model: short() }), 'x', { models: [], judge: short() })).rejects.toMatchObject({
      code: 'branchCount',
    })
  })
})
