import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError, type FileContent, type ImageContent, type Model, ProviderError } from '../../src/index.ts'
import { fallback, MediaError, type UploadProgress, uploadFile } from '../../src/models.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { ProviderRegistry } from '../../src/providers/registry.ts'
import { plainRequest, sentBody } from '../providers/model-call.ts'

const key = 'sk-0123456789-secret'
const pdf = new Blob(['%PDF-1.7 ', 'x'.repeat(1000)], { type: 'application/pdf' })
const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])

interface Seen {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: Uint8Array
}
const seen: Seen[] = []
/** What answers instead of the service, once each. */
const instead: { status: number; body: unknown; headers?: Record<string, string> }[] = []
/** Where a file of Gemini stands, at each question. */
const states: object[] = []
let hangs = false
let origin = ''

const server = createServer(async (request, response) => {
  const parts: Uint8Array[] = []
  try {
    for await (const part of request) parts.push(part)
  } catch {
    return
  }
  const { method = '', url = '', headers } = request
  seen.push({ method, path: url, headers, body: Buffer.concat(parts) })
  if (hangs) return
  const other = instead.shift()
  const say = (status: number, body: unknown, extra: Record<string, string> = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...extra }).end(typeof body === 'string' ? body : JSON.stringify(body))
  if (other !== undefined) return say(other.status, other.body, other.headers)
  const path = url.split('?', 1)[0] ?? ''
  const form = () => new Response(Buffer.concat(parts), { headers: { 'content-type': headers['content-type'] ?? '' } }).formData()
  if (path === '/v1/files' && headers['x-api-key'] !== undefined) return say(200, await anthropicFile(await form()))
  if (path === '/v1/files') return say(200, await openAiFile(await form()))
  if (path === '/upload/v1beta/files') return say(200, '', { 'x-goog-upload-url': `${origin}/session?upload_id=u1` })
  if (path === '/session') {
    const isLast = String(headers['x-goog-upload-command']).includes('finalize')
    return say(200, isLast ? { file: states.shift() } : '', { 'x-goog-upload-status': isLast ? 'final' : 'active' })
  }
  if (path === '/v1beta/files/abc') return say(200, states.shift())
  say(404, { error: { message: 'no such place' } })
})

const day = 86_400
async function anthropicFile(form: FormData): Promise<object> {
  const file = form.get('file') as File // the service demands one
  const seconds = form.get('expires_in_seconds')
  return {
    ...{
      id: 'file_011',
      type: 'file',
      filename: file.name,
      mime_type: file.type,
      size_bytes: file.size,
      created_at: '2026-11-23T00:00:00Z',
    },
    expires_at: seconds === null ? null : new Date(Date.UTC(2030, 0, 1) + Number(seconds) * 1000).toISOString(),
  }
}
async function openAiFile(form: FormData): Promise<object> {
  const file = form.get('file') as File // the service demands one
  const seconds = form.get('expires_after[seconds]')
  const expiry = seconds === null ? {} : { expires_at: Date.UTC(2030, 0, 1) / 1000 + Number(seconds) }
  return {
    id: 'file-abc',
    object: 'file',
    bytes: file.size,
    filename: file.name,
    purpose: form.get('purpose'),
    status: 'processed',
    ...expiry,
  }
}

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
})
beforeEach(() => {
  seen.length = instead.length = states.length = 0
  hangs = false
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const claude = (apiKey: Parameters<typeof anthropic>[1] = { apiKey: key }) => anthropic('claude-sonnet-5', { baseUrl: origin, ...apiKey })
const responses = () => openaiResponses('gpt-5.1', { baseUrl: `${origin}/v1`, apiKey: key })
const chat = () => openai('gpt-5.1', { baseUrl: `${origin}/v1`, apiKey: key })
const gemini = () => google('gemini-3-pro', { baseUrl: origin, apiKey: key })
const formSeen = async (at = 0) => {
  const { headers, body } = seen[at] ?? { headers: {}, body: new Uint8Array() }
  return new Response(Buffer.from(body), { headers: { 'content-type': String(headers['content-type']) } }).formData()
}
const refusal = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => undefined,
    (error) => error,
  )
const bodyWith = ({ config, provider }: Model, block: FileContent | ImageContent) =>
  sentBody(provider, plainRequest(config, { messages: [{ role: 'user', content: [block], timestamp: 1 }], cache: { type: 'disabled' } }))

describe('uploadFile', () => {
  it('uploads to Anthropic with name and expiry, and returns a file block', async () => {
    const progress: UploadProgress[] = []
    const options = { name: 'report.pdf', expiresAfter: 7 * day, citations: true, onProgress: (at: UploadProgress) => progress.push(at) }
    const block = await uploadFile(claude(), pdf, options)
    const expiresAt = Date.UTC(2030, 0, 8)
    const api = 'anthropicMessages'
    expect(block).toEqual({
      type: 'file',
      mimeType: 'application/pdf',
      fileId: 'file_011',
      api,
      expiresAt,
      name: 'report.pdf',
      citations: true,
    })
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/v1/files', headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' } })
    const form = await formSeen()
    expect(form.get('expires_in_seconds')).toBe(String(7 * day))
    const file = form.get('file') as File // it was there
    expect([file.name, file.type, await file.text()]).toEqual(['report.pdf', 'application/pdf', await pdf.text()])
    expect(progress).toEqual([
      { sent: 0, total: pdf.size },
      { sent: pdf.size, total: pdf.size },
    ])
    expect(JSON.stringify(await bodyWith(claude(), block))).toContain('"source":{"type":"file","file_id":"file_011"}')
  })

  it('uploads documents to Responses and Chat, but images to Responses only', async () => {
    const block = await uploadFile(responses(), pdf, { expiresAfter: day })
    expect(block).toEqual({
      ...{ type: 'file', mimeType: 'application/pdf', fileId: 'file-abc', api: 'openAiResponses', name: 'file.pdf' },
      expiresAt: Date.UTC(2030, 0, 2),
    })
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/v1/files', headers: { authorization: `Bearer ${key}` } })
    const form = await formSeen()
    expect([form.get('purpose'), form.get('expires_after[anchor]'), form.get('expires_after[seconds]')]).toEqual([
      'user_data',
      'created_at',
      String(day),
    ])
    expect(JSON.stringify(await bodyWith(responses(), block))).toContain('"file_id":"file-abc"')
    const picture = await uploadFile(responses(), png)
    expect(picture).toEqual({ type: 'image', mimeType: 'image/png', fileId: 'file-abc', api: 'openAiResponses' })
    expect((await formSeen(1)).get('purpose')).toBe('vision')
    const forChat = await uploadFile(chat(), pdf)
    expect(forChat).not.toHaveProperty('expiresAt')
    expect(JSON.stringify(await bodyWith(chat(), forChat))).toContain('{"type":"file","file":{"file_id":"file-abc"}}')
    expect(await refusal(uploadFile(chat(), png))).toMatchObject({ name: 'MediaError', code: 'unsupported' })
    expect(seen).toHaveLength(3)
  })

  it.each([
    ['Anthropic', claude],
    ['OpenAI', responses],
  ])('reports upload progress and sends the content length: %s', async (_name, model) => {
    const big = new Blob(['%PDF-1.7 ', new Uint8Array(9 * 1024 * 1024)], { type: 'application/pdf' })
    const progress: UploadProgress[] = []
    await uploadFile(model(), big, { name: 'a "quoted"\r\nname.pdf', expiresAfter: day, onProgress: (at) => progress.push(at) })
    expect(progress[0]).toEqual({ sent: 0, total: big.size })
    expect(progress.at(-1)).toEqual({ sent: big.size, total: big.size })
    expect(progress.length).toBeGreaterThan(8)
    expect(progress.map(({ sent }) => sent)).toEqual(progress.map(({ sent }) => sent).toSorted((a, b) => a - b))
    expect(new Set(progress.map(({ sent }) => sent)).size).toBe(progress.length)
    expect(Number(seen[0]?.headers['content-length'])).toBe(seen[0]?.body.length)
    const file = (await formSeen()).get('file') as File // it was there
    expect([file.size, file.type]).toEqual([big.size, 'application/pdf'])
    expect(file.name).toContain('"quoted"')
  })

  it('aborts a form upload midway', async () => {
    const big = new Blob(['%PDF-1.7 ', new Uint8Array(64 * 1024 * 1024)], { type: 'application/pdf' })
    const aborter = new AbortController()
    let sent = 0
    const onProgress = (at: UploadProgress) => {
      sent = at.sent
      if (at.sent > 4 * 1024 * 1024) aborter.abort('enough')
    }
    expect(await refusal(uploadFile(claude(), big, { signal: aborter.signal, onProgress }))).toBe('enough')
    expect(sent).toBeLessThan(big.size)
  })

  it('uploads to Gemini in chunks, waits for processing and protects the key', async () => {
    const file = {
      name: 'files/abc',
      uri: 'https://generativelanguage.googleapis.com/v1beta/files/abc',
      expirationTime: '2030-01-03T00:00:00Z',
    }
    states.push({ ...file, state: 'PROCESSING' }, { ...file, state: 'PROCESSING' }, { ...file, state: 'ACTIVE' })
    const video = new Blob([new Uint8Array(9 * 1024 * 1024)], { type: 'video/mp4' })
    const sent: number[] = []
    const block = await uploadFile(gemini(), video, { name: 'a.mp4', onProgress: (at) => sent.push(at.sent) })
    expect(block).toEqual({
      ...{ type: 'file', mimeType: 'video/mp4', fileId: file.uri, api: 'googleGenerativeAi', name: 'a.mp4' },
      expiresAt: Date.UTC(2030, 0, 3),
    })
    const piece = 8 * 1024 * 1024
    expect(sent).toEqual([0, piece, video.size])
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /upload/v1beta/files',
      ...['POST /session?upload_id=u1', 'POST /session?upload_id=u1', 'GET /v1beta/files/abc', 'GET /v1beta/files/abc'],
    ])
    expect(seen[0]?.headers).toMatchObject({
      ...{ 'x-goog-api-key': key, 'x-goog-upload-protocol': 'resumable', 'x-goog-upload-command': 'start' },
      ...{ 'x-goog-upload-header-content-length': String(video.size), 'x-goog-upload-header-content-type': 'video/mp4' },
    })
    expect(JSON.parse(new TextDecoder().decode(seen[0]?.body))).toEqual({
      file: { displayName: 'a.mp4', mimeType: 'video/mp4', sizeBytes: String(video.size) },
    })
    expect(seen.map(({ headers }) => headers['x-goog-upload-offset'])).toEqual([undefined, '0', String(piece), undefined, undefined])
    expect(seen.map(({ headers }) => headers['x-goog-api-key'])).toEqual([key, undefined, undefined, key, key])
    expect(seen.slice(1, 3).reduce((sum, { body }) => sum + body.length, 0)).toBe(video.size)
    expect(JSON.stringify(await bodyWith(gemini(), block))).toContain(`{"fileData":{"mimeType":"video/mp4","fileUri":"${file.uri}"}}`)
  })

  it('reports a failed Gemini file and rejects a foreign upload URL', async () => {
    states.push({ name: 'files/abc', state: 'FAILED', error: { message: 'no moov atom' } })
    expect(await refusal(uploadFile(gemini(), new Blob(['x'], { type: 'video/mp4' })))).toMatchObject({
      ...{ name: 'MediaError', code: 'wrongType', message: expect.stringContaining('no moov atom') },
    })
    for (const place of ['http://10.0.0.1/u', 'file:///etc/passwd', '', 'http://other.example/u']) {
      instead.push({ status: 200, body: '', headers: { 'x-goog-upload-url': place } })
      expect(await refusal(uploadFile(gemini(), pdf)), place).toMatchObject({ name: 'ProviderError', code: 'api' })
    }
  })

  it.each(['Anthropic', 'Responses', 'Gemini'])('classifies HTTP errors like a model call, without the key: %s', async (name) => {
    const model = name === 'Anthropic' ? claude() : name === 'Responses' ? responses() : gemini()
    const answers: [number, object, object][] = [
      [401, { error: { type: 'authentication_error', message: `invalid key ${key}` } }, { code: 'auth' }],
      [
        400,
        { error: { type: 'invalid_request_error', message: `storage_quota_exceeded for ${key}` } },
        { code: 'api', status: 400, isRetryable: false },
      ],
      [429, { error: { type: 'rate_limit_error', message: 'slow down' } }, { code: 'rateLimited' }],
      [503, { error: { message: 'overloaded' } }, { code: 'api', isRetryable: true }],
      [200, [], { code: 'api', isRetryable: false }],
      [200, {}, { code: 'api', isRetryable: false }],
    ]
    for (const [status, body, expected] of answers) {
      instead.push({ status, body, headers: { location: 'https://elsewhere.example' } })
      const error = await refusal(uploadFile(model, pdf))
      expect(error, String(status)).toMatchObject(expected)
      expect(ProviderError.isInstance(error)).toBe(true)
      expect(JSON.stringify(error) + String(error) + String((error as Error).cause)).not.toContain('0123456789')
      instead.length = 0
    }
    instead.push({ status: 307, body: '', headers: { location: 'https://elsewhere.example/take' } })
    expect(await refusal(uploadFile(model, pdf))).toMatchObject({ status: 307 })
  })

  it('requests a new key once after a rejection', async () => {
    const keys = ['old-0123456789', 'new-0123456789']
    let asked = 0
    let invalidated = 0
    const apiKey = {
      current: () => keys[asked++] ?? '',
      invalidate: () => {
        invalidated += 1
      },
    }
    instead.push({ status: 401, body: { error: { type: 'authentication_error', message: 'no' } } })
    await uploadFile(claude({ apiKey }), pdf)
    expect(seen.map(({ headers }) => headers['x-api-key'])).toEqual(keys)
    expect([asked, invalidated]).toEqual([2, 1])
  })

  it('uses the fetch of its model, also if the provider loads lazily', async () => {
    const places: string[] = []
    const send: typeof fetch = (input, init) => {
      places.push(String(input))
      return fetch(input, init)
    }
    await uploadFile(claude({ apiKey: key, fetch: send }), pdf)
    const model = new ProviderRegistry().createModel(claude().config, { credentials: key, fetch: send })
    await uploadFile(model, pdf)
    expect(places).toEqual([`${origin}/v1/files`, `${origin}/v1/files`])
  })

  it('stops on abort', async () => {
    for (const model of [claude(), gemini()]) {
      hangs = true
      const aborter = new AbortController()
      const ended = refusal(uploadFile(model, pdf, { signal: aborter.signal }))
      await once(server, 'request')
      aborter.abort('enough')
      expect(await ended).toBe('enough')
    }
    hangs = false
    states.push({ name: 'files/abc', state: 'PROCESSING' })
    const aborter = new AbortController()
    const onProgress = ({ sent, total }: UploadProgress) => {
      if (sent === total) aborter.abort('enough')
    }
    expect(await refusal(uploadFile(gemini(), pdf, { signal: aborter.signal, onProgress }))).toBe('enough')
    expect(await refusal(uploadFile(claude(), pdf, { signal: AbortSignal.abort('before') }))).toBe('before')
  })

  it('rejects an invalid upload before sending', async () => {
    const model = claude()
    const cases: [Promise<unknown>, object][] = [
      [uploadFile(model, new Blob([])), { code: 'invalidOption', message: expect.stringContaining('empty') }],
      [uploadFile(model, new Blob(['x'])), { code: 'invalidOption', message: expect.stringContaining('mimeType') }],
      [uploadFile(model, pdf, { expiresAfter: 60 }), { code: 'invalidOption', message: expect.stringContaining('3600 to 7776000') }],
      [uploadFile(responses(), pdf, { expiresAfter: 31 * day }), { code: 'invalidOption', message: expect.stringContaining('2592000') }],
      [uploadFile(gemini(), pdf, { expiresAfter: day }), { code: 'invalidOption', message: expect.stringContaining('has no setting') }],
    ]
    for (const [asked, expected] of cases) {
      const error = await refusal(asked)
      expect(error).toMatchObject(expected)
      expect(ConfigError.isInstance(error)).toBe(true)
    }
    const several = fallback([claude(), responses()])
    await expect(uploadFile(several, pdf)).rejects.toMatchObject({
      code: 'invalidOption',
      message: expect.stringContaining('combines several models'),
    })
    const keyless = anthropic('claude-sonnet-5')
    await expect(uploadFile(keyless, pdf)).rejects.toMatchObject({
      code: 'invalidOption',
      message: expect.stringContaining('ANTHROPIC_API_KEY'),
    })
    const elsewhere = bedrock('anthropic.claude-sonnet-4-5', { region: 'eu-west-1', apiKey: key })
    const error = await refusal(uploadFile(elsewhere, pdf))
    expect(MediaError.isInstance(error) && [error.code, error.message]).toEqual([
      'unsupported',
      expect.stringContaining('bedrockConverseStream'),
    ])
    expect(seen).toEqual([])
  })
})

describe('an expired uploaded file', () => {
  const gone: FileContent = {
    type: 'file',
    mimeType: 'application/pdf',
    fileId: 'f1',
    api: 'anthropicMessages',
    name: 'a.pdf',
    expiresAt: Date.UTC(2026, 0, 1),
  }
  const said = (text: string) => ({ type: 'text' as const, text })

  it('rejects an expired file in a new message, and sends a note for older ones', async () => {
    const { config, provider } = claude()
    const asked = { role: 'user' as const, content: [gone, said('What?')], timestamp: 1 }
    const answer = {
      role: 'assistant' as const,
      content: [said('It.')],
      stopReason: 'stop' as const,
      model: config.id,
      provider: config.provider,
      timestamp: 2,
    }
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0, totalTokens: 2 }
    await expect(provider.encode(plainRequest(config, { messages: [asked] }))).rejects.toMatchObject({
      code: 'unsupportedMedia',
      message: expect.stringMatching(/a\.pdf .*claude-sonnet-5.*2026-01-01T00:00:00.*Upload it again/),
    })
    const messages = [asked, { ...answer, usage }, { role: 'user' as const, content: [said('And?')], timestamp: 3 }]
    const { body, warnings } = await provider.encode(plainRequest(config, { messages }))
    expect(body).toContain('(file left out: a.pdf (application/pdf) expired at the provider at 2026-01-01T00:00:00.000Z)')
    expect(warnings).toEqual([expect.stringContaining('expired at the provider')])
    await expect(provider.encode(plainRequest(config, { messages, requireMedia: true }))).rejects.toMatchObject({
      code: 'unsupportedMedia',
    })
  })

  it('sends a file id before it expires', async () => {
    const block = { ...gone, expiresAt: Date.now() + 60_000 }
    expect(JSON.stringify(await bodyWith(claude(), block))).toContain('"file_id":"f1"')
  })
})

it('replaces an uploaded image with a line of text if Chat Completions is used', async () => {
  const picture: ImageContent = { type: 'image', mimeType: 'image/png', fileId: 'file-1', api: 'openAiCompletions' }
  expect(JSON.stringify(await bodyWith(chat(), picture))).toContain('this provider does not accept image/png by file id')
})
