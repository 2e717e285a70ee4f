import type { Caller } from './authorize.ts'

/** The only user of a server shares with nobody. */
const ofOnlyUser = 1000

/**
 * How much a caller may use at once of what all share (runs, streams, sessions in memory): what the server gives everybody, else `ofNamed`, or 1,000
 * for the only user there is.
 */
export function shareOf({ identity }: Caller, given: number | undefined, ofNamed = 100): number {
  return given ?? (identity === undefined ? ofOnlyUser : ofNamed)
}
