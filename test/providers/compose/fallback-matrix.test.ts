import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProviderErrorCode } from '../../../src/contract/errors.ts'
import type { AssistantMessage, MessageInput } from '../../../src/contract/message/message.ts'
import { Agent, type AgentEvent, type Model } from '../../../src/index.ts'
import { fallback } from '../../../src/models.ts'
import { type Wire, wires } from '../../harness/fixture-model.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { fastRetry, ofType } from '../../support/play.ts'
import { type WireReply, WireServer } from '../../support/wire-server.ts'

const server = new WireServer()
beforeAll(() => server.start())
afterAll(() => server.stop())

const refused = (status: number, message = 'No.', headers: Record<string, string> = {}): WireReply => ({
  status,
  body: JSON.stringify({ message, error: { message } }),
  headers,
})
const half: WireReply = { turn: { text: ['Half', 'x'.repeat(4000)] }, cut: { permille: 700, seed: 1 } }

/** Everything that can happen to the first model, and what it is called. */
const failures: readonly (readonly [name: string, reply: WireReply, code: ProviderErrorCode, afterOutput?: 'after output'])[] = [
  ['a network that is down', { gone: true }, 'network'],
  ['401', refused(401), 'auth'],
  ['403', refused(403), 'auth'],
  ['404', refused(404), 'api'],
  ['400', refused(400), 'api'],
  ['429', refused(429), 'rateLimited'],
  ['429 with Retry-After', refused(429, 'Slow down.', { 'retry-after': '30' }), 'rateLimited'],
  ['429 with a wait of a day', refused(429, 'Slow down.', { 'retry-after': '86400' }), 'rateLimited'],
  ['500', refused(500), 'api'],
  ['529 overloaded', refused(529, 'Overloaded'), 'api'],
  ['silence before the first byte', { silent: true }, 'network'],
  ['an answer that is torn before output', { turn: { text: ['Half'] }, cut: { permille: 0, seed: 1 } }, 'network'],
  ['an answer that ends before output', { turn: { text: ['Half'] }, cut: { permille: 0, seed: 2 } }, 'network'],
  ['an answer that is torn after output', half, 'network', 'after output'],
  ['an answer that ends after output', { ...half, cut: { permille: 700, seed: 2 } }, 'network', 'after output'],
]

/** Each failure with each protocol as the first; the second moves on by one with every failure, so that all pairs come. */
const table = failures.flatMap(([name, reply, code, afterOutput], shift) =>
  wires.map((first, at) => {
    const second = wires[(at + shift + 1) % wires.length] as Wire
    return { name, reply, code, afterOutput: afterOutput !== undefined, first, second }
  }),
)

const rates = (perMillion: number) => ({
  inputPerMillion: perMillion,
  outputPerMillion: perMillion,
  cacheReadPerMillion: perMillion,
  cacheWritePerMillion: perMillion,
})

/** A history that the first model has written, with all it wants back. */
function historyOf({ config: { api, id: model, provider } }: Model): MessageInput[] {
  const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'State of the first.' }
  const providerState = { api, model, payload: { item } }
  const said = { api, model, payload: { id: 'msg_1', after: 'rs_1' } }
  const thought = {
    type: 'thinking' as const,
    thinking: 'Plan of the first.',
    signature: 'U2lnbmF0dXJlIG9mIHRoZSBmaXJzdA==',
    providerState,
  }
  return [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: [thought, { type: 'text', text: 'Hi.', providerState: said }], model, provider },
  ]
}
const ofTheFirst = /Plan of the first|State of the first|U2lnbmF0dXJl|Half|xxx/

/** Two turns on `first` and `second`: what was reported, and what they cost. */
async function twoTurns(first: Model, second: Model) {
  const events: AgentEvent[] = []
  const costs: number[] = []
  const agent = new Agent({
    model: fallback([first, second]),
    messages: historyOf(first),
    retry: fastRetry,
    logger: false,
    hooks: { prepareTurn: ({ costUsd }) => void costs.push(costUsd) },
  })
  agent.subscribe((event) => events.push(event))
  agent.followUp('and?')
  const result = await agent.prompt('go').result
  return { agent, events, result, costs }
}

describe('fallback over HTTP for each failure and each pair of protocols', () => {
  it.each(table)('handles $name: $first, then $second', async ({ reply, code, afterOutput, first: a, second: b }) => {
    const [one, two] = [server.service(a, reply), server.service(b, { turn: { text: ['From the second.'] } })]
    const first = one.model(undefined, { firstByteTimeoutMs: 40, cost: rates(1000) })
    const second = two.model('second-model', { cost: rates(1_000_000) })
    const { agent, events, result, costs } = await twoTurns(first, second)

    expect(result).toMatchObject({ status: 'completed', text: 'From the second.' })
    expect(grammarFaults(events)).toEqual([])
    expect(agent.messages.at(-1)).toMatchObject({ model: 'second-model', provider: second.config.provider })
    const names = { from: { provider: first.config.provider, model: first.config.id }, to: { model: 'second-model' } }
    expect(ofType(events, 'modelFallback')).toMatchObject([
      // After output the next attempt goes to the other at once: the first has just failed.
      { turnIndex: 0, ...names, ...(!afterOutput && { error: { code } }) },
      { turnIndex: 1, ...names },
    ])
    expect(ofType(events, 'modelFallback')[1]).not.toHaveProperty('error')
    expect(ofType(events, 'providerRetry')).toMatchObject(afterOutput ? [{ afterOutput: true, error: { code } }] : [])

    const said = agent.messages.slice(2)
    const failed = afterOutput ? ['assistant'] : []
    expect(said.map(({ role }) => role)).toEqual(['user', ...failed, 'assistant', 'user', 'assistant'])
    if (afterOutput) expect(said[1]).toMatchObject({ stopReason: 'error', model: first.config.id })
    expect([one.sent.length, two.sent.length]).toEqual([1, 2])
    // Chat Completions has no reasoning that goes back.
    if (a !== 'openai') expect(JSON.stringify(one.sent)).toMatch(ofTheFirst)
    expect(JSON.stringify(two.sent)).toContain('Hi.')
    expect(JSON.stringify(two.sent)).not.toMatch(ofTheFirst)

    const answers = said.filter((message): message is AssistantMessage & { id: string } => message.role === 'assistant').slice(0, -1)
    const tokensOf = ({ usage: { input, output, cacheRead, cacheWrite } }: AssistantMessage) => input + output + cacheRead + cacheWrite
    const paid = answers.map((message) => tokensOf(message) * (message.model === 'second-model' ? 1 : 0.001))
    expect(costs[0]).toBe(0)
    expect(costs[1]).toBeCloseTo(
      paid.reduce((sum, each) => sum + each, 0),
      6,
    )
    expect(costs[1]).toBeGreaterThan(20)
  })

  it.each(wires)('keeps context overflow and refusals with the first model: %s', async (wire) => {
    const long = server.service(wire, refused(400, 'prompt is too long: 250000 tokens > 200000 maximum'))
    const other = server.service(wire, { turn: { text: ['From the second.'] } })
    const models = [long.model(), other.model('second-model')]
    const ask = (model: Model) => new Agent({ model, retry: fastRetry, logger: false }).prompt('go').result
    expect(await ask(fallback(models))).toMatchObject({ status: 'error', error: { code: 'contextOverflow' } })
    expect(other.sent).toHaveLength(0)
    const [, ...asked] = (await ask(fallback(models, { on: ['contextOverflow'] }))).messages
    expect(asked).toMatchObject([{ model: 'second-model' }])
    // It says nothing of the model, which is asked first again.
    expect(await ask(fallback(models))).toMatchObject({ error: { code: 'contextOverflow' } })
  })

  it('accepts a filtered response as final', async () => {
    const refusal = { choices: [{ index: 0, delta: { refusal: 'I cannot.' }, finish_reason: 'content_filter' }] }
    const body = `data: ${JSON.stringify(refusal)}\n\ndata: [DONE]\n\n`
    const one = server.service('openai', { status: 200, body, headers: { 'content-type': 'text/event-stream' } })
    const two = server.service('openai', { turn: { text: ['From the second.'] } })
    const agent = new Agent({ model: fallback([one.model(), two.model('second-model')]), retry: fastRetry, logger: false })
    await agent.prompt('go').result
    expect(agent.messages.at(-1)).toMatchObject({ stopReason: 'guardRail', refusal: 'I cannot.', model: one.model().config.id })
    expect(two.sent).toHaveLength(0)
  })
})
