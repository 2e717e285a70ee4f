import type { SessionRecord } from '../../../../src/session.ts'

/** Reads so many records from the end of a log, fewer if there are no more. */
export type LastOf = (count: number) => Promise<readonly SessionRecord[]>

/** A count that means the whole log. */
const mostRecords = 1 << 22

/** Yields longer and longer ends of a log until `isWhole`, so that the caller reads no more than necessary. */
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
