import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Agent, type AgentMessage, type Content, defineTool } from '../../../src/index.ts'
import { wires } from '../../harness/fixture-model.ts'
import type { Reply } from '../../harness/server/scenarios.ts'
import { agentOn, asking, type Body, bad, good, isIn, other, picky, refusedIn, saying, server, worse } from '../../support/picky-service.ts'
import { image, pdf, png } from '../../support/pictures.ts'
import type { WireReply } from '../../support/wire-server.ts'
import { answerBy } from '../model-call.ts'

beforeAll(() => server.start())
afterAll(() => server.stop())

describe('media rejected by a provider', () => {
  it.each(wires)('replaces the named media with a note permanently: %s', async (wire) => {
    const { agent, sent, warnings, has } = agentOn(wire, [picky(wire, [bad], true)])
    const { status, messages } = await agent.prompt(asking(good, bad)).result
    expect([status, sent.length]).toEqual(['completed', 2])
    expect(refusedIn(messages)).toEqual([1])
    await agent.prompt('And now?').result
    expect([has(good), has(bad)]).toEqual([
      [true, true, true],
      [true, false, false],
    ])
    expect(JSON.stringify(sent[2])).toMatch(/image left out: the provider rejected image\/png: .*Could not process image\)/)
    expect(warnings.filter((warning) => warning.startsWith('requestAdjusted: An image was dropped from a request'))).toHaveLength(2)
    expect(isIn(bad, agent.messages)).toBe(true)
  })

  it.each(wires)('replaces all new media if the error names none: %s', async (wire) => {
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

  it.each(wires)('ends the run with the provider error after a second rejection: %s', async (wire) => {
    const { agent, sent } = agentOn(wire, [{ status: 400, message: 'Could not process image' }])
    const { status, error } = await agent.prompt(asking(good, bad)).result
    expect([status, sent.length, error?.code]).toEqual(['error', 2, 'api'])
    expect(error?.message).toContain('Could not process image')
    await agent.prompt('And now?').result
    expect(sent).toHaveLength(4)
  })

  it('drops rejected media one by one, and then all', async () => {
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

  it('drops rejected media from results, steering messages and repeated places', async () => {
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

  it('matches rejected media by URL', async () => {
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

  it('drops rejected files', async () => {
    const report = pdf(3, 'quarterly.pdf')
    const refuses = (body: Body): WireReply =>
      isIn(report, body) ? { status: 400, message: 'The PDF specified is password protected.' } : saying
    const { agent: asked, has, warnings } = agentOn('anthropic', [refuses])
    expect((await asked.prompt(asking(report)).result).status).toBe('completed')
    await asked.prompt('And now?').result
    expect(has(report)).toEqual([true, false, false])
    expect(warnings.join()).toContain('A file was dropped from a request: the provider rejected quarterly.pdf (application/pdf)')
  })

  it('drops rejected media after a stream error of the Responses API', async () => {
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

  it('drops media if the whole request is too large', async () => {
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

  it('drops media if the request is too large, whatever the status', async () => {
    const large = image(png(2, 2, { extra: 200_000 }))
    const message = 'Request payload size exceeds the limit: 20971520 bytes.'
    const { agent: asked, sent } = agentOn('google', [(body) => (isIn(large, body) ? { status: 400, message } : saying)])
    expect((await asked.prompt(asking(large)).result).status).toBe('completed')
    expect(sent).toHaveLength(2)
  })

  it('matches rejected media by the parameter in the error', async () => {
    const error = {
      message: 'Failed to download image from the address.',
      type: 'invalid_request_error',
      param: 'url',
      code: 'invalid_image_url',
    }
    const refused = { status: 400, body: JSON.stringify({ error }) }
    const { agent: asked, sent } = agentOn('openai', [(body) => (isIn(good, body) ? refused : saying)])
    expect((await asked.prompt(asking(good)).result).status).toBe('completed')
    expect(sent).toHaveLength(2)
    const other = { status: 400, body: JSON.stringify({ error: { ...error, param: 'model' } }) }
    const { agent: left, sent: told } = agentOn('openai', [other])
    expect((await left.prompt(asking(good)).result).status).toBe('error')
    expect(told).toHaveLength(1)
  })

  it('drops rejected images that another model generated', async () => {
    const author = { model: 'gemini-3-pro-image', provider: 'google' }
    const made: AgentMessage = { ...answerBy(author, [bad]), id: 'made' }
    const large: AgentMessage = { ...answerBy(author, [image(png(8001, 1))]), id: 'large' }
    const {
      agent: asked,
      sent,
      has,
    } = agentOn('anthropic', [picky('anthropic', [bad], false)], { messages: [{ ...asking(), id: 'q' }, made, large] })
    expect((await asked.prompt('And now?').result).status).toBe('completed')
    await asked.prompt('And then?').result
    expect([sent.length, has(bad)]).toEqual([3, [true, false, false]])
    expect(sent.map((body) => JSON.stringify(body).includes('8001 x 1 pixels'))).toEqual([true, true, true])
  })

  it('recognizes the error texts of text-only providers', async () => {
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
