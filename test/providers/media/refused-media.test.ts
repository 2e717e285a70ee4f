import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { serve } from '../../../adapters/node/http/serve.ts'
import { fileSessionStore } from '../../../adapters/node/index.ts'
import { remoteSession } from '../../../src/client/index.ts'
import type { Content } from '../../../src/contract/message/content.ts'
import {
  Agent,
  type AgentMessage,
  type AgentOptions,
  defineTool,
  memorySessionStore,
  resumeAgent,
  type UserMessage,
} from '../../../src/index.ts'
import { fallback } from '../../../src/providers/compose/index.ts'
import { type Wire, wires } from '../../harness/fixture-model.ts'
import type { Reply } from '../../harness/server/scenarios.ts'
import { image, pdf, png } from '../../support/pictures.ts'
import { type WireReply, WireServer } from '../../support/wire-server.ts'

const server = new WireServer()
beforeAll(() => server.start())
afterAll(() => server.stop())

type Body = Record<string, unknown>
type Answering = WireReply | ((body: Body) => WireReply)

const saying: Reply = { turn: { text: ['Done.'] } }
const pictures = Array.from({ length: 4 }, (_, shade) => image(png(3, 3, { shade: shade + 1 })))
const [good, bad, worse, other] = pictures as [Content, Content, Content, Content] & typeof pictures
const asking = (...media: Content[]): UserMessage => ({
  role: 'user',
  content: [...media, { type: 'text', text: 'What is it?' }],
  timestamp: 1,
})
const isIn = (block: Content, body: unknown): boolean => JSON.stringify(body).includes(Object(block).data ?? `"${Object(block).url}"`)

/** Where a text stands in a body, step by step; `undefined` where it does not. */
function pathTo(text: string, value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.includes(text) ? [] : undefined
  for (const [step, inner] of Object.entries(Object(value))) {
    const rest = pathTo(text, inner)
    if (rest !== undefined) return [step, ...rest]
  }
  return undefined
}

/** The place of `block` as the service of `wire` writes it. */
function placeOf(wire: Wire, block: Content, body: Body): string {
  const steps = pathTo(String(Object(block).data), body) ?? []
  if (wire !== 'anthropic' && wire !== 'bedrock')
    return steps
      .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
      .join('')
      .slice(1)
  // Claude names the kind of a block within its place.
  const at = steps.lastIndexOf('source')
  return (wire === 'anthropic' ? [...steps.slice(0, at), 'image', ...steps.slice(at)] : steps).join('.')
}

/** A service that refuses the first of `refused` that it is sent, and names its place if it is to. */
function picky(wire: Wire, refused: readonly Content[], names: boolean): (body: Body) => WireReply {
  return (body) => {
    const found = refused.find((block) => isIn(block, body))
    if (found === undefined) return saying
    const where = names ? `${placeOf(wire, found, body)}: ` : ''
    return { status: 400, message: `${where}Could not process image` }
  }
}

function agentOn(wire: Wire, replies: Answering[], options: Partial<AgentOptions> = {}) {
  const { model, sent } = server.service(wire, ...replies)
  const warnings: string[] = []
  const logger = { warn: (event: string, { message }: { message?: unknown }) => warnings.push(`${event}: ${String(message)}`) }
  const agent = new Agent({ model: model(), logger, retry: false, ...options })
  return { agent, model, sent, warnings, has: (block: Content) => sent.map((body) => isIn(block, body)) }
}

const refusedIn = (messages: readonly AgentMessage[]): number[] =>
  messages.flatMap((message) => (message.role === 'assistant' ? (message.refusedMedia?.length ?? 0) : []))

describe('media that a service refuses', () => {
  it.each(wires)('are replaced by a note, if the service names them, for good: %s', async (wire) => {
    const { agent, sent, warnings, has } = agentOn(wire, [picky(wire, [bad], true)])
    const { status, messages } = await agent.prompt(asking(good, bad)).result
    expect([status, sent.length]).toEqual(['completed', 2])
    expect(refusedIn(messages)).toEqual([1])
    await agent.prompt('And now?').result
    expect([has(good), has(bad)]).toEqual([
      [true, true, true],
      [true, false, false],
    ])
    expect(JSON.stringify(sent[2])).toMatch(
      /image left out: image\/png was refused by its service, which said: .*Could not process image\)/,
    )
    expect(warnings.filter((warning) => warning.startsWith('requestAdjusted: An image was left out of a request'))).toHaveLength(2)
    expect(isIn(bad, agent.messages)).toBe(true)
  })

  it.each(wires)('are all those that no accepted request has contained, if it names none: %s', async (wire) => {
    const { agent, sent, has } = agentOn(wire, [saying, picky(wire, [bad], false)])
    await agent.prompt(asking(good)).result
    const { status, messages } = await agent.prompt(asking(other, bad)).result
    await agent.prompt('And now?').result
    expect([status, sent.length, refusedIn(messages)]).toEqual(['completed', 4, [2]])
    expect([has(good), has(other), has(bad)]).toEqual([
      [true, true, true, true],
      [false, true, false, false],
      [false, true, false, false],
    ])
  })

  it.each(wires)('end the run with the error of the service, if that refuses them twice: %s', async (wire) => {
    const { agent, sent } = agentOn(wire, [{ status: 400, message: 'Could not process image' }])
    const { status, error } = await agent.prompt(asking(good, bad)).result
    expect([status, sent.length, error?.code]).toEqual(['error', 2, 'api'])
    expect(error?.message).toContain('Could not process image')
    await agent.prompt('And now?').result
    expect(sent).toHaveLength(4)
  })

  it('are left out one after the other, and then all', async () => {
    const { agent, sent, has } = agentOn('anthropic', [picky('anthropic', [bad, worse, other], true)])
    expect((await agent.prompt(asking(good, bad, worse, other)).result).status).toBe('completed')
    await agent.prompt('And now?').result
    expect([has(bad), has(worse), has(other)]).toEqual([
      [true, false, false, false],
      [true, true, false, false],
      [true, true, false, false],
    ])
    expect([sent.length, refusedIn(agent.messages)]).toEqual([4, [4, 0]])
  })

  it('are left out wherever they stand: in a result, a steering message, twice', async () => {
    const show = defineTool({
      name: 'show',
      description: 'Shows.',
      parameters: { type: 'object' },
      execute: () => {
        agent.steer(asking(worse))
        return { content: [bad, good] }
      },
    })
    const call: Reply = { turn: { text: ['I look.'], calls: [{ id: 'call_1', name: 'show', arguments: {} }] } }
    for (const wire of wires) {
      const made = agentOn(wire, [call, picky(wire, [bad, worse], true)], { tools: [show] })
      agent = made.agent
      expect((await agent.prompt('Go.').result).status, wire).toBe('completed')
      await agent.prompt(asking(bad)).result
      expect(made.has(bad), wire).toEqual([false, true, false, false, false])
    }
    expect.assertions(wires.length * 2)
  })
  let agent: Agent

  it('are known by their address', async () => {
    const url = 'https://pictures.example/gone.png'
    const gone: Content = { type: 'image', mimeType: 'image/png', url }
    const refuses = (body: Body): WireReply => (isIn(gone, body) ? { status: 400, message: `Error while downloading ${url}.` } : saying)
    const { agent: asked, has } = agentOn('openai', [refuses])
    expect((await asked.prompt(asking(good, gone)).result).status).toBe('completed')
    await asked.prompt('And now?').result
    expect([has(good), has(gone)]).toEqual([
      [true, true, true],
      [true, false, false],
    ])
  })

  it('are files, too', async () => {
    const report = pdf(3, 'quarterly.pdf')
    const refuses = (body: Body): WireReply =>
      isIn(report, body) ? { status: 400, message: 'The PDF specified is password protected.' } : saying
    const { agent: asked, has, warnings } = agentOn('anthropic', [refuses])
    expect((await asked.prompt(asking(report)).result).status).toBe('completed')
    await asked.prompt('And now?').result
    expect(has(report)).toEqual([true, false, false])
    expect(warnings.join()).toContain('A file was left out of a request: quarterly.pdf (application/pdf) was refused by its service')
  })

  it('are refused within the stream of the Responses API, too', async () => {
    const failed = {
      type: 'response.failed',
      response: { id: 'r', error: { code: 'invalid_image', message: 'The image data you provided does not represent a valid image.' } },
    }
    const created = { type: 'response.created', response: { id: 'r', model: 'gpt-5.1' } }
    const body = [created, failed].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    const refuses = (sent: Body): WireReply =>
      isIn(bad, sent) ? { status: 200, body, headers: { 'content-type': 'text/event-stream' } } : saying
    const { agent: asked, sent } = agentOn('openai-responses', [refuses])
    const run = asked.prompt(asking(bad))
    const starts: string[] = []
    run.subscribe(({ type }) => starts.push(type))
    expect((await run.result).status).toBe('completed')
    expect([sent.length, starts.filter((type) => type === 'messageStart').length]).toEqual([2, 2])
  })

  it('are too large for a request as a whole', async () => {
    const large = image(png(2, 2, { extra: 200_000 }))
    const refuses = (body: Body): WireReply => (isIn(large, body) ? { status: 413, message: 'Request exceeds the maximum size' } : saying)
    const { agent: asked, sent } = agentOn('anthropic', [refuses])
    expect((await asked.prompt(asking(large)).result).status).toBe('completed')
    expect((await asked.prompt('And now?').result).status).toBe('completed')
    expect(sent).toHaveLength(3)
    const { agent: small, sent: told } = agentOn('anthropic', [{ status: 413, message: 'Request exceeds the maximum size' }])
    expect((await small.prompt(asking(good, { type: 'text', text: 'word '.repeat(1000) })).result).error?.code).toBe('contextOverflow')
    expect(told).toHaveLength(1)
  })

  it('are said with a status of their own by services whose model takes none', async () => {
    for (const [status, message] of [
      [404, 'No endpoints found that support image input'],
      [500, 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'],
      [
        422,
        'Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text` at line 1 column 300',
      ],
      [400, "'messages.0.content' : value must be a string"],
      [400, 'llama-3.1-8b is not a multimodal model'],
    ] as const) {
      const { agent: asked, sent } = agentOn('openai', [(body) => (isIn(good, body) ? { status, message } : saying)])
      expect((await asked.prompt(asking(good)).result).status, message).toBe('completed')
      await asked.prompt('And now?').result
      expect(sent, message).toHaveLength(3)
    }
  })
})

describe('what is remembered of refused media', () => {
  it('holds after a resume from a session of files', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'refused-media-'))
    try {
      const large = image(png(2, 2, { extra: 100_000 }))
      const session = fileSessionStore(directory)
      const { agent, model, sent, has } = agentOn('anthropic', [picky('anthropic', [large], true)], { session, sessionId: 'one' })
      await agent.prompt(asking(large)).result
      await agent.close()
      const later = await resumeAgent(fileSessionStore(directory), 'one', { model: model() })
      expect((await later.prompt('And now?').result).status).toBe('completed')
      await later.close()
      expect([sent.length, has(large)]).toEqual([3, [true, false, false]])
      expect(refusedIn(later.messages)).toEqual([1, 0])
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })

  it('mends a session that was stuck before', async () => {
    const store = memorySessionStore()
    const { agent, model, sent } = agentOn('openai', [{ status: 400, message: 'No.' }, picky('openai', [bad], true)], {
      session: store,
      sessionId: 'stuck',
    })
    expect((await agent.prompt(asking(bad)).result).status).toBe('error')
    await agent.close()
    const later = await resumeAgent(store, 'stuck', { model: model() })
    for (const prompt of ['One?', 'Two?']) expect((await later.prompt(prompt).result).status).toBe('completed')
    await later.close()
    expect(sent).toHaveLength(4)
  })

  it('holds after compact()', async () => {
    for (const keepFirstTurns of [0, 1]) {
      const contextConfig = { maxContextTokens: 40_000, systemPromptTokens: 0, compaction: { keepFirstTurns, keepRecentTurns: 1 } }
      const { agent, sent, has } = agentOn('anthropic', [picky('anthropic', [bad], false)], { contextConfig })
      await agent.prompt(asking(bad)).result
      for (const word of ['one ', 'two ', 'three ']) await agent.prompt(word.repeat(8000)).result
      await agent.compact().result
      expect((await agent.prompt('And now?').result).error).toBeUndefined()
      expect((await agent.prompt('And then?').result).status).toBe('completed')
      expect(JSON.stringify(sent.at(-1))).not.toContain('two two two')
      expect(has(bad).at(-1)).toBe(false)
    }
  })

  it('holds over HTTP', async () => {
    const { model, sent, has } = agentOn('anthropic', [picky('anthropic', [bad], true)])
    const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: model() }), logger: false })
    const app = await serve(createAgentApp({ sessions, authorize: () => true }), { port: 0 })
    const session = remoteSession({ url: app.url, sessionId: 'one' })
    try {
      expect((await session.prompt(asking(good, bad)).result).status).toBe('completed')
      expect((await session.prompt('And now?').result).status).toBe('completed')
      expect([has(bad), has(good), sent.length]).toEqual([[true, false, false], [true, true, true], 3])
      const refused = await session.prompt(asking(image(png(8001, 1)))).result
      expect(refused.error).toMatchObject({ code: 'unsupportedMedia', message: expect.stringContaining('Scale it down') })
      expect((await session.prompt('And then?').result).status).toBe('completed')
      expect(sent).toHaveLength(4)
    } finally {
      session.close()
      await sessions.close()
      await app[Symbol.asyncDispose]()
    }
  })

  it('gives way if a service refuses what it has accepted before: an address may have gone', async () => {
    const block: Content = { type: 'image', mimeType: 'image/png', url: 'https://pictures.example/signed.png' }
    let isGone = false
    const refuses = (body: Body): WireReply =>
      isGone && isIn(block, body) ? { status: 400, message: 'Unable to download the file. Please verify the URL and try again.' } : saying
    const { agent, sent, has } = agentOn('anthropic', [refuses])
    await agent.prompt(asking(good, block)).result
    isGone = true
    expect((await agent.prompt('And now?').result).status).toBe('completed')
    expect((await agent.prompt('And then?').result).status).toBe('completed')
    expect([sent.length, has(block), has(good).at(-1)]).toEqual([4, [true, true, false, false], true])
  })

  it('is nothing to another model, which is sent them', async () => {
    const { agent, has } = agentOn('anthropic', [picky('anthropic', [bad], true)])
    await agent.prompt(asking(bad)).result
    const { model, sent } = server.service('openai', saying)
    await new Agent({ model: model(), messages: [...agent.messages] }).prompt('And now?').result
    expect([isIn(bad, sent[0]), has(bad)]).toEqual([true, [true, false]])
  })
})

describe('a refusal that is about something else', () => {
  const others: [number, string][] = [
    [400, "tools.0.custom.name: 'image' is not a valid name"],
    [400, "Invalid 'tools[0].function.name': 'resize image' is not supported"],
    [400, 'Unsupported parameter: image_detail is not supported with this model'],
    [400, 'Image generation is not supported in your region'],
    [400, 'The image quota of this organization is exceeded'],
    [400, 'messages.0.content.1.text: text content blocks must be non-empty. The image is fine, this is invalid'],
    [400, 'messages.0.content.0.image.cache_control: Extra inputs are not permitted, invalid'],
    [400, 'max_tokens: 999999 exceeds the maximum of image models'],
    [400, 'prompt is too long: 250000 tokens of text and image > 200000 maximum'],
    [400, 'The model `image-reader` is not valid'],
    [404, 'The model image-reader does not exist'],
    [401, 'Invalid image key'],
    [403, 'Image input is not supported for this account'],
    [500, 'Failed to process image'],
  ]

  it.each(others)('leaves out no media: %i %s', async (status, message) => {
    for (const wire of ['anthropic', 'openai'] as const) {
      const { agent, has, warnings } = agentOn(wire, [{ status, message }, saying])
      expect((await agent.prompt(asking(good)).result).status).toBe('error')
      await agent.prompt('And now?').result
      expect(has(good)).toEqual([true, true])
      expect(warnings.filter((warning) => warning.startsWith('requestAdjusted'))).toEqual([])
    }
  })

  it('has no media to leave out', async () => {
    const { agent, sent } = agentOn('anthropic', [{ status: 400, message: 'Could not process image' }])
    await agent.prompt('Go.').result
    expect(sent).toHaveLength(1)
  })
})

describe('a request that insists on its media', () => {
  it('is not sent without them if they are required', async () => {
    const { agent, sent } = agentOn('anthropic', [picky('anthropic', [bad], true)], { requireMedia: true })
    expect((await agent.prompt(asking(bad)).result).error?.message).toContain('Could not process image')
    expect(sent).toHaveLength(1)
  })

  it('goes to the next model of a fallback with them, and only the last one is asked without', async () => {
    const first = agentOn('openai', [picky('openai', [bad, worse], false)])
    const second = agentOn('anthropic', [picky('anthropic', [worse], false)])
    const agent = new Agent({ model: fallback([first.model(), second.model()], { coolDownMs: 0 }), logger: false, retry: false })
    expect((await agent.prompt(asking(bad)).result).status).toBe('completed')
    expect([first.has(bad), second.has(bad)]).toEqual([[true], [true]])
    expect((await agent.prompt(asking(worse)).result).status).toBe('completed')
    expect([first.has(worse), second.has(worse)]).toEqual([
      [false, true],
      [false, true, false],
    ])
  })
})
