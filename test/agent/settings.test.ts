import { describe, expect, it } from 'vitest'
import { Agent, defineTool } from '../../src/index.ts'
import { defaultLimits, defaultRetry } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const model = scripted([])
const defaults = {
  tools: [],
  limits: { ...defaultLimits, maxSameRefusals: 3, maxContinuations: 10 },
  retry: defaultRetry,
  toolExecution: 'parallel',
  cache: 'auto',
  repair: 0,
  contextManagement: true,
  steeringMode: 'oneAtATime',
  followUpMode: 'oneAtATime',
}

describe('Agent.settings', () => {
  it('contains default values of omitted options', () => {
    expect(new Agent({ model }).settings).toEqual({ model, ...defaults })
  })

  it('adds missing fields of limits and retry', () => {
    const { settings } = new Agent({ model, limits: { maxTurns: 5, maxCost: undefined } as never, retry: { maxRetries: 1 } })
    expect(settings.limits).toEqual({ ...defaults.limits, maxTurns: 5 })
    expect(settings.retry).toEqual({ ...defaultRetry, maxRetries: 1 })
  })

  it('contains false for disabled options', () => {
    expect(new Agent({ model, limits: false, retry: false }).settings).toMatchObject({ limits: false, retry: false })
    const settings = new Agent({ model, contextManagement: false, limits: { maxTurns: 5 } }).settings
    expect(settings).toMatchObject({ contextManagement: false, limits: false, contextConfig: false })
  })

  it('contains default values again after a change to undefined', () => {
    const agent = new Agent({ model, limits: { maxTurns: 5 }, repair: 2, toolExecution: 'sequential' })
    agent.configure({ limits: undefined, repair: undefined, toolExecution: undefined })
    expect(agent.settings).toEqual({ model, ...defaults })
    agent.configure({ limits: { maxTurns: 7 } })
    expect(agent.settings.limits).toMatchObject({ maxTurns: 7 })
  })

  it('omits unset options that the model decides', () => {
    const own = { ...model, config: { ...model.config, settings: { thinking: 'high' as const, temperature: 0.5 } } }
    expect(new Agent({ model: own }).settings).toEqual({ model: own, ...defaults })
    expect(new Agent({ model: own, thinking: 'low' }).settings.thinking).toBe('low')
  })

  it('recreates an identical agent from its settings', () => {
    const agent = new Agent({ model, limits: { maxTurns: 5 }, contextManagement: false })
    expect(new Agent({ ...agent.settings }).settings).toEqual(agent.settings)
    expect(agent.with({}).settings).toEqual(agent.settings)
  })

  it('contains the default limit that ends a run', async () => {
    const again = scripted(() => ({ toolCalls: [{ name: 'look', arguments: {} }] }))
    const look = defineTool({ name: 'look', description: 'Looks.', parameters: { type: 'object' }, execute: () => 'seen' })
    const agent = new Agent({ model: again, tools: [look] })
    const { limits } = agent.settings
    expect((await agent.prompt('go').result).limit).toMatchObject({ name: 'maxTurns', max: limits === false ? undefined : limits.maxTurns })
  })
})
