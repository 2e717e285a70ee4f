import { describe, expect, it } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { Agent, type AgentRun } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { allFrames, type Frame, frames } from './read-sse.ts'

/** An app that remembers its runs, and a model that goes on when told. */
function resumable(replayBytes?: number) {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let pieces = 0
  const model = scripted([{ text: ['one ', 'two ', 'three'] }], { gate: () => (pieces++ === 0 ? Promise.resolve() : opened) })
  const runs = new Map<string, AgentRun>()
  const app = createAgentApp({
    agent: () => {
      const agent = new Agent({ model, ...(replayBytes !== undefined && { replayBytes }) })
      agent.subscribe(({ type, loopId }) => {
        if (type === 'agentStart' && agent.currentRun !== undefined) runs.set(loopId, agent.currentRun)
      })
      return agent
    },
    authorize: (c) => c.req.header('authorization') === 'me',
    resume: (_c, loopId) => (loopId === 'lost' ? { status: 410, code: 'gone', detail: 'Lost.', continuedBy: 'other' } : runs.get(loopId)),
  })
  const ask = async (path: string, headers: Record<string, string> = {}) =>
    app.request(path, { headers: { authorization: 'me', ...headers } })
  const post = async () => {
    const headers = { authorization: 'me', 'content-type': 'application/json' }
    return app.request('/runs', { method: 'POST', headers, body: '{"prompt":"hi"}' })
  }
  return { open, ask, post, runs }
}

async function readOne(response: Response): Promise<Frame> {
  for await (const frame of frames(response)) if (frame.event === 'messageUpdate') return frame
  throw new Error('No delta came.')
}

const textOf = (seen: Frame[]): string => seen.map(({ event, data }) => (event === 'messageUpdate' ? data.delta.delta : '')).join('')

describe('GET /runs/:loopId/events', () => {
  it('reads on after the cursor; the run has not noticed that its client left', async () => {
    const { open, ask, post, runs } = resumable()
    const { id = 0, data } = await readOne(await post())
    const path = `/runs/${data.loopId}/events`
    const both = [await ask(path, { 'last-event-id': `${id}` }), await ask(`${path}?after=${id}`), await ask(path)]
    open()
    const [byHeader = [], byQuery = [], all = []] = await Promise.all(both.map(allFrames))
    expect([textOf(byHeader), textOf(all)]).toEqual(['two three', 'one two three'])
    expect([byHeader[0]?.id, all[0]?.id, byQuery]).toEqual([id + 1, 1, byHeader])
    expect((await runs.get(data.loopId)?.result)?.status).toBe('completed')
  })

  it('answers with a problem where there is nothing to read', async () => {
    const { open, ask, post } = resumable(1)
    const { data } = await readOne(await post())
    open()
    const path = `/runs/${data.loopId}/events`
    await allFrames(await ask(path))
    const cases: [string, number, object][] = [
      ['/runs/unknown/events', 404, { code: 'notFound' }],
      ['/runs/lost/events', 410, { code: 'gone', continuedBy: 'other' }],
      [`${path}?after=-1`, 400, { code: 'invalidCursor' }],
      [`${path}?after=1e3`, 400, { code: 'invalidCursor' }],
      [`${path}?after=1`, 410, { code: 'cursorExpired' }],
    ]
    for (const [url, status, body] of cases) {
      const response = await ask(url)
      expect([url, response.status, await response.json()]).toMatchObject([url, status, body])
    }
    expect((await ask(path, { authorization: 'you' })).status).toBe(401)
  })

  it('is not there without resume', async () => {
    const app = createAgentApp({ agent: () => new Agent({ model: scripted([]) }) })
    expect((await app.request('/runs/x/events')).status).toBe(404)
  })
})
