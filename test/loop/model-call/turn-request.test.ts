import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { diffTurnRequests } from '../../../src/context/requests/request-diff.ts'
import type { AnnotatedRequest, BlockProvenance } from '../../../src/context.ts'
import { withId } from '../../../src/contract/message/message.ts'
import { Agent, type AgentOptions, type Model, userMessage } from '../../../src/index.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import { google } from '../../../src/providers/google/index.ts'
import { openai } from '../../../src/providers/openai.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { faultFetch } from '../../../testing/index.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { longHistory, requestTokens } from '../../support/long-history.ts'
import { add, ofType, outline, play, seen, tool } from '../../support/play.ts'

const adding = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }
const done = { text: 'three' }

async function playCaptured(script: Script, options: Partial<AgentOptions> = {}, prompt: Parameters<typeof play>[2] = 'go') {
  const played = await play(script, { tools: [add], captureTurnRequests: true, ...options }, prompt)
  expect(grammarFaults(played.events)).toEqual([])
  const captured = ofType(played.events, 'turnRequest')
  for (const { request } of captured) expect(request.provenance).toHaveLength(request.messages.length)
  return { ...played, captured, requests: captured.map(({ request }) => request) }
}

const turn = (turnIndex: number, role: string, messageIndex: number) => ({ kind: 'loopTurn', turnIndex, role, messageIndex })

describe('turnRequest', () => {
  it('is emitted once per turn, before the response (turn_request_emitted_once_per_turn)', async () => {
    const { captured, events } = await playCaptured([adding, done])
    expect(captured.map(({ turnIndex }) => turnIndex)).toEqual([0, 1])
    expect(outline(events).slice(0, 6)).toEqual([
      'agentStart',
      'turnStart',
      'messageStart user',
      'messageEnd user',
      'turnRequest',
      'messageStart assistant',
    ])
  })

  it("equals the provider's input (turn_request_payload_matches_provider_input)", async () => {
    const settings = { systemPrompt: 'be brief', thinking: 'low', maxTokens: 99, temperature: 0.5 } as const
    const { model, requests } = await playCaptured([adding, done], { ...settings, responseFormat: { type: 'jsonObject' } })
    requests.forEach((request, at) => {
      const given = model.provider.requests[at]
      expect(request).toMatchObject({
        systemPrompt: given?.systemPrompt,
        messages: given?.messages,
        tools: given?.tools,
        modelId: 'scripted',
        provider: 'scripted',
        api: 'scripted',
        thinkingLevel: 'low',
        maxTokens: 99,
        temperature: 0.5,
        responseFormat: { type: 'jsonObject' },
      })
      expect(request.http).toBeUndefined()
    })
    expect(requests[0]?.tools).toMatchObject([{ name: 'add', description: 'Adds two numbers' }])
  })

  it('is not emitted by default (recorder_default_off)', async () => {
    for (const captureTurnRequests of [undefined, false]) {
      const { events } = await play([done], captureTurnRequests === undefined ? {} : { captureTurnRequests })
      expect(ofType(events, 'turnRequest')).toEqual([])
    }
  })

  it('ignores later mutations and round-trips through JSON', async () => {
    const { requests } = await playCaptured([adding, done, done])
    expect(requests[0]?.messages).toHaveLength(1)
    expect(JSON.parse(JSON.stringify(requests))).toEqual(requests)
  })

  it('is emitted once for all attempts of the same request', async () => {
    const fail = { fail: { code: 'network' as const, message: 'cut' } }
    const { captured, model } = await playCaptured([fail, { text: 'half', ...fail, fail: { ...fail.fail, afterText: true } }, done])
    expect(captured).toHaveLength(1)
    const [first, ...others] = model.provider.requests
    expect(others).toHaveLength(2)
    for (const other of others) expect(other).toEqual(first)
    expect(captured[0]?.request.messages).toEqual(first?.messages)
  })

  it('is emitted once despite a refreshed credential and contains no key', async () => {
    let key = 'first-secret'
    const credentials = {
      current: async () => key,
      invalidate: async () => {
        key = 'second-secret'
      },
    }
    const model = { ...scripted([{ fail: { code: 'auth', message: 'no' } }, done]), credentials }
    const { captured, events } = await playCaptured([], { model, captureTurnRequests: { httpBody: true } })
    expect(captured).toHaveLength(1)
    expect(JSON.stringify(events)).not.toContain('secret')
  })

  it('is emitted again with afterOverflow after a context overflow', async () => {
    const tooLong = { fail: { code: 'contextOverflow' as const, message: 'prompt is too long' } }
    const { captured, model } = await playCaptured([tooLong, done], { messages: longHistory(20, 100) })
    expect(captured.map(({ turnIndex, afterOverflow }) => [turnIndex, afterOverflow])).toEqual([
      [0, undefined],
      [0, true],
    ])
    expect(captured[1]?.request.messages).toEqual(model.provider.requests[1]?.messages)
    expect(requestTokens(model.provider.requests[1])).toBeLessThan(requestTokens(model.provider.requests[0]))
  })

  it('contains the output of transformContext and convertToLlm', async () => {
    const { agent, requests } = await playCaptured([done], {
      messages: longHistory(3, 10),
      transformContext: (messages) => messages.slice(-2),
    })
    expect(requests[0]?.messages).toHaveLength(2)
    expect(agent.messages).toHaveLength(8)
  })
})

describe('provenance', () => {
  it('records the turn and role of each message (provenance_tags_loop_turns_correctly)', async () => {
    const { requests } = await playCaptured([adding, done])
    expect(requests[1]?.provenance).toEqual([turn(0, 'userMessage', 0), turn(0, 'toolCallRequest', 1), turn(0, 'toolCallResult', 2)])
  })

  it('distinguishes prompts, steering and follow-ups', async () => {
    const agent = new Agent({ model: scripted([adding, done, done]), tools: [add], captureTurnRequests: true })
    const run = agent.prompt('go')
    const requests: AnnotatedRequest[] = []
    run.subscribe((event) => event.type === 'turnRequest' && requests.push(event.request))
    await seen(run, 'toolExecutionStart')
    run.steer('steered')
    run.followUp('followed')
    await run.result
    expect(requests.at(-1)?.provenance).toEqual([
      turn(0, 'userMessage', 0),
      turn(0, 'toolCallRequest', 1),
      turn(0, 'toolCallResult', 2),
      { kind: 'steering' },
      turn(1, 'assistantResponse', 1),
      { kind: 'followUp' },
    ])
  })

  it('keeps provenance hints, including those on prompts and steering', async () => {
    const identity: BlockProvenance = { kind: 'identityBlock', name: 'Agent', order: 3 }
    const memory: BlockProvenance = { kind: 'memoryTier', tier: 'short-term', recordId: 'r1' }
    const hinted = (text: string, provenanceHint: BlockProvenance) => ({ ...withId(userMessage(text)), provenanceHint })
    const { agent, requests } = await playCaptured([done], { messages: [hinted('I am', identity)] }, [
      hinted('known', memory),
      withId(userMessage('go')),
    ])
    expect(requests[0]?.provenance).toEqual([identity, memory, turn(0, 'userMessage', 1)])
    expect(agent.messages[1]).toMatchObject({ provenanceHint: memory })
  })

  it('marks messages created by a converter as unknown and keeps other origins', async () => {
    const { requests } = await playCaptured([adding, done], {
      convertToLlm: (messages) => [
        userMessage('made up'),
        ...messages.flatMap((message) => (message.role === 'extension' ? [] : [{ ...message, content: [...message.content] }])),
      ],
    })
    expect(requests[1]?.provenance).toEqual([
      { kind: 'unknown' },
      turn(0, 'userMessage', 0),
      turn(0, 'toolCallRequest', 1),
      turn(0, 'toolCallResult', 2),
    ])
  })

  it('marks messages without a turn as unknown and SDK-generated blocks as runtime', async () => {
    const { requests } = await playCaptured([done], { messages: [userMessage('old')] })
    expect(requests[0]?.provenance[0]).toEqual({ kind: 'unknown' })
    const contextConfig = { maxContextTokens: 1000, systemPromptTokens: 0, compaction: { keepFirstTurns: 1, keepRecentTurns: 2 } }
    const compacted = await playCaptured([done], { messages: longHistory(30, 100), contextConfig })
    expect(compacted.requests[0]?.provenance).toContainEqual({ kind: 'runtime' })
  })
})

const key = 'sk-very-secret-key'
const sse = (path: string) => ({ body: readFileSync(`test/fixtures/${path}`, 'utf8'), headers: { 'content-type': 'text/event-stream' } })
const answers = {
  anthropic: 'anthropic/text.sse',
  openai: 'openai/text.sse',
}
type Recorded = { model: Model; fetch: ReturnType<typeof faultFetch> }

function recorded(make: (fetch: ReturnType<typeof faultFetch>) => Model, answer: string): Recorded {
  const fetch = faultFetch(sse(answer))
  return { model: make(fetch), fetch }
}

describe('the captured HTTP request', () => {
  it.each([
    ['anthropic', (fetch) => anthropic('claude-sonnet-4-5', { apiKey: key, fetch }), answers.anthropic],
    ['openai', (fetch) => openai('gpt-4o', { apiKey: key, fetch }), answers.openai],
  ] as [string, Parameters<typeof recorded>[0], string][])('equals the bytes sent by %s, without the key', async (_, make, answer) => {
    const { model, fetch } = recorded(make, answer)
    const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' }
    const { agent, events, captured } = await playCaptured(
      [],
      { model, systemPrompt: 'be brief – „kurz“', thinking: 'low', captureTurnRequests: { httpBody: true } },
      userMessage('Grüße 🎉', [image]),
    )
    expect(captured[0]?.request.http?.body).toBe(fetch.calls[0]?.body)
    expect(captured[0]?.request.http?.url).toBe(fetch.calls[0]?.url)
    expect(fetch.calls[0]?.body).toContain('Grüße')
    const later: AnnotatedRequest[] = []
    agent.subscribe((event) => event.type === 'turnRequest' && later.push(event.request))
    await agent.prompt('again').result
    expect(later[0]?.http?.body).toBe(fetch.calls[1]?.body)
    expect(JSON.stringify([events, later])).not.toContain(key)
    // It did go out.
    expect([...(fetch.calls[0]?.headers ?? [])].some(([, value]) => value.includes(key))).toBe(true)
  })

  it('contains no key of any provider in URL, headers or body', async () => {
    const options = { apiKey: key, headers: { 'x-api-key': key, authorization: `Bearer ${key}`, cookie: key } }
    const models = [
      anthropic('claude-sonnet-4-5', options),
      openai('gpt-4o', options),
      google('gemini-2.5-flash', options),
      bedrock('us.anthropic.claude-sonnet-4-5', { ...options, apiKey: `AKIAEXAMPLE:${key}` }),
    ]
    for (const { config, provider } of models) {
      const answer = scripted([done]).provider
      const offline: Model = {
        config,
        provider: {
          api: provider.api,
          encode: (request) => provider.encode(request),
          stream: (request, emit, signal) => answer.stream(request, emit, signal),
        },
      }
      const { events, captured } = await playCaptured([], { model: offline, captureTurnRequests: { httpBody: true } })
      expect(captured[0]?.request.http?.body).toContain('go')
      expect(JSON.stringify(events)).not.toContain(key)
    }
  })

  it('omits user info, parameters and fragment of the URL', async () => {
    const secret = 'sk-CANARY+/=1'
    const hidden = encodeURIComponent(secret)
    const fetch = faultFetch(sse(answers.openai))
    const made = [
      anthropic('claude-sonnet-4-5', { apiKey: key, fetch, baseUrl: `https://user:${hidden}@host.example/v1?token=${hidden}#${hidden}` }),
      openai('gpt-4o', { apiKey: key, fetch, baseUrl: `https://host.example/v1?token=${hidden}&token=${hidden}` }),
      google('gemini-2.5-flash', { apiKey: key, fetch, baseUrl: `https://${hidden}@host.example/v1?key=${hidden}` }),
    ]
    for (const model of made) {
      const { agent, events, captured } = await playCaptured([], {
        model,
        captureTurnRequests: { httpBody: true },
        retry: { maxRetries: 0 },
      })
      expect(captured[0]?.request.http?.url).toContain('host.example/v1')
      for (const form of ['CANARY', btoa(secret), btoa(`user:${secret}`)]) {
        expect(JSON.stringify([events, agent.checkpoint()])).not.toContain(form)
      }
    }
    expect(JSON.stringify(fetch.calls.map(({ url }) => url))).toContain('CANARY')
  })

  it('logs an encoding failure and continues the run', async () => {
    const logged: string[] = []
    const model = scripted([done])
    model.provider.encode = () => Promise.reject(new Error('no codec'))
    const { captured, result } = await playCaptured([], {
      model,
      captureTurnRequests: { httpBody: true },
      logger: { warn: (event) => logged.push(event) },
    })
    expect(captured[0]?.request.http).toBeUndefined()
    expect(logged).toEqual(['captureFailed'])
    expect(result.status).toBe('completed')
  })

  it('omits the request unless httpBody is set', async () => {
    const { captured } = await playCaptured([done], { captureTurnRequests: { httpBody: false } })
    expect(captured).toHaveLength(1)
    expect(captured[0]?.request.http).toBeUndefined()
  })

  it('does not delay an abort when encoding hangs', async () => {
    const model = scripted([done])
    model.provider.encode = () => new Promise(() => undefined)
    const agent = new Agent({ model, captureTurnRequests: { httpBody: true } })
    const run = agent.prompt('go')
    const events: string[] = []
    run.subscribe(({ type }) => events.push(type))
    await seen(run, 'messageEnd')
    run.abort()
    expect((await run.result).status).toBe('aborted')
    expect(events).not.toContain('turnRequest')
    expect(model.provider.requests).toHaveLength(0)
  })
})

describe('diffTurnRequests', () => {
  it('reports no change if turns only append messages', async () => {
    const { requests } = await playCaptured([adding, adding, done])
    const [first, second, third] = requests
    if (first === undefined || second === undefined || third === undefined) throw new Error('three requests expected')
    expect(diffTurnRequests(first, second)).toMatchObject({ commonMessages: 1 })
    expect(diffTurnRequests(first, second).firstChange).toBeUndefined()
    expect(diffTurnRequests(second, third).firstChange).toBeUndefined()
  })

  it('reports the first block that breaks the prefix', async () => {
    let time = 0
    const clock = tool('add', () => 'sum')
    const { requests } = await playCaptured([adding, adding, done], {
      tools: [clock],
      transformContext: (messages) =>
        messages.map((message, at) =>
          at === 1 && message.role === 'assistant'
            ? { ...message, content: [{ type: 'text' as const, text: `It is ${++time} o’clock.` }, ...message.content] }
            : message,
        ),
    })
    const [, second, third] = requests
    if (second === undefined || third === undefined) throw new Error('three requests expected')
    expect(diffTurnRequests(second, third)).toMatchObject({
      commonMessages: 1,
      firstChange: {
        part: 'messages',
        reason: 'changed',
        index: 1,
        blockIndex: 0,
        provenance: turn(0, 'toolCallRequest', 1),
        before: 'It is 1 o’clock.',
        after: 'It is 2 o’clock.',
      },
    })
  })

  it('reports a changed tool list and system prompt', async () => {
    const { agent, requests } = await playCaptured([done, done, done])
    agent.subscribe((event) => event.type === 'turnRequest' && requests.push(event.request))
    agent.configure({ tools: [add, tool('more', () => 'more')] })
    await agent.prompt('two').result
    agent.configure({ systemPrompt: 'new rules' })
    await agent.prompt('three').result
    const [first, second, third] = requests
    if (first === undefined || second === undefined || third === undefined) throw new Error('three requests expected')
    expect(diffTurnRequests(first, second).firstChange).toMatchObject({ part: 'tools', reason: 'inserted', index: 1 })
    expect(diffTurnRequests(second, third).firstChange).toMatchObject({ part: 'systemPrompt', after: 'new rules' })
  })
})
