import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AskEndpoint, agentEndpointSuite } from '../../../testing/index.ts'
import { signed } from '../../support/endpoint-users.ts'
import { NoticeBoard } from '../../support/notice-board.ts'
import { openAiHostTests } from '../../support/openai-host.ts'
import { quickProgram } from '../../support/quick-program.ts'
import { type RoundRobin, roundRobin } from './round-robin.ts'
import type { Database } from './server.ts'
import { ServerProcess } from './server-process.ts'

const runner = { describe, it, expect }

/** States the promises of an endpoint for three processes of Node behind a proxy. They pass requests on `over` the database or HTTP. */
export function threeProcesses(database: Database, over: 'the database' | 'HTTP'): void {
  const host = quickProgram(resolve('test/adapters/postgres/endpoint-host.ts'))
  describe(`three Node processes behind a proxy that forward requests over ${over}`, () => {
    const board = new NoticeBoard()
    const processes: ServerProcess[] = []
    let proxy: RoundRobin | undefined
    beforeAll(async () => {
      const env = { DATABASE_URL: database.url, TENANT: over, PEERS: over === 'HTTP' ? 'yes' : 'no' }
      for (let at = 0; at < 3; at++) processes.push(new ServerProcess(host.path, env, board.tell))
      proxy = await roundRobin(await Promise.all(processes.map(({ url }) => url)))
    }, 60_000)
    afterAll(async () => {
      await proxy?.close()
      await Promise.all(processes.map((each) => each.signal('SIGKILL')))
    })
    const ask: AskEndpoint = (path, init = {}, user = 'ada') => fetch(new URL(path, proxy?.url), signed(init, user))
    const told: NoticeBoard['told'] = (sessionId, type) => board.told(sessionId, type)
    agentEndpointSuite(runner, { name: `sessions in PostgreSQL (${over})`, ask, schedules: true, notices: told })
    openAiHostTests('OpenAI’s API', ask)
  })
}
