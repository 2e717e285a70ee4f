import type { Context, Env, Hono } from 'hono'
import type { Agent } from '../../../src/index.ts'
import type { Caller } from '../access/authorize.ts'
import { readJsonObject } from '../access/body.ts'
import { type Problem, problemResponse } from '../access/problem.ts'
import { eventStream } from '../stream/run-stream.ts'
import { promptOf } from './prompt-body.ts'
import type { SessionRouteOptions } from './route-options.ts'

/** What the route has to know of its app. */
interface OneShotOptions<E extends Env> extends SessionRouteOptions {
  access: (c: Context<E>) => Promise<Caller>
  agent: (c: Context<E>, caller: Caller) => Agent | Problem | Promise<Agent | Problem>
}

/**
 * `POST /runs` with `{ "prompt": "…", "metadata": … }`: one run of an agent that is made for it.
 *
 * **Contract**: a client that goes away aborts the run, because nobody could come back to it. So does an event that cannot be written as JSON.
 */
export function addOneShotRuns<E extends Env>(app: Hono<E>, { access, agent, ...options }: OneShotOptions<E>): void {
  app.post('/runs', async (c) => {
    const caller = await access(c)
    // Of the request as it came: it tells when the client goes.
    const { signal } = c.req.raw
    const { messages, said } = promptOf(await readJsonObject(c, options.body), options.clientSettings)
    options.streams.assertRoom(caller)
    const made = await agent(c, caller)
    if ('detail' in made) return problemResponse(made)
    const run = made.prompt(messages, { signal, ...said(made, 'ofApplication') })
    return eventStream(run, { ...options, live: { caller } }, { onCancel: (reason) => run.abort(reason) })
  })
}
