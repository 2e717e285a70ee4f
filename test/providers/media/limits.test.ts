import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Content, MediaContent } from '../../../src/contract/message/content.ts'
import { Agent, type AgentOptions, defineTool, type Model, type UserMessage } from '../../../src/index.ts'
import { openaiCompatible } from '../../../src/providers/openai.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { type Wire, wires } from '../../harness/fixture-model.ts'
import type { Reply } from '../../harness/server/scenarios.ts'
import { gif, image, jpeg, pdf, png, webp } from '../../support/pictures.ts'
import { WireServer } from '../../support/wire-server.ts'

const server = new WireServer()
beforeAll(() => server.start())
afterAll(() => server.stop())

const saying: Reply = { turn: { text: ['Done.'] } }
const asking = (...media: Content[]): UserMessage => ({
  role: 'user',
  content: [...media, { type: 'text', text: 'What is it?' }],
  timestamp: 1,
})

/** An agent on a service of its own, what that was sent, and what was warned of. */
function agentOn(wire: Wire, options: Partial<AgentOptions> = {}, ...replies: Reply[]) {
  const { model, sent } = server.service(wire, ...replies, saying)
  const warnings: string[] = []
  const logger = { warn: (event: string, { message }: { message?: unknown }) => warnings.push(`${event}: ${String(message)}`) }
  const agent = new Agent({ model: model(), logger, ...options })
  return { agent, sent, warnings, bodies: () => sent.map((body) => JSON.stringify(body)) }
}

const small = image(png(3, 2))
const wide = image(png(8001, 1))
const seven = image(png(2, 2, { extra: 7 * 1024 * 1024 }))

describe('a picture or file over a documented limit', () => {
  const cases: [string, Wire, MediaContent, RegExp][] = [
    ['pixels on Anthropic', 'anthropic', wide, /has 8001 x 1 pixels, but its provider accepts 8000 per side.*Scale it down/],
    ['bytes on Anthropic', 'anthropic', image(png(2, 2, { extra: 3_940_000 })), /has 394\d{4} bytes, but its provider accepts 3932160/],
    ['pages on Anthropic', 'anthropic', pdf(101), /report\.pdf.* has 101 pages, but its model accepts 100.*only the relevant pages/],
    ['pixels on Bedrock', 'bedrock', wide, /8001 x 1/],
    ['bytes on Bedrock', 'bedrock', image(png(2, 2, { extra: 4_000_000 })), /accepts 3932160/],
    ['pages on Gemini', 'google', pdf(1001), /1001 pages/],
    ['pages on Vertex AI', 'vertex', pdf(1001), /1001 pages/],
    ['bytes on Vertex AI', 'vertex', seven, /accepts 7340032/],
  ]

  it.each(cases)('rejects a picture or file before it enters the history: %s', async (_name, wire, block, message) => {
    const { agent, sent, bodies } = agentOn(wire)
    const refused = await agent.prompt(asking(small, block)).result
    expect(refused).toMatchObject({ status: 'error', error: { code: 'unsupportedMedia', message: expect.stringMatching(message) } })
    expect(refused.returned).toHaveLength(1)
    expect([sent, agent.messages]).toEqual([[], []])
    expect((await agent.prompt(asking(small)).result).status).toBe('completed')
    expect(bodies()[0]).toContain(small.data)
  })

  it('accepts pictures and files exactly at the limit', async () => {
    for (const [wire, block] of [
      ['anthropic', image(png(8000, 1))],
      ['anthropic', pdf(100)],
      ['google', pdf(1000)],
      ['google', seven],
    ] as const) {
      const { agent, bodies } = agentOn(wire)
      expect((await agent.prompt(asking(block)).result).status).toBe('completed')
      expect(bodies()[0]?.includes(block.data ?? '')).toBe(true)
    }
  })

  it('allows more pages for a model with a larger window', async () => {
    const { agent } = agentOn('anthropic')
    const { model } = server.service('anthropic', saying)
    const large: Model = { ...model(), config: { ...model().config, contextWindow: 1_000_000 } }
    expect((await new Agent({ model: large }).prompt(asking(pdf(600))).result).status).toBe('completed')
    expect((await new Agent({ model: large }).prompt(asking(pdf(601))).result).error?.message).toContain('accepts 600')
    expect((await agent.prompt(asking(pdf(600))).result).status).toBe('error')
  })

  it('applies OpenAI protocol limits only to documented providers', async () => {
    const { sent } = server.service('openai', saying)
    const groq = openaiCompatible('llama-4', { backend: 'groq', apiKey: 'k', baseUrl: 'http://127.0.0.1:9/v1' })
    const grok = openaiResponses('grok-4.3', { provider: 'xai', apiKey: 'k', baseUrl: 'http://127.0.0.1:9/v1' })
    const ofGroq = await new Agent({ model: groq }).prompt(asking(image(png(33_200, 1000)))).result
    expect(ofGroq.error?.message).toMatch(/33200 x 1000 pixels, but its provider accepts 33177600 in total/)
    const ofGrok = await new Agent({ model: grok }).prompt(asking(image(png(2, 2, { extra: 21_000_000 })))).result
    expect(ofGrok.error?.message).toContain('accepts 20971520')
    expect(sent).toEqual([])
  })

  it('omits images over the limit per request', async () => {
    const few = Array.from({ length: 20 }, (_, shade) => image(png(4, 4, { shade })))
    const large = image(png(2001, 1))
    const { agent, bodies, warnings } = agentOn('anthropic')
    await agent.prompt(asking(large, ...few.slice(0, 19))).result
    await agent.prompt(asking(...few.slice(19))).result
    expect(bodies().map((body) => body.includes(large.data ?? ''))).toEqual([true, false])
    expect(bodies()[1]).toContain('2001 x 1 pixels')
    expect(warnings.join()).toMatch(/requestAdjusted: An image was dropped from a request: image\/png has 2001 x 1 pixels/)
  })

  it('omits an oversized image with a warning from steering, results and history', async () => {
    const tool = defineTool({
      name: 'add',
      description: 'Shows.',
      parameters: { type: 'object' },
      execute: () => {
        agent.steer(asking(wide))
        return { content: [wide, small] }
      },
    })
    const call: Reply = { turn: { text: ['I look.'], calls: [{ id: 'call_1', name: 'add', arguments: {} }] } }
    const { agent, bodies, warnings } = agentOn('anthropic', { tools: [tool], messages: [asking(wide)] }, call)
    expect((await agent.prompt('Go.').result).status).toBe('completed')
    expect(bodies().map((body) => [body.split('8001 x 1 pixels').length - 1, body.includes(wide.data ?? '')])).toEqual([
      [1, false],
      [3, false],
    ])
    expect(bodies()[1]).toContain(small.data)
    expect(JSON.stringify(agent.messages).split(wide.data ?? '')).toHaveLength(4)
    expect(warnings.filter((warning) => warning.includes('8001'))).toHaveLength(1)
  })

  it('omits an oversized image if a hook may switch the model or bytes were fetched', async () => {
    const hooked = agentOn('anthropic', { hooks: { prepareTurn: () => undefined } })
    expect((await hooked.agent.prompt(asking(wide)).result).status).toBe('completed')
    const bytes = new Blob([new Uint8Array(png(8001, 1))], { type: 'image/png' })
    const fetched = agentOn('bedrock', { resolveMedia: () => bytes })
    const block = { type: 'image' as const, mimeType: 'image/png', url: 'https://pictures.example/a.png' }
    expect((await fetched.agent.prompt(asking(block)).result).status).toBe('completed')
    for (const { bodies } of [hooked, fetched]) expect(bodies()[0]).toContain('8001 x 1 pixels')
  })

  it('rejects the request if media is required', async () => {
    const { agent, sent } = agentOn('anthropic', { requireMedia: true, messages: [asking(wide)] })
    expect((await agent.prompt('Go.').result).error).toMatchObject({ code: 'unsupportedMedia' })
    expect(sent).toEqual([])
  })

  it('applies no limit to other providers of the same protocol', async () => {
    const { model, sent } = server.service('anthropic', saying)
    const other: Model = { ...model(), config: { ...model().config, provider: 'gateway' } }
    expect((await new Agent({ model: other }).prompt(asking(wide)).result).status).toBe('completed')
    expect(JSON.stringify(sent[0])).toContain(wide.data)
  })
})

describe('a truncated picture', () => {
  // Where each is cut last: behind it stands what some programs leave out.
  const whole: [string, Buffer, number][] = [
    ['image/png', png(40, 40), -12],
    ['image/jpeg', jpeg(40, 40), -1],
    ['image/gif', gif(40, 40), -2],
    ['image/webp', webp(40, 40), -2],
  ]

  it.each(whole)('rejects a truncated image and sends a complete one: %s', async (mimeType, bytes, last) => {
    for (const end of [last, last - 9]) {
      const { agent, sent } = agentOn('anthropic')
      const cut = await agent.prompt(asking(image(bytes.subarray(0, end), mimeType))).result
      expect(cut.error).toMatchObject({ code: 'unsupportedMedia', message: expect.stringContaining('is truncated') })
      expect(sent).toEqual([])
    }
    const { agent, bodies } = agentOn('anthropic')
    expect((await agent.prompt(asking(image(bytes, mimeType))).result).status).toBe('completed')
    expect(bodies()[0]).toContain(image(bytes).data)
  })

  it.each(wires)('rejects a truncated image for every provider: %s', async (wire) => {
    const { agent, sent } = agentOn(wire)
    expect((await agent.prompt(asking(image(png(40, 40).subarray(0, 60)))).result).error?.code).toBe('unsupportedMedia')
    expect(sent).toEqual([])
  })
})

describe('a picture with a wrong media type', () => {
  it.each(wires)('corrects the media type of an image: %s', async (wire) => {
    const { agent, bodies, sent } = agentOn(wire)
    expect((await agent.prompt(asking(image(jpeg(4, 4), 'image/png'))).result).status).toBe('completed')
    expect(bodies()[0]).not.toMatch(/image\/png|"png"/)
    expect(JSON.stringify(sent[0])).toMatch(/image\/jpeg|"jpeg"/)
  })
})

describe('a provider with text-only models', () => {
  it.each(['deepseek', 'cerebras'] as const)('replaces images for a text-only provider: %s', async (backend) => {
    const model = openaiCompatible('some-model', { backend, apiKey: 'k' })
    const { body, warnings } = await model.provider.encode({
      ...{ model: model.config, systemPrompt: '', messages: [asking(small)], tools: [], thinking: 'off', cache: { type: 'auto' } },
    })
    expect(body).not.toContain(small.data)
    expect(body).toContain('this model accepts only text')
    expect(warnings.join()).toContain('An image was dropped')
  })
})
