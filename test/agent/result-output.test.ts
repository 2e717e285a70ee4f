import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import type { JsonObject } from '../../src/contract/json.ts'
import { Agent, type AgentRun, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const place = z.object({ city: z.string(), degrees: z.number() })
type Place = z.output<typeof place>
const placeJson = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const oslo = '{"city":"Oslo","degrees":4}'

/** A model that says `text` each time, and what was warned of. */
function saying(text: string) {
  const warnings: (JsonObject & { event: string })[] = []
  const logger = { warn: (event: string, fields: JsonObject) => void warnings.push({ event, ...fields }) }
  return { settings: { model: scripted(() => ({ text })), logger }, warnings }
}

describe('result.output', () => {
  it("has the type and value of the agent's schema for every run method", async () => {
    const { settings, warnings } = saying(oslo)
    const agent = new Agent({ ...settings, responseFormat: place })
    const begin = [() => agent.prompt('Where?'), () => agent.send('And now?'), () => agent.regenerate(), () => agent.fork().prompt('?')]
    for (const run of begin) {
      const { output } = await run().result
      expectTypeOf(output).toEqualTypeOf<Place | undefined>()
      expect(output).toEqual({ city: 'Oslo', degrees: 4 })
    }
    const agents: Agent = agent
    expect((await agents.prompt('?').result).output).toEqual({ city: 'Oslo', degrees: 4 })
    expect(warnings).toEqual([])
  })

  it("prefers the prompt's schema, including its transforms", async () => {
    const { settings } = saying('{"day":"2026-11-22"}')
    const dated = z.object({ day: z.iso.date().transform(async (day) => new Date(day)) })
    const { output } = await new Agent({ ...settings, responseFormat: place }).prompt('When?', { responseFormat: dated }).result
    expectTypeOf(output).toEqualTypeOf<{ day: Date } | undefined>()
    expect(output?.day.getUTCFullYear()).toBe(2026)
  })

  it('validates against a JSON Schema with a type argument', async () => {
    const { settings } = saying(oslo)
    const agent = new Agent(settings)
    const { output } = await agent.prompt<Place>('Where?', { responseFormat: placeJson }).result
    expectTypeOf(output).toEqualTypeOf<Place | undefined>()
    expect(output?.city).toBe('Oslo')
    const named = { type: 'jsonSchema', name: 'place', schema: placeJson } as const
    expect((await agent.prompt('Where?', { responseFormat: named }).result).output).toEqual({ city: 'Oslo', degrees: 4 })
    expect((await agent.prompt('Where?', { responseFormat: { type: 'jsonObject' } }).result).output).toEqual({ city: 'Oslo', degrees: 4 })
    const schemaValidator = { compile: () => () => ({ value: 'made by it' }) }
    expect((await new Agent({ ...settings, schemaValidator, responseFormat: placeJson }).prompt('?').result).output).toBe('made by it')
  })

  it('drops nulls that a strict provider sends for optional properties', async () => {
    const { settings } = saying('{"city":"Oslo","note":null,"near":[{"city":"Moss","note":null}],"kept":null}')
    const named = z.object({ city: z.string(), note: z.string().optional() })
    const nested = named.extend({ near: z.array(named), kept: z.null() })
    const read = { city: 'Oslo', near: [{ city: 'Moss' }], kept: null }
    for (const responseFormat of [nested, z.toJSONSchema(nested)]) {
      expect((await new Agent({ ...settings, responseFormat }).prompt('?').result).output).toEqual(read)
    }
    const demanding = new Agent({ ...settings, responseFormat: z.object({ note: z.string() }) })
    expect((await demanding.prompt('?').result).output).toBeUndefined()
  })

  it('is undefined without a response format', async () => {
    const { settings, warnings } = saying(oslo)
    const agent = new Agent(settings)
    const result = await agent.prompt('Where?').result
    expectTypeOf(result.output).toBeUnknown()
    expect(result).not.toHaveProperty('output')
    expect(
      await new Agent({ ...settings, responseFormat: place }).prompt('?', { responseFormat: { type: 'text' } }).result,
    ).not.toHaveProperty('output')
    expect(warnings).toEqual([])
  })

  it('is undefined, with a warning, if the response does not match', async () => {
    const { settings, warnings } = saying('{"city":"Oslo"}')
    const agent = new Agent({ ...settings, responseFormat: place })
    const result = await agent.prompt('Where?').result
    expect(result).toMatchObject({ status: 'completed', text: '{"city":"Oslo"}' })
    expect(result).not.toHaveProperty('output')
    expect(warnings).toMatchObject([{ event: 'outputMismatch', message: expect.stringContaining('degrees: '), runId: result.runId }])
    warnings.length = 0
    await agent.prompt('Where?', { responseFormat: { type: 'object', unknownKeyword: 1 } }).result
    expect(warnings).toMatchObject([{ event: 'outputMismatch', message: expect.stringContaining('unknownKeyword') }])
  })

  it('is undefined if the run failed or the response was cut off', async () => {
    const { settings, warnings } = saying(oslo)
    const responseFormat = place
    const failed = await new Agent({ ...settings, model: scripted([{ fail: { code: 'auth', message: 'No.' } }]), responseFormat }).prompt(
      '?',
    ).result
    expect([failed.status, failed.output]).toEqual(['error', undefined])
    const cut = await new Agent({ ...settings, model: scripted([{ text: '{"ci', stopReason: 'length' }]), responseFormat }).prompt('?')
      .result
    expect([cut.status, cut.output]).toEqual(['completed', undefined])
    expect(warnings.map(({ event }) => event)).toEqual(['answerCut'])
  })

  it('sets outputError with text, path and message of each issue', async () => {
    const { settings } = saying('{"city":4,"days":[{"degrees":"warm"}]}')
    const schema = z.object({ city: z.string(), days: z.array(z.object({ degrees: z.number() })) })
    for (const responseFormat of [schema, z.toJSONSchema(schema)]) {
      const { status, output, outputError, text } = await new Agent({ ...settings, responseFormat }).prompt('?').result
      expect([status, output]).toEqual(['completed', undefined])
      expect(outputError?.issues.map(({ path }) => path)).toEqual(['city', 'days[0].degrees'])
      expect(outputError?.issues[0]?.message).toContain('string')
      expect(outputError?.message).toContain('days[0].degrees: ')
      expect(outputError?.text).toBe(text)
    }
  })

  it.each([
    ['invalid JSON', { text: 'It is warm.' }, /The response is not valid JSON/],
    ['a truncated response', { text: '{"ci', stopReason: 'length' as const }, /cut off: raise maxTokens/],
    ['an empty response', { text: '' }, /The response is empty/],
    ['another root type', { text: '[]' }, /does not match its schema/],
  ])('sets outputError for %s', async (_, said, message) => {
    const { settings } = saying('')
    const agent = new Agent({ ...settings, model: scripted([said, said]), responseFormat: place })
    const { outputError } = await agent.prompt('?').result
    expect(outputError).toMatchObject({ message: expect.stringMatching(message), text: said.text })
  })

  it('omits outputError if the output is valid or no format is set', async () => {
    const { settings } = saying(oslo)
    expect(await new Agent({ ...settings, responseFormat: place }).prompt('?').result).not.toHaveProperty('outputError')
    expect(await new Agent(settings).prompt('?').result).not.toHaveProperty('outputError')
  })

  it('keeps its type in copied and resumed agents', async () => {
    const { settings } = saying(oslo)
    const session = memorySessionStore()
    const agent = new Agent({ ...settings, session, responseFormat: place })
    await agent.prompt('Where?').result
    await agent.close()
    const again = await resumeAgent(session, agent.sessionId, { ...settings, responseFormat: place })
    const run = again.prompt('?')
    expectTypeOf(run).toEqualTypeOf<AgentRun<Place>>()
    expect((await run.result).output?.degrees).toBe(4)
    expectTypeOf(agent.with({ systemPrompt: 'Be brief.' })).toEqualTypeOf<Agent<Place>>()
    const dated = agent.with({ responseFormat: z.object({ day: z.string() }) })
    expectTypeOf(dated).toEqualTypeOf<Agent<{ day: string }>>()
  })
})
