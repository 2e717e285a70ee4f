import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AgentAppOptions, bearer, createAgentApp } from '../../../adapters/http/index.ts'
import { migrate } from '../../../adapters/postgres/index.ts'
import { listenWith, type PostgresLiveSessions, postgresLiveSessions, postgresSchedules } from '../../../adapters/postgres/live/index.ts'
import { type AskEndpoint, agentEndpointSuite, endpointAgent } from '../../../src/testing/index.ts'
import { NoticeBoard } from '../../support/notice-board.ts'
import { type Database, postgresPrograms, startPostgres } from './server.ts'

const programs = postgresPrograms()
if (programs === undefined)
  console.log('NOT RUN: live sessions in PostgreSQL: there is no PostgreSQL on this machine (apt-get install postgresql)')

describe.skipIf(programs === undefined)('live sessions in PostgreSQL', () => {
  let database: Database
  beforeAll(async () => {
    database = await startPostgres(programs ?? '')
    await migrate(database.pool)
  }, 60_000)
  afterAll(() => database?.stop())

  for (const wakes of ['notifications', 'polling'] as const) {
    describe(`three processes, woken by ${wakes}`, () => {
      const board = new NoticeBoard()
      const hosts: PostgresLiveSessions[] = []
      const apps: ReturnType<typeof createAgentApp>[] = []
      beforeAll(() => {
        for (let at = 0; at < 3; at++) {
          const sessions = postgresLiveSessions({
            pool: database.pool,
            tenant: wakes,
            agent: ({ sessionId }) => endpointAgent(sessionId),
            schedules: postgresSchedules({ pool: database.pool, tenant: wakes }),
            onWaiting: board.tell,
            onEnd: board.tell,
            ...(wakes === 'notifications' ? { listen: listenWith(database.pool) } : { pollMs: 10 }),
          })
          hosts.push(sessions)
          apps.push(createAgentApp({ sessions, imports: true, authorize }))
        }
      })
      afterAll(() => Promise.all(hosts.map((host) => host.close())))

      let turn = 0
      /** Each request reaches another process. */
      const ask: AskEndpoint = async (path, init = {}, user = 'ada') => {
        const headers = new Headers(init.headers)
        if (user !== 'nobody') headers.set('authorization', `Bearer ${user}-secret`)
        const app = apps[turn++ % apps.length]
        if (app === undefined) throw new Error('No process was started.')
        return app.fetch(new Request(new URL(path, 'http://localhost'), { ...init, headers }))
      }
      agentEndpointSuite(
        { describe, it, expect },
        { name: `sessions in PostgreSQL (${wakes})`, ask, schedules: true, told: (sessionId, type) => board.told(sessionId, type) },
      )
    })
  }
})

const authorize: AgentAppOptions['authorize'] = async (c) => {
  for (const user of ['ada', 'bob']) if (await bearer(`${user}-secret`)(c)) return user
  return false
}
