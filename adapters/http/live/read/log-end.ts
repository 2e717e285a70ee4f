import type { SessionRecord } from '../../../../src/session.ts'

/** Reads the given number of records from the end of a log. */
export type LastOf = (count: number) => Promise<readonly SessionRecord[]>

/** A count that includes the whole log. */
const mostRecords = 1 << 22

/** Yields increasingly longer ends of a log until `isWhole`, so that the caller reads only as much as necessary. */
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
