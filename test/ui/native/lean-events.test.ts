import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventDecoder, eventEncoder } from '../../../src/client.ts'
import { Agent, type AgentEvent } from '../../../src/index.ts'
import { asEmitted } from '../../../src/internal.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { uiMessageEncoder, uiMessageSse, uiMessageStreamEnd } from '../../../src/ui/ai-sdk.ts'
import { anyRun, coalesce } from '../../store/arbitrary-run.ts'
import { asRun, start, textDelta } from '../../store/events.ts'
import { tool } from '../../support/play.ts'
import { copy, scenarios } from '../scenarios.ts'

/** What a reader makes of the frames of one connection. */
function carried(events: readonly AgentEvent[]): AgentEvent[] {
  const encoder = eventEncoder()
  const decoder = eventDecoder()
  return events.flatMap((event) => {
    const json = encoder.encode(event)
    return json === '' ? [] : [decoder.decode(json, String(event.seq))]
  })
}

const merges = fc.array(fc.boolean(), { minLength: 1, maxLength: 20 })

describe('compact event encoding', () => {
  it.each(Object.entries(scenarios))('restores %s exactly, from any cursor and at any reader speed', async (_name, play) => {
    const { events } = await play()
    fc.assert(
      fc.property(fc.nat(events.length), merges, (cursor, merge) => {
        const seen = coalesce(events.slice(cursor), merge)
        expect(carried(seen)).toEqual(copy(seen.filter(({ type }) => type !== 'turnRequest')))
      }),
      { numRuns: 30 },
    )
  })

  it('restores any run, and any part of it', () => {
    fc.assert(
      fc.property(anyRun, fc.nat(50), merges, fc.infiniteStream(fc.boolean()), (events, cursor, merge, gaps) => {
        const seen = coalesce(events.slice(cursor), merge).filter(() => gaps.next().value !== true)
        expect(carried(seen)).toEqual(copy(seen.map(asEmitted)))
      }),
    )
  })

  it('reuses one decoder for the next connection', async () => {
    const { events = [] } = (await scenarios['a sub-agent']?.()) ?? {}
    const decoder = eventDecoder()
    for (const cursor of [0, 3, 20, events.length - 2]) {
      const encoder = eventEncoder()
      const read = events.slice(cursor).map((event) => decoder.decode(encoder.encode(event), String(event.seq)))
      expect(read).toEqual(events.slice(cursor))
    }
  })

  it('passes unknown events of a newer version', () => {
    const [began, ...deltas] = asRun([start('m'), textDelta('m', 'a'), textDelta('m', 'b'), textDelta('m', 'c'), textDelta('m', 'd')])
    const novel = deltas.map((event, index) =>
      index % 2 === 0 ? event : copy({ ...event, mood: 'good', delta: { ...Object(event).delta, tone: 1 } }),
    )
    const other = copy({ ...Object(began), type: 'novelty', seq: 9, what: { is: 'new' } })
    const events: AgentEvent[] = [Object(began), ...novel, other]
    expect(carried(events)).toEqual(copy(events))
  })

  it('withholds captured requests, including those of children, without a gap', () => {
    const [first, request, last] = asRun([start('m'), textDelta('m', 'secret'), textDelta('m', 'b')])
    const withheld = copy({ ...Object(request), type: 'turnRequest', turnIndex: 0, request: { systemPrompt: 'secret' } })
    const ofChild = copy({ ...Object(request), type: 'childEvent', toolCallId: 'c', toolName: 't', event: withheld })
    for (const hidden of [withheld, ofChild]) {
      const events: AgentEvent[] = [Object(first), hidden, Object(last)]
      expect(carried(events)).toEqual([first, last])
      expect(eventEncoder().sse(hidden)).toBe('')
      expect(eventEncoder({ turnRequests: true }).encode(hidden)).toContain('secret')
    }
  })

  it('shows a starting response as it began', () => {
    const [began] = asRun([start('m')])
    const grown = {
      ...Object(began),
      message: { ...Object(began).message, content: [{ type: 'text', text: 'more' }], stopReason: 'length' },
    }
    expect(carried([grown])).toEqual([began])
  })

  it('uses at most 150 bytes per delta', async () => {
    const { events = [] } = (await scenarios.thinking?.()) ?? {}
    const encoder = eventEncoder()
    const sizes = events.map((event) => ({ event, bytes: encoder.sse(event).length }))
    const deltas = sizes.filter(({ event }, index) => event.type === 'messageUpdate' && sizes[index - 1]?.event.type === 'messageUpdate')
    expect(deltas.length).toBeGreaterThan(2)
    for (const { bytes } of deltas) expect(bytes).toBeLessThanOrEqual(150)
    const within = deltas.filter(({ event }) => event.type === 'messageUpdate' && 'delta' in event.delta && event.delta.delta.length === 16)
    expect(Math.min(...within.map(({ bytes }) => bytes))).toBeLessThanOrEqual(45)
  })
})

describe('content of one connection', () => {
  const question = 'A question with a picture, say, that nobody wants to send three times.'
  const answer = Array.from({ length: 300 }, (_, at) => `${String(at).padStart(14, '-')} \n`)

  async function framesOf(after = 0): Promise<{ frames: string[]; events: AgentEvent[]; ofSdk: number }> {
    const model = scripted([{ text: answer, toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'Done.' }])
    const look = tool('look', async () => ({ content: [{ type: 'text', text: 'What there is to see.' }] }))
    const run = new Agent({ model, tools: [look] }).prompt(question)
    const [encoder, sdk, events, frames] = [eventEncoder(), uiMessageEncoder(), [] as AgentEvent[], [] as string[]]
    let ofSdk = uiMessageStreamEnd.length
    await run.result
    for await (const event of run.events({ after })) {
      events.push(event)
      frames.push(encoder.sse(event))
      for (const chunk of sdk.encode(event)) ofSdk += uiMessageSse(chunk).length
    }
    return { frames, events, ofSdk }
  }

  it('sends each message once, with fewer bytes than the AI SDK stream', async () => {
    const { frames, ofSdk } = await framesOf()
    const times = (text: string) => frames.join('').split(JSON.stringify(text).slice(1, -1)).length - 1
    expect([times(question), times(answer[7] ?? ''), times(answer.slice(7, 9).join(''))]).toEqual([1, 1, 0])
    // When the tool ends, and as a message.
    expect(times('What there is to see.')).toBe(2)
    expect(frames.join('').length).toBeLessThan(ofSdk)
  })

  it('restores the message for a reader that joins midway', async () => {
    const { events } = await framesOf()
    const middle = events[200]?.seq ?? 0
    const rest = await framesOf(middle)
    const ends = rest.frames.filter((frame) => frame.includes('"messageEnd"'))
    expect(ends[0]).toContain(JSON.stringify(answer.join('')).slice(1, -1))
    expect(carried(rest.events)).toEqual(copy(rest.events.map(asEmitted)))
  })

  it('throws brokenStream for a reference to an unread message', () => {
    const [first] = asRun([start('m')])
    const whole = { ...Object(first), seq: 1 }
    const of = (frame: object) => () => eventDecoder().decode(JSON.stringify({ ...whole, ...frame }))
    const message = { role: 'assistant', id: 'm', content: [{ type: 'text', text: '' }] }
    const broken = expect.objectContaining({ code: 'brokenStream' })
    expect(of({ type: 'agentEnd', messages: [{ sent: 'm' }] })).toThrow(broken)
    expect(of({ type: 'turnEnd', message: { sent: '__proto__' }, toolResults: [] })).toThrow(broken)
    expect(of({ type: 'messageEnd', messageId: 'm', message, grown: [0] })).toThrow(broken)
    expect(of({ type: 'messageEnd', messageId: 'm', message: 'none', grown: [0] })).toThrow(broken)
    expect(of({ type: 'messageEnd', messageId: 'm', message, grown: 'all' })).toThrow(broken)
  })
})

describe('a damaged stream', () => {
  const events = asRun([start('m'), textDelta('m', 'a'), textDelta('m', 'b'), textDelta('m', 'c')])
  const encoder = eventEncoder()
  const frames = events.map((event) => ({ id: String(event.seq), json: encoder.encode(event) }))
  const decode = (picked: typeof frames) => {
    const decoder = eventDecoder()
    return () => picked.map(({ id, json }) => decoder.decode(json, id))
  }
  const broken = expect.objectContaining({ code: 'brokenStream' })

  it('throws instead of decoding something else', () => {
    const [first, second, third, last] = frames
    if (first === undefined || second === undefined || third === undefined || last === undefined) throw new Error('four frames')
    expect(decode([second])).toThrow(broken)
    expect(decode([first, third])).toThrow(broken)
    expect(decode([first, second, last])).toThrow(broken)
    expect(decode([first, second, second])).toThrow(broken)
    for (const json of [
      '<html>',
      '"text"',
      'null',
      '{}',
      '{"runId":"r"}',
      '{"delta":{"delta":"x"}}',
      '[]',
      '[1]',
      '["x","y"]',
      '["x",1,2]',
    ]) {
      expect(decode([{ id: '1', json }]), json).toThrow(broken)
      expect(decode([first, { id: '2', json: json === '{}' ? '{"delta":{"delta":"x"}}' : json }]), json).toThrow(broken)
    }
  })
})
