/** What a route of a session changes, a process that has not the session passes on: a route that is no command would not be there in half of the processes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandIn, requestFor } from '../../../adapters/http/live/commands/session-commands.ts'

const folder = 'adapters/http/routes'
/** Those around sessions. */
const others = ['sessions.ts']

const changing = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !others.includes(name))
  .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/app\.(post|put|patch|delete)\('([^']+)'/g)])
  .map(([, method = '', path = '']) => [method.toUpperCase(), path.replace(/:\w+/g, 'a%2Fb')] as const)

describe('session commands', () => {
  it('covers every session route in the source', () => {
    expect(changing.length).toBeGreaterThan(20)
  })

  it.each(changing)('includes %s %s and restores the same request', async (method, path) => {
    const init = { method, headers: { 'content-type': 'application/json', 'idempotency-key': 'k' }, body: '{}' }
    const asked = await commandIn(new Request(`http://localhost${path}?a=1`, init), { maxBytes: 100, timeoutMs: 1000 })
    if (asked === undefined) throw new Error('It is not passed on.')
    const again = requestFor(asked, new AbortController().signal)
    expect([again.method, again.url, again.headers.get('idempotency-key')]).toEqual([method, `http://localhost${path}?a=1`, 'k'])
    expect([again.headers.get('content-type'), await again.text()]).toEqual(['application/json', '{}'])
  })
})
