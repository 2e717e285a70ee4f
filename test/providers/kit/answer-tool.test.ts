import { describe, expect, it } from 'vitest'
import type { ModelCapabilities } from '../../../src/contract/model/model-config.ts'
import { emptyUsage } from '../../../src/contract/model/usage.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { plain } from '../../../src/providers/kit/capabilities/capabilities.ts'
import { AssistantBuilder } from '../../../src/providers/kit/decode/assistant-builder.ts'
import {
  type AnswerByTool,
  answerByTool,
  answerToolName,
  type NativeFormats,
} from '../../../src/providers/kit/optional/response-format/answer-tool.ts'
import type { StreamEvent, StreamRequest } from '../../../src/types/model/provider.ts'
import { plainRequest } from '../model-call.ts'

const schema = { type: 'object', properties: { city: { type: 'string' } } }
const { config } = anthropic('claude-test')
const nothing: NativeFormats = { jsonObject: false, jsonSchema: false, forcingStopsThinking: true }

const request = (changes: Partial<StreamRequest> = {}) =>
  plainRequest(config, { messages: [], responseFormat: { type: 'jsonSchema', name: 'place', schema }, ...changes })

function plan(
  changes: Partial<StreamRequest> = {},
  capabilities: Partial<ModelCapabilities> = {},
  native = nothing,
): { plan: AnswerByTool | undefined; warnings: string[] } {
  const warnings: string[] = []
  return { plan: answerByTool(request(changes), { ...plain, ...capabilities }, native, warnings), warnings }
}

describe('a request with an answer tool', () => {
  it('contains the answer tool with the schema as parameters, and forces it', () => {
    const { plan: made, warnings } = plan()
    expect(made).toMatchObject({ force: 'answer', answerTool: 'respond_json', request: { responseFormat: { type: 'text' } } })
    expect(made?.request.tools).toMatchObject([{ name: 'respond_json', parameters: schema }])
    expect(warnings).toEqual([])
  })

  it('accepts any object in JSON mode', () => {
    expect(plan({ responseFormat: { type: 'jsonObject' } }).plan?.request.tools).toMatchObject([
      { parameters: { type: 'object', additionalProperties: true } },
    ])
  })

  it('keeps other tools usable and lists them first', () => {
    const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }]
    const first = plan({ tools }).plan
    expect(first?.force).toBe('any')
    expect(first?.request.tools.map((tool) => tool.name)).toEqual(['look', answerToolName])
    // The encoded forms of tools are found again by identity.
    expect(plan({ tools }).plan?.request.tools).toBe(first?.request.tools)
  })

  it.each(['budget', 'adaptive'] as const)('disables thinking if it excludes a forced tool: %s', (thinking) => {
    const { plan: made, warnings } = plan({ thinking: 'high' }, { thinking })
    expect(made?.request.thinking).toBe('off')
    expect(warnings.join()).toMatch(/thinking switched off/)
  })

  it.each(['none', 'alwaysOn'] as const)('keeps the thinking level with thinking mode %s', (thinking) => {
    const { plan: made, warnings } = plan({ thinking: 'high' }, { thinking })
    expect(made?.request.thinking).toBe('high')
    expect(warnings).toEqual([])
  })

  it('keeps thinking if it allows a forced tool', () => {
    const native = { ...nothing, forcingStopsThinking: false }
    expect(plan({ thinking: 'high' }, { thinking: 'adaptive' }, native).plan?.request.thinking).toBe('high')
  })

  it('instructs the model and warns if it cannot force the tool', () => {
    const { plan: made, warnings } = plan({ thinking: 'high' }, { thinking: 'budget', forcedToolChoice: false })
    expect(made).toMatchObject({ force: 'none', request: { thinking: 'high' } })
    expect(warnings.join()).toMatch(/cannot enforce/)
  })

  it('adds no answer tool for text or native structured output', () => {
    const native = { ...nothing, jsonSchema: true }
    expect(plan({ responseFormat: { type: 'text' } }).plan).toBeUndefined()
    expect(plan({}, {}, native).plan).toBeUndefined()
    expect(plan({ responseFormat: { type: 'jsonObject' } }, {}, native).plan).toBeDefined()
    const { responseFormat: _, ...bare } = request()
    expect(answerByTool(bare, plain, nothing, [])).toBeUndefined()
  })
})

function building() {
  const events: StreamEvent[] = []
  const builder = new AssistantBuilder(config, (event) => events.push(event), answerToolName)
  return { builder, events }
}

describe('the answer tool call', () => {
  it('converts the call to response text with stop reason stop', () => {
    const { builder, events } = building()
    builder.toolCall(0, 'c1', answerToolName)
    builder.toolArguments(0, '{"city":')
    builder.toolArguments(0, '"Oslo"}')
    const message = builder.finish('toolUse', emptyUsage())
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: '{"city":"Oslo"}' }] })
    expect(events.slice(1)).toEqual([
      { type: 'text', contentIndex: 0, delta: '{"city":' },
      { type: 'text', contentIndex: 0, delta: '"Oslo"}' },
    ])
  })

  it('converts a call without arguments to an empty object', () => {
    const { builder, events } = building()
    builder.toolCall(0, 'c1', answerToolName)
    expect(builder.finish('toolUse', emptyUsage()).content).toEqual([{ type: 'text', text: '{}' }])
    expect(events.at(-1)).toEqual({ type: 'text', contentIndex: 0, delta: '{}' })
  })

  it('drops a call that was cut before its first argument', () => {
    const { builder } = building()
    builder.toolCall(0, 'c1', answerToolName)
    expect(builder.finish('length', emptyUsage())).toMatchObject({ stopReason: 'length', content: [] })
  })

  it('accepts a late or repeated tool name', () => {
    const { builder, events } = building()
    builder.toolArguments(0, '{"a"')
    builder.toolCall(0, 'c1')
    builder.toolCall(0, undefined, answerToolName)
    builder.toolCall(0, 'c1', answerToolName)
    builder.toolCall(0, 'c1')
    builder.toolArguments(0, ':1}')
    expect(builder.finish('toolUse', emptyUsage())).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: '{"a":1}' }] })
    expect(events.filter((event) => event.type !== 'start').map((event) => event.type)).toEqual(['text', 'text'])
  })

  it('reads one answer tool call and omits a second', () => {
    const { builder } = building()
    builder.toolCall(0, 'c1', answerToolName)
    builder.toolCall(1, 'c2', answerToolName)
    builder.toolArguments(1, '{"a":2}')
    builder.toolArguments(0, '{"a":1}')
    expect(builder.finish('toolUse', emptyUsage()).content).toEqual([{ type: 'text', text: '{"a":1}' }])
  })

  it('keeps other calls and puts the output after them', () => {
    const { builder } = building()
    builder.toolCall(0, 'c1', 'look')
    builder.toolCall(1, 'c2', answerToolName)
    builder.toolArguments(1, '{}')
    expect(builder.finish('toolUse', emptyUsage())).toMatchObject({
      stopReason: 'toolUse',
      content: [{ type: 'toolCall', name: 'look' }, { type: 'text' }],
    })
  })

  it('drops the provider state of the answer tool call', () => {
    const { builder } = building()
    builder.toolCall(0, 'c1', answerToolName)
    builder.setProviderState(0, { api: 'googleGenerativeAi', model: 'm', payload: { thoughtSignature: 's' } })
    builder.toolArguments(0, '{"a":1}')
    expect(builder.finish('toolUse', emptyUsage()).content).toEqual([{ type: 'text', text: '{"a":1}' }])
  })

  it('keeps the call if the request had no answer tool', () => {
    const builder = new AssistantBuilder(config, () => undefined)
    builder.toolCall(0, 'c1', answerToolName)
    expect(builder.finish('toolUse', emptyUsage())).toMatchObject({ stopReason: 'toolUse', content: [{ name: answerToolName }] })
  })
})
