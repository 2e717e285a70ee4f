import { describe, expect, it } from 'vitest'
import { defaultContextTranslation, emptyUsage } from '../../src/context.ts'
import type { ApiProtocol, ModelConfig } from '../../src/contract/model/model-config.ts'
import { Agent, type AssistantMessage, type Content, type Message, userMessage } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { openai, openrouter } from '../../src/providers/openai.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import type { StreamRequest } from '../../src/types/model/provider.ts'

const claude = anthropic('claude-sonnet-4-6').config
const gpt = openai('gpt-5.1').config

function at(api: ApiProtocol, provider = 'google', id = 'gemini-3-pro'): ModelConfig {
  return { ...gpt, api, provider, id }
}

function by(model: ModelConfig, content: Content[]): AssistantMessage {
  return { role: 'assistant', content, stopReason: 'stop', model: model.id, provider: model.provider, usage: emptyUsage(), timestamp: 1 }
}

const thought: Content = { type: 'thinking', thinking: 'Rain is likely.', signature: 'sig-1' }
const call: Content = { type: 'toolCall', id: 'c1', name: 'look', arguments: { at: 'sky' } }
const history: Message[] = [
  userMessage('Weather?', [{ type: 'image', data: 'AA==', mimeType: 'image/png' }]),
  by(claude, [thought, { type: 'text', text: 'I look.' }, call]),
  { role: 'toolResult', toolCallId: 'c1', toolName: 'look', content: [{ type: 'text', text: 'grey' }], isError: false, timestamp: 1 },
  by(claude, [
    { type: 'thinking', thinking: '', signature: 'sig-2' },
    { type: 'text', text: 'Rain.' },
  ]),
]

const contentOf = (messages: readonly Message[], index: number) => messages[index]?.content

describe('defaultContextTranslation', () => {
  it('leaves messages unchanged for their own model, with signatures', () => {
    expect(defaultContextTranslation(history, claude)).toBe(history)
  })

  it.each(['openAiCompletions', 'openAiResponses', 'azureOpenAiResponses'] as const)('converts thinking to text for %s', (api) => {
    const messages = defaultContextTranslation(history, at(api, 'openai', 'gpt-5.1'))
    expect(contentOf(messages, 1)).toEqual([{ type: 'text', text: '[Reasoning] Rain is likely.' }, { type: 'text', text: 'I look.' }, call])
    expect(JSON.stringify(messages)).not.toContain('sig-')
    // What was withheld has no text to show.
    expect(contentOf(messages, 3)).toEqual([{ type: 'text', text: 'Rain.' }])
  })

  it.each(['googleGenerativeAi', 'googleVertex', 'bedrockConverseStream'] as const)('omits thinking for %s', (api) => {
    expect(contentOf(defaultContextTranslation(history, at(api)), 1)).toEqual([{ type: 'text', text: 'I look.' }, call])
  })

  it.each(['anthropicMessages', 'scripted'] as const)('keeps thinking for %s', (api) => {
    expect(defaultContextTranslation(history, at(api, 'x', 'y'))).toBe(history)
  })

  it('passes user messages, images, calls and results unchanged', () => {
    const messages = defaultContextTranslation(history, gpt)
    expect(messages).toHaveLength(history.length)
    expect(messages[0]).toBe(history[0])
    expect(messages[2]).toBe(history[2])
    expect(contentOf(messages, 1)).toContain(call)
  })

  it.each(['openAiCompletions', 'googleGenerativeAi', 'bedrockConverseStream'] as const)(
    'restores the original thinking for a %s model',
    (api) => {
      const own = at(api, 'somebody', 'thinker')
      const signed: Content = { type: 'thinking', thinking: 'So.', providerState: { api, model: 'thinker', payload: { signature: 'abc' } } }
      const messages = [userMessage('Hi'), by(own, [signed, { type: 'text', text: 'Hello.' }]), userMessage('And?')]
      expect(defaultContextTranslation(messages, own)).toBe(messages)
      // The same model under another protocol cannot read it.
      const state = { api: 'googleVertex' as const, model: 'thinker', payload: {} }
      const foreign = [
        by(own, [
          { ...thought, providerState: state },
          { type: 'text', text: 'Hello.' },
        ]),
      ]
      expect(JSON.stringify(defaultContextTranslation(foreign, own))).not.toContain('"thinking"')
    },
  )

  it('leaves the history unmodified and returns identical copies', () => {
    const before = structuredClone(history)
    const first = defaultContextTranslation(history, gpt)
    expect(history).toEqual(before)
    const second = defaultContextTranslation([...history, userMessage('More')], gpt)
    expect(second.slice(0, 4).every((message, index) => message === first[index])).toBe(true)
  })
})

describe('Anthropic → OpenAI → Anthropic', () => {
  const request = (model: ModelConfig, messages: readonly Message[]): StreamRequest => ({
    model,
    systemPrompt: '',
    messages,
    tools: [],
    thinking: 'low',
    cache: { type: 'disabled' },
  })

  it("restores Claude's own thinking byte for byte", async () => {
    const whole = [...history, userMessage('In Bergen?'), by(gpt, [{ type: 'text', text: 'Rain too.' }]), userMessage('And in Rome?')]
    const away = await openai('gpt-5.1').provider.encode(request(gpt, defaultContextTranslation(whole, gpt)))
    expect(away.body).toContain('[Reasoning] Rain is likely.')
    expect(away.body).not.toContain('sig-')
    const back = await anthropic(claude.id).provider.encode(request(claude, defaultContextTranslation(whole, claude)))
    expect(back.body).toContain('{"type":"thinking","thinking":"Rain is likely.","signature":"sig-1"}')
    expect(back.body).not.toContain('[Reasoning]')
    const untranslated = await anthropic(claude.id).provider.encode(request(claude, whole))
    expect(back.body).toBe(untranslated.body)
  })

  it('works together with OpenRouter reasoning', async () => {
    const model = openrouter('google/gemini-3-pro').config
    const details = [{ type: 'reasoning.encrypted', data: 'xyz' }]
    const state = { api: model.api, model: model.id, payload: { reasoningDetails: details } }
    const messages = [
      ...history,
      userMessage('?'),
      by(model, [
        { type: 'thinking', thinking: '', providerState: state },
        { type: 'text', text: 'No.' },
      ]),
      userMessage('!'),
    ]
    const { body } = await openrouter(model.id).provider.encode(request(model, defaultContextTranslation(messages, model)))
    expect(body).toContain(JSON.stringify(details))
    expect(body).toContain('[Reasoning] Rain is likely.')
  })
})

describe('contextTranslation of an agent', () => {
  it('translates only if configured, after convertToLlm, without changing the history', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }])
    const seen: string[] = []
    const agent = new Agent({ model, messages: history, captureTurnRequests: true })
    const requests: string[] = []
    agent.subscribe((event) => event.type === 'turnRequest' && requests.push(JSON.stringify(event.request.messages)))
    await agent.prompt('And now?').result
    agent.configure({
      convertToLlm: (messages) => {
        seen.push('convert')
        return messages.filter((message) => message.role !== 'extension')
      },
      contextTranslation: (messages, target) => {
        seen.push(`translate for ${target.id}`)
        return defaultContextTranslation(messages, gpt)
      },
    })
    expect(agent.settings.contextTranslation).toBeDefined()
    await agent.prompt('And then?').result
    expect(seen).toEqual(['convert', 'translate for scripted'])
    expect(requests[0]).toContain('sig-1')
    expect(requests[1]).not.toContain('sig-1')
    // Untranslated, foreign reasoning is left out, as by every codec.
    const [untranslated, translated] = model.provider.requests.map(({ messages }) => JSON.stringify(messages))
    expect(untranslated).not.toMatch(/sig-1|\[Reasoning\]/)
    expect(translated).not.toContain('sig-1')
    expect(translated).toContain('[Reasoning]')
    expect(JSON.stringify(agent.messages)).toContain('sig-1')
  })

  it('ends with an error when the translation throws', async () => {
    const contextTranslation = () => {
      throw new Error('No dictionary.')
    }
    const { status, error } = await new Agent({ model: scripted([]), contextTranslation }).prompt('Hi').result
    expect({ status, error }).toMatchObject({
      status: 'error',
      error: { message: 'contextTranslation failed: No dictionary. The run stopped.' },
    })
  })
})
