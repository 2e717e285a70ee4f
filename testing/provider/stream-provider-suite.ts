import type { AssistantMessage } from '../../src/contract/message/message.ts'
import { shownContent, textOf, toolCallsOf } from '../../src/contract/message/message.ts'
import type { Model } from '../../src/types/model/model.ts'
import { type FaultFetch, type FaultScript, faultFetch, seededRandom } from '../fault-fetch.ts'
import type { TestRunner } from '../test-runner.ts'
import { cutPlaces } from './cut-places.ts'
import { callModel, errorOf, type FixtureAnswer, joinedDeltas, messageOf, nextTask, type ProviderFixture } from './provider-fixture.ts'
import { refusalTests } from './stream-provider-refusals.ts'

/** The provider under test and recorded responses. */
export interface StreamProviderSuiteOptions {
  /** Name of the test group. */
  name: string
  /** Creates a model that sends with `fetch`. Use a unique key, because the suite searches for it where no key may appear. */
  create: (fetch: FaultFetch) => Model
  fixtures: readonly ProviderFixture[]
  /** Number of seeded cuts per response, in addition to those at frame boundaries. Default: every byte. */
  cuts?: number
}

interface Case extends StreamProviderSuiteOptions {
  fixture: ProviderFixture
  answer: FixtureAnswer
}

/**
 * Tests every guarantee of `StreamProvider`: the order of events, deltas, fragmentation, cuts at every byte, stalls, aborts, rejections and
 * secrets.
 *
 * Source: docs/guides/testing.md
 */
export function streamProviderSuite(runner: TestRunner, options: StreamProviderSuiteOptions): void {
  runner.describe(options.name, () => {
    for (const fixture of options.fixtures) {
      runner.describe(fixture.name, () => {
        const { expect: expected } = fixture
        if ('errorCode' in expected) failureTest(runner, options, fixture, expected.errorCode)
        else answerTests(runner, { ...options, fixture, answer: expected })
      })
    }
    refusalTests(runner, options)
  })
}

/** Returns a script that serves the fixture with `fault`. */
function serving(fixture: ProviderFixture, fault: Partial<FaultScript> = {}): FaultScript {
  return { body: fixture.body, headers: { 'content-type': fixture.contentType }, ...fault }
}

function failureTest({ it, expect }: TestRunner, { create }: StreamProviderSuiteOptions, fixture: ProviderFixture, code: string): void {
  it(`fails with ${code} however the bytes are split`, async () => {
    for (const split of [undefined, 1, { seed: 1 }, { seed: 2 }]) {
      const fetch = faultFetch(serving(fixture, split === undefined ? {} : { split }))
      const outcome = await callModel(create(fetch), fixture.name)
      expect(errorOf(outcome, fixture.name).code).toBe(code)
      expect(fetch.openStreams).toBe(0)
    }
  })
}

function answerTests(runner: TestRunner, test: Case): void {
  eventTests(runner, test)
  fragmentationTests(runner, test)
  cutTests(runner, test)
  abortTests(runner, test)
}

/** Returns a message's expected parts. Ids count only if the fixture has them. */
function answerOf(message: AssistantMessage, like: FixtureAnswer): FixtureAnswer {
  let thinking = ''
  for (const block of message.content) if (block.type === 'thinking') thinking += block.thinking
  const toolCalls = toolCallsOf(message.content).map(({ id, name, arguments: args }, index) => {
    const bare = { name, arguments: args }
    return like.toolCalls?.[index]?.id === undefined ? bare : { id, ...bare }
  })
  return { text: textOf(shownContent(message)), thinking, toolCalls, stopReason: message.stopReason }
}

/** Returns a message without the parts that differ between calls, which are times and generated call ids. */
function comparable(message: AssistantMessage, like: FixtureAnswer): AssistantMessage {
  let calls = 0
  const content = message.content.map((block) => {
    if (block.type !== 'toolCall') return block
    return like.toolCalls?.[calls++]?.id === undefined ? { ...block, id: '' } : block
  })
  return { ...message, content, timestamp: 0 }
}

function eventTests({ it, expect }: TestRunner, { create, fixture, answer }: Case): void {
  it('resolves with the complete response', async () => {
    const fetch = faultFetch(serving(fixture))
    const message = messageOf(await callModel(create(fetch), fixture.name), fixture.name)
    expect(answerOf(message, answer)).toEqual({ thinking: '', toolCalls: [], ...answer })
    expect(fetch.openStreams).toBe(0)
  })

  it('emits start first and once, with the final message object', async () => {
    const outcome = await callModel(create(faultFetch(serving(fixture))), fixture.name)
    expect(outcome.events.filter((event) => event.type === 'start').length).toBe(1)
    const [start] = outcome.events
    expect(start?.type === 'start' && start.message === outcome.message).toBe(true)
  })

  it('emits deltas that concatenate to the message blocks', async () => {
    const outcome = await callModel(create(faultFetch(serving(fixture))), fixture.name)
    const deltas = joinedDeltas(outcome.events)
    shownContent(messageOf(outcome, fixture.name)).forEach((block, index) => {
      const joined = deltas.get(index)
      deltas.delete(index)
      if (block.type === 'text') expect(joined ?? { type: 'text', text: '' }).toEqual({ type: 'text', text: block.text })
      if (block.type === 'thinking') expect(joined ?? { type: 'thinking', text: '' }).toEqual({ type: 'thinking', text: block.thinking })
      if (block.type !== 'toolCall') return
      if (block.invalidArguments !== undefined) expect(joined?.text).toBe(block.invalidArguments)
      else expect(JSON.parse(joined?.text || '{}')).toEqual(block.arguments)
    })
    expect([...deltas.keys()]).toEqual([])
  })

  it('emits each delta with the index of a block of its type', async () => {
    const outcome = await callModel(create(faultFetch(serving(fixture))), fixture.name)
    const content = shownContent(messageOf(outcome, fixture.name))
    for (const event of outcome.events) {
      if (!('contentIndex' in event) || event.type === 'block' || event.type === 'citation') continue
      const block = content[event.contentIndex]
      expect(block?.type).toBe(event.type === 'toolCallDelta' ? 'toolCall' : event.type)
      if (event.type !== 'toolCallDelta' || block?.type !== 'toolCall') continue
      expect([block.id, block.name]).toEqual([event.toolCallId, event.toolName])
    }
  })

  it('emits no events after it settles', async () => {
    const outcome = await callModel(create(faultFetch(serving(fixture))), fixture.name)
    await nextTask()
    expect(outcome.late).toBe(0)
  })

  it('ignores a duplicate of the last frame', async () => {
    const bytes = bytesOf(fixture)
    const duplicate = { from: lastFrameStart(bytes, fixture.contentType), to: bytes.length }
    const outcome = await callModel(create(faultFetch(serving(fixture, { duplicate }))), fixture.name)
    expect(answerOf(messageOf(outcome, fixture.name), answer)).toEqual({ thinking: '', toolCalls: [], ...answer })
  })
}

function fragmentationTests({ it, expect }: TestRunner, { create, fixture, answer }: Case): void {
  it('returns the same message and deltas however the bytes are split', async () => {
    const whole = await callModel(create(faultFetch(serving(fixture))), fixture.name)
    const expected = comparable(messageOf(whole, fixture.name), answer)
    const splits: FaultScript['split'][] = [1, 2, 3, 7, ...Array.from({ length: 100 }, (_, seed) => ({ seed }))]
    for (const split of splits) {
      const what = `${fixture.name} split ${JSON.stringify(split)}`
      const outcome = await callModel(create(faultFetch(serving(fixture, split === undefined ? {} : { split }))), what)
      expect(comparable(messageOf(outcome, what), answer)).toEqual(expected)
      expect([...joinedDeltas(outcome.events)]).toEqual([...joinedDeltas(whole.events)])
    }
  })

  it('settles with a message or a ProviderError if bytes are damaged', async () => {
    for (let seed = 0; seed < 100; seed++) {
      const random = seededRandom(seed)
      const body = bytesOf(fixture).slice()
      for (let edits = 1 + Math.floor(random() * 8); edits > 0; edits--)
        body[Math.floor(random() * body.length)] = Math.floor(random() * 256)
      const what = `${fixture.name} damaged by seed ${seed}`
      const outcome = await callModel(create(faultFetch(serving({ ...fixture, body }))), what)
      if (outcome.message === undefined) errorOf(outcome, what)
    }
  })
}

function cutTests({ it, expect }: TestRunner, { create, fixture, answer, cuts = Number.POSITIVE_INFINITY }: Case): void {
  const bytes = bytesOf(fixture)
  const terminalAt = fixture.terminal === undefined ? 0 : indexOfText(bytes, fixture.terminal)
  for (const how of ['end', 'reset'] as const) {
    it(`returns a retryable network error or the whole response if the stream is cut at any byte (${how})`, async () => {
      let late = 0
      for (const at of cutPlaces(bytes, cuts)) {
        const what = `${fixture.name} ${how} at ${at}`
        const fetch = faultFetch(serving(fixture, { cut: { at, how } }))
        const outcome = await callModel(create(fetch), what)
        late += outcome.late
        if (outcome.message !== undefined && at >= terminalAt) {
          expect([fetch.openStreams, answerOf(outcome.message, answer)]).toEqual([0, { thinking: '', toolCalls: [], ...answer }])
          continue
        }
        const { code, isRetryable, partial } = errorOf(outcome, what)
        const isBeginning = answer.text.startsWith(textOf(partial?.content ?? []))
        expect([what, fetch.openStreams, code, isRetryable, isBeginning]).toEqual([what, 0, 'network', true, true])
      }
      await nextTask()
      expect(late).toBe(0)
    })
  }
}

function abortTests({ it, expect }: TestRunner, { create, fixture, answer }: Case): void {
  const length = bytesOf(fixture).length
  it('rejects as cancelled with the partial message and closes the connection if aborted during a stream', async () => {
    for (const part of [0, 0.25, 0.5, 0.75]) {
      const what = `${fixture.name} aborted after ${part}`
      const controller = new AbortController()
      const stall = { at: Math.floor(length * part), onStall: () => controller.abort(new Error('stop')) }
      const fetch = faultFetch(serving(fixture, { stall }))
      const outcome = await callModel(create(fetch), what, controller.signal)
      const error = errorOf(outcome, what)
      expect([what, error.code, error.isRetryable]).toEqual([what, 'cancelled', false])
      expect(answer.text.startsWith(textOf(error.partial?.content ?? []))).toBe(true)
      if (outcome.events.length > 0) expect(error.partial !== undefined).toBe(true)
      expect(fetch.openStreams).toBe(0)
      await nextTask()
      expect(outcome.late).toBe(0)
    }
  })

  it('rejects as cancelled and emits no events if aborted before the call', async () => {
    const fetch = faultFetch(serving(fixture))
    const outcome = await callModel(create(fetch), fixture.name, AbortSignal.abort(new Error('stop')))
    expect(errorOf(outcome, fixture.name).code).toBe('cancelled')
    expect(outcome.events.length).toBe(0)
    expect(fetch.openStreams).toBe(0)
  })
}

function bytesOf({ body }: ProviderFixture): Uint8Array {
  return typeof body === 'string' ? new TextEncoder().encode(body) : body
}

function indexOfText(bytes: Uint8Array, text: string): number {
  // Latin-1 keeps one character per byte, so the index is an offset.
  const at = new TextDecoder('latin1').decode(bytes).lastIndexOf(text)
  if (at < 0) throw new Error(`The fixture does not contain its terminal ${JSON.stringify(text)}`)
  return at
}

/** Finds where the last frame starts: after the last blank line in an event stream, or by the lengths of binary frames. */
function lastFrameStart(bytes: Uint8Array, contentType: string): number {
  if (contentType.startsWith('application/vnd.amazon.eventstream')) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let start = 0
    for (let next = 0; next + 4 <= bytes.length; next += view.getUint32(next)) start = next
    return start
  }
  const text = new TextDecoder('latin1').decode(bytes)
  const frames = [...text.matchAll(/(?:\r\n|\n|\r){2}(?=.)/gs)]
  const last = frames.at(-1)
  return last === undefined ? 0 : last.index + last[0].length
}
