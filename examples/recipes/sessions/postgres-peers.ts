import type { Model } from 'phi-core'
import { serve } from 'phi-core/node'
import type { SqlPool } from 'phi-core/postgres'
import { type ListeningPool, listenWith, postgresLiveSessions } from 'phi-core/postgres'

interface Peers {
  pool: SqlPool & ListeningPool
  model: Model
  /** An address of this machine that the other processes reach, and nobody else. */
  hostname: string
  /** At least 32 characters that all processes have. */
  key: string
}

/** Live sessions whose processes reach each other over HTTP. */
export async function sessionsWithPeers({ pool, model, hostname, key }: Peers) {
  // First: the others are told this address.
  const inside = await serve((request) => sessions.forwarded(request), { hostname, port: 0 })
  const sessions = postgresLiveSessions({ pool, listen: listenWith(pool), agent: () => ({ model }), peers: { url: inside.url, key } })
  return { sessions, inside }
}
