import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { loadConfigFile } from '../adapters/node/config/index.ts'
import { agentFromConfig, agentsFromConfig, type ConfigHost, parseConfig } from '../src/config.ts'
import { Agent, type AgentRun, defineTool, type Logger } from '../src/index.ts'
import { type AnthropicOptions, anthropic } from '../src/providers/anthropic/index.ts'
import { scripted } from '../src/providers/scripted/index.ts'
import { patient } from './support/patience.ts'
import { WireServer } from './support/wire-server.ts'

// Mistakes of the first hour that would end in silence, or in half a sentence. Each program asks a server of this machine, as a newcomer's does.

const server = new WireServer()
let written: MockInstance<typeof console.warn>
beforeAll(() => server.start())
afterAll(() => server.stop())
beforeEach(() => {
  written = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
})
afterEach(() => written.mockRestore())

const lines = () => written.mock.calls.map(([line]) => String(line))
const nextTask = () => new Promise((resolve) => setTimeout(resolve))
/** The console says the same line once: each test has tools of its own names. */
let tools = 0
const toolName = () => `remove_${++tools}`
const parameters = { type: 'object', properties: {} } as const

describe('a failed call', () => {
  const retry = { maxRetries: 2, initialDelayMs: 1, maxDelayMs: 2 }
  const failing = (status: number) => server.service('anthropic', { status, message: 'Not now' })

  it.each([429, 529, 500])('reports the number of attempts after the last retry: %i', async (status) => {
    const service = failing(status)
    const { error } = await new Agent({ model: service.model(), retry, logger: false }).prompt('hi').result
    expect(service.sent).toHaveLength(3)
    expect(error?.message).toMatch(/ Tried 3 times\.$/)
  })

  it('includes the number of attempts in the recorded message', async () => {
    const agent = new Agent({ model: failing(529).model(), retry, logger: false })
    await agent.prompt('hi').result
    expect(agent.messages.at(-1)).toMatchObject({ errorMessage: expect.stringMatching(/ Tried 3 times\.$/) })
  })

  it.each([401, 404])('omits the number after a single attempt: %i', async (status) => {
    const { error } = await new Agent({ model: failing(status).model(), retry, logger: false }).prompt('hi').result
    expect(error?.message).not.toContain('Tried')
  })
})

describe('an unanswered request while the stream is being read', () => {
  const asking = () => {
    const name = toolName()
    const remove = defineTool({ name, description: 'Removes.', parameters, needsApproval: true, execute: () => 'gone' })
    const model = scripted([{ toolCalls: [{ name, arguments: {} }] }, { text: 'Done.' }])
    return { name, run: new Agent({ model, tools: [remove] }).prompt('go') }
  }
  const read = async (run: AgentRun) => {
    for await (const event of run) if (event.type === 'messageUpdate') void event.delta
  }

  it('warns with the tool name and the deciding methods', async () => {
    const { name, run } = asking()
    const reading = read(run)
    await vi.waitFor(() => expect(lines()).toHaveLength(1), patient)
    expect(lines()[0]).toBe(
      `phi-core: requestUnanswered. The run is paused: approvalRequested of "${name}" is still pending. ` +
        `Call run.approve(event) or run.deny(event) when you read it. {"toolName":"${name}"}`,
    )
    for (const pending of run.pendingApprovals()) run.approve(pending)
    await reading
    expect(await run.text()).toBe('Done.')
  })

  it('warns of an input request', async () => {
    const name = toolName()
    const ask = defineTool({
      ...{ name, description: 'Asks.', parameters },
      execute: async (_, { requestInput }) => (await requestInput?.({ message: 'Sure?' }))?.action ?? 'none',
    })
    const run = new Agent({ model: scripted([{ toolCalls: [{ name, arguments: {} }] }, { text: 'Done.' }]), tools: [ask] }).prompt('go')
    const reading = read(run)
    await vi.waitFor(() => expect(lines()).toHaveLength(1), patient)
    expect(lines()[0]).toContain(`inputRequested of "${name}" is still pending. Call run.answer(event, { action }) when you read it.`)
    for (const pending of run.pendingInputs()) run.answer(pending, { action: 'decline' })
    await reading
  })

  it.each<[string, (run: AgentRun) => Promise<unknown>]>([
    [
      'approves in its event loop',
      async (run) => {
        for await (const event of run) if (event.type === 'approvalRequested') run.approve(event)
      },
    ],
    [
      'denies later in its event loop',
      async (run) => {
        for await (const event of run) {
          if (event.type !== 'approvalRequested') continue
          await nextTask()
          run.deny(event)
        }
      },
    ],
    [
      'approves in a listener',
      async (run) => {
        run.subscribe((event) => event.type === 'approvalRequested' && setTimeout(() => run.approve(event)))
        await read(run)
      },
    ],
    [
      'reads only the text, which pauses the run',
      async (run) => {
        const reading = (async () => {
          for await (const _ of run.textStream);
        })()
        await expect(reading).rejects.toMatchObject({ code: 'paused' })
      },
    ],
  ])('is silent for a program that %s', async (_, look) => {
    await look(asking().run)
    await nextTask()
    expect(lines()).toEqual([])
  })
})

it('warns of a failed run whose listener shows only text', async () => {
  const service = server.service('anthropic', { status: 401, message: 'invalid x-api-key' })
  const agent = new Agent({ model: service.model() })
  agent.subscribe((event) => event.type === 'messageUpdate')
  agent.prompt('hi')
  await vi.waitFor(() => expect(lines()).toHaveLength(1), patient)
  expect(lines()[0]).toMatch(
    /^phi-core: runFailed\. Anthropic rejected the API key at .* Nothing read the outcome of the run\. Await run\.result or run\.text\(\)\./,
  )
})

describe('a model without an API key', () => {
  const made = (options?: object) => () => new Agent({ model: anthropic('claude-sonnet-4-6', options as AnthropicOptions) })

  it('explains that no environment variable is read implicitly', () => {
    expect(made()).toThrow(
      'The key of model "claude-sonnet-4-6" is missing. Environment variables are not read automatically: ' +
        'pass apiKey: process.env.ANTHROPIC_API_KEY, or use modelFromEnv of phi-core/env.',
    )
  })

  it.each([undefined, '', ' '])('explains that the variable is unset when apiKey is %j', (apiKey) => {
    expect(made({ apiKey })).toThrow(
      'The apiKey of model "claude-sonnet-4-6" is empty. Pass a key. In Node, set process.env.ANTHROPIC_API_KEY in the shell or with node --env-file=.env.',
    )
  })
})

it('puts the issues of invalid arguments on one line', async () => {
  const name = toolName()
  const number = { type: 'number' } as const
  const add = defineTool({
    ...{ name, description: 'Adds.', execute: () => '3' },
    parameters: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
  })
  const model = scripted([{ toolCalls: [{ name, arguments: { a: 'one' } }] }, { text: 'Sorry.' }])
  await new Agent({ model, tools: [add] }).prompt('go').text()
  expect(lines()[0]).toContain(
    `"${name}" with invalid arguments: b: is required; a: expected number, got string. The model received the error`,
  )
})

describe('a misspelled key in an agent file', () => {
  const text = '[agent]\nsystem_promt = "x"\n[provider]\nmodel = "m"\napi_key = "k"\n'
  const host: ConfigHost = { trust: true }
  const fileOf = () => {
    const path = join(mkdtempSync(join(tmpdir(), 'phi-typo-')), 'agent.toml')
    writeFileSync(path, text)
    return path
  }

  it.each<[string, () => Promise<unknown>]>([
    ['parseConfig', async () => agentFromConfig((await parseConfig(text, 'toml')).config, host)],
    [
      'loadConfigFile',
      async () => {
        const loaded = await loadConfigFile(fileOf())
        return agentsFromConfig(loaded.config, { ...loaded.host, ...host })
      },
    ],
  ])('warns at agent creation if the warnings of %s were ignored', async (_, make) => {
    const warn = vi.fn<Logger['warn']>()
    host.logger = { warn }
    await make()
    const message = 'agent.system_promt is ignored: the key does not exist. Did you mean system_prompt? (line 2, column 1)'
    expect(warn.mock.calls).toEqual([['configWarning', { code: 'unknownKey', message }]])
  })

  it('warns once for two agents of one configuration', async () => {
    const warn = vi.fn<Logger['warn']>()
    const { config } = await parseConfig(text, 'toml')
    for (let agents = 0; agents < 2; agents += 1) await agentFromConfig(config, { ...host, logger: { warn } })
    expect(warn).toHaveBeenCalledTimes(1)
  })

  it('does not log warnings that the program has read', async () => {
    const warn = vi.fn<Logger['warn']>()
    const { config, warnings } = await parseConfig(text, 'toml')
    const loaded = await loadConfigFile(fileOf())
    expect([warnings, loaded.warnings].map(({ length }) => length)).toEqual([1, 1])
    await agentFromConfig(config, { ...host, logger: { warn } })
    await agentFromConfig(loaded.config, { ...loaded.host, ...host, logger: { warn } })
    expect(warn).not.toHaveBeenCalled()
  })
})
