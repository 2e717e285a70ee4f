import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyUsage, extensionMessage, extractJson } from '../../src/context.ts'
import type { JsonValue } from '../../src/contract/json.ts'
import { type AssistantMessage, type Content, ProviderError, type StopReason, userMessage } from '../../src/index.ts'

function answer(content: Content[], stopReason: StopReason = 'stop', errorMessage?: string): AssistantMessage {
  const message: AssistantMessage = { role: 'assistant', content, stopReason, model: 'm', provider: 'p', usage: emptyUsage(), timestamp: 1 }
  return errorMessage === undefined ? message : { ...message, errorMessage }
}

const text = (value: string): Content => ({ type: 'text', text: value })

function refusal(run: () => unknown): ProviderError {
  try {
    run()
  } catch (error) {
    if (ProviderError.isInstance(error)) return error
  }
  throw new Error('It was not refused with a ProviderError.')
}

describe('extractJson', () => {
  it("parses a response's text", () => {
    expect(extractJson(answer([text('{"city":"Oslo"}')]))).toEqual({ city: 'Oslo' })
  })

  it('joins text blocks across other blocks', () => {
    expect(extractJson(answer([text('{"a":'), { type: 'thinking', thinking: '{' }, text('[1,2]}')]))).toEqual({ a: [1, 2] })
  })

  it('prefers arguments of respond_json', () => {
    const call: Content = { type: 'toolCall', id: 'c', name: 'respond_json', arguments: { city: 'Oslo' } }
    expect(extractJson(answer([text('Here it is:'), call], 'toolUse'))).toEqual({ city: 'Oslo' })
  })

  it('parses the last text block if the whole text is not JSON', () => {
    expect(extractJson(answer([text('Here it is:'), text('{"city":"Oslo"}')]))).toEqual({ city: 'Oslo' })
    expect(() => extractJson(answer([text('{"city":"Oslo"}'), text('There it was.')]))).toThrow('not valid JSON')
  })

  it('returns any JSON value, also split over blocks', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, at) => {
        const json = JSON.stringify(value)
        const cut = at % (json.length + 1)
        // JSON.parse and JSON.stringify disagree on -0.
        expect(extractJson(answer([text(json.slice(0, cut)), text(json.slice(cut))]))).toEqual(JSON.parse(json) as JsonValue)
      }),
    )
  })

  it.each(['not json', '{"a":1', '{"a":1} and more'])('rejects text that is not valid JSON: %s', (value) => {
    const error = refusal(() => extractJson(answer([text(value)])))
    expect(error).toMatchObject({ code: 'schemaMismatch', isRetryable: false })
    expect(error.message).toContain('not valid JSON')
    expect(error.message).toContain(JSON.stringify(value))
  })

  it('rejects truncated arguments of respond_json', () => {
    const call: Content = { type: 'toolCall', id: 'c', name: 'respond_json', arguments: {}, invalidArguments: '{"city":' }
    const error = refusal(() => extractJson(answer([call], 'length')))
    expect(error.message).toMatch(/not valid JSON \(it was cut off: raise maxTokens\)/)
  })

  it('rejects messages that are not responses', () => {
    expect(refusal(() => extractJson(userMessage('{}')))).toMatchObject({ code: 'schemaMismatch' })
    expect(refusal(() => extractJson(extensionMessage('note', {}))).message).toContain('extension')
  })

  it.each([[[]], [[text(' \n')]], [[{ type: 'thinking', thinking: '{}' } as Content]]])('rejects responses without text: %j', (content) => {
    expect(refusal(() => extractJson(answer(content)))).toMatchObject({ code: 'schemaMismatch', message: expect.stringContaining('empty') })
  })

  it.each([
    ['guardRail', undefined, 'refused'],
    ['toolUse', undefined, 'calls tools'],
    ['error', 'The line broke.', 'ended with error: The line broke.'],
    ['aborted', undefined, 'ended with aborted'],
  ] as const)('includes the cause in the error: %s', (stopReason, errorMessage, expected) => {
    expect(refusal(() => extractJson(answer([text('{')], stopReason, errorMessage))).message).toContain(expected)
  })

  it('includes the text of a refusal', () => {
    const refusing = { ...answer([], 'guardRail'), refusal: 'I will not.' }
    expect(refusal(() => extractJson(refusing)).message).toContain('refused: "I will not."')
  })

  it('quotes only a short part of long text', () => {
    expect(refusal(() => extractJson(answer([text('x'.repeat(5000))]))).message.length).toBeLessThan(300)
  })
})
