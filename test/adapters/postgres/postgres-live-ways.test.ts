import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { type PostgresLiveSessions, postgresLiveSessions, postgresSchedules } from '../../../adapters/postgres/index.ts'
import { type AskEndpoint, agentEndpointSuite, endpointAgent } from '../../../testing/index.ts'
import { signed, userOf } from '../../support/endpoint-users.ts'
import { NoticeBoard } from '../../support/notice-board.ts'
import { onPostgres } from './on-postgres.ts'
import { threeProcesses } from './three-processes.ts'

const runner = { describe, it, expect }

// What `postgres-live-sessions.test.ts` says of processes that ask each other over the database.
onPostgres('live sessions in PostgreSQL, in other ways', (database) => {
  threeProcesses(database, 'HTTP')

  describe('three hosts without notifications', () => {
    const board = new NoticeBoard()
    const hosts: PostgresLiveSessions[] = []
    const apps: ReturnType<typeof createAgentApp>[] = []
    beforeAll(() => {
      for (let at = 0; at < 3; at++) {
        const sessions = postgresLiveSessions({
          pool: database.pool,
          agent: ({ sessionId }) => endpointAgent(sessionId),
          schedules: postgresSchedules({ pool: database.pool }),
          onWaiting: board.tell,
          onEnd: board.tell,
          pollMs: 10,
        })
        hosts.push(sessions)
        apps.push(createAgentApp({ sessions, imports: true, authorize: userOf }))
      }
    })
    afterAll(() => Promise.all(hosts.map((host) => host.close())))

    let turn = 0
    /** Each request reaches another one. */
    const ask: AskEndpoint = async (path, init = {}, user = 'ada') => {
      const app = apps[turn++ % apps.length]
      if (app === undefined) throw new Error('No host was made.')
      return app.fetch(new Request(new URL(path, 'http://localhost'), signed(init, user)))
    }
    const told: NoticeBoard['told'] = (sessionId, type) => board.told(sessionId, type)
    agentEndpointSuite(runner, { name: 'sessions in PostgreSQL (polling)', ask, schedules: true, notices: told })
  })
})
