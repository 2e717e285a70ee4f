import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { type PostgresLiveSessions, postgresLiveSessions, postgresSchedules } from '../../../adapters/postgres/live/index.ts'
import { type AskEndpoint, agentEndpointSuite, endpointAgent } from '../../../src/testing/index.ts'
import { signed, userOf } from '../../support/endpoint-users.ts'
import { NoticeBoard } from '../../support/notice-board.ts'
import { openAiHostTests } from '../../support/openai-host.ts'
import { quickProgram } from '../../support/quick-program.ts'
import { onPostgres } from './on-postgres.ts'
import { type RoundRobin, roundRobin } from './round-robin.ts'
import { ServerProcess } from './server-process.ts'

const runner = { describe, it, expect }

onPostgres('live sessions in PostgreSQL', (database) => {
  const host = quickProgram(resolve('test/adapters/postgres/endpoint-host.ts'))
  for (const way of ['the database', 'HTTP'] as const) {
    describe(`three processes of Node behind a proxy, which pass requests on over ${way}`, () => {
      const board = new NoticeBoard()
      const processes: ServerProcess[] = []
      let proxy: RoundRobin | undefined
      beforeAll(async () => {
        const env = { DATABASE_URL: database.url, TENANT: way, PEERS: way === 'HTTP' ? 'yes' : 'no' }
        for (let at = 0; at < 3; at++) processes.push(new ServerProcess(host.path, env, board.tell))
        proxy = await roundRobin(await Promise.all(processes.map(({ url }) => url)))
      }, 60_000)
      afterAll(async () => {
        await proxy?.close()
        await Promise.all(processes.map((each) => each.signal('SIGKILL')))
      })
      const ask: AskEndpoint = (path, init = {}, user = 'ada') => fetch(new URL(path, proxy?.url), signed(init, user))
      const told: NoticeBoard['told'] = (sessionId, type) => board.told(sessionId, type)
      agentEndpointSuite(runner, { name: `sessions in PostgreSQL (${way})`, ask, schedules: true, told })
      openAiHostTests('OpenAI’s API', ask)
    })
  }

  describe('three hosts that hear no notifications', () => {
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
    agentEndpointSuite(runner, { name: 'sessions in PostgreSQL (polling)', ask, schedules: true, told })
  })
})
