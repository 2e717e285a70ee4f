import type { SessionRecord } from '../../../../src/session.ts'

/** Gives so many records from the end of a log, fewer where there are no more. */
export type LastOf = (count: number) => Promise<readonly SessionRecord[]>

/** So many are taken for the whole log. */
const mostRecords = 1 << 22

/** The end of a log, each time longer than before, until `isWhole`: nobody reads more of it than he needs. */
export async function* endsOf(
  lastOf: LastOf,
  first: number,
): AsyncGenerator<{ records: readonly SessionRecord[]; isWhole: boolean }, void> {
  for (let [count, isWhole] = [first, false]; !isWhole; count *= 4) {
    const records = await lastOf(count)
    isWhole = records.length < count || count > mostRecords
    yield { records, isWhole }
  }
}
