import { signal } from '@preact/signals'
import { expect, test } from 'vitest'
import { attach } from '../../playground/src/composer/attach.ts'
import type { Attachment } from '../../playground/src/state/conversation/attachments.ts'

const draft = () => ({ attached: signal<readonly Attachment[]>([]), refused: signal<readonly string[]>([]) })

/** Says what it is without being read: nobody needs its bytes. */
class LongFile extends File {
  override get size(): number {
    return 25_200_000
  }
}

class UnreadableFile extends File {
  override async arrayBuffer(): Promise<ArrayBuffer> {
    throw new DOMException('A requested file could not be read.', 'NotReadableError')
  }
}

const refusals: [string, File, RegExp][] = [
  ['an empty file', new File([], 'empty.txt', { type: 'text/plain' }), /^“empty\.txt” is empty/],
  [
    'a file over the size limit',
    new LongFile(['%PDF-'], 'long.pdf', { type: 'application/pdf' }),
    /^“long\.pdf” .*25\.2 MB.*the limit is 20\.0 MB.*Send part/,
  ],
  [
    'an image over the size limit',
    new LongFile(['x'], 'long.png', { type: 'image/png' }),
    /^“long\.png” .*25\.2 MB.*the limit is 20\.0 MB/,
  ],
  ['an unknown type', new File(['??'], 'thing'), /The type of “thing” is unknown.*PDF and text.*\.txt/],
  ['an unsupported type', new File(['PK'], 'all.zip', { type: 'application/zip' }), /“all\.zip” is of the type application\/zip/],
  ['an invalid PDF', new File(['hello'], 'a.pdf', { type: 'application/pdf' }), /“a\.pdf” .*application\/pdf.*another type/],
  ['an invalid PNG', new File([new Uint8Array(100)], 'a.png', { type: 'image/png' }), /“a\.png” .*image\/png.*another type/],
  ['an unreadable file', new UnreadableFile(['x'], 'gone.txt', { type: 'text/plain' }), /Cannot read “gone\.txt”.*[Aa]ttach it again/],
]

test.each(refusals)('rejects %s with a message for end users', async (_, file, words) => {
  const { attached, refused } = draft()
  await attach({ attached, refused }, [file, new File(['Wind: east.'], 'notes.txt', { type: 'text/plain' })])
  expect(refused.value).toEqual([expect.stringMatching(words)])
  // Options of the SDK are for programmers.
  expect(refused.value[0]).not.toMatch(/maxBytes|mimeType|data:|The (?:file|picture) |fileContent|[{}]/)
  expect(attached.value).toMatchObject([{ type: 'file', name: 'notes.txt' }])
})
