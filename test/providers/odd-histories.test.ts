import { describe, expect, it } from 'vitest'
import type { Content } from '../../src/contract/message/content.ts'
import { type ToolResultMessage, userMessage } from '../../src/contract/message/message.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai, openaiCompatible } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import type { StreamRequest } from '../../src/types/model/provider.ts'
import { answerBy, authorOf, plainRequest } from './model-call.ts'

const answer = ({ config }: Model, content: Content[]) => answerBy(authorOf(config), content)

function result(toolCallId: string, toolName: string): ToolResultMessage {
  return { role: 'toolResult', toolCallId, toolName, content: [{ type: 'text', text: 'ok' }], isError: false, timestamp: 1 }
}

const bodyFor = async ({ config, provider }: Model, changes: Partial<StreamRequest>) =>
  JSON.parse((await provider.encode(plainRequest(config, changes))).body)

describe('an invalid tool name from a model', () => {
  it('replaces an invalid tool name for Chat Completions in call and result', async () => {
    const model = openaiCompatible('m', { backend: 'mistral' })
    const call = answer(model, [{ type: 'toolCall', id: 'abcdefghi', name: 'read file!', arguments: {} }])
    const { messages } = await bodyFor(model, { messages: [userMessage('Hi'), call, result('abcdefghi', 'read file!')] })
    expect(messages[1].tool_calls[0].function.name).toBe('read_file_')
    expect(messages[2].name).toBe('read_file_')
  })

  it('accepts an empty tool name from a model', async () => {
    const model = openai('gpt-4o')
    const call = answer(model, [{ type: 'toolCall', id: 'c', name: '', arguments: {} }])
    const { messages } = await bodyFor(model, { messages: [userMessage('Hi'), call, result('c', '')] })
    expect(messages[1].tool_calls[0].function.name).toBe('unknown')
  })

  it.each([
    ['Chat Completions', openai('gpt-4o'), 'response_format.json_schema.name'],
    ['Responses', openaiResponses('gpt-5.1'), 'text.format.name'],
  ])('replaces an invalid tool name in the output format: %s', async (_name, model, path) => {
    const body = await bodyFor(model, { responseFormat: { type: 'jsonSchema', name: 'Weather report', schema: { type: 'object' } } })
    expect(body).toHaveProperty(path, 'Weather_report')
  })
})

describe('an image with an unsupported type', () => {
  const image = (mimeType: string): Content => ({ type: 'image', data: 'AA==', mimeType })

  it('converts an image type for Anthropic, or sends a text note', async () => {
    const content = [image('image/JPG'), image('image/bmp')]
    const failed: ToolResultMessage = { ...result('c', 'look'), content: [image('image/bmp')], isError: true }
    const called = answer(anthropic('claude-test'), [{ type: 'toolCall', id: 'c', name: 'look', arguments: {} }])
    const asked = [{ ...userMessage(''), content }, called, failed]
    const { messages } = await bodyFor(anthropic('claude-test'), { messages: asked, cache: { type: 'disabled' } })
    const leftOut = { type: 'text', text: '(image left out: this model does not accept image/bmp)' }
    expect(messages[0].content).toEqual([{ type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AA==' } }, leftOut])
    expect(messages[2].content).toMatchObject([{ type: 'tool_result', content: leftOut.text }])
  })
})

it('signs the first parallel Gemini call if only a later one was signed', async () => {
  const model = google('gemini-3.5-flash')
  const providerState = { api: 'googleGenerativeAi', model: 'gemini-3.5-flash', payload: { thoughtSignature: 'c2ln' } } as const
  const calls = answer(model, [
    { type: 'toolCall', id: 'a', name: 'read', arguments: {} },
    { type: 'toolCall', id: 'b', name: 'read', arguments: {}, providerState },
  ])
  const { contents } = await bodyFor(model, { messages: [userMessage('Hi'), calls, result('a', 'read'), result('b', 'read')] })
  const signatures = contents[1].parts.map((part: { thoughtSignature?: string }) => part.thoughtSignature)
  expect(signatures).toEqual(['skip_thought_signature_validator', 'c2ln'])
})

describe('a lone surrogate in arguments', () => {
  const args = { path: 'a\ud83db' }

  it('replaces a lone surrogate in arguments on Chat Completions', async () => {
    const model = openai('gpt-4o')
    const call = answer(model, [{ type: 'toolCall', id: 'c', name: 'read', arguments: args }])
    const { messages } = await bodyFor(model, { messages: [userMessage('Hi'), call, result('c', 'read')] })
    expect(JSON.parse(messages[1].tool_calls[0].function.arguments)).toEqual({ path: 'a\ufffdb' })
  })

  it('replaces a lone surrogate in arguments on Responses', async () => {
    const model = openaiResponses('gpt-5.1')
    const call = answer(model, [{ type: 'toolCall', id: 'c', name: 'read', arguments: args }])
    const { input } = await bodyFor(model, { messages: [userMessage('Hi'), call, result('c', 'read')] })
    expect(JSON.parse(input[1].arguments)).toEqual({ path: 'a\ufffdb' })
  })
})

describe('reasoning', () => {
  it('keeps a response whose blank text is omitted: Anthropic', async () => {
    const model = anthropic('claude-opus-4-6')
    const state = { api: 'anthropicMessages', model: 'claude-opus-4-6', payload: {} } as const
    const odd = answer(model, [
      { type: 'text', text: 'Well.' },
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'text', text: ' ', providerState: state },
    ])
    const { messages } = await bodyFor(model, { messages: [userMessage('Hi'), odd, userMessage('Go on.')] })
    expect(messages[1].content).toEqual([{ type: 'text', text: 'Well.' }])
  })

  it('sends reasoning back to Cerebras in its field, only if present', async () => {
    const model = openaiCompatible('qwen-3-32b', { backend: 'cerebras', reasoning: true })
    const thought = answer(model, [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Well.' },
    ])
    const said = answer(model, [{ type: 'text', text: 'So.' }])
    const { messages } = await bodyFor(model, { messages: [userMessage('a'), thought, userMessage('b'), said, userMessage('c')] })
    expect(messages[1]).toEqual({ role: 'assistant', content: 'Well.', reasoning: 'Hm.' })
    expect(messages[3]).toEqual({ role: 'assistant', content: 'So.' })
  })

  it.each([
    ['qwen/qwen3-32b', true, 'medium', 'parsed'],
    ['qwen/qwen3-32b', true, 'off', 'hidden'],
    ['openai/gpt-oss-120b', true, 'medium', undefined],
    ['llama-3.3-70b-versatile', false, 'off', undefined],
  ] as const)('requests separate reasoning from Groq: %s, reasoning %s, %s', async (id, reasoning, thinking, format) => {
    const model = openaiCompatible(id, { backend: 'groq', reasoning })
    expect((await bodyFor(model, { thinking })).reasoning_format).toBe(format)
  })
})
