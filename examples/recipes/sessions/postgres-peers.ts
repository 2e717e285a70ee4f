import type { Model } from 'phi-core'
import { serve } from 'phi-core/node'
import type { SqlPool } from 'phi-core/postgres'
import { type ListeningPool, listenWith, postgresLiveSessions } from 'phi-core/postgres'

interface Peers {
  pool: SqlPool & ListeningPool
  model: Model
  /** An address of this machine that only the other processes can reach. */
  hostname: string
  /** A secret of at least 32 characters, the same in all processes. */
  key: string
}

/** Live sessions with processes that forward requests over HTTP. */
export async function sessionsWithPeers({ pool, model, hostname, key }: Peers) {
  // Listen first, because the other processes use this address.
  const inside = await serve((request) => sessions.forwarded(request), { hostname, port: 0 })
  const sessions = postgresLiveSessions({ pool, listen: listenWith(pool), agent: () => ({ model }), peers: { url: inside.url, key } })
  return { sessions, inside }
}
