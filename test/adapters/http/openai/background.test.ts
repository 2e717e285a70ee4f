import type OpenAI from 'openai'
import { describe, expect, it, vi } from 'vitest'
import { createOpenAiApp, memoryLiveSessions } from '../../../../adapters/http/index.ts'
import { defineTool, memorySessionStore, type SessionStore } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { patient } from '../../../support/patience.ts'
import { deployTool, served } from './served.ts'

const model = 'helper'

/** Asks until the response is not on any more. */
async function settled(client: OpenAI, id: string) {
  return vi.waitFor(async () => {
    const response = await client.responses.retrieve(id)
    if (response.status === 'in_progress') throw new Error('It is on.')
    return response
  }, patient)
}

describe('background responses', () => {
  it('returns immediately, stays in progress during the run and then completes', async () => {
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      parameters: { type: 'object' },
      execute: async () => held.then(() => 'over'),
    })
    const { client, clientOf } = served(
      [
        { text: 'I wait.', toolCalls: [{ name: 'wait', arguments: {} }] },
        { thinking: 'Hm.', text: 'Done.', usage: { input: 3, output: 4 } },
      ],
      { tools: [wait] },
    )
    const begun = await client.responses.create({ model, input: 'Go.', background: true })
    expect([begun.status, begun.output, begun.error]).toEqual(['in_progress', [], null])
    expect(await client.responses.retrieve(begun.id)).toMatchObject({ id: begun.id, status: 'in_progress', output: [] })
    release()
    const done = await settled(client, begun.id)
    expect([done.id, done.status, done.output.map(({ type }) => type)]).toEqual([
      begun.id,
      'completed',
      ['message', 'reasoning', 'message'],
    ])
    expect(JSON.stringify(done.output)).toContain('Done.')
    expect(done.usage?.total_tokens).toBeGreaterThan(0)
    const next = await client.responses.create({ model, input: 'And?', previous_response_id: begun.id }).catch((error: unknown) => error)
    expect(next).not.toMatchObject({ status: 404 })
    await expect(clientOf('bob').responses.retrieve(begun.id)).rejects.toMatchObject({ status: 404 })
  })

  it('waits for an approval and then continues in the background', async () => {
    const { deploy, done } = deployTool()
    const { client } = served([{ toolCalls: [{ name: 'deploy', arguments: { version: '2' } }] }, { text: 'Done.' }], { tools: [deploy] })
    const begun = await client.responses.create({ model, input: 'Deploy 2.', background: true })
    const asked = await settled(client, begun.id)
    expect(asked).toMatchObject({ status: 'completed', output: [{ type: 'mcp_approval_request', name: 'deploy', server_label: 'helper' }] })
    const answer = [{ type: 'mcp_approval_response' as const, approval_request_id: asked.output[0]?.id ?? '', approve: true }]
    const second = await client.responses.create({ model, previous_response_id: begun.id, input: answer, background: true })
    expect(second.id).not.toBe(begun.id)
    const over = await settled(client, second.id)
    expect([over.output.map(({ type }) => type), done]).toEqual([['message'], ['2']])
  })

  it('returns the stored response after a restart and reports a failed run', async () => {
    const store: SessionStore = memorySessionStore()
    const appOn = () => {
      const sessions = memoryLiveSessions({ store, agent: () => ({ model: scripted([{ text: 'Kept.' }]) }) })
      return { sessions, app: createOpenAiApp({ agents: { helper: { sessions } }, authorize: () => 'ada' }) }
    }
    const { app, sessions } = appOn()
    const begun = await app.request('/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: 'Go.', background: true }),
    })
    const { id }: { id: string } = await begun.json()
    await vi.waitFor(
      async () => expect(await (await app.request(`/v1/responses/${id}`)).json()).toMatchObject({ status: 'completed' }),
      patient,
    )
    await sessions.close()
    expect(await (await appOn().app.request(`/v1/responses/${id}`)).json()).toMatchObject({
      id,
      status: 'completed',
      output: [{ content: [{ text: 'Kept.' }] }],
    })
    const { client } = served([{ fail: { code: 'rateLimited', message: 'Too many.' } }], { retry: false })
    const failing = await client.responses.create({ model, input: 'Go.', background: true })
    expect(await settled(client, failing.id)).toMatchObject({ status: 'failed', error: { code: 'rate_limit_exceeded' } })
  })

  it('requires storage and a server-side history and rejects unknown ids', async () => {
    const { client, app } = served([{ text: 'x' }])
    await expect(client.responses.create({ model, input: 'Go.', background: true, store: false })).rejects.toMatchObject({
      status: 400,
      param: 'background',
    })
    const told = [
      { role: 'assistant' as const, content: 'I said.' },
      { role: 'user' as const, content: 'Go.' },
    ]
    await expect(client.responses.create({ model, input: told, background: true })).rejects.toMatchObject({
      status: 400,
      param: 'background',
    })
    const first = await client.responses.create({ model, input: 'Go.' })
    expect(await client.responses.retrieve(first.id)).toMatchObject({ id: first.id, status: 'completed', output_text: 'x' })
    const parts = [
      'resp_x',
      'resp_',
      'msg_1',
      first.id.replace('resp_', 'msg_'),
      `${first.id}x`,
      first.id.slice(0, -4),
      `resp_${btoa('["s","1",1,0,"helper"]')}`,
      `resp_${btoa('["../s","1",1,0,"helper"]')}`,
      `resp_${btoa('["s","1",1,0,"__proto__"]')}`,
    ]
    for (const id of parts) await expect(client.responses.retrieve(id), id).rejects.toMatchObject({ status: 404 })
    expect((await app.request(`/v1/responses/${first.id}`)).status).toBe(401)
    await expect(client.responses.retrieve(first.id, { stream: true })).rejects.toMatchObject({ status: 400, param: 'stream' })
  })
})
