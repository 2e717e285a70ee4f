import { describe, expect, it } from 'vitest'
import { SubAgentTool } from '../../../src/agents.ts'
import { Agent, ConfigError } from '../../../src/index.ts'
import { definePlugin, type PluginDefinition } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { PluginStages } from '../../../src/types/run/plugin.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { add, ofType, play } from '../../support/play.ts'

const sum = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }
const secret = 'the secret words'

function broken(): never {
  throw new Error('broken')
}

describe('a failing plugin', () => {
  const deciding: [keyof PluginStages, PluginStages][] = [
    ['beforeTurn', { beforeTurn: broken }],
    ['request', { request: broken }],
    ['delta', { delta: broken }],
    ['response', { response: broken }],
    ['idle', { idle: broken }],
    ['request', { request: () => ({ sytemPrompt: 'x' }) as object }],
    ['request', { request: () => ({ messages: [{ role: 'nobody' }] }) as object }],
    ['delta', { delta: () => 7 as unknown as string }],
    ['response', { response: () => ({ txt: 'x' }) as never }],
    ['idle', { idle: () => 7 as unknown as string }],
  ]
  it.each(deciding)('ends the run and reports the failed stage: %s', async (stage, stages) => {
    const mine = definePlugin({ name: 'mine', begin: () => stages })
    const { result, events, agent } = await play([{ text: secret }], { plugins: [mine], logger: false })
    expect(result).toMatchObject({ status: 'error', error: { code: 'hookFailed' } })
    expect(result.error?.message).toContain(`The ${stage} stage of plugin "mine" failed`)
    expect(grammarFaults(events)).toEqual([])
    if (stage !== 'idle' && stage !== 'response') expect(JSON.stringify([events, agent.messages])).not.toContain('secret')
  })

  it('ends the run before the request if begin fails', async () => {
    const mine = definePlugin({ name: 'mine', begin: broken })
    const { result, events, model } = await play([{ text: 'never' }], { plugins: [mine], logger: false })
    expect(result).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('The begin stage of plugin "mine" failed') },
    })
    expect(model.provider.requests).toHaveLength(0)
    expect(grammarFaults(events)).toEqual([])
  })

  it('stores the partial response if requestFailed throws', async () => {
    const mine = definePlugin({ name: 'mine', begin: () => ({ requestFailed: broken }) })
    const { result, events } = await play([{ text: 'half', fail: { code: 'api', message: 'gone', afterText: true } }], {
      plugins: [mine],
      logger: false,
      retry: false,
    })
    expect(result.status).toBe('error')
    expect(JSON.stringify(result.messages)).toContain('half')
    expect(grammarFaults(events)).toEqual([])
  })

  it('fails only the tool call if the call stage throws', async () => {
    const stages: PluginStages[] = [{ call: broken }, { call: () => 'text' as never }]
    for (const each of stages) {
      const mine = definePlugin({ name: 'mine', begin: () => each })
      const { result, events } = await play([sum, { text: 'ok' }], { tools: [add], plugins: [mine], logger: false })
      expect(result).toMatchObject({ status: 'completed', text: 'ok' })
      expect(ofType(events, 'toolExecutionEnd')).toMatchObject([{ isError: true }])
    }
  })

  it('logs the failure of an observing stage and continues the run', async () => {
    const lines: unknown[] = []
    const logger = { warn: (event: string, fields: object) => void lines.push([event, fields]) }
    const mine = definePlugin({ name: 'mine', begin: () => ({ afterTurn: broken, ending: broken, close: broken }) })
    const { result } = await play([{ text: 'ok' }], { plugins: [mine], logger: logger as never })
    expect(result).toMatchObject({ status: 'completed', text: 'ok' })
    expect(lines).toHaveLength(3)
  })

  it.each(['beforeTurn', 'request', 'response', 'requestFailed', 'call', 'afterTurn'] as const)(
    'does not delay an abort when it hangs in %s',
    async (stage) => {
      const model = scripted([stage === 'requestFailed' ? { fail: { code: 'auth', message: 'no' } } : sum, { text: 'never' }])
      const hang = () => {
        agent.abort()
        return new Promise<never>(() => undefined)
      }
      const mine = definePlugin({ name: 'mine', begin: () => ({ [stage]: hang }) })
      const agent: Agent = new Agent({ model, tools: [add], plugins: [mine], logger: false })
      const run = agent.prompt('go')
      const events = []
      for await (const event of run) events.push(event)
      expect((await run.result).status).toBe('aborted')
      expect(grammarFaults(events)).toEqual([])
    },
  )
})

describe('definePlugin', () => {
  const wrong: [string, unknown][] = [
    ['name', { begin: () => undefined }],
    ['name', { name: 'two words', begin: () => undefined }],
    ['begin', { name: 'mine' }],
    ['covers', { name: 'mine', covers: 'all', begin: () => undefined }],
    ['ending', { name: 'mine', begin: () => undefined, ending: () => undefined }],
  ]
  it.each(wrong)('rejects an invalid %s by name', (name, definition) => {
    expect(() => definePlugin(definition as PluginDefinition)).toThrow(new RegExp(name))
  })

  it('rejects values not created by it and duplicate plugin names', () => {
    const model = scripted([])
    const mine = definePlugin({ name: 'mine', begin: () => undefined })
    expect(() => new Agent({ model, plugins: [mine, mine] })).toThrow(ConfigError)
    expect(() => new SubAgentTool({ name: 'helper', description: 'Helps.', model, plugins: [mine, mine] })).toThrow(ConfigError)
    expect(() => new Agent({ model, plugins: [{ name: 'x', covers: 'agent' }] })).toThrow(/definePlugin/)
  })

  it('rejects an unknown stage when the run begins', async () => {
    const mine = definePlugin({ name: 'mine', begin: () => ({ beforeTurns: () => undefined }) as PluginStages })
    const { result } = await play([{ text: 'never' }], { plugins: [mine], logger: false })
    expect(result.error?.message).toContain('beforeTurns')
  })
})
