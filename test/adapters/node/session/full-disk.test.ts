import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../../adapters/http/index.ts'
import { fileSessionStore } from '../../../../adapters/node/index.ts'
import { type AgentMessage, resumeAgent, textOf, userMessage } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'

const page = 4096
// What it holds is not looked at: it is too large to stand in the log.
const image = {
  type: 'image' as const,
  mimeType: 'image/png',
  data: Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(70_000, 7)]).toString('base64'),
}
const model = () => scripted(({ messages }) => ({ text: `Answer ${messages.length}: ${'word '.repeat(600)}` }))

/** A disk of its own, of one megabyte, which only an administrator can make. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'phi-full-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    rmSync(folder, { recursive: true })
    return undefined
  }
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true })
  })
  return folder
}

const freePages = (folder: string) => statfsSync(folder).bavail

/** Leaves so many pages of the disk free. */
function leave(folder: string, pages: number): void {
  const filler = join(folder, 'filler')
  writeFileSync(filler, '')
  writeFileSync(filler, Buffer.alloc(Math.max(0, freePages(folder) - pages) * page, 1))
}

const ids = (messages: readonly AgentMessage[]) => messages.map(({ id }) => id)

describe.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)('a full disk', () => {
  it('keeps acknowledged records, suggests a fix and continues once space is free', async () => {
    const disk = smallDisk()
    if (disk === undefined) return console.log('NOT RUN: a disk that is full: nothing can be mounted here')
    const pagesOfDisk = freePages(disk)
    for (let pages = 0; pages < 40; pages += pages < 12 ? 1 : 7) {
      const folder = join(disk, `left-${pages}`)
      mkdirSync(folder)
      leave(disk, pages)
      const store = fileSessionStore(folder)
      const open = () => resumeAgent(store, 's', { model: model(), create: true, logger: false })
      const acknowledged: string[] = []
      let failure: { code: string; message: string } | undefined
      let ended = ''
      try {
        const agent = await open()
        for (let at = 0; failure === undefined && at < 20; at++) {
          const said = { ...userMessage(`Question ${at}`), content: [{ type: 'text' as const, text: `Question ${at}` }, image] }
          const { status, error, messages } = await agent.prompt([said]).result
          if (status === 'completed') acknowledged.push(...ids(messages))
          else failure = error?.cause
          ended = JSON.stringify([at, status, error])
        }
      } catch (error) {
        failure = error as typeof failure // a SessionError, as is looked at below
      }
      expect(failure, `${pages} pages, ${ended}`).toMatchObject({ code: 'quota', message: expect.stringContaining('free some space') })
      const known = (await store.tail('s').catch(() => ({ records: [] }))).records.length
      truncateSync(join(disk, 'filler'))
      const agent = await open()
      expect(ids(agent.messages)).toEqual(expect.arrayContaining(acknowledged))
      const { status } = await agent.send('And now?').result
      expect([status, textOf(Object(agent.messages.at(-1)).content).slice(0, 6)]).toEqual(['completed', 'Answer'])
      expect((await store.tail('s')).records.length).toBeGreaterThan(known)
      expect((await store.list()).sessions).toMatchObject([{ sessionId: 's', status: 'idle' }])
      await agent.close()
      rmSync(folder, { recursive: true })
      // A file that stayed open would keep its pages until it is garbage collected, and make room in a later round.
      expect(freePages(disk), `${pages} pages`).toBe(pagesOfDisk)
    }
  })

  it('rejects writes over HTTP while all stored data stays readable', async () => {
    const disk = smallDisk()
    if (disk === undefined) return
    const sessions = memoryLiveSessions({ store: fileSessionStore(disk), agent: () => ({ model: model() }), logger: false })
    onTestFinished(() => sessions.close())
    const app = createAgentApp({ sessions, authorize: () => true, logger: false })
    const say = async (id: string) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"Hi."}' }
      const answer = await app.request(`/sessions/${id}/runs`, init)
      return { status: answer.status, text: await answer.text() }
    }
    expect((await say('s')).text).toContain('"status":"completed"')
    leave(disk, 0)
    const refused = await say('t')
    expect(refused.text).toContain('free some space')
    expect(refused.text).toContain('"returned":[{')
    expect((await say('s')).text).toContain('free some space')
    const { messages } = await (await app.request('/sessions/s/history')).json()
    expect(messages.length).toBeGreaterThanOrEqual(2)
    truncateSync(join(disk, 'filler'))
    // A prompt that was stored, and whose answer was not, is answered first.
    for (const id of ['s', 't']) await expect.poll(async () => (await say(id)).text).toContain('"status":"completed"')
  })
})
