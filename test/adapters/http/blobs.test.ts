import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { fileSessionStore } from '../../../adapters/node/index.ts'
import { toBase64 } from '../../../src/base/base64.ts'
import { memorySessionStore, type SessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { gate } from '../../support/play.ts'

const name = 'Bericht “März”.pdf'
const pdf = new Uint8Array(3_000_000).fill(7)
pdf.set(new TextEncoder().encode('%PDF-1.7\n'))
const data = toBase64(pdf)

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'http-blobs-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** A host that was started anew, so that what it knows of a session is what its store says. */
function hostOf(store: SessionStore) {
  const app = createAgentApp({
    sessions: memoryLiveSessions({ store, agent: () => ({ model: scripted(() => ({ text: 'Read.' })) }) }),
    authorize: (c) => c.req.header('authorization') ?? false,
  })
  return (path: string, { user = 'ada', body }: { user?: string; body?: object } = {}) =>
    app.request(path, {
      headers: { authorization: user, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
}

function asking(block: object) {
  return { prompt: [{ role: 'user', content: [{ type: 'file', mimeType: 'application/pdf', name, ...block }] }] }
}

async function told(store: SessionStore): Promise<{ ask: ReturnType<typeof hostOf>; hash: string }> {
  const response = await hostOf(store)('/sessions/s/runs', { body: asking({ data }) })
  expect(response.status).toBe(200)
  await response.text()
  const ask = hostOf(store)
  const { messages } = await (await ask('/sessions/s/history?media=names')).json()
  return { ask, hash: messages[0].content[0].blob.hash }
}

describe('large session files over HTTP', () => {
  it('sends references in the history only if the client requests them', async () => {
    const { ask, hash } = await told(memorySessionStore())
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    const loopId = (await (await ask('/sessions/s/history')).json()).loopId
    for (const path of ['/sessions/s/history', `/sessions/s/history?loopId=${loopId}`])
      expect((await (await ask(path)).json()).messages[0].content[0]).toMatchObject({ type: 'file', name, data })
    expect((await (await ask('/sessions/s')).json()).session.loops[0].messages[0].content[0].data).toBe(data)
    expect((await (await ask('/chat/s')).json()).messages[0].parts[0]).toMatchObject({ type: 'file', filename: name })
  })

  it('serves files as attachments that no browser executes', async () => {
    const { ask, hash } = await told(fileSessionStore(directory))
    const response = await ask(`/sessions/s/blobs/${hash}`)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': "attachment; filename*=UTF-8''Bericht%20%E2%80%9CM%C3%A4rz%E2%80%9D.pdf",
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    expect(Buffer.from(await response.arrayBuffer()).equals(pdf)).toBe(true)
  })

  it('serves files only within their session and rejects them as prompt input', async () => {
    const { ask, hash } = await told(memorySessionStore())
    const answers = [
      await ask(`/sessions/s/blobs/${hash}`, { user: 'eve' }),
      await ask(`/sessions/other/blobs/${hash}`),
      await ask(`/sessions/s/blobs/${'0'.repeat(64)}`),
      await ask('/sessions/s/blobs/..%2f..%2fs'),
      await ask('/sessions/s2/runs', { body: asking({ blob: { hash, bytes: pdf.length } }) }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 400])
  })

  it('stores a file before any client receives its reference', async () => {
    const [asked, go] = [gate(), gate()]
    const kept = memorySessionStore()
    /** Writes nothing of what was said before `go`. */
    const store: SessionStore = {
      ...kept,
      journal: (options) => {
        const journal = kept.journal(options)
        return {
          ...journal,
          append: async (record, conversation) => {
            if (record.entry.type === 'input') {
              asked.open()
              await go.opened
            }
            return journal.append(record, conversation)
          },
        }
      },
    }
    const ask = hostOf(store)
    const told = ask('/sessions/s/runs', { body: asking({ data }) })
    await asked.opened
    const { messages } = await (await ask('/sessions/s/history?media=names')).json()
    const response = await ask(`/sessions/s/blobs/${messages[0].content[0].blob.hash}`)
    expect([response.status, Buffer.from(await response.arrayBuffer()).equals(pdf)]).toEqual([200, true])
    expect((await ask(`/sessions/s/blobs/${messages[0].content[0].blob.hash}`, { user: 'eve' })).status).toBe(404)
    go.open()
    await (await told).text()
  })

  it('responds with 410 gone if the file is damaged', async () => {
    const { ask, hash } = await told(fileSessionStore(directory))
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
      if (entry.name.startsWith('blob.')) await writeFile(join(entry.parentPath, entry.name), 'other')
    const response = await ask(`/sessions/s/blobs/${hash}`)
    expect([response.status, (await response.json()).code]).toEqual([410, 'gone'])
    expect((await (await ask('/sessions/s/history')).json()).messages[0].content[0].blob.hash).toBe(hash)
  })
})
