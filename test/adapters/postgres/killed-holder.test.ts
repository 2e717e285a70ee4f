import { describe, expect, it } from 'vitest'
import { patient } from '../../support/patience.ts'
import { killedClusters } from './killed-cluster.ts'
import { onPostgres } from './on-postgres.ts'

const { timeout } = patient
const headers = { 'content-type': 'application/json', 'idempotency-key': 'one-key-for-all' }

onPostgres('an owner process that crashes during a forwarded request', (database) => {
  const { cluster, endsOf } = killedClusters(database)

  /** Two processes, and a session that the first one has. */
  async function two(env: Record<string, string>) {
    const both = await cluster(2, env)
    const [holder, other] = both.hosts
    if (holder === undefined || other === undefined) throw new Error('There are two.')
    const sessionId = `${both.prefix}-s`
    const ask = async (path: string, init?: RequestInit) => fetch(`${await other.url}/sessions/${sessionId}/${path}`, init)
    // Nothing was said in it, but who changes it has it from now on.
    const stopped = await fetch(`${await holder.url}/sessions/${sessionId}/stop`, { method: 'POST' })
    expect(stopped.status).toBe(404)
    return { both, holder, sessionId, ask, prompt: () => ask('runs', { method: 'POST', headers, body: '{"prompt":"Pay."}' }) }
  }

  interface PassedOn {
    asked: Awaited<ReturnType<typeof two>>
    feed: ReadableStreamDefaultReader<Uint8Array> | undefined
  }

  /** As `two`, with a response that the holder has begun and cannot end. */
  async function passedOn(env: Record<string, string>): Promise<PassedOn> {
    const asked = await two({ ...env, GATED: 'yes' })
    const feed = (await asked.prompt()).body?.getReader()
    let text = ''
    let hasEnded = feed === undefined
    while (!hasEnded && !text.includes('turn ')) {
      const read = await feed?.read().catch(() => undefined)
      text += new TextDecoder().decode(read?.value)
      hasEnded = read?.done !== false
    }
    // On a busy machine a process may lose its lease before the prompt comes, or just after. Then the other one begins the run itself, or the response
    // breaks off before its first word: nothing was passed on.
    return !hasEnded && asked.both.speaker === asked.holder ? { asked, feed } : passedOn(env)
  }

  /** It was said once, paid once, and answered once. */
  async function expectOnce({ both, sessionId, ask }: Awaited<ReturnType<typeof two>>) {
    await expect.poll(() => endsOf(sessionId)).toEqual(['completed'])
    const { messages } = await (await ask('history')).json()
    expect(messages.filter(({ role }: { role: string }) => role === 'user')).toHaveLength(1)
    const paid = both.paid().filter((line) => line.startsWith(`${sessionId} `))
    expect([paid.length, new Set(paid).size]).toEqual([6, 6])
  }

  describe.each([
    ['the database', {}],
    ['HTTP', { PEERS: 'yes' }],
  ])('killing the owner process over %s', (way, env: Record<string, string>) => {
    it('aborts the response and runs a repeated request once', { timeout }, async () => {
      const { asked, feed } = await passedOn(env)
      const { both, holder, prompt } = asked
      await holder.signal('SIGKILL')
      both.openGate()
      const rest = (async () => {
        for (let read = await feed?.read(); read?.done === false; read = await feed?.read());
      })()
      await expect(rest).rejects.toThrow()
      // Another loop goes on with that run: whoever knows the first one is told.
      const told = async () => {
        const answer = await prompt()
        const { code, continuedBy } = await answer.json()
        return [answer.status, code, typeof continuedBy]
      }
      await expect.poll(told).toEqual([410, 'gone', 'string'])
      await expectOnce(asked)
    })

    it('takes over from a stalled process, which does nothing when it continues', { timeout }, async () => {
      // Renewed each second: it is still there when the prompt comes, however busy the machine is.
      const asked = await two({ ...env, LEASE_MS: '4000' })
      const { holder, both, sessionId, ask, prompt } = asked
      await holder.signal('SIGSTOP')
      const answer = await prompt()
      // Over HTTP nobody knows whether it was taken.
      if (way === 'HTTP')
        expect([answer.status, answer.headers.get('retry-after'), (await answer.json()).code]).toEqual([503, '1', 'unavailable'])
      else expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('agentEnd')])
      const again = async () => {
        const answered = await prompt()
        await answered.text()
        return answered.status
      }
      await expect.poll(again).toBe(200)
      await holder.signal('SIGCONT')
      const known = async () => (await fetch(`${await holder.url}/sessions/${sessionId}/history`)).json()
      await expect.poll(async () => (await known()).messages?.length).toBe((await (await ask('history')).json()).messages.length)
      expect(both.paid()).toHaveLength(6)
      await expectOnce(asked)
    })
  })
})
