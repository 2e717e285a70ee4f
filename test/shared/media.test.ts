import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { fetchMedia, MediaError, uploadFile } from '../../src/models.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { google } from '../../src/providers/google/index.ts'

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
const { signal } = new AbortController()

describe('media', () => {
  it('fetches only from listed hosts and with valid requests', async () => {
    const urls: string[] = []
    // What the platform does not take, its own request refuses.
    const platform: typeof fetch = async (input, init) => {
      urls.push(new Request(input, init).url)
      return new Response(png, { headers: { 'content-type': 'image/png' } })
    }
    const resolve = fetchMedia({ hosts: ['files.example.com'], fetch: platform })
    expect(await resolve({ url: 'https://files.example.com/a.png', mimeType: 'image/png', signal })).toEqual(png)
    let refused: unknown
    try {
      await resolve({ url: 'https://127.0.0.1/a.png', mimeType: 'image/png', signal })
    } catch (error) {
      refused = error
    }
    expect(MediaError.isInstance(refused) && refused.code).toBe('refused')
    expect(urls).toEqual(['https://files.example.com/a.png'])
  })

  it('resolves media for a provider that cannot fetch URLs', async () => {
    const bodies: string[] = []
    const service: typeof fetch = async (_input, init) => {
      bodies.push(String(init?.body))
      return new Response('{}', { status: 400 })
    }
    const model = google('gemini-2.0-flash', { apiKey: 'k', fetch: service })
    const agent = new Agent({ model, logger: false, resolveMedia: () => png })
    await agent.prompt({ role: 'user', content: [{ type: 'image', mimeType: 'image/png', url: 'https://a.example/a.png' }] }).result
    expect(bodies[0]?.includes('"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgoBAgM="}')).toBe(true)
  })

  it('uploads a file as form data', async () => {
    const seen: string[] = []
    const service: typeof fetch = async (input, init) => {
      const isForm = init?.body instanceof FormData
      const { headers } = isForm ? new Request(input, init) : new Response(null, init)
      expect(headers.get('content-type')).toMatch(/^multipart\/form-data; boundary=/)
      // WebKit makes the request of a form, and cannot read one with a file back out of it.
      const form = init?.body instanceof FormData ? init.body : await new Response(init?.body, { headers }).formData()
      const file = form.get('file')
      if (file instanceof File) seen.push(file.name, file.type, await file.text())
      return Response.json({ id: 'file_1', expires_at: '2099-01-01T00:00:00Z' })
    }
    const model = anthropic('claude-sonnet-5', { apiKey: 'k', fetch: service })
    const block = await uploadFile(model, new Blob(['%PDF-1.7 x'], { type: 'application/pdf' }), { name: 'a.pdf', expiresAfter: 3600 })
    expect(block.fileId).toBe('file_1')
    expect(block.expiresAt).toBe(Date.UTC(2099, 0, 1))
    expect(seen).toEqual(['a.pdf', 'application/pdf', '%PDF-1.7 x'])
  })
})
