import { describe, expect, it } from 'vitest'
import { onEngine, onPipeline, ownModel } from '../../examples/recipes/models/browser-models.ts'
import { Agent, textOf } from '../../src/index.ts'
import { availability, type ChromeAiOptions, chromeAi } from '../../src/providers/chrome-ai/index.ts'
import { type ChatEngine, webLlm } from '../../src/providers/web-llm/index.ts'
import { browserAi } from '../support/browser-ai.ts'
import { add, fastRetry, gate, ofType, playOn } from '../support/play.ts'

const pixel = {
  type: 'image' as const,
  mimeType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
}
const quiet = { retry: fastRetry, logger: false as const }
type StandIn = ReturnType<typeof browserAi>
const modelOf = ({ ai }: StandIn, options: ChromeAiOptions = {}) => chromeAi({ ai, ...options })

describe('the browser model', () => {
  it('streams a response to a history and closes the session', async () => {
    const browser = browserAi((told) => ['You said ', String(told.at(-1)?.content), '.'])
    const agent = new Agent({ model: modelOf(browser, { languages: ['en'] }), systemPrompt: 'Be brief.', ...quiet })
    const run = agent.prompt('hi')
    const pieces: string[] = []
    run.subscribe((event) => {
      if (event.type === 'messageUpdate' && event.delta.type === 'text') pieces.push(event.delta.delta)
    })
    expect(await run.text()).toBe('You said hi.')
    expect(pieces).toEqual(['You said ', 'hi', '.'])
    const { usage } = await run.result
    expect([usage.input, usage.output]).toEqual([3, 3])
    await agent.prompt('again').result
    expect(browser.made[1]?.initialPrompts).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'You said hi.' },
    ])
    expect(browser.made[1]?.expectedInputs).toEqual([{ type: 'text', languages: ['en'] }])
    expect(browser.open).toBe(0)
  })

  it.each(['native', 'constrained'] as const)('runs tool calls: %s', async (toolUse) => {
    const call = { name: 'add', arguments: { a: 1, b: 2 } }
    const browser = browserAi(
      (told) => {
        const results = JSON.stringify(told.at(-1)).includes('sum 3')
        if (toolUse === 'native') return results ? ['It is 3.'] : ['Let me see.', { type: 'tool-call', value: { callId: 'c1', ...call } }]
        const json = JSON.stringify(results ? { say: 'It is 3.', calls: [] } : { say: 'Let me see.', calls: [call] })
        return json.match(/.{1,7}/gs) ?? []
      },
      { hasTools: toolUse === 'native' },
    )
    const { events, result } = await playOn(modelOf(browser), { tools: [add], ...quiet })
    expect([result.status, result.text]).toEqual(['completed', 'It is 3.'])
    expect(ofType(events, 'toolExecutionStart').map(({ args }) => args)).toEqual([{ a: 1, b: 2 }])
    const said = result.messages.flatMap((message) => (message.role === 'assistant' ? [textOf(message.content)] : []))
    expect(said).toEqual(['Let me see.', 'It is 3.'])
    expect(browser.made.every(({ tools }) => (tools !== undefined) === (toolUse === 'native'))).toBe(true)
    expect(browser.constraints.every((constraint) => (constraint === undefined) === (toolUse === 'native'))).toBe(true)
  })

  it.each(['{"say": "half', '{"n": 3}', '[3]', 'Three.'])('rejects a response that violates the tool format: %s', async (said) => {
    const browser = browserAi(() => [said])
    const { result } = await playOn(modelOf(browser), { tools: [add], ...quiet })
    expect([result.status, result.error?.code]).toEqual(['error', 'schemaMismatch'])
  })

  it('applies an output schema, also with tools', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const browser = browserAi((_told, constraint) => {
      const isWrapped = JSON.stringify(constraint).includes('"calls"')
      return [JSON.stringify(isWrapped ? { say: { city: 'Oslo' }, calls: [] } : { city: 'Oslo' })]
    })
    for (const tools of [[], [add]]) {
      const { result } = await playOn(modelOf(browser), { tools, responseFormat: schema, ...quiet })
      expect(result.output).toEqual({ city: 'Oslo' })
    }
    expect(browser.constraints[0]).toEqual(schema)
  })

  it('sends images, or reports before the request that it accepts none', async () => {
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'What is it?' }, pixel], timestamp: 1 }]
    const browser = browserAi((told) => [Array.isArray(told.at(-1)?.content) ? 'A pixel.' : 'Nothing.'])
    const { result } = await playOn(modelOf(browser), quiet, prompt)
    expect(result.text).toBe('A pixel.')
    expect(browser.made[0]?.expectedInputs).toContainEqual({ type: 'image' })
    const blind = await playOn(modelOf(browserAi(() => [], { takes: ['text'] })), quiet, prompt)
    expect(blind.result.error?.code).toBe('unsupported')
  })

  it('sends audio as bytes', async () => {
    const sound = { type: 'file' as const, mimeType: 'audio/wav', data: btoa('RIFF....WAVE') }
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'What is said?' }, sound], timestamp: 1 }]
    const browser = browserAi((told) => [JSON.stringify(told.at(-1)?.content).includes('"audio"') ? 'Hello.' : 'Nothing.'])
    expect((await playOn(modelOf(browser), quiet, prompt)).result.text).toBe('Hello.')
    expect(browser.made[0]?.expectedInputs).toContainEqual({ type: 'audio' })
    const deaf = await playOn(modelOf(browserAi(() => [], { takes: ['text', 'image'] })), quiet, prompt)
    expect(deaf.result.error?.code).toBe('unsupported')
  })

  it('reports the progress of a download', async () => {
    const told: number[] = []
    const browser = browserAi(() => ['Here.'], { availability: 'downloadable' })
    const warnings: string[] = []
    const logger = { warn: (...said: unknown[]) => void warnings.push(JSON.stringify(said)) }
    const model = modelOf(browser, { onDownload: ({ loaded }) => void told.push(loaded) })
    expect((await playOn(model, { ...quiet, logger })).result.text).toBe('Here.')
    expect([told, warnings.join().includes('is downloading its model')]).toEqual([[0, 0.5, 1], true])
    expect(await availability({ ai: browser.ai })).toBe('downloadable')
  })

  it.each([false, true])('reports a context overflow so that the run compacts (older names: %s)', async (isOld) => {
    const browser = browserAi(() => ['Short.'], { contextWindow: 60, isOld })
    const long = 'word '.repeat(70)
    const { result } = await playOn(modelOf(browser), { ...quiet, contextManagement: false }, long)
    expect(result.error?.code).toBe('contextOverflow')
    expect(browser.open).toBe(0)
  })

  it('stops immediately on abort, in any state', async () => {
    const never = gate()
    const hanging = browserAi(async () => {
      await never.opened
      return []
    })
    for (const browser of [hanging, browserAi(() => Array.from({ length: 1000 }, () => 'on and '))]) {
      const run = new Agent({ model: modelOf(browser), ...quiet }).prompt('go')
      run.subscribe(({ type }) => (type === 'messageStart' ? queueMicrotask(() => run.abort()) : undefined))
      expect((await run.result).status).toBe('aborted')
      expect(browser.open).toBe(0)
    }
  })

  it.each(['availability', 'create', 'measure'] as const)(
    'ends an aborted run while the browser hangs at %s, and ignores the late response',
    async (hangs) => {
      const [asked, late] = [gate(), gate()]
      const browser = browserAi(() => ['Too late.'], { hangs, asked: asked.open, until: late.opened })
      const run = new Agent({ model: modelOf(browser), ...quiet }).prompt('go')
      await asked.opened
      run.abort()
      expect((await run.result).status).toBe('aborted')
      late.open()
      await expect.poll(() => browser.open).toBe(0)
    },
  )

  it('explains that most browsers have no built-in model', async () => {
    expect(await availability()).toBe('unavailable')
    const { result } = await playOn(chromeAi(), quiet)
    expect(result.error).toMatchObject({ code: 'unsupported', message: expect.stringContaining('no built-in model') })
  })

  it('warns about unsupported settings, or rejects if they are required', async () => {
    const browser = browserAi(() => ['ok'])
    const model = modelOf(browser)
    const { result } = await playOn(model, { ...quiet, temperature: 1 })
    expect(result.text).toBe('ok')
    expect((await playOn(model, { ...quiet, temperature: 1, strict: true })).result.error?.code).toBe('unsupported')
    const request = {
      model: model.config,
      systemPrompt: '',
      messages: [],
      tools: [],
      thinking: 'off',
      cache: { type: 'auto' },
      temperature: 1,
    } as const
    const { warnings, body } = await model.provider.encode(request)
    expect([warnings, JSON.parse(body).expectedOutputs]).toEqual([
      ["temperature: the browser's model does not support this setting"],
      [{ type: 'text' }],
    ])
  })

  it.each([{ toolUse: 'magic' }, { languages: 'en' }, { ai: {} }, { contextWindow: 0 }])('rejects the invalid options %j', (options) => {
    expect(() => chromeAi(options as never)).toThrow(expect.objectContaining({ code: 'invalidOption' }))
  })
})

/** An engine as WebLLM has it: chunks of Chat Completions, one answer at a time, ended by an interruption. */
function engineOf(answer: (request: { messages: { role: string; content: unknown }[]; tools?: unknown }) => object[]) {
  const requests: object[] = []
  let isInterrupted = false
  let running = 0
  const most = { atOnce: 0 }
  const engine: ChatEngine = {
    interruptGenerate: () => {
      isInterrupted = true
    },
    chat: {
      completions: {
        create: async (request: never) => {
          requests.push(request)
          isInterrupted = false
          const deltas = answer(request)
          return (async function* () {
            running += 1
            most.atOnce = Math.max(most.atOnce, running)
            try {
              for (const delta of deltas) {
                await new Promise((resolve) => setImmediate(resolve))
                if (isInterrupted) break
                yield {
                  id: 'x',
                  object: 'chat.completion.chunk',
                  created: 1,
                  model: 'm',
                  choices: [{ index: 0, delta, finish_reason: null }],
                }
              }
              const finish = isInterrupted ? 'abort' : JSON.stringify(deltas).includes('tool_calls') ? 'tool_calls' : 'stop'
              yield {
                id: 'x',
                object: 'chat.completion.chunk',
                created: 1,
                model: 'm',
                choices: [{ index: 0, delta: {}, finish_reason: finish }],
              }
              const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
              yield { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage }
            } finally {
              running -= 1
            }
          })()
        },
      },
    },
  }
  return { engine, requests, most }
}

describe('an in-browser engine', () => {
  it('streams with token counts and runs tool calls', async () => {
    const { engine, requests } = engineOf(({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? [{ content: 'It is ' }, { content: '3.' }]
        : [{ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'add', arguments: '{"a":1,"b":2}' } }] }],
    )
    const { result } = await playOn(webLlm(engine), { tools: [add], ...quiet })
    expect([result.status, result.text, result.usage.input]).toEqual(['completed', 'It is 3.', 10])
    expect(requests).toHaveLength(2)
    expect(requests[0]).toMatchObject({ stream: true, tools: [{ function: { name: 'add' } }] })
    expect(requests[0]).not.toHaveProperty('model')
  })

  it('runs one request at a time', async () => {
    const { engine, most } = engineOf(() => [{ content: 'one ' }, { content: 'two' }])
    const model = webLlm(engine, { model: 'Hermes' })
    const texts = await Promise.all([1, 2, 3].map(async () => (await playOn(model, quiet)).result.text))
    expect([texts, most.atOnce]).toEqual([['one two', 'one two', 'one two'], 1])
  })

  it('serves the next request after an aborted one', async () => {
    const { engine } = engineOf(() => Array.from({ length: 500 }, () => ({ content: 'on ' })))
    const model = webLlm(engine)
    const run = new Agent({ model, ...quiet }).prompt('go')
    run.subscribe((event) => (event.type === 'messageUpdate' ? run.abort() : undefined))
    expect((await run.result).status).toBe('aborted')
    const next = engineOf(() => [{ content: 'next' }])
    expect((await playOn(webLlm(next.engine), quiet)).result.text).toBe('next')
    const again = await playOn(model, quiet)
    expect(again.result.text.startsWith('on on')).toBe(true)
  })

  it('reports an error that the engine throws', async () => {
    const broken: ChatEngine = { chat: { completions: { create: () => Promise.reject(new Error('WebGPU is not there.')) } } }
    const { result } = await playOn(webLlm(broken), quiet)
    expect(result.error?.message).toContain('WebGPU is not there.')
    expect(() => webLlm({} as never)).toThrow('webLlm needs an engine')
    expect(() => webLlm(broken, { models: [] } as never)).toThrow(expect.objectContaining({ code: 'invalidOption' }))
  })
})

it('uses the built-in browser model if available', async () => {
  const { engine } = engineOf(() => [{ content: 'hello' }])
  expect((await ownModel(webLlm(engine), () => undefined)).config.provider).toBe('web-llm')
  expect(await onEngine(engine).prompt('hi').text()).toBe('hello')
})

it('runs a transformers.js pipeline as an engine, and interrupts it on abort', async () => {
  const asked: object[] = []
  let isInterrupted = false
  /** As `pipeline('text-generation')` resolves with: called with messages, it tells its words to a streamer. */
  const generator = async (
    messages: object[],
    { streamer, max_new_tokens }: { streamer: { put(text: string): void }; max_new_tokens: number },
  ) => {
    asked.push({ messages, max_new_tokens })
    for (let at = 0; at < 500 && !isInterrupted; at += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      if (messages.length > 1 && at === 2) break
      streamer.put(`word ${at} `)
    }
  }
  const agent = onPipeline(generator, () => {
    isInterrupted = true
  })
  const first = agent.prompt('Go on.')
  first.subscribe((event) => (event.type === 'messageUpdate' ? first.abort() : undefined))
  expect((await first.result).status).toBe('aborted')
  isInterrupted = false
  expect(await agent.prompt('Two words.').text()).toBe('word 0 word 1 ')
  expect(asked).toMatchObject([
    { messages: [{ role: 'user', content: 'Go on.' }] },
    { messages: { length: 3 }, max_new_tokens: expect.any(Number) },
  ])
})
