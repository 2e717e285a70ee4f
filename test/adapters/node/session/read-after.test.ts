import { describe, expect, it } from 'vitest'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import { type FileOperations, nodeFileOperations } from '../../../../adapters/node/session/file-operations.ts'
import { logSessionStore } from '../../../../src/session.ts'
import { seededRandom } from '../../../../testing/fault-fetch.ts'
import { note, notesIn } from '../../../../testing/session-store/session-samples.ts'
import { runs } from '../../../support/runs.ts'
import { temporaryRoot } from '../temporary.ts'

const agent = { agentId: 'agent-1' }
const limits = { segmentBytes: 400_000, atOnceBytes: 100_000 }

/** A store on real files, and how much text was read of them. */
function counting(root: string) {
  const operations = nodeFileOperations()
  const count = { chars: 0 }
  const readLines: FileOperations['readLines'] = async (path, part) => {
    const read = await operations.readLines(path, part)
    for (const line of read.lines) count.chars += line.length
    return read
  }
  return { store: logSessionStore(fileDriver(root, { ...operations, readLines }, limits)), count }
}

describe('reading records after a cursor', () => {
  it('returns the same records as the whole log after writes, takeovers and replacements', async () => {
    for (let seed = 1; seed <= runs(5, 200); seed++) {
      const random = seededRandom(seed)
      const pick = (below: number) => Math.floor(random() * below)
      const { root } = temporaryRoot()
      const { store } = counting(root)
      for (let writers = 1 + pick(5); writers > 0; writers--) {
        const writer = await store.open('s1', agent)
        const records = Array.from({ length: pick(20) }, (_, at) => note(`${at}`.padEnd(random() < 0.3 ? 60_000 : 50, '.')))
        if (writer.records.length > 0 && random() < 0.1)
          await writer.replace([note('anew'), ...records].map((each) => ({ ...each, at: 1 })))
        else for (const record of records) await writer.append([record])
        if (random() < 0.7) await writer.close()
      }
      const all = await store.tail('s1').catch(() => ({ records: [], cursor: 0 }))
      for (let after = 1; after <= all.cursor; after++) {
        const rest = await counting(root).store.tail('s1', { after })
        expect(rest, `seed ${seed}, after ${after}`).toEqual({ ...all, records: all.records.filter(({ seq }) => seq > after) })
      }
    }
  })

  it('reads in proportion to the result, not to the log', async () => {
    const { root } = temporaryRoot()
    const { store, count } = counting(root)
    const writer = await store.open('s1', agent)
    for (let at = 0; at < 100; at++) await writer.append([note(`${at}`.padEnd(40_000, '.'))])
    await writer.close()
    const next = await store.open('s1', agent)
    await next.append([note('last')])
    await next.close()
    count.chars = 0
    expect(notesIn((await store.tail('s1', { after: 98 })).records).map((text) => `${text}`.replaceAll('.', ''))).toEqual([
      '98',
      '99',
      'last',
    ])
    expect(count.chars).toBeLessThan(1_500_000)
  })
})
