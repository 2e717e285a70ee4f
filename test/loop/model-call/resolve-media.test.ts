import { describe, expect, it } from 'vitest'
import type { Content, FileContent, ImageContent } from '../../../src/contract/message/content.ts'
import { Agent, type AgentOptions, defineTool } from '../../../src/index.ts'
import { fetchMedia } from '../../../src/models.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { google } from '../../../src/providers/google/index.ts'
import type { MediaQuery } from '../../../src/types/model/provider.ts'

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
const inline = JSON.stringify({ inlineData: { mimeType: 'image/png', data: btoa(String.fromCharCode(...png)) } })
const picture = (url = 'https://a.example/a.png'): ImageContent => ({ type: 'image', mimeType: 'image/png', url })
const prompt = (...content: Content[]) => ({ role: 'user' as const, content })

const answerWith = (part: object, finishReason = 'STOP') =>
  new Response(`data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [part] }, finishReason }] })}\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  })
const said = () => answerWith({ text: 'Seen.' })

/** An agent on Gemini, which fetches nothing itself; what it was sent, and what was asked for. */
function gemini(resolveMedia?: AgentOptions['resolveMedia'], options: Partial<AgentOptions> = {}, answers: (() => Response)[] = []) {
  const bodies: string[] = []
  const warnings: string[] = []
  const send: typeof fetch = async (_url, init) => {
    bodies.push(String(init?.body))
    return (answers[bodies.length - 1] ?? said)()
  }
  const agent = new Agent({
    model: google('gemini-2.0-flash', { apiKey: 'k', fetch: send }),
    logger: { warn: (_event, fields) => warnings.push(String(fields.message)) },
    ...(resolveMedia !== undefined && { resolveMedia }),
    ...options,
  })
  return { agent, bodies, warnings }
}

describe('resolveMedia', () => {
  it('fetches unsupported URLs once and stores only the URL', async () => {
    const asked: MediaQuery[] = []
    const { agent, bodies, warnings } = gemini((query) => {
      asked.push(query)
      return new Blob([png])
    })
    await agent.prompt(prompt(picture(), { type: 'text', text: 'What is it?' })).text()
    await agent.prompt('And now?').text()
    expect(asked).toEqual([{ url: 'https://a.example/a.png', mimeType: 'image/png', signal: expect.any(AbortSignal) }])
    expect(bodies.map((body) => body.includes(inline))).toEqual([true, true])
    expect(agent.messages[0]).toMatchObject({ content: [picture(), { type: 'text' }] })
    expect(warnings).toEqual([])
    const [first = '', second = ''] = bodies
    const end = first.indexOf('What is it?')
    expect(second.slice(0, end)).toBe(first.slice(0, end))
  })

  it('skips media that the provider fetches itself or the model does not accept', async () => {
    const bodies: string[] = []
    const resolveMedia = () => {
      throw new Error('was asked')
    }
    const send: typeof fetch = async (_url, init) => {
      bodies.push(String(init?.body))
      return new Response('{}', { status: 400 })
    }
    const model = anthropic('claude-sonnet-5', { apiKey: 'k', fetch: send })
    await new Agent({ model, logger: false, resolveMedia }).prompt(prompt(picture())).result
    expect(bodies[0]).toContain('{"type":"url","url":"https://a.example/a.png"}')
    const odd: FileContent = { type: 'file', mimeType: 'application/x-odd', url: 'https://a.example/odd' }
    const other = gemini(resolveMedia)
    await other.agent.prompt(prompt(odd)).text()
    expect(other.bodies[0]).toContain('left out')
  })

  it('sends a text placeholder and logs a warning if resolveMedia is missing', async () => {
    const { agent, bodies, warnings } = gemini()
    await agent.prompt(prompt(picture())).text()
    expect(bodies[0]).toContain('(image left out: this provider does not fetch image/png from a URL)')
    expect(warnings).toEqual([
      'An image was dropped from a request: this provider does not fetch image/png from a URL. Pass its bytes, or set resolveMedia to fetch them.',
    ])
  })

  it('sends a text placeholder on failure, and retries only in the next run', async () => {
    let asked = 0
    const tool = defineTool({ name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} }, execute: () => 'ok' })
    const call = () => answerWith({ functionCall: { name: 'look', args: {} } })
    const resolveMedia = () => {
      asked += 1
      if (asked > 1) return png
      throw new Error('no such host')
    }
    const { agent, bodies, warnings } = gemini(resolveMedia, { tools: [tool] }, [call])
    await agent.prompt(prompt(picture())).text()
    expect([asked, bodies.length]).toEqual([1, 2])
    for (const body of bodies) expect(body).toContain('(image left out: image/png could not be fetched: no such host)')
    expect(warnings).toEqual([expect.stringContaining('could not be fetched: no such host')])
    await agent.prompt('Again.').text()
    expect(asked).toBe(2)
    expect(bodies[2]).toContain(inline)
  })

  it('ends the run before the request if requireMedia is set', async () => {
    const { agent, bodies } = gemini(() => Promise.reject(new Error('no such host')), { requireMedia: true })
    const { error } = await agent.prompt(prompt(picture())).result
    expect(error).toMatchObject({ code: 'unsupportedMedia', message: expect.stringContaining('no such host') })
    expect(error?.message).toContain('gemini-2.0-flash')
    expect(bodies).toEqual([])
  })

  it('treats non-image, empty and oversized content as failures', async () => {
    const given: [unknown, string][] = [
      [new TextEncoder().encode('<html>'), 'a document of text'],
      [new Uint8Array(), 'is empty'],
      [new Uint8Array(21 * 1024 * 1024), 'at most 20971520 are sent'],
      ['text', 'instead of a Blob or bytes'],
    ]
    for (const [value, why] of given) {
      // What a caller without types may do.
      const { agent, bodies } = gemini(() => value as Uint8Array)
      await agent.prompt(prompt(picture())).text()
      expect(bodies[0]).toContain(why)
    }
  })

  it('aborts its signal when the run is aborted', async () => {
    let signal: AbortSignal | undefined
    let ask = (): void => undefined
    const isAsked = new Promise<void>((resolve) => {
      ask = resolve
    })
    const { agent, bodies } = gemini((query) => {
      signal = query.signal
      ask()
      return new Promise(() => undefined)
    })
    const run = agent.prompt(prompt(picture()))
    await isAsked
    run.abort()
    expect((await run.result).status).toBe('aborted')
    expect([signal?.aborted, bodies]).toEqual([true, []])
  })

  it('resolves media in tool results and captures the bytes sent', async () => {
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      parameters: { type: 'object', properties: {} },
      execute: () => ({ content: [picture('https://b.example/b.png')] }),
    })
    const call = () => answerWith({ functionCall: { name: 'look', args: {} } })
    const asked: string[] = []
    const resolveMedia = ({ url }: MediaQuery) => {
      asked.push(url)
      return png
    }
    const { agent, bodies } = gemini(resolveMedia, { tools: [look], captureTurnRequests: { httpBody: true } }, [call])
    const run = agent.prompt('Look.')
    const captured: string[] = []
    for await (const event of run) if (event.type === 'turnRequest') captured.push(event.request.http?.body ?? '')
    expect(bodies[1]).toContain(inline)
    expect(captured).toEqual(bodies)
    expect(asked).toEqual(['https://b.example/b.png'])
  })

  it('does not share fetched media between agents', async () => {
    const block = picture()
    await gemini(() => png)
      .agent.prompt(prompt(block))
      .text()
    const other = gemini(fetchMedia({ hosts: ['files.example.com'] }))
    await other.agent.prompt(prompt(block)).text()
    expect(other.bodies[0]).toContain('a.example is not listed in hosts')
  })
})
