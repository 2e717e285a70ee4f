import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, type AgentEvent, CursorExpiredError, defineTool, memorySessionStore, staticCredential, textOf } from 'phi-core'
import { memoryDriver } from 'phi-core/session'
import { scripted } from 'phi-core/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { proofreader } from '../../examples/recipes/agents/loop-in-a-tool.ts'
import { twoLoops } from '../../examples/recipes/agents/own-loop.ts'
import { throughRust } from '../../examples/recipes/agents/spec-json.ts'
import { summarise } from '../../examples/recipes/content/files.ts'
import { askBoth } from '../../examples/recipes/context/context-translation.ts'
import { agentWithNotes } from '../../examples/recipes/context/transform-context.ts'
import { goOn } from '../../examples/recipes/context/written-messages.ts'
import { described, fromConfiguration } from '../../examples/recipes/models/model-capabilities.ts'
import {
  addingModel,
  claude,
  compatibleModels,
  deployments,
  gemini,
  geminiOnVertex,
  onBedrock,
  refreshing,
  responsesModels,
  subscribed,
  throughProxy,
  withOwnKey,
} from '../../examples/recipes/models/models.ts'
import { cachedShare, classifier } from '../../examples/recipes/models/prompt-caching.ts'
import { forecastFor, tagsOf } from '../../examples/recipes/models/structured-output.ts'
import { askTwice } from '../../examples/recipes/runs/follow-ups.ts'
import { safePrompt } from '../../examples/recipes/runs/handle-errors.ts'
import { readOn } from '../../examples/recipes/runs/late-reader.ts'
import { carefulAgent } from '../../examples/recipes/runs/limits-and-retries.ts'
import { costOfBoth } from '../../examples/recipes/runs/own-budget.ts'
import { continueApproved, runUntilPaused } from '../../examples/recipes/runs/pause-and-continue.ts'
import { answerInTime, steerWhileToolsRun } from '../../examples/recipes/runs/steer-and-abort.ts'
import { stream } from '../../examples/recipes/runs/stream.ts'
import { sessionsApp } from '../../examples/recipes/servers/http-sessions.ts'
import { routeHandler } from '../../examples/recipes/servers/route-handler.ts'
import { recordedRun } from '../../examples/recipes/sessions/journal.ts'
import { answerInSession, clone } from '../../examples/recipes/sessions/save-and-restore.ts'
import { promptUnreliable, testMyStore } from '../../examples/recipes/testing/test-your-own.ts'
import { bookWithQuestions } from '../../examples/recipes/tools/ask-a-person.ts'
import { weather } from '../../examples/recipes/tools/json-schema-tool.ts'
import { localTools } from '../../examples/recipes/tools/local-tools.ts'
import { runWithApproval } from '../../examples/recipes/tools/tool-with-approval.ts'
import { fileTools } from '../../examples/recipes/tools/workspace-tools.ts'
import { patient } from '../support/patience.ts'

const hello = () => scripted([{ text: 'Hello.' }, { text: 'Again.' }])
const mail = (to: string) =>
  scripted([{ toolCalls: [{ name: 'send_mail', arguments: { to, subject: 'Hi', body: '' } }] }, { text: 'Done.' }])

/** Calls `weather` and then says what it returned. */
const forecaster = (city: string) =>
  scripted((request) => {
    const last = request.messages.at(-1)
    if (last?.role !== 'toolResult') return { toolCalls: [{ name: 'weather', arguments: { city } }] }
    return { text: textOf(last.content) }
  })

it('attaches a document to a prompt', async () => {
  const model = scripted([{ text: 'Nothing.' }])
  expect(await summarise(model, new Blob(['%PDF-1.7'], { type: 'application/pdf' }), 'a.pdf')).toBe('Nothing.')
  expect(model.provider.requests[0]?.messages[0]?.content[0]).toMatchObject({ type: 'file', name: 'a.pdf', citations: true })
})

describe('the stream recipe', () => {
  it('writes the response and reports retries and errors', async () => {
    let written = ''
    const model = scripted([{ fail: { code: 'network', message: 'The line broke.', retryAfterMs: 1 } }, { text: 'Hello.' }])
    await stream(model, 'Hi', (text) => {
      written += text
    })
    expect(written).toBe('\n[retrying in 1 ms: The line broke.]\nHello.')
    await stream(scripted([{ fail: { code: 'auth', message: 'No key.' } }]), 'Hi', (text) => {
      written = text
    })
    expect(written).toBe('\n[No key.]\n')
  })
})

describe('the tool recipes', () => {
  it('requests approval only for mails to external addresses', async () => {
    const asked: string[] = []
    const confirm = async (text: string) => asked.push(text) > 1
    expect(await runWithApproval(mail('a@example.com'), 'Mail a.', confirm)).toBe('Done.')
    expect(asked).toEqual([])
    const refused = mail('b@example.org')
    await runWithApproval(refused, 'Mail b.', confirm)
    expect(JSON.stringify(refused.provider.requests[1]?.messages)).toContain('The user does not want this mail.')
    const approved = mail('c@example.org')
    await runWithApproval(approved, 'Mail c.', confirm)
    expect(JSON.stringify(approved.provider.requests[1]?.messages)).toContain('sent \\"Hi\\" to c@example.org')
  })

  it('validates arguments against a JSON Schema', async () => {
    expect(await new Agent({ model: forecaster('Oslo'), tools: [weather] }).prompt('Weather?').text()).toBe('Oslo: rain for 1 day(s)')
    expect(await new Agent({ model: forecaster(''), tools: [weather] }).prompt('Weather?').text()).toContain('Invalid arguments: city')
  })

  it('searches files in a memory workspace', async () => {
    const calls = [{ name: 'search', arguments: { pattern: 'notes' } }]
    const { messages } = await new Agent({ model: scripted([{ toolCalls: calls }]), tools: fileTools() }).prompt('Search.').result
    const result = messages.find((message) => message.role === 'toolResult')
    expect(result && textOf(result.content)).toContain('notes.md:1:# Notes')
  })

  it('includes bash in the local tools only if a sandbox is available', () => {
    const root = mkdtempSync(join(tmpdir(), 'phi-example-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    const warnings: string[] = []
    const names = localTools(root, (text) => warnings.push(text)).map((tool) => tool.name)
    expect(names.slice(-5)).toEqual(['read_file', 'write_file', 'edit_file', 'list_files', 'search'])
    expect(names[0] === 'bash').toBe(warnings.length === 0)
    for (const text of warnings) expect(text).toContain('bubblewrap')
  })

  it('requests user input during a tool call', async () => {
    const model = () =>
      scripted(({ messages }) => {
        const last = messages.at(-1)
        return last?.role === 'toolResult'
          ? { text: textOf(last.content) }
          : { toolCalls: [{ name: 'book_table', arguments: { place: 'Roma' } }] }
      })
    const book = (content?: { guests: number }) => bookWithQuestions(model(), 'A table, please.', () => content)
    expect(await book({ guests: 4 })).toContain('Booked for 4.')
    expect(await book()).toContain('Nothing was booked.')
  })

  it('pauses for an approval and continues in another process', async () => {
    const script = [{ toolCalls: [{ name: 'ask_first', arguments: {} }] }, { text: 'It ran.' }]
    const tool = defineTool({
      name: 'ask_first',
      description: 'Asks.',
      parameters: { type: 'object' },
      needsApproval: true,
      execute: () => 'ran',
    })
    const { history, pending } = await runUntilPaused(scripted(script), [tool], 'Go.')
    expect(pending.map((call) => call.toolName)).toEqual(['ask_first'])
    expect(await continueApproved(scripted(script.slice(1)), [tool], history)).toBe('It ran.')
  })
})

describe('the steering recipes', () => {
  it('delivers a message to a running agent', async () => {
    const model = scripted([{ toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }, { text: 'Fine.' }])
    expect(await steerWhileToolsRun(model, [weather])).toBe('delivered')
    // The receipt settles when the message is in the history; the request follows.
    await vi.waitFor(() => expect(JSON.stringify(model.provider.requests[1])).toContain('Only those of today'), patient)
  })

  it('aborts the run at a deadline unless it completes first', async () => {
    const never = scripted([{ text: 'never' }], { gate: () => new Promise(() => undefined) })
    expect(await answerInTime(never, 'Hi', 1)).toBe('aborted')
    expect(await answerInTime(hello(), 'Hi', 60_000)).toBe('completed')
  })

  it('responds to a follow-up in the same run', async () => {
    expect(await askTwice(hello(), 'One?', 'Two?')).toEqual(['user', 'assistant', 'user', 'assistant'])
  })
})

describe('the session recipes', () => {
  it('continues a stored session with its history', async () => {
    const store = memorySessionStore()
    expect(await answerInSession(store, 's1', hello(), 'One?')).toBe('Hello.')
    const model = hello()
    await answerInSession(store, 's1', model, 'Two?')
    expect(model.provider.requests[0]?.messages).toHaveLength(3)
    expect((await store.load('s1')).loops.map(({ messages }) => messages.length)).toEqual([2, 2])
    await expect(answerInSession(store, 'no id', hello(), 'Three?')).rejects.toMatchObject({ code: 'invalidId' })
  })

  it('clones an agent from serialized messages', async () => {
    const agent = new Agent({ model: hello() })
    await agent.prompt('Hi').result
    expect(clone(agent).messages).toEqual(agent.messages)
  })

  it('records a run in a journal', async () => {
    const model = scripted([{ toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }, { text: 'Rain.' }])
    expect(await recordedRun(model, [weather], 'Weather?')).toEqual([
      ...['loopStart', 'turnStart', 'input', 'assistant', 'toolIntent', 'toolResult'],
      ...['turnStart', 'assistant', 'loopEnd'],
    ])
  })

  it('converts messages to the Rust format and back', async () => {
    const agent = new Agent({ model: hello() })
    await agent.prompt('Hi').result
    const { json } = throughRust(throughRust(JSON.stringify([])).json)
    expect(json).toBe('[]')
    expect(throughRust('[{"role":"user","content":[],"timestamp":1}]').messages).toMatchObject([{ role: 'user', timestamp: 1 }])
  })
})

describe('the run recipes', () => {
  it('returns a readable message for every failure', async () => {
    expect(await safePrompt(new Agent({ model: hello() }), 'Hi')).toBe('Hello.')
    expect(await safePrompt(new Agent({ model: hello() }), '  ')).toBe('Please type something.')
    const busy = new Agent({ model: hello() })
    const run = busy.prompt('One?')
    expect(await safePrompt(busy, 'Two?')).toBe('Still working on the last question.')
    await run.result
    const failing = scripted([{ fail: { code: 'auth', message: 'No key.' } }])
    expect(await safePrompt(new Agent({ model: failing }), 'Hi')).toBe('No key. [auth]')
    expect(await safePrompt(new Agent({ model: hello(), limits: { maxTurns: 0, maxTotalTokens: 1, maxDurationMs: 1 } }), 'Hi')).toBe(
      'Stopped: limit.',
    )
  })

  it('applies limits and retries a failed request', async () => {
    const rates = { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
    const warnings: string[] = []
    const fail = { code: 'network' as const, message: 'The line broke.', retryAfterMs: 1 }
    const agent = carefulAgent(scripted([{ fail }, { text: 'Hello.' }], { config: { cost: rates } }), {
      warn: (event) => warnings.push(event),
    })
    expect(await agent.prompt('Hi').text()).toBe('Hello.')
    expect(warnings).toEqual(['providerRetry'])
  })

  it('reads the remaining events after the cursor expired', async () => {
    const run = new Agent({ model: hello(), replayBytes: 1 }).prompt('Hi')
    await run.result
    expect(() => run.events({ after: 0 })).toThrow(CursorExpiredError)
    const events: AgentEvent[] = []
    for await (const event of readOn(run, 0)) events.push(event)
    expect(events.length).toBeLessThan(4)
  })

  it('runs two loops without an agent', async () => {
    const types: string[] = []
    const context = await twoLoops(hello(), (event) => types.push(event.type))
    expect(types.filter((type) => type === 'agentEnd')).toHaveLength(2)
    expect(context.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(context.lastLoopId).toMatch(/\.scripted\.scripted\.2$/)
  })

  it('omits extension messages from requests', async () => {
    const model = hello()
    const agent = agentWithNotes(model)
    await agent.prompt('Hi').result
    expect(agent.messages[0]?.role).toBe('extension')
    expect(model.provider.requests[0]?.messages.map((message) => message.role)).toEqual(['user'])
  })
})

describe('the model recipes', () => {
  it('creates models whose JSON contains no key', async () => {
    const models = [
      claude('secret-key'),
      ...compatibleModels('secret-key'),
      ...responsesModels('secret-key'),
      ...deployments('secret-key', staticCredential('secret-key')),
      gemini('secret-key'),
      geminiOnVertex('my-project', staticCredential('secret-key')),
      ...onBedrock('secret-key', async () => ({ accessKeyId: 'a', secretAccessKey: 'secret-key' })),
      throughProxy('https://app.example.com'),
      withOwnKey('secret-key'),
      subscribed('secret-key'),
    ]
    for (const { config } of models) expect(JSON.stringify(config)).not.toContain('secret-key')
    expect(models.map((model) => model.config.provider)).toEqual([
      ...[
        'anthropic',
        'openai',
        'openrouter',
        'xai',
        'openai-compatible',
        'local',
        'local',
        'openai',
        'xai',
        'azure_openai',
        'azure_openai',
        'google',
        'vertex',
        'bedrock',
        'bedrock',
      ],
      ...['anthropic', 'anthropic', 'anthropic'],
    ])
    let tokens = 0
    const { credentials } = refreshing(async () => `token-${++tokens}`)
    const { signal } = new AbortController()
    expect([await credentials?.current(signal), await credentials?.current(signal)]).toEqual(['token-1', 'token-1'])
    await credentials?.invalidate()
    expect(await credentials?.current(signal)).toBe('token-2')
  })

  it('sets capabilities in code and in a configuration', async () => {
    const [claudeLike, gptLike] = described('https://llm.example.com')
    expect(claudeLike?.config.capabilities).toEqual({ thinking: 'none', jsonSchema: false, media: [] })
    expect(gptLike?.config.capabilities).toMatchObject({ efforts: ['low', 'max'] })
    const { config } = claude('')
    const model = fromConfiguration({ ...config, api: 'anthropic_messages' }, 'secret-key')
    expect(model.config).toEqual(config)
    expect(() => fromConfiguration({ ...config, api: 'telegraph' }, '')).toThrow('no protocol is called "telegraph"')
  })

  it('returns structured output in the requested schema', async () => {
    expect(await forecastFor(scripted([{ text: '{"city":"Oslo","degrees":4,"rain":true}' }]), 'Oslo')).toBe('4 degrees, rain')
    expect(await forecastFor(scripted([{ text: '{"city":"Oslo"}' }]), 'Oslo')).toBe('No forecast.')
    const model = scripted([{ text: '{"tags":["a","b"]}' }])
    expect(await tagsOf(new Agent({ model }), 'A text.')).toEqual(['a', 'b'])
    expect(model.provider.requests[0]?.responseFormat).toMatchObject({ type: 'jsonSchema', name: 'tags' })
    expect(await tagsOf(new Agent({ model: scripted([{ text: '{"tags":1}' }]) }), 'A text.')).toMatch(/^No tags.*\ntags: /s)
  })

  it('switches models within a conversation', async () => {
    const first = scripted([{ thinking: 'Hm.', text: 'Yes.' }, { text: 'Still yes.' }], { id: 'one' })
    const second = scripted([{ text: 'No.' }], { id: 'two' })
    expect(await askBoth(first, second, 'Is it?')).toBe('Still yes.')
    expect(first.provider.requests[1]?.messages).toHaveLength(5)
  })

  it('reports the share of input read from the cache', async () => {
    const model = scripted([{ text: 'ham', usage: { input: 10, cacheRead: 90 } }])
    const agent = classifier(model, [])
    expect(await cachedShare(agent, 'Spam?')).toBe('90 %')
    expect(model.provider.requests[0]?.cache).toMatchObject({ type: 'manual', cacheMessages: false })
  })

  it('runs a scripted model with a tool', async () => {
    const parameters = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } }
    const add = defineTool<{ a: number; b: number }>({
      name: 'add',
      description: 'Adds.',
      parameters,
      execute: ({ a, b }) => `sum ${a + b}`,
    })
    expect(await new Agent({ model: addingModel(), tools: [add] }).prompt('2 + 3?').text()).toBe('sum 5')
  })
})

testMyStore({ describe, it, expect }, memoryDriver)

it('reports an unavailable provider as a result with status error', async () => {
  expect(await promptUnreliable('Hi')).toEqual({ status: 'error', calls: 2 })
})

describe('the budget recipe', () => {
  it('adds up the cost of both prompts', async () => {
    const cost = { inputPerMillion: 1, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
    const usage = { input: 100_000, output: 1 }
    const model = scripted([
      { text: 'a', usage },
      { text: 'b', usage },
    ])
    const agent = new Agent({ model: { ...model, config: { ...model.config, cost } } })
    expect(await costOfBoth(agent, 'one', 'two')).toBeCloseTo(0.2)
  })
})

describe('the loop-in-a-tool recipe', () => {
  it('returns the text of the inner model', async () => {
    const asking = scripted([{ toolCalls: [{ name: 'proofread', arguments: { text: 'teh' } }] }, { text: 'Done.' }])
    const agent = new Agent({ model: asking, tools: [proofreader(scripted([{ text: 'the' }]))] })
    expect(await agent.prompt('Correct it.').text()).toBe('Done.')
    expect(agent.messages.find((message) => message.role === 'toolResult')).toMatchObject({ content: [{ type: 'text', text: 'the' }] })
  })
})

describe('the written-messages recipe', () => {
  it('continues a conversation stored as roles and texts', async () => {
    const model = scripted((request) => ({ text: `${request.systemPrompt} ${request.messages.length}` }))
    expect(await goOn(model, 'And of Denmark?')).toBe('Answer in one word. 3')
  })
})

describe('the server recipes', () => {
  it('stores conversations with http-sessions.ts and requires a token', async () => {
    const app = sessionsApp(
      scripted(() => ({ text: 'Hello.' })),
      [],
      'a-test-token',
    )
    const headers = { authorization: 'Bearer a-test-token', 'content-type': 'application/json' }
    const started = await app.request('/sessions/mine/runs', { method: 'POST', headers, body: '{"prompt":"Hi."}' })
    expect(await started.text()).toContain('"status":"completed"')
    expect(await (await app.request('/sessions', { headers })).json()).toMatchObject({ sessions: [{ sessionId: 'mine', messages: 2 }] })
    expect((await app.request('/sessions')).status).toBe(401)
  })

  it('runs a prompt per request with route-handler.ts', async () => {
    const post = routeHandler(scripted(() => ({ text: 'Hello.' })))
    const answer = await post(new Request('http://localhost/', { method: 'POST', body: '{"prompt":"Hi."}' }))
    expect(await answer.text()).toContain('"status":"completed"')
  })
})
