import { toBase64 } from '../../src/base/base64.ts'
import type { JsonObject } from '../../src/contract/json.ts'
import { inlineMediaChars } from '../../src/contract/message/media.ts'
import type { TestRunner } from '../test-runner.ts'
import { allEvents, type EndpointClient, problemOf, responseText } from './endpoint-client.ts'

const name = 'Bericht “März”.pdf'

/** Tests files in prompts: who can read them, how they are downloaded, and which are rejected before anything is recorded. */
export function mediaTests({ it, expect }: TestRunner, clientOf: (kind: string) => EndpointClient): void {
  const ask = (client: EndpointClient, block: JsonObject) => client.post('/runs', { prompt: [{ role: 'user', content: [block] }] })

  it('serves a large file as an attachment, only to its owner', async () => {
    const client = clientOf('talk')
    const bytes = pdfOf(inlineMediaChars)
    const data = toBase64(bytes)
    const events = await allEvents(await ask(client, { type: 'file', mimeType: 'application/pdf', name, data }))
    expect(responseText(events)).toBe('one two three four')
    expect((await blockIn(client, '/history')).data).toBe(data)
    const { blob, data: inline } = await blockIn(client, '/history?media=names')
    // A store without blob storage keeps the bytes in its log.
    if (blob === undefined) {
      expect(inline).toBe(data)
      return
    }
    const serialized = JSON.stringify(events)
    expect([serialized.includes(data), serialized.includes(blob.hash)]).toEqual([false, true])
    const path = `/blobs/${blob.hash}`
    const answer = await client.get(path)
    const headers = ['content-type', 'x-content-type-options', 'content-disposition'].map((header) => answer.headers.get(header))
    expect(headers).toEqual(['application/pdf', 'nosniff', "attachment; filename*=UTF-8''Bericht%20%E2%80%9CM%C3%A4rz%E2%80%9D.pdf"])
    expect(toBase64(new Uint8Array(await answer.arrayBuffer()))).toBe(data)
    const strangers = [client.as('bob').get(path), clientOf('talk').get(path), client.get(`/blobs/${'0'.repeat(64)}`)]
    for (const { status, body } of await Promise.all(strangers)) {
      await body?.cancel()
      expect(status).toBe(404)
    }
    expect((await problemOf(await ask(clientOf('talk'), { type: 'file', mimeType: 'application/pdf', blob }))).status).toBe(400)
  })

  it('rejects files that do not match their type, and forbidden URLs', async () => {
    const html = btoa('<!doctype html><script>alert(1)</script>')
    const refused: JsonObject[] = [
      { type: 'file', mimeType: 'application/pdf', data: html },
      { type: 'image', mimeType: 'image/png', data: html },
      { type: 'image', mimeType: 'image/png', data: '?' },
      { type: 'file', mimeType: 'application/pdf', data: '' },
      { type: 'file', mimeType: 'application/pdf' },
      { type: 'file', mimeType: 'application/pdf', data: btoa('%PDF-1.7'), url: 'https://a.example/a.pdf' },
      ...['file:///etc/passwd', 'http://a.example/a.pdf', 'javascript:alert(1)', 'https://', `data:application/pdf;base64,${html}`].map(
        (url) => ({ type: 'file', mimeType: 'application/pdf', url }),
      ),
    ]
    for (const block of refused) {
      const client = clientOf('talk')
      const { status } = await problemOf(await ask(client, block))
      expect([JSON.stringify(block), status, (await client.get('')).status]).toEqual([JSON.stringify(block), 400, 404])
    }
  })
}

function pdfOf(length: number): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from({ length }, (_, at) => (at * 31) % 251)
  bytes.set(new TextEncoder().encode('%PDF-1.7\n'))
  return bytes
}

interface Kept {
  data?: string
  blob?: { hash: string; bytes: number }
}

/** Returns the file in the first message. */
async function blockIn(client: EndpointClient, path: string): Promise<Kept> {
  const { messages } = await (await client.get(path)).json()
  return messages[0].content[0]
}
