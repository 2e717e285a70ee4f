import type { SessionAddress } from '../../http/index.ts'

/** Which session of whom, as it stands in a row. */
export interface LeaseKey {
  /** Empty for the only user of a server. */
  owner: string
  sessionId: string
}

/** The row of a session. */
export function keyOf({ identity = '', sessionId }: SessionAddress): LeaseKey {
  return { owner: identity, sessionId }
}

/** The session of a row. */
export function addressOf({ owner, sessionId }: LeaseKey): SessionAddress {
  return { sessionId, ...(owner !== '' && { identity: owner }) }
}

/** The same as a text, for maps. */
export function textOf({ owner, sessionId }: LeaseKey): string {
  return JSON.stringify([owner, sessionId])
}
