import { expect, it } from 'vitest'
import { misfitsIn } from '../../playground/src/state/log/answer-fit.ts'
import { EventLog } from '../../playground/src/state/log/event-log.ts'
import type { Span } from '../../playground/src/state/log/trace.ts'
import { stopWord, whyEnded } from '../../playground/src/state/log/why-ended.ts'
import { sessionMarkdown } from '../../playground/src/tree/session-markdown.ts'
import { Agent, type JsonSchema, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { initialState, reduce } from '../../src/store.ts'
import { patient } from '../support/patience.ts'

const weather: JsonSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'array', items: { type: 'object', properties: { degrees: { type: 'number' } } } } },
  required: ['city'],
}
const flat = (spans: readonly Span[]): Span[] => spans.flatMap((span) => [span, ...flat(span.children)])

async function answered(text: string, schema: JsonSchema = weather) {
  const store = memorySessionStore()
  const agent = new Agent({
    model: scripted([{ text }]),
    responseFormat: { type: 'jsonSchema', name: 'answer', schema },
    captureTurnRequests: true,
    session: store,
    sessionId: 's',
    logger: false,
  })
  const log = new EventLog()
  let state = initialState()
  for await (const event of agent.prompt('Oslo?')) {
    log.add(event)
    state = reduce(state, event)
  }
  await agent.close()
  const session = await store.load('s')
  const restored = new EventLog()
  restored.restore(session.loops)
  return { state, log, session, restored }
}

const misfits: [string, string, JsonSchema, RegExp][] = [
  ['a value of another type', '{"city":"Oslo","days":[{"degrees":"warm"}]}', weather, /days\[0\]\.degrees: expected number, got string/],
  ['a missing value', '{"days":[]}', weather, /city/],
  ['invalid JSON', 'It is warm.', weather, /not valid JSON.*It is warm/],
  ['a list in place of an object', '[]', weather, /expected object, got array/],
]

it.each(misfits)('marks a response with %s as failing its schema, also after a reload', async (_, ...given) => {
  const [text, schema, place] = given
  const { state, log, session, restored } = await answered(text, schema)
  for (const each of [log, restored]) {
    await expect.poll(() => each.misfits.value.size, patient).toBe(1)
    const why = whyEnded(state, each.misfits.value)
    expect(why).toMatchObject({ word: 'Schema not met', remedies: ['retry', 'schema'] })
    expect(why?.text).toMatch(place)
    const view = state.messages.at(-1)
    expect(view && stopWord(view, each.misfits.value)).toBe('Schema not met')
    expect(flat(each.trace.roots).flatMap(({ ending }) => ending ?? [])).toEqual(['Schema not met'])
  }
  expect(sessionMarkdown(session, await misfitsIn(session))).toMatch(/^## .*\(Schema not met\)$/m)
})

it('marks a response that matches its schema as complete', async () => {
  const { state, session, log } = await answered('{"city":"Oslo","days":[{"degrees":4}]}')
  expect(await misfitsIn(session)).toEqual(new Map())
  expect(whyEnded(state, log.misfits.value)).toBeUndefined()
})

it('reports a schema that cannot be checked', async () => {
  const { state, log } = await answered('"a"', { type: 'string', pattern: '(?<=a)b' })
  await expect.poll(() => log.misfits.value.size, patient).toBe(1)
  expect(whyEnded(state, log.misfits.value)).toMatchObject({ word: 'Schema not checked' })
})
