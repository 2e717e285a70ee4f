import { scripted } from 'phi-core/testing'
import { describe, expect, it } from 'vitest'
import { openOrders } from '../../examples/recipes/runs/run-context.ts'
import { tenantsApp } from '../../examples/recipes/servers/tenants.ts'

describe('the run-context recipe', () => {
  it('passes tenant and token to the tool and the system prompt', async () => {
    expect(await openOrders({ tenant: 'acme', token: 'secret' })).toBe('There are two open orders.')
  })
})

describe('the tenants recipe', () => {
  it('passes a tool the token of the user who started the run, whoever approves', async () => {
    const script = scripted(({ messages }) =>
      messages.at(-1)?.role === 'toolResult' ? { text: 'Done.' } : { toolCalls: [{ name: 'refund', arguments: { order: 'o1' } }] },
    )
    const app = tenantsApp(script, (token) => (token === 'ada-token' || token === 'bob-token' ? 'acme' : undefined))
    const send = async (path: string, token: string, body: object): Promise<Response> =>
      app.request(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const reading = send('/sessions/s/runs', 'ada-token', { prompt: 'Refund o1.' }).then((response) => response.text())
    const headers = { authorization: 'Bearer bob-token' }
    const approvals = async () => (await (await app.request('/sessions/s/approvals', { headers })).json()).approvals
    await expect.poll(approvals).toHaveLength(1)
    const [{ toolCallId, argumentsHash }] = await approvals()
    await send(`/sessions/s/approvals/${toolCallId}`, 'bob-token', { approved: true, argumentsHash })
    expect(await reading).toContain('acme refunded o1 with ada-token.')
    expect((await send('/sessions/s/runs', 'nobody', { prompt: 'Refund o1.' })).status).toBe(401)
  })
})
