import { describe, expect, it } from 'vitest'
import { Agent, type AgentOptions, defineTool } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const weather = defineTool({ name: 'weather', description: 'Tells the weather.', parameters: { type: 'object' }, execute: () => 'sunny' })
const late = defineTool({ name: 'lookup', description: 'Looks up.', parameters: { type: 'object' }, execute: () => 'found' })

function agentWith(options: Partial<AgentOptions> = {}): Agent {
  return new Agent({ model: scripted([{ text: 'Done.' }]), tools: [weather], ...options })
}

describe('toolChoice validation', () => {
  it.each([
    [{ tool: 'wether' }, '"wether", a tool that the agent does not have. Did you mean weather?'],
    [{ allowed: ['weather', 'zzz'] }, '"zzz", a tool that the agent does not have. Known: weather'],
  ])('rejects %j by name without changing anything', async (toolChoice, message) => {
    const agent = agentWith()
    expect(() => agent.prompt('Go.', { toolChoice })).toThrow(message)
    expect(() => agentWith({ toolChoice }).prompt('Go.')).toThrow(message)
    expect({ messages: agent.messages, isOn: agent.isStreaming }).toEqual({ messages: [], isOn: false })
    expect((await agent.prompt('Go.').result).status).toBe('completed')
  })

  it('accepts tools from choices and from a hook', async () => {
    const choices = { tools: { extra: late } }
    const toolChoice = { tool: 'lookup' }
    expect((await agentWith({ choices }).prompt('Go.', { tools: ['extra'], toolChoice }).result).status).toBe('completed')
    const hooks = { prepareTurn: () => ({ tools: [late] }) }
    expect((await agentWith({ hooks }).prompt('Go.', { toolChoice }).result).status).toBe('completed')
  })
})
