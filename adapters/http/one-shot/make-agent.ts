import type { Context, Env } from 'hono'
import type { Agent } from '../../../src/index.ts'
import type { Caller } from '../access/authorize.ts'
import type { Problem } from '../access/problem.ts'

/** Makes the agent that answers one request and is then forgotten. A problem is answered as it is. */
export type MakeAgent<E extends Env = Env> = (c: Context<E>, caller: Caller) => Agent | Problem | Promise<Agent | Problem>
