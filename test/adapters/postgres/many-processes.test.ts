import { resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { postgresSessionStore } from '../../../adapters/postgres/index.ts'
import { remoteSession } from '../../../src/client.ts'
import type { AgentEvent } from '../../../src/index.ts'
import { patient } from '../../support/patience.ts'
import { onPostgres } from './on-postgres.ts'
import { ServerProcess } from './server-process.ts'

const token = 'a-test-token'

onPostgres('processes that share PostgreSQL', (database) => {
  /** Three processes of the example. */
  async function threeProcesses() {
    const env = { DATABASE_URL: database.url, ACCESS_TOKEN: token, LEASE_MS: '1000' }
    const processes = [0, 1, 2].map(() => new ServerProcess(resolve('examples/postgres/server.ts'), env))
    onTestFinished(() => Promise.all(processes.map((each) => each.signal('SIGKILL'))).then(() => undefined))
    await Promise.all(processes.map(({ url }) => url))
    const [first, second, third] = processes
    if (first === undefined || second === undefined || third === undefined) throw new Error('Three were started.')
    return { first, second, third }
  }

  const sessionAt = async (process: ServerProcess, sessionId: string) => {
    const reconnect = { initialDelayMs: 5, maxDelayMs: 50, maxRetries: 10_000 }
    const headers = { authorization: `Bearer ${token}` }
    const session = remoteSession({ url: await process.url, headers, sessionId, reconnect })
    onTestFinished(() => session.close())
    return session
  }

  it('completes a run watched on one process and approved on another after its own is killed', {
    timeout: patient.timeout,
  }, async () => {
    const { first, second, third } = await threeProcesses()
    const watching = await sessionAt(second, 's')
    const seen: AgentEvent[] = []
    watching.subscribe((event) => seen.push(event))
    const begun = (await sessionAt(first, 's')).prompt('Pay 5 euros.')
    begun.result.catch(() => undefined)
    await expect.poll(() => seen.some(({ type }) => type === 'approvalRequested')).toBe(true)
    await first.signal('SIGKILL')
    const approving = await sessionAt(third, 's')
    const waiting = async () => {
      await approving.load()
      return approving.pendingApprovals().length
    }
    await expect.poll(waiting).toBe(1)
    const [request] = approving.pendingApprovals()
    if (request === undefined) throw new Error('Nothing waits.')
    await approving.approve(request)
    await expect.poll(() => seen.flatMap((event) => (event.type === 'agentEnd' ? [event.status] : []))).toEqual(['completed'])
    expect(seen.filter(({ type }) => type === 'toolExecutionEnd')).toMatchObject([{ isError: false }])
    // The record of the end is written with the end, which is told without waiting for it.
    const endOf = async () => {
      const { records } = await postgresSessionStore({ pool: database.pool }).tail('s')
      return records.flatMap(({ entry }) => (entry.type === 'loopEnd' ? [entry.status] : [])).at(-1)
    }
    await expect.poll(endOf).toBe('completed')
  })
})
