import { describe, expect, it } from 'vitest'
import { emptyUsage } from '../../../src/contract/model/usage.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { AssistantBuilder } from '../../../src/providers/kit/decode/assistant-builder.ts'
import type { StreamEvent } from '../../../src/types/model/provider.ts'

function building() {
  const events: StreamEvent[] = []
  const builder = new AssistantBuilder(anthropic('claude-test').config, (event) => events.push(event))
  return { builder, events }
}

describe('AssistantBuilder', () => {
  it('buffers fragments of a call until its id and name are known', () => {
    const { builder, events } = building()
    builder.toolArguments(0, '{"a"')
    builder.toolCall(0, 'c1')
    builder.toolArguments(0, ':1')
    builder.toolCall(0, undefined, 'add')
    builder.toolArguments(0, '}')
    const message = builder.finish('toolUse', emptyUsage())
    expect(message.content).toEqual([{ type: 'toolCall', id: 'c1', name: 'add', arguments: { a: 1 } }])
    expect(events.slice(1)).toEqual([
      { type: 'toolCallDelta', contentIndex: 0, toolCallId: 'c1', toolName: 'add', delta: '{"a":1' },
      { type: 'toolCallDelta', contentIndex: 0, toolCallId: 'c1', toolName: 'add', delta: '}' },
    ])
  })

  it('generates missing or duplicate ids and reports them in the deltas', () => {
    const { builder, events } = building()
    builder.toolCall('a', undefined, 'x')
    builder.toolArguments('a', '{}')
    builder.toolCall('b', 'same', 'y')
    builder.toolCall('c', 'same', 'z')
    const calls = builder.finish('stop', emptyUsage()).content.flatMap((block) => (block.type === 'toolCall' ? [block.id] : []))
    expect(new Set(calls).size).toBe(3)
    expect(calls).not.toContain('')
    expect(events.at(-1)).toMatchObject({ type: 'toolCallDelta', contentIndex: 0, toolCallId: calls[0] })
  })

  it('keeps known fields of a call when a fragment repeats it', () => {
    const { builder } = building()
    builder.toolCall(0, 'c1', 'add')
    builder.toolCall(0, 'c1', 'add')
    builder.toolCall(0, '', '')
    expect(builder.finish('toolUse', emptyUsage()).content).toMatchObject([{ id: 'c1', name: 'add', arguments: {} }])
  })

  it.each(['[1]', '1', '"a"', '{"a":', 'x'])('marks arguments that are no object: %s', (raw) => {
    const { builder } = building()
    builder.toolCall(0, 'c1', 'add')
    builder.toolArguments(0, raw)
    expect(builder.finish('toolUse', emptyUsage()).content).toMatchObject([{ arguments: {}, invalidArguments: raw }])
  })

  it('treats null arguments as empty', () => {
    const { builder } = building()
    builder.toolCall(0, 'c1', 'now')
    builder.toolArguments(0, 'null')
    expect(builder.finish('toolUse', emptyUsage()).content).toEqual([{ type: 'toolCall', id: 'c1', name: 'now', arguments: {} }])
  })

  it('marks a call of a truncated response unless its arguments are complete', () => {
    const { builder } = building()
    builder.toolCall(0, 'c0', 'now')
    builder.toolCall(1, 'c1', 'now')
    expect(builder.finish('length', emptyUsage()).content).toMatchObject([{ id: 'c0' }, { id: 'c1', invalidArguments: '' }])
    expect(builder.message.content[0]).not.toHaveProperty('invalidArguments')
  })

  it('creates no block without content', () => {
    const { builder, events } = building()
    builder.text(0, '')
    builder.thinking(1, '')
    builder.setSignature(2, '')
    builder.text(3, 'x')
    expect(builder.finish('stop', emptyUsage()).content).toEqual([{ type: 'text', text: 'x' }])
    expect(events.at(-1)).toEqual({ type: 'text', contentIndex: 0, delta: 'x' })
  })

  it('emits start once with the growing message', () => {
    const { builder, events } = building()
    builder.start()
    builder.text(0, 'a')
    builder.start()
    expect(events).toHaveLength(2)
    expect(events[0]).toEqual({ type: 'start', message: builder.message })
    expect(builder.finish('stop', emptyUsage())).toBe(builder.message)
  })
})
