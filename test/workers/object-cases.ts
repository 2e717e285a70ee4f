import { durableObjectSessionStore, type ObjectNamespace } from '../../adapters/cloudflare/index.ts'
import { describe, expect, it } from '../harness/mini-vitest.ts'
import { failureOf, note, notesIn } from './notes.ts'

interface Bindings {
  SESSIONS: ObjectNamespace
  INDEX: ObjectNamespace
}

const agent = { agentId: 'a' }

/** A namespace whose requests go through `send`. */
function through(
  namespace: ObjectNamespace,
  send: (request: Request, deliver: () => Promise<Response>) => Promise<Response>,
): ObjectNamespace {
  return { getByName: (name) => ({ fetch: (request) => send(request, () => namespace.getByName(name).fetch(request.clone())) }) }
}

/** What the platform throws. */
function platformError(marks: { retryable?: boolean; overloaded?: boolean }): Error {
  return Object.assign(new Error('Network connection lost.'), marks)
}

/** What the suite does not ask: rows, objects that are ended, requests that arrive twice or not at all. */
export function objectCases(bindings: () => Bindings): void {
  const object = (tenant: string, path: string) =>
    bindings()
      .SESSIONS.getByName(`${tenant}/s1`)
      .fetch(new Request(`https://object${path}`))
  const storeOf = (tenant: string, changed: Partial<Bindings> = {}) => {
    const { SESSIONS, INDEX } = { ...bindings(), ...changed }
    return durableObjectSessionStore({ sessions: SESSIONS, index: INDEX, tenant })
  }

  describe('Durable Object internals', () => {
    it('continues after the object restarts between or during appends', async () => {
      const tenant = crypto.randomUUID()
      const writer = await storeOf(tenant).open('s1', agent)
      await writer.append([note('1')])
      await object(tenant, '/end').catch(() => undefined)
      await writer.append([note('2')])
      const appends = [writer.append([note('3')]), object(tenant, '/end').catch(() => undefined), writer.append([note('4')])]
      await Promise.all(appends)
      const { records, damage } = await storeOf(tenant).tail('s1')
      expect([notesIn(records), damage]).toEqual([['1', '2', '3', '4'], undefined])
    })

    it('finds open runs through a separate index', async () => {
      const tenant = crypto.randomUUID()
      const index = bindings().INDEX.getByName(tenant)
      const enter = (sessionId: string, status?: string) =>
        index.fetch(
          new Request('https://object/', {
            method: 'POST',
            headers: { 'x-phi-core-call': 'enter' },
            body: JSON.stringify({ sessionId, agentId: 'a', digest: { loops: 1, messages: 1, ...(status !== undefined && { status }) } }),
          }),
        )
      for (let at = 0; at < 500; at++) await enter(`s${at}`, at % 200 === 7 ? 'running' : 'idle')
      await enter('of an older version')
      await index.fetch(new Request('https://object/read'))
      const { sessions } = await storeOf(tenant).list({ status: 'running' })
      expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['of an older version', 's407', 's207', 's7'])
      const read: number = await (await index.fetch(new Request('https://object/read'))).json()
      expect(read < 12).toBe(true)
    })

    it('splits long records into rows of at most 512 KB, never within a character', async () => {
      const tenant = crypto.randomUUID()
      const long = `x${'😀'.repeat(500_000)}`
      const writer = await storeOf(tenant).open('s1', agent)
      await writer.append([note(long)])
      const { largest, count }: { largest: number; count: number } = await (await object(tenant, '/rows')).json()
      expect([largest > 300_000 && largest <= 512 * 1024, count > 3]).toEqual([true, true])
      expect(notesIn((await storeOf(tenant).tail('s1')).records)[0] === long).toBe(true)
    })

    it('stores a 20 MB file outside the log, in rows within the platform limit', async () => {
      const store = storeOf(crypto.randomUUID())
      const data = 'AAEC'.repeat(6_990_506)
      const file = { type: 'file' as const, mimeType: 'application/x-sample', data }
      const writer = await store.open('s1', agent)
      await writer.append([{ entry: { type: 'input', message: { role: 'user', id: 'm1', content: [file], timestamp: 1 } } }])
      const [record] = (await store.tail('s1')).records
      expect(JSON.stringify(record).length < 1000).toBe(true)
      const [loop] = (await store.load('s1')).loops
      expect(JSON.stringify(loop?.messages ?? record).includes(data)).toBe(loop !== undefined)
      const { hash = '' } = /"hash":"(?<hash>[0-9a-f]{64})"/.exec(JSON.stringify(record))?.groups ?? {}
      expect((await store.blob('s1', hash)).length).toBe((data.length / 4) * 3)
    })

    it('isolates tenants', async () => {
      const [one, two] = [crypto.randomUUID(), crypto.randomUUID()]
      const writer = await storeOf(one).open('s1', agent)
      await writer.append([note('of one')])
      expect([await storeOf(two).listIds(), await failureOf(storeOf(two).load('s1'))]).toEqual([[], 'notFound'])
      await (await storeOf(two).open('s1', agent)).append([note('of two')])
      await writer.append([note('still')])
      expect(notesIn((await storeOf(one).tail('s1')).records)).toEqual(['of one', 'still'])
      expect(await storeOf(two).delete('s1')).toBe(true)
      expect(await storeOf(one).listIds()).toEqual(['s1'])
    })

    it('retries calls that the platform lost, also after delivery', async () => {
      const tenant = crypto.randomUUID()
      let count = 0
      const lossy = (namespace: ObjectNamespace) =>
        through(namespace, async (_request, deliver) => {
          const lost = count++ % 3 === 0
          const answer = await deliver()
          if (lost) throw platformError({ retryable: true })
          return answer
        })
      const store = storeOf(tenant, { SESSIONS: lossy(bindings().SESSIONS), INDEX: lossy(bindings().INDEX) })
      const writer = await store.open('s1', agent)
      for (const text of ['1', '2', '3', '4']) await writer.append([note(text)])
      await writer.close()
      expect(notesIn((await storeOf(tenant).tail('s1')).records)).toEqual(['1', '2', '3', '4'])
      expect([await store.delete('s1'), await store.listIds()]).toEqual([true, []])
    })

    it('reports an unresponsive object, and does not retry an overloaded one', async () => {
      let calls = 0
      const dead = (marks: object) =>
        storeOf('t', {
          SESSIONS: through(bindings().SESSIONS, async () => {
            calls++
            throw platformError(marks)
          }),
        })
      expect([await failureOf(dead({ retryable: true }).open('s1', agent)), calls]).toEqual(['io', 3])
      expect([await failureOf(dead({ retryable: true, overloaded: true }).tail('s1')), calls]).toEqual(['io', 4])
      expect([await failureOf(dead({}).delete('s1')), calls]).toEqual(['io', 5])
    })

    it('acknowledges no record of an unlisted session', async () => {
      const tenant = crypto.randomUUID()
      let isDown = true
      const INDEX = through(bindings().INDEX, (_request, deliver) => (isDown ? Promise.reject(platformError({})) : deliver()))
      const store = storeOf(tenant, { INDEX })
      expect(await failureOf((await store.open('s1', agent)).append([note('1')]))).toBe('io')
      isDown = false
      const writer = await store.open('s1', agent)
      await writer.append([note('2')])
      expect(await store.listIds()).toEqual(['s1'])
      isDown = true
      await writer.append([note('3')])
      expect(notesIn((await store.tail('s1')).records)).toEqual(['1', '2', '3'])
    })

    it('accepts requests from the store only', async () => {
      for (const headers of [{}, { 'x-phi-core-call': 'unknown' }, { 'x-phi-core-call': 'live' }]) {
        const request = new Request('https://object/', { method: 'POST', headers, body: '{}' })
        expect((await bindings().SESSIONS.getByName('t/s1').fetch(request.clone())).status).toBe(404)
        expect((await bindings().INDEX.getByName('t').fetch(request)).status).toBe(404)
      }
    })
  })
}
