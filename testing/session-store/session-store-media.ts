import { toBase64 } from '../../src/base/base64.ts'
import { sha256Of } from '../../src/base/hash.ts'
import { mediaIn } from '../../src/base/json/media-blocks.ts'
import type { FileContent } from '../../src/contract/message/content.ts'
import { inlineMediaChars } from '../../src/contract/message/media.ts'
import { exportSession, importSession } from '../../src/session/log/transfer.ts'
import type { NewSessionRecord } from '../../src/types/session/session-store.ts'
import type { TestRunner } from '../test-runner.ts'
import { sampleSession } from './session-samples.ts'
import { refusalOf, type SessionStoreSuiteOptions, storesOf } from './session-store-harness.ts'

/** Tests images and files, whose bytes are stored separately from the log. */
export function mediaTests(runner: TestRunner, options: SessionStoreSuiteOptions): void {
  keepingTests(runner, options)
  lateWriterTests(runner, options)
  movingTests(runner, options)
}

function keepingTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('stores media once outside the log and references it by hash', async () => {
    const { store, other, written } = await storesOf(options)
    const { bytes, block, hash } = await sampleFile(3_000_000)
    const writer = await store.open('s1', { agentId: 'agent-1' })
    await writer.append([messageWith(block), messageWith({ ...block, name: 'again.bin' })])
    await writer.append([messageWith(block)])
    await writer.close()
    await written()
    const { data: _kept, ...rest } = block
    const named = { ...rest, blob: { hash, bytes: bytes.length } }
    const { records, damage } = await other.tail('s1')
    if (store.promises.media === undefined) {
      expect(mediaIn(records)).toEqual([block, { ...block, name: 'again.bin' }, block])
      return
    }
    expect([mediaIn(records), damage]).toEqual([[named, { ...named, name: 'again.bin' }, named], undefined])
    expect(sameBytes(await other.blob('s1', hash), bytes)).toBe(true)
    expect(await refusalOf(other.blob('s1', '0'.repeat(64)))).toBe('notFound')
    expect(await refusalOf(other.blob('s1', '../../s1'))).toBe('notFound')
    expect(await refusalOf(other.blob('s2', hash))).toBe('notFound')
  })

  it('stores small media and invalid base64 inline', async () => {
    const { store, other, written } = await storesOf(options)
    const { block } = await sampleFile((inlineMediaChars / 4) * 3)
    const foreign: FileContent = { type: 'file', mimeType: 'application/x-old', data: '?'.repeat(inlineMediaChars + 4) }
    const writer = await store.open('s1', { agentId: 'agent-1' })
    await writer.append([messageWith(block), messageWith(foreign)])
    await writer.close()
    await written()
    expect(mediaIn((await other.tail('s1')).records)).toEqual([block, foreign])
  })

  it('loads a session with its media and saves it again', async () => {
    const { store, other, written } = await storesOf(options)
    const { block, hash } = await sampleFile(100_000)
    const session = sampleSession('s1')
    session.loops[0]?.messages.push({ role: 'user', id: 'm9', content: [block], timestamp: 9 })
    await store.save(session)
    await written()
    const loaded = await other.load('s1')
    expect(loaded).toEqual(session)
    await store.save({ ...loaded, sessionId: 's2' })
    await written()
    expect(mediaIn(await other.load('s2'))).toEqual([block])
    await store.save(sampleSession('s2'))
    await written()
    // Unreferenced media have been deleted, if a writer sees its own writes immediately.
    if (store.promises.readAfterWrite === 'eventual') return
    const isKept = store.promises.media === 'beside' ? 'fulfilled' : 'notFound'
    expect([await refusalOf(other.blob('s2', hash)), await refusalOf(other.blob('s1', hash))]).toEqual(['notFound', isKept])
  })

  it('appends to a session with media and deletes the media with the session', async () => {
    const { store, other, written } = await storesOf(options)
    if (store.promises.media === undefined) return
    const { block, bytes, hash } = await sampleFile(100_000)
    await append(store, 's1', messageWith(block))
    await written()
    const writer = await other.open('s1', { agentId: 'agent-1' })
    await writer.append(writer.records.map(({ epoch: _epoch, seq: _seq, ...record }) => record))
    await writer.close()
    await written()
    expect(mediaIn((await store.tail('s1')).records).map(({ blob }) => blob?.hash)).toEqual([hash, hash])
    expect(sameBytes(await store.blob('s1', hash), bytes)).toBe(true)
    expect(await store.delete('s1')).toBe(true)
    await written()
    expect(await refusalOf(other.blob('s1', hash))).toBe('notFound')
  })
}

function lateWriterTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('preserves media that a writer with a partial log does not see', async () => {
    const { store, other, written } = await storesOf(options)
    if (store.promises.media === undefined) return
    const { block, bytes, hash } = await sampleFile(100_000)
    await append(store, 's1', messageWith(block), messageWith({ ...block, data: 'AAAA' }))
    await written()
    for (const after of [1, 0]) {
      const writer = await other.open('s1', { agentId: 'agent-1', after })
      expect(mediaIn(writer.records).some(({ blob }) => blob?.hash === hash)).toBe(after === 0)
      await writer.append([messageWith({ ...block, data: 'BBBB' })])
      await writer.close()
      await written()
      expect(sameBytes(await store.blob('s1', hash), bytes)).toBe(true)
    }
  })
}

function movingTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('copies media from the session named in mediaFrom', async () => {
    const { store, other, written } = await storesOf(options)
    if (store.promises.media === undefined) return
    const { block, bytes, hash } = await sampleFile(100_000)
    await append(store, 's1', messageWith(block))
    await written()
    const [record] = (await store.tail('s1')).records
    if (record === undefined) throw new Error('The record is there.')
    const { epoch: _epoch, seq: _seq, ...copied } = record
    const writer = await store.open('s2', { agentId: 'agent-1', mediaFrom: ['s1'] })
    await writer.append([copied])
    await writer.close()
    await store.delete('s1')
    await written()
    expect(sameBytes(await other.blob('s2', hash), bytes)).toBe(true)
  })

  it('exports a session with media and imports it completely or not at all', async () => {
    const { store, other, written } = await storesOf(options)
    const { block, bytes, hash } = await sampleFile(100_000)
    await append(store, 's1', messageWith(block), messageWith(block))
    await written()
    const text = await exportSession(store, 's1')
    await importSession(other, text, { sessionId: 's2' })
    await importSession(other, text, { replace: true })
    await written()
    expect(await exportSession(store, 's1')).toBe(text)
    expect(mediaIn(await store.load('s2'))).toEqual([block, block])
    if (store.promises.media === undefined) return
    expect(text.split(block.data ?? '').length).toBe(2)
    expect(sameBytes(await store.blob('s2', hash), bytes)).toBe(true)
    const [head = '', blob = '', ...records] = text.trimEnd().split('\n')
    const changed = blob.replace('"data":"', '"data":"AAAA')
    for (const lines of [
      [head, ...records],
      [head, changed, ...records],
      [head, blob, ...records.slice(1)],
    ]) {
      const call = importSession(other, lines.join('\n'), { sessionId: 's3' })
      expect(await refusalOf(call)).toBe('invalidSession')
    }
    expect(await refusalOf(other.load('s3'))).toBe('notFound')
  })
}

async function append(store: Parameters<typeof importSession>[0], sessionId: string, ...records: NewSessionRecord[]): Promise<void> {
  const writer = await store.open(sessionId, { agentId: 'agent-1' })
  await writer.append(records)
  await writer.close()
}

/** A file whose bytes are not valid text. */
async function sampleFile(length: number): Promise<{ bytes: Uint8Array<ArrayBuffer>; block: FileContent; hash: string }> {
  const bytes = Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) & 255)
  const block: FileContent = { type: 'file', mimeType: 'application/octet-stream', data: toBase64(bytes), name: 'sample.bin' }
  return { bytes, block, hash: await sha256Of(bytes) }
}

function messageWith(block: FileContent): NewSessionRecord {
  const message = { role: 'user' as const, id: 'm', content: [block], timestamp: 1 }
  return { loopId: 'l', turnIndex: 0, at: 1, entry: { type: 'input', message } }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
