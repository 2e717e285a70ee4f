import type { Context, Env, Hono } from 'hono'
import type { Caller } from '../access/authorize.ts'
import { readOwnBody } from '../access/body.ts'
import { problemResponse } from '../access/problem.ts'
import { askedOf } from '../live/commands/client-ask.ts'
import { RunEvents } from '../live/desk/run-events.ts'
import { promptKeys, promptOf } from '../routes/prompt-body.ts'
import type { SessionRouteOptions } from '../routes/route-options.ts'
import { eventStream } from '../stream/run-stream.ts'
import type { MakeAgent } from './make-agent.ts'

/** What the route has to know of its app. */
interface OneShotOptions<E extends Env> extends SessionRouteOptions {
  access: (c: Context<E>) => Promise<Caller>
  agent: MakeAgent<E>
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
    const { messages, ask } = promptOf(await readOwnBody(c, options.body, promptKeys), options.clientSettings)
    options.streams.assertRoom(caller)
    const made = await agent(c, caller)
    if ('detail' in made) return problemResponse(made)
    const run = made.prompt(messages, { signal, ...askedOf(ask, made, 'ofApplication') })
    return eventStream(new RunEvents(run), { ...options, caller }, { onCancel: (reason) => run.abort(reason) })
  })
}
